/* SPDX-License-Identifier: MIT
 *
 * The LIFO semaphore of the .NET 11 thread pool: a short spin without yields, one wake in flight.
 *
 * How it works. One word {signals, waiters, waking}. A release adds a signal, and wakes a waiter if there is one, a
 * signal for it, and no other one on its way. A worker takes a signal if there is one; else it spins in a back-off that
 * doubles, with some chance in it, until its budget is used up: `budget` pauses of about 35 ns together, none on one
 * processor. Spinners are not counted, so a release with a spinner present may wake a waiter as well. Then it registers
 * as a waiter, gives way once, and lies down on a stack. Awake again it waits until 4 us have passed since it
 * registered (a wake that comes at once is slowed down), and takes a signal or lies down once more.
 *
 * A waker does not wait for the lock of the stack: it adds to `wakes`, and if the lock is held, the holder sees that
 * when it lets go.
 *
 * Difference to the source. There a worker that comes back awake leaves further signals to spinners and to the requests
 * that it makes. Here a signal stands for a worker that is counted as engaged, so it looks whether one is left, and
 * wakes the next. Threads are not made batch threads while they are parked. The longer spin of dotnet/runtime#132765 is
 * a matter of the spin limit.
 *
 * Source. dotnet/runtime, main of mid-2026, LowLevelLifoSemaphore (#123921, #128606) and Backoff.
 *
 * Labels
 *   @P dotnet_11_semaphore.1  release -> taker of the signal: what was published before the release
 *   @P dotnet_11_semaphore.2  wake -> parked worker: its word
 *   @F dotnet_11_semaphore.1  add to wakes, then try the lock  |  let the lock go, then read wakes
 */
#ifndef PILFER_POOL_IDLE_DOTNET_11_SEMAPHORE_H
#define PILFER_POOL_IDLE_DOTNET_11_SEMAPHORE_H

#include "idle/semaphore.h"

/* A parked worker; lives in its worker's idle state. */
struct dotnet_11_waiter {
    struct dotnet_11_waiter *below; /* under the semaphore's lock */
    struct shared_u32 word;         /* 1: parked; set by it, cleared by who popped it; @P dotnet_11_semaphore.2 */
};

/* Zeroed memory is a semaphore without signals. */
struct dotnet_11_semaphore {
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 word; /* counts of 16 bits; any thread; @P dotnet_11_semaphore.1 */
    struct shared_u32 stopped;                        /* written once by stop */
    _Alignas(CACHE_LINE_SIZE) struct lock lock;
    struct dotnet_11_waiter *top; /* under lock */
    uint32_t permits;             /* wakes that found nobody lying; under lock */
    struct shared_u32 wakes;      /* asked for, not done; raised by any, lowered under lock; @F dotnet_11_semaphore.1 */
};

/* Adds one signal; any thread; self as in idle_policy.submitted. */
void dotnet_11_semaphore_release(struct dotnet_11_semaphore *semaphore, struct pool *pool, struct worker *self);

/* Waits for a signal; budget in pauses, 0: parks at once; deadline_ns as in platform_park. */
enum semaphore_result dotnet_11_semaphore_wait(struct dotnet_11_semaphore *semaphore, struct worker *worker,
                                               struct dotnet_11_waiter *waiter, uint32_t budget, uint64_t deadline_ns);

/* Lets every wait return, now and from now on. Any thread, once. */
void dotnet_11_semaphore_stop(struct dotnet_11_semaphore *semaphore);

#endif
