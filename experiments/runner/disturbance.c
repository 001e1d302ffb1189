/* SPDX-License-Identifier: MIT
 *
 * Foreign CPU, throttling and suspension; see disturbance.h.
 */
#include "disturbance.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* First line of /proc/stat: "cpu user nice system idle iowait ..." in ticks. */
static bool read_idle(double *idle_s)
{
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL)
        return false;
    unsigned long long idle, waiting;
    bool found = fscanf(file, "cpu %*u %*u %*u %llu %llu", &idle, &waiting) == 2;
    fclose(file);
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    if (!found || ticks_per_s <= 0)
        return false;
    *idle_s = (double)(idle + waiting) / (double)ticks_per_s;
    return true;
}

void disturbance_sample(struct disturbance_sample *out)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (struct disturbance_sample){.cpus = cpus > 0 ? (uint32_t)cpus : 1};
    out->throttling_known = cgroup_throttling(NULL, &out->throttling);
    out->edge = window_edge_now();
    out->idle_known = read_idle(&out->idle_s);
}

void disturbance_judge(const struct disturbance_sample *first, const struct disturbance_sample *last,
                       uint64_t ours_cpu_ns, double foreign_limit_percent, struct disturbance *out)
{
    *out = (struct disturbance){0};
    double elapsed_s = (double)(last->edge.monotonic_ns - first->edge.monotonic_ns) / 1e9;
    if (first->throttling_known && last->throttling_known) {
        out->throttled_periods = last->throttling.periods - first->throttling.periods;
        out->throttled_ns = last->throttling.throttled_ns - first->throttling.throttled_ns;
    }
    out->suspended_ns = window_suspended_ns(&first->edge, &last->edge);
    out->foreign_known = first->idle_known && last->idle_known && elapsed_s > 0 && first->cpus == last->cpus;
    if (out->foreign_known) {
        double busy_s = last->cpus * elapsed_s - (last->idle_s - first->idle_s);
        out->foreign_cpu_percent = 100 * (busy_s - (double)ours_cpu_ns / 1e9) / elapsed_s;
        out->resolution_percent = 100.0 / (double)sysconf(_SC_CLK_TCK) / elapsed_s;
    }
    out->disturbed = true;
    if (out->suspended_ns > 0)
        snprintf(out->reason, sizeof out->reason, "the machine was suspended for %.3f s",
                 (double)out->suspended_ns / 1e9);
    else if (first->cpus != last->cpus)
        snprintf(out->reason, sizeof out->reason, "the number of CPUs changed from %u to %u", first->cpus, last->cpus);
    else if (out->throttled_periods > 0)
        snprintf(out->reason, sizeof out->reason, "the runner's control group was held back %llu times, %.3f s in sum",
                 (unsigned long long)out->throttled_periods, (double)out->throttled_ns / 1e9);
    else if (out->foreign_known && out->foreign_cpu_percent > foreign_limit_percent)
        snprintf(out->reason, sizeof out->reason, "foreign CPU %.1f %% of one CPU is above the limit of %g %%",
                 out->foreign_cpu_percent, foreign_limit_percent);
    else
        out->disturbed = false;
}
