/* SPDX-License-Identifier: MIT
 *
 * `pilfer reproduce --fidelity`: models of a runtime's pool held against the runtime itself.
 *
 * How it works. Work items of the models cost what is estimated for the original, times item-cost-percent. That one
 * number is set from one cell alone, of one worker and spin limit 0, in the mode and at the rate that come first in the
 * sweep's part `paced` (a --set of mode or rate changes them; both are told): a small sweep of its own,
 * `fidelity-costs`, measures the real runtime there and the first model at two costs, and the line through the two
 * gives the cost at which the model would take what the runtime takes. The sweep `fidelity` then runs with it. A person
 * who gives item-cost-percent is taken at their word, and nothing is set.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FIDELITY_H
#define PILFER_EXPERIMENTS_CLI_FIDELITY_H

#include "options.h"
#include "store_option.h"

#define FIDELITY_SWEEP_NAME "fidelity"

/* Sets the costs, measures, reports and draws. Returns an exit status. */
int fidelity_reproduce(const struct invocation *invocation);

/* Prints the comparison of a stored sweep of that name, with where its item costs come from. Returns an exit status. */
int fidelity_print(const struct invocation *invocation, const struct stored_sweep *stored);

#endif
