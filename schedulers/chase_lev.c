/* SPDX-License-Identifier: MIT
 *
 * Scheduler chase-lev: a deque per worker, stealing from a random start, and a shared list for what comes from outside.
 *
 * Idea       What a worker submits stays with it, newest first; a worker without work takes from the shared list, then
 *            steals the oldest task of the others, beginning at a random one.
 * Good at    Fan-out and recursion; many workers; continuations that find their data in the cache.
 * Bad at     Fairness: a worker that keeps feeding itself starves its own oldest tasks unless somebody steals them.
 * Placement  default and local: the submitting worker's deque; global, or a submitter that is no worker: the shared
 *            list.
 * lifo-slot  With 1, the newest local task is kept in a slot that nobody can steal and wakes nobody; at most three
 *            slot tasks run in a row while there are others, so that a ping-pong pair cannot starve the deque. Before
 *            a worker blocks or leaves, the slot's task moves to the shared list.
 * Sources    Chase & Lev 2005 (deque.h); the slot and its limit: Tokio (LIFO slot, MAX_LIFO_POLLS_PER_TICK = 3).
 */
#include <errno.h>

#include "deque.h"
#include "queues.h"
#include "scheduler.h"

enum { LIFO_SLOT_STREAK_MAX = 3 };

struct chase_lev {
    struct task_fifo injected; /* any thread, under its own lock */
    bool lifo_slot;            /* constant */
};

struct chase_lev_worker {
    struct deque deque;       /* the owner pushes and pops, all steal */
    struct pilfer_task *slot; /* private to the owner */
    uint32_t slot_streak;     /* slot tasks run in a row; private to the owner */
};

static int chase_lev_init(struct pool *pool)
{
    struct chase_lev *chase_lev = pool->queueing;
    chase_lev->lifo_slot = pool_setting(pool, "lifo-slot") != 0;
    return 0;
}

static int chase_lev_worker_init(struct worker *worker)
{
    struct chase_lev_worker *own = worker->queueing;
    return deque_init(&own->deque);
}

static void chase_lev_worker_fini(struct worker *worker)
{
    struct chase_lev_worker *own = worker->queueing;
    deque_fini(&own->deque);
}

/* Into the slot; a task that was there goes to the deque. Returns the wakes wanted, or -ENOMEM with nothing changed. */
static int submit_to_slot(struct chase_lev_worker *own, struct pilfer_task *task)
{
    struct pilfer_task *evicted = own->slot;
    if (evicted != NULL && deque_push(&own->deque, evicted) != 0)
        return -ENOMEM;
    own->slot = task;
    return evicted != NULL ? 1 : 0;
}

static int chase_lev_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                            enum pilfer_placement placement)
{
    struct chase_lev *chase_lev = pool->queueing;
    bool local = worker != NULL && worker->is_worker && placement != PILFER_PLACEMENT_GLOBAL;
    int wakes = 1;
    if (local) {
        struct chase_lev_worker *own = worker->queueing;
        wakes = chase_lev->lifo_slot ? submit_to_slot(own, task) : deque_push(&own->deque, task) != 0 ? -ENOMEM : 1;
        if (wakes < 0)
            return wakes;
    } else {
        task_fifo_push(&chase_lev->injected, task);
    }
    pool_count(pool, worker, local ? COUNTER_placements_local : COUNTER_placements_global, 1);
    if (placement == (local ? PILFER_PLACEMENT_LOCAL : PILFER_PLACEMENT_GLOBAL))
        pool_count(pool, worker, COUNTER_placements_honoured, 1);
    return wakes;
}

/* The slot's task, unless it has had its turns and there is another local one. */
static struct pilfer_task *take_slot(struct worker *worker, struct chase_lev_worker *own)
{
    struct pilfer_task *task = own->slot;
    if (task == NULL || own->slot_streak >= LIFO_SLOT_STREAK_MAX)
        return NULL;
    own->slot = NULL;
    own->slot_streak++;
    worker_count(worker, COUNTER_lifo_slot_hits, 1);
    return task;
}

static enum next_result steal(struct worker *worker, struct pilfer_task **out)
{
    uint32_t workers = pool_published(worker->pool);
    uint32_t start = worker_random(worker, workers);
    worker_count(worker, COUNTER_scans, 1);
    bool missed = false;
    for (uint32_t i = 0; i < workers; i++) {
        uint32_t index = start + i < workers ? start + i : start + i - workers;
        struct worker *victim = index != worker->index ? pool_worker(worker->pool, index) : NULL;
        if (victim == NULL)
            continue;
        struct chase_lev_worker *other = victim->queueing;
        worker_count(worker, COUNTER_steals_tried, 1);
        switch (deque_steal(&other->deque, out)) {
        case DEQUE_TASK:
            worker_count(worker, COUNTER_steals_won, 1);
            return NEXT_TASK;
        case DEQUE_MISSED:
            worker_count(worker, COUNTER_steals_missed, 1);
            missed = true;
            break;
        case DEQUE_EMPTY:
            break;
        }
    }
    worker_count(worker, COUNTER_scans_empty, 1);
    return missed ? NEXT_MISSED : NEXT_EMPTY;
}

static enum next_result chase_lev_next(struct worker *worker, struct pilfer_task **out)
{
    struct chase_lev *chase_lev = worker->pool->queueing;
    struct chase_lev_worker *own = worker->queueing;
    if ((*out = take_slot(worker, own)) != NULL)
        return NEXT_TASK;
    own->slot_streak = 0;
    if ((*out = deque_pop(&own->deque)) != NULL)
        return NEXT_TASK;
    if ((*out = task_fifo_pop(&chase_lev->injected)) != NULL)
        return NEXT_TASK;
    enum next_result result = steal(worker, out);
    if (result == NEXT_TASK)
        return NEXT_TASK;
    if ((*out = take_slot(worker, own)) != NULL)
        return NEXT_TASK;
    return result;
}

static bool chase_lev_pending(struct pool *pool)
{
    struct chase_lev *chase_lev = pool->queueing;
    if (!task_fifo_is_empty(&chase_lev->injected))
        return true;
    uint32_t workers = pool_published(pool);
    for (uint32_t i = 0; i < workers; i++) {
        const struct worker *worker = pool_worker(pool, i);
        if (deque_has_tasks(&((const struct chase_lev_worker *)worker->queueing)->deque))
            return true;
    }
    return false;
}

static uint32_t chase_lev_surrender_local(struct worker *worker)
{
    struct chase_lev *chase_lev = worker->pool->queueing;
    struct chase_lev_worker *own = worker->queueing;
    if (own->slot == NULL)
        return 0;
    task_fifo_push(&chase_lev->injected, own->slot);
    own->slot = NULL;
    return 1;
}

static struct pilfer_task *chase_lev_drain(struct pool *pool)
{
    struct chase_lev *chase_lev = pool->queueing;
    struct pilfer_task *task = task_fifo_pop(&chase_lev->injected);
    for (uint32_t i = 0; task == NULL && i < pool_published(pool); i++) {
        struct chase_lev_worker *own = pool_worker(pool, i)->queueing;
        task = own->slot;
        own->slot = NULL;
        if (task == NULL)
            task = deque_pop(&own->deque);
    }
    return task;
}

static uint64_t chase_lev_depth(struct pool *pool)
{
    struct chase_lev *chase_lev = pool->queueing;
    uint64_t depth = task_fifo_depth(&chase_lev->injected);
    for (uint32_t i = 0; i < pool_published(pool); i++)
        depth += deque_depth(&((struct chase_lev_worker *)pool_worker(pool, i)->queueing)->deque);
    return depth;
}

static const struct scheduler_parameter chase_lev_parameters[] = {
    {"lifo-slot", 0, 1, 0, "keep the newest local task in an unstealable slot; at most three in a row"},
    {NULL},
};

const struct scheduler scheduler_chase_lev = {
    .name = "chase-lev",
    .summary = "a deque per worker, random stealing, a shared list for outsiders",
    .caps = SCHEDULER_LIFO_LOCAL | SCHEDULER_FIFO_GLOBAL | SCHEDULER_LIFO_SLOT,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .parameters = chase_lev_parameters,
    .pool_state_size = sizeof(struct chase_lev),
    .worker_state_size = sizeof(struct chase_lev_worker),
    .init = chase_lev_init,
    .worker_init = chase_lev_worker_init,
    .worker_fini = chase_lev_worker_fini,
    .submit = chase_lev_submit,
    .next = chase_lev_next,
    .pending = chase_lev_pending,
    .surrender_local = chase_lev_surrender_local,
    .drain = chase_lev_drain,
    .depth = chase_lev_depth,
};
