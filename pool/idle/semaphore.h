/* SPDX-License-Identifier: MIT
 *
 * The LIFO semaphore on which idle workers wait: spinners first, then the most recently parked.
 *
 * How it works. One word {signals, waiters, spinners, promised}. A release adds a signal and, in the same CAS, decides
 * how many parked workers must be woken for it: none while there are spinners enough to take the signals. A worker
 * first takes a signal if there is one, else registers as a spinner and runs through its steps, else registers as a
 * waiter and parks. Parked workers lie on a stack under a lock, so that the one whose caches are warmest comes back
 * first; a wake that finds the stack still empty (the waiter has registered but not yet lain down) leaves a permit
 * instead.
 *
 * A woken worker may find its signal gone to a spinner: it parks again (counted as a wake lost).
 *
 * Source. dotnet/runtime 8.0, LowLevelLifoSemaphore, and the permit count of the CoreCLR Unix semaphore.
 *
 * Labels
 *   @P semaphore.1  release -> taker of the signal: what was published before the release
 */
#ifndef PILFER_POOL_IDLE_SEMAPHORE_H
#define PILFER_POOL_IDLE_SEMAPHORE_H

#include "lock.h"
#include "scheduler.h"

/* A parked worker; lives in its worker's idle state. */
struct semaphore_waiter {
    struct semaphore_waiter *below; /* under the semaphore's lock */
    struct shared_u32 word;         /* 1: parked, 0: woken; written by both under the lock, read by the waiter */
};

/* Zeroed memory is a semaphore without signals. */
struct semaphore {
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 word; /* four counts of 16 bits; any thread, CAS; @P semaphore.1 */
    struct shared_u32 stopped;                        /* written once by stop */
    _Alignas(CACHE_LINE_SIZE) struct lock lock;
    struct semaphore_waiter *top; /* under lock */
    uint32_t permits;             /* under lock */
};

/* Adds one signal; any thread; self as in idle_policy.submitted. */
void semaphore_release(struct semaphore *semaphore, struct pool *pool, struct worker *self);

enum semaphore_result { SEMAPHORE_TOOK, SEMAPHORE_STOPPED, SEMAPHORE_TIMED_OUT };

/* Waits for a signal, with steps back-off steps before parking; deadline_ns as in platform_park. The one that has been
 * parked longest lies at the bottom, and times out first. */
enum semaphore_result semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                     struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns);

/* Lets every wait return false, now and from now on. Any thread, once. */
void semaphore_stop(struct semaphore *semaphore, struct pool *pool);

#endif
