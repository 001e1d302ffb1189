/* SPDX-License-Identifier: MIT
 *
 * Is CPU per request steady; see cpu_watch.h.
 */
#include "cpu_watch.h"

#include <stdlib.h>

bool cpu_watch_is_due(const struct cpu_watch *watch, uint64_t answered_at_ns)
{
    return !watch->has_last || answered_at_ns >= watch->last.answered_at_ns + CPU_PERIOD_NS;
}

/* False if there is no figure between two samples: nothing was answered, or a clock stood still or went back, as that
 * of a tree may when a process of it ends. */
static bool cost_between(const struct cpu_sample *first, const struct cpu_sample *last, double *out)
{
    if (last->answered <= first->answered || last->answered_at_ns <= first->answered_at_ns ||
        last->cpu_ns <= first->cpu_ns || last->cpu_at_ns <= first->cpu_at_ns)
        return false;
    double share = (double)(last->cpu_ns - first->cpu_ns) / (double)(last->cpu_at_ns - first->cpu_at_ns);
    double period_ns = (double)(last->answered_at_ns - first->answered_at_ns);
    *out = share * period_ns / (double)(last->answered - first->answered);
    return true;
}

void cpu_watch_add(struct cpu_watch *watch, const struct cpu_sample *sample)
{
    double cost_ns;
    if (!watch->has_last || !cost_between(&watch->last, sample, &cost_ns))
        watch->count = 0;
    else
        watch->costs_ns[watch->count++ % CPU_PERIODS] = cost_ns;
    watch->last = *sample;
    watch->has_last = true;
}

/* The index-th of the last CPU_PERIODS figures, the oldest first. */
static double cost_at(const struct cpu_watch *watch, uint32_t index)
{
    return watch->costs_ns[(watch->count + index) % CPU_PERIODS];
}

bool cpu_watch_is_steady(const struct cpu_watch *watch)
{
    int trend = 0;
    if (watch->count < CPU_PERIODS)
        return false;
    for (uint32_t later = 1; later < CPU_PERIODS; later++) {
        for (uint32_t earlier = 0; earlier < later; earlier++) {
            double before_ns = cost_at(watch, earlier), after_ns = cost_at(watch, later);
            trend += after_ns > before_ns * (1 + CPU_TOLERANCE);
            trend -= before_ns > after_ns * (1 + CPU_TOLERANCE);
        }
    }
    return abs(trend) <= CPU_TREND_MAX;
}
