/* SPDX-License-Identifier: MIT
 *
 * The one number of the models that is set: what their work items cost, in percent of the published estimates.
 *
 * How it works. A set holds repeats of one setting: of the real runtime (a target), and of one model at two costs. CPU
 * per request of the model is a line over the cost; where it meets that of the runtime is the cost to use.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FIDELITY_COSTS_H
#define PILFER_EXPERIMENTS_CLI_FIDELITY_COSTS_H

#include "results.h"

#include <stdbool.h>

/* The settings between which the line is drawn, as a sweep's values, and how many they are. */
#define FIDELITY_COSTS       "0,100"
#define FIDELITY_COSTS_TRIED 2

/* The highest cost that a cell may have. */
#define FIDELITY_COST_MAX 1000

/* NaN unless there are one cell of a target and two of one model, each with a valid repeat, and the line rises and
 * meets the target's CPU per request at FIDELITY_COST_MAX or below; 0 where the model takes more at any cost. */
double fidelity_costs_find(const struct result_set *set);

/* Whether that stands on disturbed repeats, in all three cells: one of them has no others. */
bool fidelity_costs_are_disturbed(const struct result_set *set);

/* Tells on standard error which number was set, and from what, with its mode and rate; or, for NaN, that it cannot be.
 */
void fidelity_costs_say(const struct result_set *set, double cost);

#endif
