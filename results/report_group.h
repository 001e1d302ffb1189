/* SPDX-License-Identifier: MIT
 *
 * Groups of a report: cells that may be compared with each other. They have the same machine, workload, target, mode
 * and rate: these are never pooled and never in one table.
 */
#ifndef PILFER_RESULTS_REPORT_GROUP_H
#define PILFER_RESULTS_REPORT_GROUP_H

#include "axes.h"
#include "report.h"
#include "table.h"

struct group {
    struct cell **cells; /* in the order of their axes */
    size_t count;
    struct axes axes; /* what varies within the group */
};

/* All cells of a report in the order in which they are shown. */
struct grouping {
    struct cell **cells; /* owned list: by group, then by axes */
    size_t count;
    struct axes axes; /* what varies over all cells */
};

/* Orders cells; the list is copied. */
void grouping_init(struct grouping *grouping, struct cell *const *cells, size_t count);
void grouping_fini(struct grouping *grouping);

/* The group that begins at cell number *next, and moves *next behind it; false after the last one. Every group that was
 * returned is freed with group_fini. */
bool grouping_next(const struct grouping *grouping, size_t *next, struct group *out);
void group_fini(struct group *group);

/* "Same in all cells: ...": what does not vary. */
void grouping_write_constants(FILE *stream, const struct grouping *grouping, size_t width);

/* "Paced at 2000 requests/s, windows of 1.2 s, extension-mode burn:" */
void group_write_heading(FILE *stream, const struct grouping *grouping, const struct group *group, size_t width);

/* A number that is shown: as it is, or divided by the requests of its repeat. */
struct measure {
    const char *name, *heading[2];
    const char *words; /* for sentences; NULL: not looked at for moving with the CPU */
    bool is_per_request;
    bool has_bounds;    /* its interval is shown beside the median */
    bool is_paced_only; /* means something in the paced mode only */
};
extern const struct measure measures[];
extern const size_t measure_count;

/* Adds a column for each axis that varies. */
void group_add_axis_columns(struct table *table, const struct axes *axes);
/* Fills them in the newest row, from column 0. Returns the next column. */
size_t group_set_axes(struct table *table, const struct axes *axes, const struct cell *cell);

/* The table (and a second one for counters where one is wider than width), then what moves, what does not separate, and
 * the medians with nothing rejected. */
void group_write(FILE *stream, const struct group *group, size_t width);

#endif
