/* SPDX-License-Identifier: MIT
 *
 * One group of a report: cells that may be compared with each other.
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

/* A counter that is shown per request. */
struct report_counter {
    const char *name, *heading[2], *words;
};
extern const struct report_counter report_counters[];
extern const size_t report_counter_count;

/* Adds a column for each axis that varies. */
void group_add_axis_columns(struct table *table, const struct axes *axes);
/* Fills them in the newest row, from column 0. Returns the next column. */
size_t group_set_axes(struct table *table, const struct axes *axes, const struct cell *cell);

/* The table (and a second one for counters where one is wider than width), then what moves, what does not separate, and
 * the medians with nothing rejected. */
void group_write(FILE *stream, const struct group *group, size_t width);

#endif
