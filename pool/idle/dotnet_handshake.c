/* SPDX-License-Identifier: MIT
 *
 * Idle policy dotnet-handshake: the request handshake and the worker loop of the portable .NET 8 thread pool.
 *
 * How it works. Every enqueue tries to set the flag `outstanding`; who sets it makes one request: it raises `requests`
 * and, if fewer workers than the goal are engaged, engages one and gives the semaphore a signal. A worker that takes the
 * signal begins a turn only if it can take a request. At the start of the turn it clears the flag, before it looks into
 * any queue; with its first task in hand it makes the next request, whether or not there is more work. So one isolated
 * task releases two workers. A worker that found nothing asks again only after a missed steal; then it stops being
 * counted, and looks at `requests` once more.
 *
 * With the goal reached a request is recorded and nobody is released: one worker at max 1 drains everything.
 *
 * A worker that has been idle for idle-timeout-ms ends its thread, unless as many are promised as exist. One that the
 * sizing policy has stopped waits without spinning next.
 *
 * Differences to the source. The flag and the counts are sequentially consistent where the original uses interlocked
 * operations; a worker's wait goes through the user-space semaphore of semaphore.h and a futex, where .NET 8 on Unix has
 * a mutex and a condition variable per thread under one process-wide lock.
 *
 * Worst case. As lifo-semaphore: an isolated task wakes two workers, and a socket event, which is two tasks there, three.
 *
 * Labels
 *   @F handshake.1  publish the task, then try the flag    |  clear the flag, then read the queues
 *   @F handshake.2  raise requests, then read the counts   |  leave the counts, then read requests
 *
 * Source. dotnet/runtime 8.0: ThreadPoolWorkQueue (EnsureThreadRequested, MarkThreadRequestSatisfied, Dispatch) and
 * PortableThreadPool.WorkerThread (WorkerThreadStart, WorkerDoWork, MaybeAddWorkingWorker, TryRemoveWorkingWorker).
 */
#include "idle/semaphore.h"
#include "idle/spin.h"

/* PortableThreadPool.WorkerThread: the time after which an idle worker ends. */
enum { IDLE_TIMEOUT_MS_DEFAULT = 20000 };
#define NS_PER_MS UINT64_C(1000000)

struct dotnet {
    struct semaphore semaphore;
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 outstanding; /* 0 or 1; submitters CAS, workers clear; @F handshake.1 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 requests;    /* raised by who set the flag, taken by a turn; @F handshake.2 */
};

struct dotnet_worker {
    struct semaphore_waiter waiter;
    bool stopped; /* by the sizing policy: the next wait does not spin */
};

/* Engages and releases one more worker, if the goal allows it. The signal first, then the thread. */
static void maybe_add_worker(struct pool *pool, struct worker *self)
{
    struct dotnet *dotnet = pool->idle_state;
    enum pool_engaged engaged = pool_engage_first(pool);
    if (engaged == POOL_FULL)
        return;
    pool_count(pool, self, COUNTER_releases, 1);
    semaphore_release(&dotnet->semaphore, pool, self);
    if (engaged == POOL_NEEDS_THREAD)
        pool_start_thread(pool, self);
}

static void request_worker(struct pool *pool, struct worker *self)
{
    struct dotnet *dotnet = pool->idle_state;
    pool_count(pool, self, COUNTER_worker_requests, 1);
    shared_u32_add_seq_cst(&dotnet->requests, 1); /* @F handshake.2: before the counts are read (seq_cst as well) */
    maybe_add_worker(pool, self);
    if (pool->sizing->requested != NULL)
        pool->sizing->requested(pool, self);
}

static void ensure_requested(struct pool *pool, struct worker *self)
{
    struct dotnet *dotnet = pool->idle_state;
    uint32_t expected = 0;
    /* seq_cst: @F handshake.1; tried on every enqueue without a look before, as in the source. */
    if (shared_u32_cas_seq_cst(&dotnet->outstanding, &expected, 1))
        request_worker(pool, self);
    else
        pool_count(pool, self, COUNTER_requests_merged, 1);
}

static void dotnet_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)wakes; /* one request at a time; a turn asks for the next */
    /* Partner of @F pool.2 as well (a worker that blocks). @F handshake.1: the task is published, then the flag is tried. */
    ordered_fence_seq_cst();
    ensure_requested(pool, self);
}

static void dotnet_dispatch_begin(struct worker *worker)
{
    struct dotnet *dotnet = worker->pool->idle_state;
    shared_u32_store_relaxed(&dotnet->outstanding, 0); /* ordered by fence @F handshake.1 */
    /* @F handshake.1: the flag is cleared, then the queues are read. */
    ordered_fence_seq_cst();
}

static void dotnet_got_first(struct worker *worker)
{
    ensure_requested(worker->pool, worker);
}

/* Takes a request, which a turn answers. */
static bool take_request(struct dotnet *dotnet)
{
    uint32_t requests = shared_u32_load_seq_cst(&dotnet->requests); /* seq_cst: @F handshake.2 */
    while (requests > 0)
        if (shared_u32_cas_seq_cst(&dotnet->requests, &requests, requests - 1)) /* seq_cst: as the load */
            return true;
    return false;
}

/* Not engaged any more; a request that came while it was is not forgotten. */
static void leave(struct worker *worker)
{
    struct dotnet *dotnet = worker->pool->idle_state;
    pool_disengage(worker);
    /* @F handshake.2: the counts were left (a full read-modify-write), then the requests are read. */
    ordered_fence_seq_cst();
    if (shared_u32_load_seq_cst(&dotnet->requests) > 0)
        maybe_add_worker(worker->pool, worker);
}

static bool dotnet_found_nothing(struct worker *worker, bool missed)
{
    struct dotnet *dotnet = worker->pool->idle_state;
    if (missed)
        ensure_requested(worker->pool, worker);
    if (shared_u32_load_relaxed(&dotnet->requests) > 0) { /* a hint; leave() looks again */
        spin_between_turns(worker);
        if (take_request(dotnet))
            return true;
    }
    leave(worker);
    return false;
}

static uint64_t idle_deadline(const struct worker *worker)
{
    uint64_t timeout_ms = pool_setting(worker->pool, "idle-timeout-ms");
    return platform_now_ns() + (timeout_ms != 0 ? timeout_ms : IDLE_TIMEOUT_MS_DEFAULT) * NS_PER_MS;
}

static bool dotnet_wait(struct worker *worker)
{
    struct dotnet *dotnet = worker->pool->idle_state;
    struct dotnet_worker *own = worker->idle_state;
    for (;;) {
        uint32_t steps = own->stopped ? 0 : spin_steps(worker->pool);
        switch (semaphore_wait(&dotnet->semaphore, worker, &own->waiter, steps, idle_deadline(worker))) {
        case SEMAPHORE_STOPPED:
            return false;
        case SEMAPHORE_TIMED_OUT:
            if (pool_retire(worker))
                return false;
            continue; /* work is on its way */
        case SEMAPHORE_TOOK:
            break;
        }
        own->stopped = false;
        if (take_request(dotnet))
            return true;
        leave(worker);
    }
}

static void dotnet_stopped(struct worker *worker)
{
    struct dotnet_worker *own = worker->idle_state;
    own->stopped = true;
}

static void dotnet_release(struct pool *pool, struct worker *self)
{
    struct dotnet *dotnet = pool->idle_state;
    /* The released worker needs a request to begin its turn. seq_cst: as in request_worker. */
    shared_u32_add_seq_cst(&dotnet->requests, 1);
    pool_count(pool, self, COUNTER_releases, 1);
    semaphore_release(&dotnet->semaphore, pool, self);
}

static uint32_t dotnet_requests(struct pool *pool)
{
    struct dotnet *dotnet = pool->idle_state;
    return shared_u32_load_seq_cst(&dotnet->requests); /* seq_cst: as in take_request */
}

static void dotnet_stop(struct pool *pool)
{
    struct dotnet *dotnet = pool->idle_state;
    semaphore_stop(&dotnet->semaphore, pool);
}

const struct idle_policy idle_dotnet_handshake = {
    .name = "dotnet-handshake",
    .summary = "the handshake of .NET 8: one request at a time, renewed by the first task; spins, parks LIFO, retires",
    .spins = true,
    .pool_state_size = sizeof(struct dotnet),
    .worker_state_size = sizeof(struct dotnet_worker),
    .submitted = dotnet_submitted,
    .dispatch_begin = dotnet_dispatch_begin,
    .got_first = dotnet_got_first,
    .found_nothing = dotnet_found_nothing,
    .wait = dotnet_wait,
    .stopped = dotnet_stopped,
    .release = dotnet_release,
    .stop = dotnet_stop,
    .requests = dotnet_requests,
    .add_worker = maybe_add_worker,
};
