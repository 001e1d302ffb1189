/* SPDX-License-Identifier: MIT
 *
 * Reports: the table people look at after a sweep.
 *
 * How it works. One line per cell, grouped by what must never be pooled (machine, workload, target, mode, rate). What
 * does not vary is named once above, what varies has a column. Numbers are medians over valid, undisturbed repeats with
 * a 95 % interval, or with the range below six repeats. Under each group stand the counters that move with the CPU per
 * request, the neighbouring worker counts that do not separate, and, where repeats were disturbed, the medians with
 * nothing rejected. A million repeats are bearable: everything is sorted and hashed, nothing compared all with all.
 */
#ifndef PILFER_RESULTS_REPORT_H
#define PILFER_RESULTS_REPORT_H

#include "statistics.h"
#include "store.h"

#include <stdio.h>

/* A counter is named as moving with the CPU if its rank correlation over the cells of a group is at least this, and
 * beyond chance: at least 1.96 / sqrt(cells - 1). */
#define REPORT_CORRELATION_MINIMUM 0.8
#define REPORT_CORRELATION_CELLS   5

struct report_options {
    bool all;     /* every repeat on a line of its own instead of one line per cell */
    size_t width; /* of lines, in characters; 0: 100 */
};

/* Writes the report of a sweep. store may be NULL (then its file is not named). set: all rows of the sweep. 0, or -1 if
 * the stream reported an error. */
int report_write(FILE *stream, struct store *store, const struct store_sweep *sweep, const struct result_set *set,
                 const struct report_options *options);

/* ---- parts for other reports ---- */

#define REPORT_RATIO_SIZE 96

/* A ratio for people: "1.92 [1.71 2.10]", with round brackets for a range, "-" without values. Returns out. */
const char *report_ratio_text(const struct interval *interval, char out[REPORT_RATIO_SIZE]);

/* Writes "  WORDS: 1.92 [1.71 2.10]", the ratio of a number ("router_cpu_us_per_request") between two cells, and
 * returns it. Without values on a side it is told as not measured (all NaN). */
struct interval report_ratio_line(FILE *stream, const char *words, const struct cell *above, const struct cell *below,
                                  const char *number);

#endif
