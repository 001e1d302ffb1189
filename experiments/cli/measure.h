/* SPDX-License-Identifier: MIT
 *
 * From an invocation to a measured sweep: what `run`, `sweep` and `reproduce` have in common.
 */
#ifndef PILFER_EXPERIMENTS_CLI_MEASURE_H
#define PILFER_EXPERIMENTS_CLI_MEASURE_H

#include "options.h"
#include "runner/sweep.h"

/* Applies --quick, --repeats, parameter options and --set to a specification, in this order; a key that is given both
 * ways with different values is refused. 0, or -1 after complaints. */
int measure_override(const struct invocation *invocation, struct specification *specification);

/* Target files are read, and their faults and those of a command told, before anything is planned. EXIT_DONE;
 * EXIT_USAGE; EXIT_SURROUNDINGS after a line when no target is here that was asked for. measure() begins with it. */
int measure_check_targets(const struct specification *specification);

/* Plans and measures, or with --show-plan prints the plan on standard output and measures nothing. *sweep_id is 0 when
 * no sweep was begun or continued. extra: never `last`. Returns an exit status. */
int measure(const struct invocation *invocation, const struct specification *specification, bool extra,
            int64_t *sweep_id);

/* The command that continues this invocation, quoted for the shell. out holds size bytes. */
void measure_again(const struct invocation *invocation, char *out, size_t size);

#endif
