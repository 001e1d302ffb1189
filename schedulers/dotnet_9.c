/* SPDX-License-Identifier: MIT
 *
 * Scheduler dotnet-9: the .NET 9 thread pool, as first released. The queues of scheduler dotnet, and a place for one
 * task.
 *
 * Idea       A worker that was requested looks for two tasks before it runs the first. The second is laid aside for the
 *            next worker, which is requested only then. The rules are in idle policy dotnet-9-handshake.
 * Good at    Few tasks, far apart: a lone task wakes one worker, not two.
 * Bad at     Bursts, see there; and servicing releases of .NET 9 and 10 went back to the handshake of .NET 8.
 * Placement  As dotnet.
 *
 * Differences to the source. See dotnet.c and the idle policy.
 *
 * Labels
 *   @P dotnet_9.1  a task that is laid aside is written before the word that says where it lies
 *
 * Source. dotnet/runtime#100506 (fixes #93028), ThreadPoolWorkQueue (Dequeue, Dispatch).
 */
#include <assert.h>

#include "dotnet.h"

struct dotnet_9_worker {
    struct dotnet_worker worker; /* first */
    bool in_turn;                /* it has found a task since its turn began; private to the owner */
};

struct dotnet_9 {
    struct dotnet dotnet;    /* first */
    struct shared_ptr aside; /* a task or NULL; laid by the one worker that determines, taken by any; @P dotnet_9.1 */
};

static void dotnet_9_turn_began(struct worker *worker)
{
    struct dotnet_9_worker *own = worker->queueing;
    own->in_turn = false;
}

static void dotnet_9_set_aside(struct worker *worker, struct pilfer_task *task)
{
    struct dotnet_9 *dotnet = worker->pool->queueing;
    void *empty = NULL;
    /* @P dotnet_9.1: publishes the task's memory, as its queue did. */
    bool laid = shared_ptr_cas_release(&dotnet->aside, &empty, task);
    /* One worker determines at a time; its turn began with the place, and it asks for the next one only after this. */
    assert(laid);
    (void)laid;
}

static struct pilfer_task *take_aside(struct dotnet_9 *dotnet)
{
    if (shared_ptr_load_relaxed(&dotnet->aside) == NULL) /* re-checked by the exchange */
        return NULL;
    return shared_ptr_exchange_acquire(&dotnet->aside, NULL); /* @P dotnet_9.1: relies on the task's memory */
}

/* A turn begins with the task that was laid aside, and comes to it last of what it can have without a search later on:
 * also where it has found nothing meanwhile, and has tasks of its own now. */
static enum next_result dotnet_9_next(struct worker *worker, struct pilfer_task **out)
{
    struct dotnet_9_worker *own = worker->queueing;
    *out = own->in_turn ? NULL : take_aside(worker->pool->queueing);
    if (*out == NULL)
        *out = foreign_lock_deque_pop(&own->worker.local);
    if (*out == NULL && own->in_turn)
        *out = take_aside(worker->pool->queueing);
    enum next_result result = *out != NULL ? NEXT_TASK : dotnet_next_shared(worker, out);
    own->in_turn = own->in_turn || result == NEXT_TASK;
    return result;
}

static bool dotnet_9_pending(struct pool *pool)
{
    struct dotnet_9 *dotnet = pool->queueing;
    /* relaxed: ordered by the caller's fence. */
    return shared_ptr_load_relaxed(&dotnet->aside) != NULL || dotnet_pending(pool);
}

static struct pilfer_task *dotnet_9_drain(struct pool *pool)
{
    struct pilfer_task *task = take_aside(pool->queueing);
    return task != NULL ? task : dotnet_drain(pool);
}

static uint64_t dotnet_9_depth(struct pool *pool)
{
    struct dotnet_9 *dotnet = pool->queueing;
    return (shared_ptr_load_relaxed(&dotnet->aside) != NULL) + dotnet_depth(pool); /* one moment's */
}

static const struct scheduler_parameter dotnet_9_parameters[] = {
    DOTNET_PARAMETERS,
    DOTNET_SEMAPHORE_PARAMETERS,
    {NULL},
};

const struct scheduler scheduler_dotnet_9 = {
    .name = "dotnet-9",
    .summary = "as .NET 9: dotnet, but asks for a worker only for a second task",
    DOTNET_COMMON,
    .idle = "dotnet-9-handshake",
    .parameters = dotnet_9_parameters,
    .pool_state_size = sizeof(struct dotnet_9),
    .worker_state_size = sizeof(struct dotnet_9_worker),
    .next = dotnet_9_next,
    .turn_began = dotnet_9_turn_began,
    .set_aside = dotnet_9_set_aside,
    .pending = dotnet_9_pending,
    .surrender_local = dotnet_surrender_local,
    .drain = dotnet_9_drain,
    .depth = dotnet_9_depth,
};
