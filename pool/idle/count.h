/* SPDX-License-Identifier: MIT
 *
 * A count that any thread raises and that is taken down to zero, one at a time: requests, permits, promises.
 */
#ifndef PILFER_POOL_IDLE_COUNT_H
#define PILFER_POOL_IDLE_COUNT_H

#include "ordered.h"

/* Takes one away if there is one. Any thread. */
static inline bool count_take(struct shared_u32 *count)
{
    uint32_t left = shared_u32_load_relaxed(count); /* re-checked by CAS; what it misses, the callers look for again */
    while (left > 0)
        /* @P dotnet_workers.1: the turn clears the flag after it was set; before, it would stay set for nobody. For
         * unfair-semaphore relaxed would do: its counts are exposed by @P unfair.1 and ordered by fence @F unfair.1. */
        if (shared_u32_cas_acquire(count, &left, left - 1))
            return true;
    return false;
}

#endif
