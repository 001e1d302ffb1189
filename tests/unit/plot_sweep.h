/* SPDX-License-Identifier: MIT
 *
 * Sweeps made up for the tests of plot/: a few lines describe many repeats.
 */
#ifndef PILFER_TESTS_UNIT_PLOT_SWEEP_H
#define PILFER_TESTS_UNIT_PLOT_SWEEP_H

#include "results.h"
#include "store.h"

struct made_sweep {
    struct result_set set;
    struct store_sweep sweep;
};

/* A cell; text fields may be NULL: unknown. Defaults (0): mode closed, 6 repeats. */
struct made_cell {
    const char *label, *mode, *max_workers, *spin_limit;
    double rate_rps, workers_engaged, cpu_percent;
    uint32_t repeats;
    bool invalid, disturbed, without_split;
    const char *setting, *setting_value; /* one further setting */
    const char *target, *target_version; /* a real server in the model's place: its label is its name */
    const char *cell_id;                 /* default: made from the rest */
};

void made_sweep_init(struct made_sweep *made);
void made_sweep_fini(struct made_sweep *made);

/* Adds a cell's repeats. Repeat r measures cpu_percent + (r - middle) percent of it, so that the median is cpu_percent
 * for an odd number of repeats; its parts are eighths, which nobody stamps for a target. */
void made_sweep_add(struct made_sweep *made, struct made_cell cell);

/* max-workers 1, 2, 12, 25, default by spin limit 0, default: closed loop and paced at 2,000 requests/s. */
void made_sweep_high_cpu(struct made_sweep *made);

/* The same of a target "dotnet", version ".NET 10.0.12", which needs four times the CPU. */
void made_sweep_add_real(struct made_sweep *made);

#endif
