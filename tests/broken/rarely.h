/* SPDX-License-Identifier: MIT
 *
 * How often a fault shows: every so many times. In a run of the explorer, which ends after a few steps, every second.
 */
#ifndef PILFER_TESTS_BROKEN_RARELY_H
#define PILFER_TESTS_BROKEN_RARELY_H

#include "ordered.h"

static inline bool rarely(struct shared_u64 *times, uint64_t every)
{
#ifdef PILFER_EXPLORED
    every = 2;
#endif
    return shared_u64_add_relaxed(times, 1) % every == every - 1; /* counter only */
}

#endif
