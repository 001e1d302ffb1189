/* SPDX-License-Identifier: MIT
 *
 * Idle policy dotnet-11-handshake: the requests and the waiting of the .NET 11 thread pool, as of mid-2026.
 *
 * How it works. One flag says that a worker was requested. An enqueue looks at it and sets it if it is clear; who sets
 * it engages a worker and gives the semaphore a signal, or, with the goal reached, says so in the word `saturated`. A
 * worker clears the flag when its turn begins. With its first task in hand it requests another worker only on evidence:
 * if it sees more work in the queues. So an isolated task releases one worker. A worker that leaves while `saturated`
 * is set clears it and begins another turn instead.
 *
 * The semaphore is that of dotnet_11_semaphore.h; the spin limit is its budget in pauses, 256. A worker parks without
 * spinning when the sizing policy has stopped it, and after a turn that ran nothing while more than two thirds of P are
 * engaged.
 *
 * Differences to the source. There the flag is looked at before a turn begins, and a worker that finds it clear leaves;
 * here a worker that was released has a turn in any case. `saturated` is a bit of the counts word there. The
 * hill-climbing policy is told of each task, there once in 30 ms. Workers park on a futex, whatever the scheduler's
 * tunable park-on-conditions says, and do not yield while they spin.
 *
 * Good at   Few tasks: one wake-up each, and a tenth of the spinning of .NET 8.
 * Bad at    Two threads that hand one task to and fro (dotnet/runtime#132943, #132951, #132952).
 *
 * Labels
 *   @P dotnet_11.1  a request that found the goal reached -> who answers it: the flag is set
 *   @F dotnet_11.1  publish the task, then read the flag   |  clear the flag, then read the queues
 *   @F dotnet_11.2  say saturated, then read the counts    |  leave the counts, then read saturated
 *
 * Source. dotnet/runtime, main of mid-2026: ThreadPoolWorkQueue (Dispatch), PortableThreadPool.WorkerThread
 * (WorkerDoWork, MaybeAddWorkingWorker, TryRemoveWorkingWorker), ThreadCounts; #122726, #132765.
 */
#include "idle/dotnet_11_semaphore.h"
#include "idle/idle_timeout.h"

enum { SPIN_LIMIT = 256 };

struct handshake_11 {
    struct dotnet_11_semaphore semaphore;
    uint64_t idle_timeout_ns; /* constant */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 requested; /* 0 or 1; submitters set, turns clear; @F dotnet_11.1 */
    struct shared_u32 saturated; /* 1: a request found the goal reached; cleared by who leaves; @F dotnet_11.2 */
};

struct handshake_11_worker {
    struct dotnet_11_waiter waiter;
    bool ran_none; /* this turn */
    bool parks;    /* the next wait does not spin */
};

static int dotnet_11_init(struct pool *pool)
{
    struct handshake_11 *dotnet = pool->idle_state;
    dotnet->idle_timeout_ns = idle_timeout_ns(pool);
    return 0;
}

/* Engages and releases one more worker, if the goal allows it. The signal first, then the thread. */
static void add_worker(struct pool *pool, struct worker *self)
{
    struct handshake_11 *dotnet = pool->idle_state;
    enum pool_engaged engaged = pool_engage_first(pool);
    if (engaged == POOL_FULL) {
        /* @P dotnet_11.1: the flag was set before. A read-modify-write here and there: either this one stays, or who
         * clears it clears the flag after it was set, and not before (it would stay set, with nobody to come). */
        shared_u32_exchange_release(&dotnet->saturated, 1);
        /* @F dotnet_11.2: saturated is said, then the counts are read: else the last worker could leave in between. */
        ordered_fence_seq_cst();
        engaged = pool_engage_first(pool);
    }
    if (engaged == POOL_FULL)
        return;
    pool_count(pool, self, COUNTER_releases, 1);
    dotnet_11_semaphore_release(&dotnet->semaphore, pool, self);
    if (engaged == POOL_NEEDS_THREAD)
        pool_start_thread(pool, self);
}

static void ensure_requested(struct pool *pool, struct worker *self)
{
    struct handshake_11 *dotnet = pool->idle_state;
    /* relaxed, both: ordered by the caller's fence @F dotnet_11.1; the load is re-checked by the exchange. */
    if (shared_u32_load_relaxed(&dotnet->requested) != 0 || shared_u32_exchange_relaxed(&dotnet->requested, 1) != 0) {
        pool_count(pool, self, COUNTER_requests_merged, 1);
        return;
    }
    pool_count(pool, self, COUNTER_worker_requests, 1);
    add_worker(pool, self);
    if (pool->sizing->requested != NULL)
        pool->sizing->requested(pool, self);
}

static void dotnet_11_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)wakes; /* one request at a time; a turn that sees more asks for the next */
    /* Partner of @F pool.2 as well (a worker that blocks). @F dotnet_11.1: the task is published, then the flag is
     * read. */
    ordered_fence_seq_cst();
    ensure_requested(pool, self);
}

static void dotnet_11_dispatch_begin(struct worker *worker)
{
    struct handshake_11 *dotnet = worker->pool->idle_state;
    struct handshake_11_worker *own = worker->idle_state;
    own->ran_none = true;
    shared_u32_store_relaxed(&dotnet->requested, 0); /* ordered by fence @F dotnet_11.1 */
    /* @F dotnet_11.1: the flag is cleared, then the queues are read. @F dotnet_queues.2: so are head and tail of a
     * deque whose thief has given its place back and found a request outstanding. */
    ordered_fence_seq_cst();
}

static void dotnet_11_got_first(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct handshake_11_worker *own = worker->idle_state;
    own->ran_none = false;
    /* The look is after the fence of dispatch_begin: what it misses finds the flag clear. */
    if (pool->scheduler->pending(pool))
        ensure_requested(pool, worker);
}

/* The calling worker stays engaged, and its next turn answers the request that found the goal reached. */
static void answer_saturated(struct handshake_11 *dotnet)
{
    /* @P dotnet_11.1: relies on the flag being set; see add_worker. */
    shared_u32_exchange_acquire(&dotnet->saturated, 0);
}

/* Whether a worker that has run nothing should park at once: others enough can take what comes next. */
static bool is_crowded(const struct pool *pool)
{
    return pool_numbers(pool).engaged > pool->processors * 2 / 3;
}

static bool dotnet_11_found_nothing(struct worker *worker, bool missed)
{
    struct pool *pool = worker->pool;
    struct handshake_11 *dotnet = pool->idle_state;
    struct handshake_11_worker *own = worker->idle_state;
    if (missed)
        ensure_requested(pool, worker); /* a steal that gave its place back has a fence behind that */
    if (shared_u32_load_relaxed(&dotnet->saturated) != 0) { /* a hint; looked at again below */
        answer_saturated(dotnet);
        return true;
    }
    pool_disengage(worker);
    /* @F dotnet_11.2: the counts were left (a full read-modify-write), then saturated is read. */
    ordered_fence_seq_cst();
    if (shared_u32_load_relaxed(&dotnet->saturated) != 0 && pool_engage_self(worker)) { /* ordered by fence */
        answer_saturated(dotnet);
        return true;
    }
    own->parks = own->ran_none && is_crowded(pool);
    return false;
}

static bool dotnet_11_wait(struct worker *worker)
{
    struct handshake_11 *dotnet = worker->pool->idle_state;
    struct handshake_11_worker *own = worker->idle_state;
    for (;;) {
        uint32_t budget = own->parks ? 0 : worker->pool->spin_limit;
        uint64_t deadline_ns = idle_deadline(dotnet->idle_timeout_ns);
        enum semaphore_result result =
            dotnet_11_semaphore_wait(&dotnet->semaphore, worker, &own->waiter, budget, deadline_ns);
        own->parks = false;
        if (result == SEMAPHORE_TOOK)
            return true;
        if (result == SEMAPHORE_STOPPED || pool_retire(worker))
            return false;
    }
}

static void dotnet_11_stopped(struct worker *worker)
{
    struct handshake_11_worker *own = worker->idle_state;
    own->parks = true;
}

static void dotnet_11_release(struct pool *pool, struct worker *self)
{
    struct handshake_11 *dotnet = pool->idle_state;
    pool_count(pool, self, COUNTER_releases, 1);
    dotnet_11_semaphore_release(&dotnet->semaphore, pool, self);
}

static void dotnet_11_stop(struct pool *pool)
{
    struct handshake_11 *dotnet = pool->idle_state;
    dotnet_11_semaphore_stop(&dotnet->semaphore);
}

static uint32_t dotnet_11_requests(struct pool *pool)
{
    struct handshake_11 *dotnet = pool->idle_state;
    /* seq_cst: read after a raised goal, where a request reads the goal behind fence @F dotnet_11.2. */
    return shared_u32_load_seq_cst(&dotnet->requested);
}

const struct idle_policy idle_dotnet_11_handshake = {
    .name = "dotnet-11-handshake",
    .summary = "as .NET 11: a worker is requested if more work is seen; a short spin",
    .spins = true,
    .spin_limit = SPIN_LIMIT,
    .pool_state_size = sizeof(struct handshake_11),
    .worker_state_size = sizeof(struct handshake_11_worker),
    .init = dotnet_11_init,
    .submitted = dotnet_11_submitted,
    .dispatch_begin = dotnet_11_dispatch_begin,
    .got_first = dotnet_11_got_first,
    .found_nothing = dotnet_11_found_nothing,
    .wait = dotnet_11_wait,
    .stopped = dotnet_11_stopped,
    .release = dotnet_11_release,
    .stop = dotnet_11_stop,
    .requests = dotnet_11_requests,
    .add_worker = add_worker,
};
