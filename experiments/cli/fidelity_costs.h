/* SPDX-License-Identifier: MIT
 *
 * The one number of the models that is set: what their work items cost, in percent of the published estimates.
 *
 * How it works. A set holds repeats of one setting: of the real runtime (a target), and of a model at two costs. CPU
 * per request of the model is a line over the cost; where it meets that of the runtime is the cost to use.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FIDELITY_COSTS_H
#define PILFER_EXPERIMENTS_CLI_FIDELITY_COSTS_H

#include "results.h"

/* NaN where a cell is missing or without a valid repeat; 0 where the model takes more than the runtime at any cost.
 * Disturbed repeats count only in a cell that has no others. */
double fidelity_costs_find(const struct result_set *set);

/* Tells on standard error which number was set, and from what. */
void fidelity_costs_say(const struct result_set *set, double cost);

#endif
