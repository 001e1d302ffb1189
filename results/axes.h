/* SPDX-License-Identifier: MIT
 *
 * Axes: what was varied between the cells of a sweep, and how a cell is named in a report.
 *
 * How it works. Every descriptive column and setting is looked at over all cells: one that has the same value
 * everywhere, or everywhere but with labels that lack it, is named once, one that differs is an axis. Numbers measured,
 * seeds and durations are never axes. scheduler, idle, sizing and over are left out where the label tells them apart
 * already.
 */
#ifndef PILFER_RESULTS_AXES_H
#define PILFER_RESULTS_AXES_H

#include "statistics.h"

struct axes {
    const char **names; /* column or setting; owned array, names owned by the results */
    bool *varies;       /* ... between these cells */
    size_t count;       /* names in the order in which they are shown: label first, spin_limit and max_workers last */
};

#define AXIS_TEXT_SIZE 96

/* Looks at count cells. */
void axes_init(struct axes *axes, struct cell *const *cells, size_t count);
void axes_fini(struct axes *axes);

/* Whether this name is an axis that varies. */
bool axes_vary(const struct axes *axes, const char *name);

/* A number as it is shown: 666.667, not 666.6666666666666. */
double axis_number(double number);

/* A cell's value as a report shows it: "default (70)", "25", "chase-lev"; "" if unknown. Returns out. */
const char *axis_text(const struct cell *cell, const char *name, char out[AXIS_TEXT_SIZE]);

/* What cells have in common: the text that all of those with a value show, the user's word alone where it meant
 * different things ("default"). Nowhere: "" in out, they differ or none has a value. */
enum axis_extent { AXIS_NOWHERE, AXIS_SOMEWHERE, AXIS_EVERYWHERE };
enum axis_extent axis_common_text(struct cell *const *cells, size_t count, const char *name, char out[AXIS_TEXT_SIZE]);

/* "max-workers" for "max_workers". Returns out. */
const char *axis_heading(const char *name, char out[AXIS_TEXT_SIZE]);

/* Order of two cells along one axis: numbers by size, before words; "default" last. */
int axis_compare(const struct cell *first, const struct cell *second, const char *name);

/* Order along all axes that vary, in their order. */
int axes_compare(const struct axes *axes, const struct cell *first, const struct cell *second);

/* Whether two cells agree on all axes that vary but for one. */
bool axes_are_neighbours(const struct axes *axes, const struct cell *first, const struct cell *second,
                         const char *but_for);

/* "max-workers 25, spin-limit default (70)": the axes that vary but for one (or NULL); "the only cell" if none does. */
char *axes_describe(const struct axes *axes, const struct cell *cell, const char *but_for);

#endif
