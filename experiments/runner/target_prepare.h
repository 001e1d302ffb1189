/* SPDX-License-Identifier: MIT
 *
 * Making a target ready to be started: it is built, and asked for its version, once in a program's life; and what it is
 * started with.
 *
 * How it works. The commands of the target's file run below a keeper (foreign_command.h), without standard input, under
 * a time limit; what they leave behind is killed. What the build writes goes to build.log in the target's build folder,
 * up to a limit.
 *
 * A target sees PATH, HOME, USER, LOGNAME, TMPDIR, what its file passes on, and [environment]; nothing else of the
 * person's environment, so that no variable there can change a result.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_TARGET_PREPARE_H
#define PILFER_EXPERIMENTS_RUNNER_TARGET_PREPARE_H

#include "runner/cell.h"
#include "runner/target.h"

#define TARGET_BUILD_LIMIT_S   600
#define TARGET_VERSION_LIMIT_S 20
#define TARGET_LOG_MAX         (8 << 20)

/* Builds the target if its file says how, and asks for its version. CELL_MEASURED: it can be started (at once, when it
 * was prepared before); CELL_SURROUNDINGS with one line in message (CELL_MESSAGE_SIZE bytes); CELL_INTERRUPTED. */
enum cell_status target_prepare(struct target_use *use, const volatile int *stop, char *message);

/* Asks for the version alone; false when the target cannot say (it is not built), or *stop was set (stop may be NULL).
 */
bool target_ask_version(struct target_use *use, const volatile int *stop);

/* The variables of [environment] and those passed on, as for an exec; command_words_free frees them. */
char **target_environment(const struct target_use *use, const struct placeholder_values *values);

#endif
