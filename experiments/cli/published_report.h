/* SPDX-License-Identifier: MIT
 *
 * The report of the sweep `published`: the published rows, each with what was measured here for it.
 *
 * How it works. One table and one correlation for each label (executor_parts.h). There a row is found by the words of
 * its three knobs, `default` where the knob was not set; of several such cells it is the one with the row's own
 * min-workers, and none if that does not tell them apart. A row counts if a valid repeat of it is stored. Disturbed
 * repeats are left out where there are others, and marked where there are none.
 */
#ifndef PILFER_EXPERIMENTS_CLI_PUBLISHED_REPORT_H
#define PILFER_EXPERIMENTS_CLI_PUBLISHED_REPORT_H

#include "store.h"

#include <stdbool.h>
#include <stdio.h>

#define PUBLISHED_SWEEP_NAME "published"

/* Prints the tables and what belongs to them. The set must be that of the sweep. Returns the rows that count, in all
 * tables together. */
size_t published_report_print(const struct result_set *set, FILE *out);

/* Whether max-completion-threads was set in some row, and then why it changes nothing: a report has to say so. */
bool published_has_completion_threads(const struct result_set *set);
void published_say_completion_threads(FILE *out);

#endif
