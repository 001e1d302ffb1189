/* SPDX-License-Identifier: MIT
 *
 * Scheduler dotnet: the queues and the order of the portable .NET 8 thread pool.
 *
 * Idea       A deque per worker for what prefers to stay, one shared queue for everything else, and one pass over the
 *            others' deques from a random start. With idle policy dotnet-handshake and sizing hill-climbing it is the
 *            pool with which the finding was made.
 * Good at    Many short tasks that come from outside; any number of cores.
 * Bad at     Few tasks: see idle policy dotnet-handshake. A missed steal costs a wake-up.
 * Placement  local and default, from a worker: its deque (Task.Run does so); global, or a submitter that is no worker:
 *            the shared queue, where sockets, pipes and channels put theirs.
 *
 * Tunables   Each stands for a part that can be switched off or exchanged: hill-climbing, starvation-detection (the
 *            gate), request-cap, spin-yields, park-on-conditions (semaphore.h says what that shows).
 *
 * Schedulers dotnet-9 and dotnet-11 are made of the same functions.
 *
 * Not here. With more than 32 processors the original spreads the shared queue over several; this one has one always.
 * Its flag that now and then tries the shared queue first never turns on in normal work, and is left out. There a
 * thread's deque leaves the list that thieves walk when the thread ends; here the pass goes over the deques of retired
 * workers as well, which are empty.
 *
 * Labels
 *   @P dotnet.1  a high-priority task is queued before the hint is set for it
 *
 * Source. dotnet/runtime 8.0, ThreadPoolWorkQueue (Enqueue, Dequeue,
 * TryStartProcessingHighPriorityWorkItemsAndDequeue).
 */
#include "dotnet.h"

#include <assert.h>
#include <errno.h>

#include "scheduler.h"

int dotnet_init(struct pool *pool)
{
    struct dotnet *dotnet = pool->queueing;
    int status = segment_queue_init(&dotnet->global);
    if (status != 0)
        return status;
    status = segment_queue_init(&dotnet->high_priority);
    if (status != 0)
        segment_queue_fini(&dotnet->global);
    return status;
}

void dotnet_fini(struct pool *pool)
{
    struct dotnet *dotnet = pool->queueing;
    segment_queue_fini(&dotnet->global);
    segment_queue_fini(&dotnet->high_priority);
}

int dotnet_worker_init(struct worker *worker)
{
    struct dotnet_worker *own = worker->queueing;
    return foreign_lock_deque_init(&own->local);
}

void dotnet_worker_fini(struct worker *worker)
{
    struct dotnet_worker *own = worker->queueing;
    foreign_lock_deque_fini(&own->local);
}

int dotnet_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task, enum pilfer_placement placement)
{
    struct dotnet *dotnet = pool->queueing;
    bool local = worker != NULL && worker->is_worker && placement != PILFER_PLACEMENT_GLOBAL;
    int status;
    if (local) {
        struct dotnet_worker *own = worker->queueing;
        status = foreign_lock_deque_push(&own->local, task);
    } else {
        status = segment_queue_push(&dotnet->global, task);
    }
    if (status != 0)
        return status;
    pool_count(pool, worker, local ? COUNTER_placements_local : COUNTER_placements_global, 1);
    if (placement == (local ? PILFER_PLACEMENT_LOCAL : PILFER_PLACEMENT_GLOBAL))
        pool_count(pool, worker, COUNTER_placements_honoured, 1);
    return 1;
}

int dotnet_queue_high_priority(struct pool *pool, struct pilfer_task *task)
{
    struct dotnet *dotnet = pool->queueing;
    int status = segment_queue_push(&dotnet->high_priority, task);
    if (status != 0)
        return status;
    /* @P dotnet.1: the task is queued. A read-modify-write, here and below: it passes on what others have queued. */
    shared_u32_exchange_release(&dotnet->may_have_high_priority, 1);
    return 0;
}

/* A worker that has found one high-priority task goes on with them until there is none. */
static struct pilfer_task *take_high_priority(struct dotnet *dotnet, struct dotnet_worker *own, bool *missed)
{
    if (!own->processes_high_priority) {
        uint32_t expected = 1;
        if (shared_u32_load_relaxed(&dotnet->may_have_high_priority) == 0 || /* re-checked by CAS */
            /* @P dotnet.1: who clears the hint sees what it was set for. */
            !shared_u32_cas_acquire(&dotnet->may_have_high_priority, &expected, 0))
            return NULL;
    }
    struct pilfer_task *task = segment_queue_pop(&dotnet->high_priority, missed);
    if (task != NULL && !own->processes_high_priority)
        shared_u32_exchange_relaxed(&dotnet->may_have_high_priority, 1); /* there may be more; @P dotnet.1 */
    own->processes_high_priority = task != NULL;
    return task;
}

static struct pilfer_task *steal(struct worker *worker, bool *missed)
{
    uint32_t workers = pool_published(worker->pool);
    uint32_t start = worker_random(worker, workers);
    worker_count(worker, COUNTER_scans, 1);
    for (uint32_t i = 0; i < workers; i++) {
        uint32_t index = start + i < workers ? start + i : start + i - workers;
        struct worker *victim = index != worker->index ? pool_worker(worker->pool, index) : NULL;
        if (victim == NULL)
            continue;
        struct dotnet_worker *other = victim->queueing;
        bool missed_here = false;
        worker_count(worker, COUNTER_steals_tried, 1);
        struct pilfer_task *task = foreign_lock_deque_steal(&other->local, &missed_here);
        if (task != NULL) {
            worker_count(worker, COUNTER_steals_won, 1);
            return task;
        }
        worker_count(worker, COUNTER_steals_missed, missed_here);
        *missed = *missed || missed_here;
    }
    worker_count(worker, COUNTER_scans_empty, 1);
    return NULL;
}

enum next_result dotnet_next_shared(struct worker *worker, struct pilfer_task **out)
{
    struct dotnet *dotnet = worker->pool->queueing;
    struct dotnet_worker *own = worker->queueing;
    bool missed = false;
    if ((*out = take_high_priority(dotnet, own, &missed)) != NULL)
        return NEXT_TASK;
    if ((*out = segment_queue_pop(&dotnet->global, &missed)) != NULL)
        return NEXT_TASK;
    if ((*out = steal(worker, &missed)) != NULL)
        return NEXT_TASK;
    return missed ? NEXT_MISSED : NEXT_EMPTY;
}

enum next_result dotnet_next(struct worker *worker, struct pilfer_task **out)
{
    struct dotnet_worker *own = worker->queueing;
    *out = foreign_lock_deque_pop(&own->local);
    return *out != NULL ? NEXT_TASK : dotnet_next_shared(worker, out);
}

bool dotnet_pending(struct pool *pool)
{
    struct dotnet *dotnet = pool->queueing;
    if (!segment_queue_is_empty(&dotnet->global) || !segment_queue_is_empty(&dotnet->high_priority))
        return true;
    uint32_t workers = pool_published(pool);
    for (uint32_t i = 0; i < workers; i++) {
        const struct dotnet_worker *other = pool_worker(pool, i)->queueing;
        if (foreign_lock_deque_has_tasks(&other->local))
            return true;
    }
    return false;
}

uint32_t dotnet_surrender_local(struct worker *worker)
{
    struct dotnet *dotnet = worker->pool->queueing;
    struct dotnet_worker *own = worker->queueing;
    struct pilfer_task *task;
    uint32_t moved = 0;
    own->processes_high_priority = false; /* as a turn that is stopped; the hint was set with the first of them */
    while ((task = foreign_lock_deque_pop(&own->local)) != NULL) {
        moved++;
        if (segment_queue_push(&dotnet->global, task) != 0) {
            /* No memory: back. The deque has a slot more than it ever holds tasks, and held one more before, so the
             * push finds room, at the latest under the lock, and does not grow. */
            int status = foreign_lock_deque_push(&own->local, task);
            assert(status == 0);
            (void)status;
            break;
        }
    }
    return moved;
}

struct pilfer_task *dotnet_drain(struct pool *pool)
{
    struct dotnet *dotnet = pool->queueing;
    bool missed = false; /* nobody else is here */
    struct pilfer_task *task = segment_queue_pop(&dotnet->high_priority, &missed);
    if (task == NULL)
        task = segment_queue_pop(&dotnet->global, &missed);
    for (uint32_t i = 0; task == NULL && i < pool_published(pool); i++) {
        struct dotnet_worker *own = pool_worker(pool, i)->queueing;
        task = foreign_lock_deque_pop(&own->local);
    }
    return task;
}

uint64_t dotnet_depth(struct pool *pool)
{
    struct dotnet *dotnet = pool->queueing;
    uint64_t depth = segment_queue_depth(&dotnet->global) + segment_queue_depth(&dotnet->high_priority);
    for (uint32_t i = 0; i < pool_published(pool); i++)
        depth += foreign_lock_deque_depth(&((struct dotnet_worker *)pool_worker(pool, i)->queueing)->local);
    return depth;
}

static const struct scheduler_parameter dotnet_parameters[] = {
    DOTNET_PARAMETERS,
    {"request-cap", 0, PILFER_WORKERS_MAX, 1, "requests outstanding at most (0: P, as before .NET 7)"},
    DOTNET_SEMAPHORE_PARAMETERS,
    {NULL},
};

const struct scheduler scheduler_dotnet = {
    .name = "dotnet",
    .summary = "as .NET 8: a deque per worker, a shared queue, one pass of stealing",
    DOTNET_COMMON,
    .idle = "dotnet-handshake",
    .parameters = dotnet_parameters,
    .pool_state_size = sizeof(struct dotnet),
    .worker_state_size = sizeof(struct dotnet_worker),
    .next = dotnet_next,
    .pending = dotnet_pending,
    .surrender_local = dotnet_surrender_local,
    .drain = dotnet_drain,
    .depth = dotnet_depth,
};
