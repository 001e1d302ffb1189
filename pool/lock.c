/* SPDX-License-Identifier: MIT
 *
 * The lock of lock.h.
 *
 * Labels: @P lock.1  unlock -> lock: what the last holder wrote under the lock is visible to the next one.
 */
#include "lock.h"

enum { FREE, HELD, CONTENDED };

/* Tries before parking; the explorer builds with 1. */
#ifndef LOCK_SPIN_PAUSES
#define LOCK_SPIN_PAUSES 20
#endif

void lock_lock(struct lock *lock)
{
    for (int i = 0; i < LOCK_SPIN_PAUSES; i++) {
        uint32_t expected = FREE;
        /* @P lock.1: relies on everything that the last holder wrote. */
        if (shared_u32_cas_acquire(&lock->word, &expected, HELD))
            return;
        platform_pause(1);
    }
    /* @P lock.1: as above. */
    while (shared_u32_exchange_acquire(&lock->word, CONTENDED) != FREE)
        platform_park(&lock->word, CONTENDED, PLATFORM_FOREVER);
}

void lock_unlock(struct lock *lock)
{
    /* @P lock.1: publishes everything written under the lock. */
    if (shared_u32_exchange_release(&lock->word, FREE) == CONTENDED)
        platform_wake(&lock->word, 1);
}
