/* SPDX-License-Identifier: MIT
 *
 * The report of the sweep `fidelity`: models of a runtime's pool beside the runtime itself.
 *
 * How it works. The cells fall into groups by mode and rate, and in each group every executor (the real runtime, a
 * target; each model, by its label) has a cell for each setting of max-workers and spin limit. Item costs of a model
 * are estimates, so CPU per request is told as the ratio to the same executor's cell with one worker and spin limit 0.
 * Models are held against the real runtime by the rank correlation of the settings, beside its noise ceiling, which is
 * the correlation of the real runtime's odd repeats with its even ones, and by the factor between the two ratios.
 *
 * Disturbed repeats are left out where a cell has others, and the figure is marked where it has none.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FIDELITY_REPORT_H
#define PILFER_EXPERIMENTS_CLI_FIDELITY_REPORT_H

#include "store.h"

#include <stddef.h>
#include <stdio.h>

#define FIDELITY_SWEEP_NAME "fidelity"

/* What a model is aimed at. */
#define FIDELITY_CEILING_SHARE 0.9 /* rank correlation, of the noise ceiling */
#define FIDELITY_FACTOR        1.5 /* between the ratios of model and runtime, paced */

/* Prints tables and what follows from them. The set must be that of one sweep, rows of a target among them. Returns how
 * many settings of models have a figure beside the real one. */
size_t fidelity_report_print(const struct result_set *set, FILE *out);

#endif
