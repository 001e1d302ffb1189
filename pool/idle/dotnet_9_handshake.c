/* SPDX-License-Identifier: MIT
 *
 * Idle policy dotnet-9-handshake: the three stages of the .NET 9 thread pool, over the worker loop of .NET 8
 * (dotnet_workers.h).
 *
 * How it works. The stage says whether somebody is coming to look: not scheduled, scheduled (a worker was requested),
 * or determining (a worker looks whether there is work). Every enqueue sets it to scheduled, and requests a worker if
 * it was not scheduled. The requested worker sets it to determining and looks for a first task; with that in hand it
 * sets it again and looks for a second one. A second one is laid aside for the next worker, and that one is requested:
 * scheduled. If there is none, the stage goes to not scheduled by compare-and-swap, which fails if an enqueue has come
 * meanwhile: then a worker is requested for that one (or, without a first task, the look is repeated). So an isolated
 * task releases one worker, where .NET 8 releases two. Only one worker at a time determines, since only it requests the
 * next.
 *
 * Differences to the source. Under a scheduler that cannot lay a task aside, pending() is asked whether there is a
 * second one. A turn that answers no request (the substitute of a task that waits) leaves the stage alone; having a
 * task, it asks pending() and then as an enqueue does. Tunables as for dotnet-handshake.
 *
 * Good at   Few tasks, far apart: half the wake-ups of .NET 8.
 * Bad at    A burst: each turn begins with two looks before its first task runs.
 *
 * Stranded items. The published form was taken back in servicing releases (dotnet/runtime#121608, #121887, #122320),
 * for an item could lie in a queue with nobody coming. The stages themselves keep the promise: whatever is published
 * before the fence after "determining" is seen by the look that follows, and whatever comes later fails the
 * compare-and-swap. What breaks it is a look that may miss a task that is there: the hint of the high-priority queue,
 * and a deque whose thief has moved the head and not yet put it back. .NET 8 has both as well.
 * tests/explore/historic has them as programs (dotnet-121608, dotnet-local-queue-missed).
 *
 * Labels
 *   @F dotnet_9.1  publish the task, then exchange the stage  |  set the stage to determining, then read the queues
 *
 * Source. dotnet/runtime#100506, ThreadPoolWorkQueue (EnsureThreadRequested, Dispatch).
 */
#include "idle/dotnet_workers.h"

enum stage { NOT_SCHEDULED, DETERMINING, SCHEDULED };

struct handshake_9 {
    struct dotnet_workers workers; /* first */
    /* enum stage; any thread exchanges it, one determines; @F dotnet_9.1 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 stage;
};

struct handshake_9_worker {
    struct handshake_worker worker; /* first */
    bool determines;                /* this turn has set the stage, and has not found its first task */
};

static void ensure_requested(struct pool *pool, struct worker *self)
{
    struct handshake_9 *dotnet = pool->idle_state;
    /* relaxed: ordered by fence @F dotnet_9.1; of the exchange and a compare-and-swap one comes second and sees it. */
    if (shared_u32_exchange_relaxed(&dotnet->stage, SCHEDULED) == NOT_SCHEDULED)
        dotnet_workers_request(pool, self);
    else
        pool_count(pool, self, COUNTER_requests_merged, 1);
}

static void dotnet_9_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)wakes; /* whoever determines finds the others */
    /* Partner of @F pool.2 as well (a worker that blocks). @F dotnet_9.1: the task is published, then the stage
     * changed. */
    ordered_fence_seq_cst();
    ensure_requested(pool, self);
}

static void determine(struct handshake_9 *dotnet)
{
    shared_u32_store_relaxed(&dotnet->stage, DETERMINING); /* ordered by fence @F dotnet_9.1 */
    /* @F dotnet_9.1: the stage is determining, then the queues are read: a task that this look misses finds the stage,
     * and the compare-and-swap in is_determined fails. @F dotnet_queues.2: so does the request of a thief that gives
     * its place in a deque back later. */
    ordered_fence_seq_cst();
}

/* False: a task has come since determine(), and the stage is scheduled. */
static bool is_determined(struct handshake_9 *dotnet)
{
    uint32_t stage = DETERMINING;
    return shared_u32_cas_relaxed(&dotnet->stage, &stage, NOT_SCHEDULED); /* relaxed: as the exchange */
}

/* The stage is scheduled and this turn ends its part: the next worker takes it from here. */
static void schedule_next(struct worker *worker)
{
    struct handshake_9 *dotnet = worker->pool->idle_state;
    shared_u32_store_relaxed(&dotnet->stage, SCHEDULED); /* ordered by the request, which the next one takes */
    dotnet_workers_request(worker->pool, worker);
}

static void dotnet_9_dispatch_begin(struct worker *worker)
{
    struct handshake_9_worker *own = worker->idle_state;
    own->determines = !own->worker.answers_none;
    if (own->determines)
        determine(worker->pool->idle_state);
    else
        ordered_fence_seq_cst(); /* partner of @F pool.2: this turn stands for one that was given up */
}

/* Whether there is more than the task in hand. */
static bool has_second(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct pilfer_task *second;
    if (pool->scheduler->set_aside == NULL)
        return pool->scheduler->pending(pool);
    enum next_result result = pool->scheduler->next(worker, &second);
    if (result == NEXT_TASK)
        pool->scheduler->set_aside(worker, second);
    return result != NEXT_EMPTY;
}

static void dotnet_9_got_first(struct worker *worker)
{
    struct handshake_9 *dotnet = worker->pool->idle_state;
    struct handshake_9_worker *own = worker->idle_state;
    if (!own->determines) {
        if (worker->pool->scheduler->pending(worker->pool))
            ensure_requested(worker->pool, worker);
        return;
    }
    own->determines = false;
    determine(dotnet);
    if (has_second(worker))
        schedule_next(worker);
    else if (!is_determined(dotnet))
        dotnet_workers_request(worker->pool, worker);
}

static bool dotnet_9_found_nothing(struct worker *worker, bool missed)
{
    struct handshake_9_worker *own = worker->idle_state;
    if (own->determines && missed)
        schedule_next(worker);
    else if (own->determines && !is_determined(worker->pool->idle_state))
        return true; /* once more: the turn goes on */
    else if (!own->determines && missed)
        ensure_requested(worker->pool, worker);
    return dotnet_workers_again(worker);
}

const struct idle_policy idle_dotnet_9_handshake = {
    .name = "dotnet-9-handshake",
    .summary = "as .NET 9: a worker is requested for a second task only",
    .spins = true,
    .pool_state_size = sizeof(struct handshake_9),
    .worker_state_size = sizeof(struct handshake_9_worker),
    .init = dotnet_workers_init,
    .submitted = dotnet_9_submitted,
    .dispatch_begin = dotnet_9_dispatch_begin,
    .got_first = dotnet_9_got_first,
    .found_nothing = dotnet_9_found_nothing,
    .wait = dotnet_workers_wait,
    .stopped = dotnet_workers_stopped,
    .release = dotnet_workers_release,
    .stop = dotnet_workers_stop,
    .requests = dotnet_workers_requests,
    .add_worker = dotnet_workers_add,
};
