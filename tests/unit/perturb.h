/* SPDX-License-Identifier: MIT
 *
 * Perturbation: before one in sixteen ordered operations the thread gives its CPU away.
 *
 * Put before the first line of every source of a test program (-include), it makes two threads meet within a few
 * instructions of each other thousands of times a second, also on one CPU, where that otherwise happens by chance. It
 * finds lost compare-and-swaps, not missing fences: giving the CPU away is a fence.
 */
#ifndef PILFER_TESTS_UNIT_PERTURB_H
#define PILFER_TESTS_UNIT_PERTURB_H

#include "ordered.h"
#include "platform.h"

static inline void perturb(void)
{
    static _Thread_local uint64_t state;
    if (state == 0)
        state = (uint64_t)(uintptr_t)&state | 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (state >> 60 == 0)
        platform_yield();
}

/* A macro's own name inside it means the function. */
#define shared_u32_load_acquire(shared)                (perturb(), shared_u32_load_acquire(shared))
#define shared_u64_load_acquire(shared)                (perturb(), shared_u64_load_acquire(shared))
#define shared_i64_load_acquire(shared)                (perturb(), shared_i64_load_acquire(shared))
#define shared_i64_load_relaxed(shared)                (perturb(), shared_i64_load_relaxed(shared))
#define shared_ptr_load_acquire(shared)                (perturb(), shared_ptr_load_acquire(shared))
#define shared_ptr_load_relaxed(shared)                (perturb(), shared_ptr_load_relaxed(shared))
#define shared_u32_store_release(shared, value)        (perturb(), shared_u32_store_release(shared, value))
#define shared_u64_store_release(shared, value)        (perturb(), shared_u64_store_release(shared, value))
#define shared_i64_store_release(shared, value)        (perturb(), shared_i64_store_release(shared, value))
#define shared_i64_store_relaxed(shared, value)        (perturb(), shared_i64_store_relaxed(shared, value))
#define shared_u32_cas_relaxed(shared, expected, next) (perturb(), shared_u32_cas_relaxed(shared, expected, next))
#define shared_u64_cas_acq_rel(shared, expected, next) (perturb(), shared_u64_cas_acq_rel(shared, expected, next))
#define shared_i64_cas_seq_cst(shared, expected, next) (perturb(), shared_i64_cas_seq_cst(shared, expected, next))

#endif
