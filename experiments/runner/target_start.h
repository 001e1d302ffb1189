/* SPDX-License-Identifier: MIT
 *
 * What the runner tells the process that keeps a target (role_target.c): command, environment, ports.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_TARGET_START_H
#define PILFER_EXPERIMENTS_RUNNER_TARGET_START_H

#include "child.h"
#include "cli/parameters.h"
#include "runner/target.h"

/* Names of the lines: each with a number behind, from 0. */
#define TARGET_FACT_ARGUMENT "argument."
#define TARGET_FACT_VARIABLE "variable."

/* Chooses free ports of 127.0.0.1 and tells all. 0, or -errno when no port can be had. */
int target_send(const struct target_use *use, const struct configuration *configuration, struct child *child);

#endif
