/* SPDX-License-Identifier: MIT
 *
 * The report of `pilfer reproduce`: what the finding's sweep says on this machine, beside the published figures.
 *
 * How it works. Every sentence follows from the stored repeats: it is chosen by a comparison of numbers and holds those
 * numbers. Nothing is printed about a cell that was not measured. Each label has a report of its own
 * (executor_parts.h).
 *
 * Yardstick. The A/A spread: the largest ratio between the median of the odd and of the even repeats of one cell, over
 * the cells that are compared. A ratio of two cells counts as seen when the lower end of its interval lies beyond it.
 */
#ifndef PILFER_EXPERIMENTS_CLI_REPRODUCTION_H
#define PILFER_EXPERIMENTS_CLI_REPRODUCTION_H

#include "published.h"
#include "statistics.h"
#include "store.h"

#include <stdio.h>

#define FINDING_SWEEP_NAME    "high-cpu"
#define REPRODUCTION_RATE_RPS 2000 /* of the paced part that is compared */

/* Prints tables, ratios and the paragraph. The set must be that of the sweep. */
void reproduction_print(const struct store_sweep *sweep, const struct result_set *set, FILE *out);

/* ---- parts, for the paragraph (reproduction_text.c) ---- */

/* The cell of a setting, as written; NULL if it was not measured. mode: "closed" or "paced" (then of rate_rps). */
const struct cell *reproduction_find(const struct cell_set *cells, const char *mode, double rate_rps,
                                     const char *max_workers, const char *spin_limit);

/* The A/A spread of a number over some cells (NULLs are left out); NaN where a cell has too few repeats. disturbed_too:
 * nothing is rejected. */
double reproduction_spread(const struct cell *const *cells, size_t count, const char *name, bool disturbed_too);

/* The interval of a number of a cell as reproduction_interval writes it; with "~" in front when every valid repeat was
 * disturbed, and then over those. */
void reproduction_cell(const struct cell *cell, const char *name, int digits, char *out, size_t size);

/* "25.1 [24.0, 26.3]" for an interval, "25.1 (24.0 to 26.3)" for a range, "-" without values. size >= 64. */
void reproduction_interval(const struct interval *interval, int digits, char *out, size_t size);

/* The conditional text. */
void reproduction_print_text(const struct published_figures *published, const struct cell_set *cells, FILE *out);

/* Prints text wrapped at 100 columns. */
void reproduction_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
