/* SPDX-License-Identifier: MIT
 *
 * The worker loop of the portable .NET thread pool, 8 and 9: requests that turns answer, a semaphore, leaving,
 * retiring.
 *
 * How it works. Somebody who wants a worker raises `requests` and, if fewer workers than the goal are engaged, engages
 * one and gives the semaphore a signal. A worker that takes the signal begins a turn only if it can take a request.
 * With the goal reached a request is recorded and nobody is released: the worker that leaves looks at `requests` once
 * more. Who asks for a worker, and when, is the policy's.
 *
 * A worker that has been idle for idle-timeout-ms ends its thread, unless as many are promised as exist. One that the
 * sizing policy has stopped waits without spinning next. Workers park on a mutex and a condition variable of their own,
 * as in .NET 8 on Unix, under every scheduler that does not say otherwise (park-on-conditions; semaphore.h says what is
 * simpler here).
 *
 * Differences to the source. The counts are sequentially consistent where the original uses interlocked operations. A
 * worker that is engaged for another reason than a request (the substitute of a task that waits; the end) does not take
 * one; the policy says what its turn does.
 *
 * Labels
 *   @P dotnet_workers.1  a request -> the turn that takes it: the policy's flag is set
 *   @F dotnet_workers.1  raise requests, then read the counts   |  leave the counts, then read requests
 *
 * Source. dotnet/runtime 8.0: PortableThreadPool (RequestWorker) and PortableThreadPool.WorkerThread
 * (WorkerThreadStart, WorkerDoWork, MaybeAddWorkingWorker, TryRemoveWorkingWorker).
 */
#ifndef PILFER_POOL_IDLE_DOTNET_WORKERS_H
#define PILFER_POOL_IDLE_DOTNET_WORKERS_H

#include "idle/semaphore.h"

/* First in the pool's idle state. */
struct dotnet_workers {
    struct semaphore semaphore;
    uint64_t idle_timeout_ns; /* constant */
    /* Raised by who wants a worker, taken by a turn. */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 requests; /* any thread; @F dotnet_workers.1 */
    struct shared_u32 extra; /* workers released without a request, whose turn has not begun; any thread, CAS */
};

/* First in the worker's idle state. */
struct handshake_worker {
    struct semaphore_waiter waiter;
    bool stopped;      /* by the sizing policy: the next wait does not spin */
    bool answers_none; /* the turn was not begun for a request */
};

/* Engages and releases one more worker, if the goal allows it, for a request that was made before. Any thread. */
void dotnet_workers_add(struct pool *pool, struct worker *self);

/* Makes a request. Any thread. */
void dotnet_workers_request(struct pool *pool, struct worker *self);

/* After a turn that found nothing more. True: it has taken a request and begins another turn; else it has left. */
bool dotnet_workers_again(struct worker *worker);

/* The callbacks of struct idle_policy. */
int dotnet_workers_init(struct pool *pool);
bool dotnet_workers_wait(struct worker *worker);
void dotnet_workers_stopped(struct worker *worker);
void dotnet_workers_release(struct pool *pool, struct worker *self);
void dotnet_workers_stop(struct pool *pool);
uint32_t dotnet_workers_requests(struct pool *pool);

#endif
