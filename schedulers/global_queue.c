/* SPDX-License-Identifier: MIT
 *
 * Scheduler global-queue: one list under one lock, shared by all workers; no stealing.
 *
 * Idea       The baseline. Strict first in, first out over everything that was submitted.
 * Good at    Fairness; few workers; tasks long against a lock's hand-over.
 * Bad at     Many workers with short tasks; no cache affinity: a continuation goes to whoever comes next.
 * Placement  local is not honoured: there is no local queue.
 */
#include "queues.h"
#include "scheduler.h"

struct global_queue {
    struct task_fifo tasks; /* any thread, under its own lock */
};

static void count_placements(struct pool *pool, struct worker *worker, enum pilfer_placement placement, uint32_t tasks)
{
    pool_count(pool, worker, COUNTER_placements_global, tasks);
    if (placement == PILFER_PLACEMENT_GLOBAL)
        pool_count(pool, worker, COUNTER_placements_honoured, tasks);
}

static int global_queue_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                               enum pilfer_placement placement)
{
    struct global_queue *queue = pool->queueing;
    task_fifo_push(&queue->tasks, task);
    count_placements(pool, worker, placement, 1);
    return 1;
}

static int global_queue_submit_batch(struct pool *pool, struct worker *worker, struct pilfer_task **tasks,
                                     uint32_t count, enum pilfer_placement placement, uint32_t *wakes)
{
    struct global_queue *queue = pool->queueing;
    task_fifo_push_batch(&queue->tasks, *tasks, count); /* takes all: *tasks needs no moving on */
    count_placements(pool, worker, placement, count);
    *wakes = count;
    return (int)count;
}

static enum next_result global_queue_next(struct worker *worker, struct pilfer_task **out)
{
    struct global_queue *queue = worker->pool->queueing;
    *out = task_fifo_pop(&queue->tasks);
    return *out != NULL ? NEXT_TASK : NEXT_EMPTY;
}

static bool global_queue_pending(struct pool *pool)
{
    struct global_queue *queue = pool->queueing;
    return !task_fifo_is_empty(&queue->tasks);
}

static struct pilfer_task *global_queue_drain(struct pool *pool)
{
    struct global_queue *queue = pool->queueing;
    return task_fifo_pop(&queue->tasks);
}

static uint64_t global_queue_depth(struct pool *pool)
{
    struct global_queue *queue = pool->queueing;
    return task_fifo_depth(&queue->tasks);
}

const struct scheduler scheduler_global_queue = {
    .name = "global-queue",
    .summary = "one list under one lock, first in first out; no stealing",
    .caps = SCHEDULER_FIFO_GLOBAL,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct global_queue),
    .submit = global_queue_submit,
    .submit_batch = global_queue_submit_batch,
    .next = global_queue_next,
    .pending = global_queue_pending,
    .drain = global_queue_drain,
    .depth = global_queue_depth,
};
