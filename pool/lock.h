/* SPDX-License-Identifier: MIT
 *
 * A small lock on one word: 0 free, 1 held, 2 held and somebody may be parked.
 *
 * How it works. Spins a few pauses, then parks. Not recursive, not fair. Built on ordered.h and platform.h, so that the
 * other back ends see it.
 *
 * Source. Drepper, "Futexes are tricky", 2011, third mutex.
 */
#ifndef PILFER_POOL_LOCK_H
#define PILFER_POOL_LOCK_H

#include "platform.h"

struct lock {
    struct shared_u32 word; /* written by lockers and the holder; @P lock.1 */
};

/* Any thread; all zero bytes is an unlocked lock. */
void lock_lock(struct lock *lock);
bool lock_try(struct lock *lock); /* false: somebody holds it */
void lock_unlock(struct lock *lock);

#endif
