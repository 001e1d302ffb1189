/* SPDX-License-Identifier: MIT
 *
 * Scheduler global-queue-ck: global-queue with a ring of the concurrencykit library in place of the locked list.
 *
 * Idea       What does the lock of global-queue cost? The same policy, strict first in, first out, on a queue without.
 * Good at    Few submitters at a time, many workers.
 * Bad at     More submitting threads than CPUs: a submit waits, yielding, for one that began earlier and was preempted.
 * Placement  local is not honoured: there is no local queue.
 *
 * Overflow. The ring is bounded; what does not fit goes to a locked list behind it, so that submits do not fail. While
 * the list holds tasks, all submits go there: every task in the ring is older than any task of the same thread in the
 * list. Workers empty the ring first. A worker that takes from the list looks into the ring once more under the
 * overflow lock: a task that its submitter put into the ring before another into the list is seen there, and goes
 * first.
 */
#include <errno.h>

#include "library_ring.h"
#include "queues.h"
#include "scheduler.h"

#define RING_CAPACITY 4096

struct global_queue_ck {
    struct library_ring *ring; /* constant */
    /* Makes "put into the list" and "ring empty, so take from the list" steps that exclude each other. */
    struct lock overflow_lock;
    struct task_fifo overflow; /* pushed and popped under overflow_lock; any thread asks whether it is empty */
};

static int global_queue_ck_init(struct pool *pool)
{
    struct global_queue_ck *queue = pool->queueing;
    queue->ring = library_ring_create(RING_CAPACITY);
    return queue->ring != NULL ? 0 : -ENOMEM;
}

static void global_queue_ck_fini(struct pool *pool)
{
    struct global_queue_ck *queue = pool->queueing;
    library_ring_destroy(queue->ring);
}

static int global_queue_ck_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                                  enum pilfer_placement placement)
{
    struct global_queue_ck *queue = pool->queueing;
    if (!task_fifo_is_empty(&queue->overflow) || !library_ring_push(queue->ring, task)) {
        lock_lock(&queue->overflow_lock);
        task_fifo_push(&queue->overflow, task);
        lock_unlock(&queue->overflow_lock);
    }
    pool_count(pool, worker, COUNTER_placements_global, 1);
    if (placement == PILFER_PLACEMENT_GLOBAL)
        pool_count(pool, worker, COUNTER_placements_honoured, 1);
    return 1;
}

static struct pilfer_task *take(struct global_queue_ck *queue)
{
    struct pilfer_task *task = library_ring_pop(queue->ring);
    if (task != NULL || task_fifo_is_empty(&queue->overflow))
        return task;
    lock_lock(&queue->overflow_lock);
    task = library_ring_pop(queue->ring);
    if (task == NULL)
        task = task_fifo_pop(&queue->overflow);
    lock_unlock(&queue->overflow_lock);
    return task;
}

static enum next_result global_queue_ck_next(struct worker *worker, struct pilfer_task **out)
{
    *out = take(worker->pool->queueing);
    return *out != NULL ? NEXT_TASK : NEXT_EMPTY;
}

static bool global_queue_ck_pending(struct pool *pool)
{
    const struct global_queue_ck *queue = pool->queueing;
    return !library_ring_is_empty(queue->ring) || !task_fifo_is_empty(&queue->overflow);
}

static struct pilfer_task *global_queue_ck_drain(struct pool *pool)
{
    return take(pool->queueing);
}

static uint64_t global_queue_ck_depth(struct pool *pool)
{
    const struct global_queue_ck *queue = pool->queueing;
    return library_ring_depth(queue->ring) + task_fifo_depth(&queue->overflow);
}

const struct scheduler scheduler_global_queue_ck = {
    .name = "global-queue-ck",
    .summary = "one ring of concurrencykit, first in first out; no stealing",
    .caps = SCHEDULER_FIFO_GLOBAL | SCHEDULER_LIBRARY_QUEUE,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct global_queue_ck),
    .init = global_queue_ck_init,
    .fini = global_queue_ck_fini,
    .submit = global_queue_ck_submit,
    .next = global_queue_ck_next,
    .pending = global_queue_ck_pending,
    .drain = global_queue_ck_drain,
    .depth = global_queue_ck_depth,
};
