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
 * Difference to the source. Promised wakes are counted in 16 bits, where the original has eight, which stop at 255.
 *
 * Parking on condition variables. Which way a pool's workers park, the scheduler's tunable park-on-conditions says,
 * under every idle policy on this semaphore; without such a tunable the policy does (semaphore_configure). .NET 8 on
 * Unix parks each thread on a mutex and a condition variable of its own, and keeps its stack of waiters under one lock
 * of the process. Here the lock is the semaphore's own, the mutex is a lock of lock.h, which pauses up to 20 times
 * before it parks, and the condition variable is the simplest that there is: a sequence number that a signal raises and
 * a futex on it. What this shows: a signal holds the mutex while it wakes, so the woken thread may meet it and park a
 * second time. What it cannot show: other parts of the process that take the same lock (each wait handle and each
 * monitor of the program), the C library's own condition variable (two groups of waiters, a lock inside) and the checks
 * around it (thread states, alertable waits).
 *
 * In the books a wake-up is one park and one wake sent either way. The time that a signal takes counts as wake, with
 * the mutex; what a meeting at the mutex costs beyond that, the waiter's second park and the wake that ends it, is in
 * the times of park and wake and in what the kernel counts, not in those two counters.
 *
 * Source. dotnet/runtime 8.0, LowLevelLifoSemaphore, and the permit count of the CoreCLR Unix semaphore; its waits:
 * coreclr/pal, synchmgr.
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
    struct shared_u32 word;         /* 1: parked, 0: woken; set by it, cleared by who popped it or at its deadline */
    /* In the place of the word's futex, where the semaphore parks on condition variables: */
    struct lock mutex;          /* of the word's clearing and of sequence, once the waiter is off the stack */
    struct shared_u32 sequence; /* of the condition variable: each signal adds 1, under the mutex */
};

/* Zeroed memory is a semaphore without signals. */
struct semaphore {
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 word; /* four counts of 16 bits; any thread, CAS; @P semaphore.1 */
    /* Read by spinners at each step, beside the word: */
    struct shared_u32 stopped; /* written once by stop */
    bool pauses_only;          /* a step that would yield pauses instead; set before any worker */
    bool parks_on_conditions;  /* set before any worker */
    _Alignas(CACHE_LINE_SIZE) struct lock lock;
    struct semaphore_waiter *top; /* under lock */
    uint32_t permits;             /* under lock */
};

/* Reads the scheduler's tunables spin-yields and park-on-conditions; where it has none it yields, and parks as the
 * caller says. Before any worker. */
void semaphore_configure(struct semaphore *semaphore, const struct pool *pool, bool parks_on_conditions);

/* Adds one signal; any thread; self as in idle_policy.submitted. */
void semaphore_release(struct semaphore *semaphore, struct pool *pool, struct worker *self);

enum semaphore_result { SEMAPHORE_TOOK, SEMAPHORE_STOPPED, SEMAPHORE_TIMED_OUT };

/* Waits for a signal, with steps back-off steps before parking; deadline_ns as in platform_park. The one that has been
 * parked longest lies at the bottom, and times out first. */
enum semaphore_result semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                     struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns);

/* Lets every wait return SEMAPHORE_STOPPED, now and from now on. Its wakes are not counted. Any thread, once. */
void semaphore_stop(struct semaphore *semaphore);

#endif
