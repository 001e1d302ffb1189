/* SPDX-License-Identifier: MIT
 *
 * One process of a cell, seen from the runner: started, told things, listened to, ended.
 *
 * How it works. The runner starts itself again (/proc/self/exe) as `pilfer role NAME`. Descriptor 3 of the child
 * carries the configuration and commands, descriptor 4 its report; all others but standard error are closed or the null
 * device. The child leads a process group of its own, so that a terminal's signals do not reach it, and is killed by
 * the kernel when the runner dies. It is ended by process id and group, never by name.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_CHILD_H
#define PILFER_EXPERIMENTS_RUNNER_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "report.h"

#define CHILD_COMMANDS 3 /* descriptors inside the child */
#define CHILD_REPORT   4

struct child {
    const char *role; /* static text */
    pid_t pid;        /* 0: not started, or ended and waited for */
    int commands;     /* our end of descriptor 3 */
    struct line_reader reader;
    struct report report;
    bool ready, done; /* it said so */
    bool keeps_tree;  /* what it started is ended with it */
    bool ended;
    int wait_status; /* of waitpid, once ended */
};

#define CHILDREN_MAX 3

/* All zero, nothing to free. */
void child_init(struct child *child, const char *role);

/* Starts the process. cpu_limit_s: CPU seconds after which the kernel ends it. Returns 0 or -errno. */
int child_start(struct child *child, uint64_t cpu_limit_s);

/* Sends one line: a key with its value, or a word alone (text NULL). False when the child no longer listens. */
bool child_send(struct child *child, const char *key, const char *text);

/* Waits until until_ns (monotonic clock) at most, or until one of the children has said or done something. Takes in
 * their lines and notices their ends. Returns true if something happened. A signal may end the wait early. */
bool children_listen(struct child *children, uint32_t count, uint64_t until_ns);

/* Kills the group, waits for the process and closes the descriptors; the report stays readable. No-op if not started.
 */
void child_end(struct child *child);
/* child_end, and frees the report. */
void child_fini(struct child *child);

/* How the process ended, in words: "killed by signal 11 (Segmentation fault)", with the limits behind it that this
 * program was started under, or "left with status 3". */
void child_fate(const struct child *child, char *text, size_t size);

#endif
