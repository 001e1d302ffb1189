/* SPDX-License-Identifier: MIT
 *
 * CPU per request of the process under test while it warms up: when it has become steady.
 *
 * How it works. The clients say a few times a second how many requests have been answered, and when they counted; the
 * runner hears it and reads the CPU clock of the process under test, of a target those of all its processes. As for the
 * window, CPU per request is the ratio of two rates, each over the time between the readings of its own clock, so that
 * a late wake-up on one side makes no difference.
 *
 * CPU per request is steady when it has no trend: of the last five seconds, each is compared with each later one. One
 * that is over 5 % dearer is a rise, one over 5 % cheaper a fall, and rises and falls of the ten pairs may differ by
 * three at most. What still compiles or fills its caches falls in nearly all pairs; a step is forgotten when five
 * seconds lie behind it; the noise of a busy machine, which seldom keeps neighbouring seconds within 5 %, goes up as
 * often as down. A second in which nothing was answered, or a clock could not be read, is no figure: five new ones are
 * needed.
 *
 * Worst case: a drift below 2.5 % a second, or below the noise, is not seen. Steady does not mean exact.
 * Source: the trend test of Mann (1945), which counts the pairs as Kendall's tau does; the tolerance is added.
 *
 * One thread; no clock is read here.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_CPU_WATCH_H
#define PILFER_EXPERIMENTS_RUNNER_CPU_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_PERIOD_NS 1000000000
#define CPU_PERIODS   5
#define CPU_TOLERANCE 0.05 /* of the cheaper one of two periods */
#define CPU_TREND_MAX 3    /* of the pairs of periods: a third */

struct cpu_sample {
    uint64_t answered, answered_at_ns; /* requests since the start, and when they were counted */
    uint64_t cpu_ns, cpu_at_ns;        /* CPU time since the start, and when it was read */
};

/* All zero: nothing is known. */
struct cpu_watch {
    struct cpu_sample last;       /* where the last period ended */
    double costs_ns[CPU_PERIODS]; /* a ring: CPU per request */
    uint32_t count;               /* figures in a row, ever */
    bool has_last;
};

/* True if a period is over when requests were counted at this time: the CPU is to be read and the sample added. */
bool cpu_watch_is_due(const struct cpu_watch *watch, uint64_t answered_at_ns);
void cpu_watch_add(struct cpu_watch *watch, const struct cpu_sample *sample);
/* False before there are CPU_PERIODS figures. */
bool cpu_watch_is_steady(const struct cpu_watch *watch);

#endif
