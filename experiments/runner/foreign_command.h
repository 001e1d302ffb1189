/* SPDX-License-Identifier: MIT
 *
 * Commands of a target's file that come to an end: its build, and the question for its version.
 *
 * How it works. Between this program and a command stands a keeper, a fork of this program, to which the orphans below
 * it are given. It kills all that descends from the command when that has ended, when it is told to, and when this
 * program is gone, by kill -9 too: the last two are the end of a pipe. It has the locks that this program holds, which
 * are free again when it has ended, and so when nothing of the command is left.
 *
 * What the command writes is read here to its end, so that it never waits for a reader, and given to whoever asked,
 * who says how much of it is kept.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_FOREIGN_COMMAND_H
#define PILFER_EXPERIMENTS_RUNNER_FOREIGN_COMMAND_H

#include <stddef.h>

struct foreign_command {
    const char *name; /* in messages */
    char *const *words, *const *environment;
    double limit_s;
    const volatile int *stop; /* ends it once it is set; NULL: nothing does */
    void (*take)(void *context, const char *bytes, size_t count);
    void *context; /* of take */
};

enum command_outcome { COMMAND_DONE, COMMAND_FAILED, COMMAND_LATE, COMMAND_INTERRUPTED };

/* Runs it to its end, and says on standard error if something of it is left. */
enum command_outcome foreign_command_run(const struct foreign_command *command);

#endif
