/* SPDX-License-Identifier: MIT
 *
 * Which parameters of a configuration have an effect, and what their values mean.
 *
 * A parameter without effect (a knob that the scheduler lacks, the rate of a closed loop, a parameter of another
 * workload) is part of no cell's identity and stands in no column.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_EFFECT_H
#define PILFER_EXPERIMENTS_RUNNER_EFFECT_H

#include "cli/parameters.h"
#include "results.h"

/* The key of the parameter whose value leaves this one without effect ("mode" for the rate of a closed loop), or NULL
 * when it has an effect. parameter: by index in the table. resolved comes from cell_resolve (an idle policy that does
 * not spin has no spin limit), or is NULL when that is not known yet. Any thread. */
const char *effect_taken_by(const struct configuration *configuration, uint32_t parameter,
                            const struct result *resolved);

/* The value in effect: that of resolved where the configuration says "default", else the text itself. out holds
 * PARAMETER_TEXT_SIZE bytes. */
void effect_value(const struct configuration *configuration, uint32_t parameter, const struct result *resolved,
                  char *out);

#endif
