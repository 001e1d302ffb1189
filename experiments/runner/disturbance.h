/* SPDX-License-Identifier: MIT
 *
 * Was the machine ours while we measured? Foreign CPU, throttling, suspension, late wake-ups.
 *
 * How it works. At both edges of the window the runner reads how long the machine's CPUs have been idle (/proc/stat).
 * What they were busy beyond the CPU time of the cell's processes and of the runner is foreign: other programs, but
 * also interrupts and whatever else nobody is charged for. The idle sum is kept exactly by a kernel that stops its tick
 * on idle CPUs, but told in ticks (10 ms), so the figure is uncertain by one tick over the window; the resolution is
 * reported beside it, and a limit below it cannot be kept. On the machine of the first study idle CPUs gave a more
 * honest figure than the busy columns, which are sampled.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_DISTURBANCE_H
#define PILFER_EXPERIMENTS_RUNNER_DISTURBANCE_H

#include "cgroup.h"
#include "window.h"

struct disturbance_sample {
    struct window_edge edge;
    bool idle_known, throttling_known;
    double idle_s;                       /* sum over all CPUs of the machine, waiting for disks included */
    uint32_t cpus;                       /* of the machine */
    struct cgroup_throttling throttling; /* of the group that the runner is in */
};

void disturbance_sample(struct disturbance_sample *out);

struct disturbance {
    bool disturbed;
    bool foreign_known;
    double foreign_cpu_percent; /* of one CPU; may be slightly negative by its resolution */
    double resolution_percent;  /* of the figure above */
    uint64_t throttled_periods, throttled_ns, suspended_ns;
    char reason[160]; /* why disturbed */
};

/* Judges the time between two samples; ours_cpu_ns is the CPU time of all processes of the cell and of the runner. */
void disturbance_judge(const struct disturbance_sample *first, const struct disturbance_sample *last,
                       uint64_t ours_cpu_ns, double foreign_limit_percent, struct disturbance *out);

#endif
