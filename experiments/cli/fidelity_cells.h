/* SPDX-License-Identifier: MIT
 *
 * The cells of models and of a real runtime in the order in which they are compared.
 *
 * How it works. The cells fall into groups by mode and rate; in a group there is a row for each setting of max-workers
 * and spin limit, and in a row a place for each executor: the real runtime first, then the models by their labels. A
 * cell that differs from one that is there in something else (connections, say) has no place, and is counted.
 *
 * Disturbed repeats are left out where a cell has others.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FIDELITY_CELLS_H
#define PILFER_EXPERIMENTS_CLI_FIDELITY_CELLS_H

#include "statistics.h"

#include <stdbool.h>

#define FIDELITY_EXECUTORS_MAX 8
#define FIDELITY_ROWS_MAX      256
#define FIDELITY_GROUPS_MAX    16

/* One setting in one group, with the cell of each executor; NULL where it was not measured. */
struct fidelity_row {
    const char *max_workers, *spin_limit;
    const struct cell *cells[FIDELITY_EXECUTORS_MAX];
};

/* One mode, and one rate if it is paced. */
struct fidelity_group {
    const char *mode;
    double rate_rps; /* 0: closed loop */
    struct fidelity_row rows[FIDELITY_ROWS_MAX];
    size_t count;
};

struct fidelity_cells {
    struct cell_set cells;
    const char *executors[FIDELITY_EXECUTORS_MAX]; /* labels; the first is the real runtime, NULL if none is there */
    size_t executor_count;
    struct fidelity_group *groups; /* owned */
    size_t group_count;
    size_t left_over; /* cells without a place */
};

/* Points into set, which must stay. Free with fidelity_cells_fini. */
void fidelity_cells_init(struct fidelity_cells *fidelity, const struct result_set *set);
void fidelity_cells_fini(struct fidelity_cells *fidelity);

/* A text of the cell's parameters; "" if it has none of that name. */
const char *fidelity_text(const struct cell *cell, const char *name);

/* Whether a cell has no undisturbed repeat to stand on. */
bool fidelity_is_disturbed(const struct cell *cell);

/* Median of CPU per request, or of any number; per_request: of a count, divided by the requests. NaN without values. */
double fidelity_cpu_us(const struct cell *cell);
double fidelity_median(const struct cell *cell, const char *name, bool per_request);

/* CPU per request as ratio to the executor's own base (cell_is_base); all NaN if one of the two is missing. *disturbed
 * out: it stands on disturbed repeats, as one of the two has no others. */
struct interval fidelity_ratio(const struct fidelity_group *group, const struct fidelity_row *row, size_t executor,
                               bool *disturbed);
/* The model's ratio in units of the runtime's; NaN where one is missing. */
double fidelity_factor(const struct fidelity_group *group, const struct fidelity_row *row, size_t executor);

/* How the order of the settings agrees. */
struct fidelity_agreement {
    double correlation; /* Spearman, of model and runtime; NaN for fewer than 3 settings */
    double ceiling;     /* of the runtime's odd repeats with its even ones, over the same settings */
    size_t count;       /* settings */
    size_t disturbed;   /* of these stand on disturbed repeats */
};
struct fidelity_agreement fidelity_agree(const struct fidelity_group *group, size_t executor);

#endif
