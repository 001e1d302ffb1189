/* SPDX-License-Identifier: MIT
 *
 * From what the processes reported to the columns of a result.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_CELL_NUMBERS_H
#define PILFER_EXPERIMENTS_RUNNER_CELL_NUMBERS_H

#include "disturbance.h"
#include "processes.h"

/* What the runner itself read at one edge of the window. */
struct cell_edge {
    struct disturbance_sample machine;
    uint64_t router_ns, extension_ns, load_ns, runner_ns; /* CPU clocks */
    struct cgroup_throttling quota;                       /* of the group of quota-percent */
};

/* What is known of one measurement. */
struct cell_measurement {
    const struct configuration *configuration;
    const struct processes *processes;
    struct window window;
    struct cell_edge first, last;
    uint64_t warmup_ns; /* from the start of the load to the window */
    bool cpu_steady;    /* of a window that waits for it: CPU per request was steady when it began */
    bool edges_known;   /* the window was seen to its end */
};

/* Fills all columns and numbers that can be known, and judges: valid with its reason, disturbed. True if it is worth
 * doing again: the machine was in the way, and nothing was lost. */
bool cell_fill(const struct cell_measurement *measurement, double foreign_limit_percent, struct result *result);

/* Largest share of router CPU that may be unaccounted in a valid split. */
#define CELL_UNACCOUNTED_MAX 0.05

#endif
