/* SPDX-License-Identifier: MIT
 *
 * Control of the preloaded library (preload.c). A program declares these weak: they are NULL when it is not preloaded.
 */
#ifndef PILFER_TESTS_FAULT_PRELOAD_H
#define PILFER_TESTS_FAULT_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

/* What is to fail from now on; counts begin anew. All zero: nothing. */
struct fault_plan {
    uint64_t allocation; /* the n-th allocation of the process */
    uint64_t thread;     /* the k-th pthread_create */
    bool following;      /* and all later ones */
    int error;           /* what pthread_create answers: EAGAIN or ENOMEM */
};

void fault_arm(const struct fault_plan *plan);

/* Calls that have failed since fault_arm. */
uint64_t fault_hits(void);

/* Blocks alive that the program itself, not a library, has asked for. */
int64_t fault_live(void);

#endif
