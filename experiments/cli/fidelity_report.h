/* SPDX-License-Identifier: MIT
 *
 * The report of the sweep `fidelity`: models of a runtime's pool beside the runtime itself.
 *
 * How it works. Item costs of a model are estimates, so CPU per request is told as the ratio to the same executor's
 * cell with one worker and spin limit 0, in the same mode. Models are held against the real runtime by the rank
 * correlation of the settings, beside its noise ceiling (the runtime's odd repeats against its even ones; with half the
 * repeats in each, a low estimate), and by the factor between the two ratios. What stands on disturbed repeats alone is
 * marked, and so is what could not wait for steady CPU.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FIDELITY_REPORT_H
#define PILFER_EXPERIMENTS_CLI_FIDELITY_REPORT_H

#include "results.h"

#include <stddef.h>
#include <stdio.h>

/* What a model is aimed at. */
#define FIDELITY_CEILING_SHARE 0.9 /* rank correlation, of the noise ceiling */
#define FIDELITY_FACTOR        1.5 /* between the ratios of model and runtime, paced */

/* Prints tables and what follows from them. The set must be that of one sweep. origin says where the models' item costs
 * come from ("as given", say). Returns how many settings of models have a ratio beside the real one, the base not
 * counted. */
size_t fidelity_report_print(const struct result_set *set, const char *origin, FILE *out);

#endif
