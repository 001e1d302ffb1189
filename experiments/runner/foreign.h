/* SPDX-License-Identifier: MIT
 *
 * Programs of others, from the lines of a target's file: what every process of them starts with.
 *
 * How it works. Called behind a fork. The process leads a group of its own, has no input but the null device, writes to
 * one descriptor and knows no other, leaves no core files, and is killed by the kernel when its parent dies.
 *
 * Limits that are not set, as they would change what is measured or do not mean what is wanted: targets/README.md, in
 * the folder above.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_FOREIGN_H
#define PILFER_EXPERIMENTS_RUNNER_FOREIGN_H

#include <stdint.h>
#include <sys/types.h>

struct foreign_options {
    int output;   /* where it writes */
    pid_t parent; /* who has forked */
    uint64_t
        cpu_limit_s; /* CPU seconds after which the kernel ends it; as its parent's if that has less, or this is 0 */
};

/* Becomes the program words[0], found on PATH; says on its output why it cannot, and leaves with 127. */
_Noreturn void foreign_become(char *const *words, char *const *environment, const struct foreign_options *options);

#endif
