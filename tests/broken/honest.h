/* SPDX-License-Identifier: MIT
 *
 * The parts of a correct scheduler with one list (as schedulers/skeleton.c), of which each file here spoils one.
 */
#ifndef PILFER_TESTS_BROKEN_HONEST_H
#define PILFER_TESTS_BROKEN_HONEST_H

#include "queues.h"
#include "scheduler.h"

/* The pool's state begins with this. */
struct honest {
    struct task_fifo tasks;
};

static inline int honest_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                                enum pilfer_placement placement)
{
    struct honest *honest = pool->queueing;
    task_fifo_push(&honest->tasks, task);
    return 1;
}

static inline enum next_result honest_next(struct worker *worker, struct pilfer_task **out)
{
    struct honest *honest = worker->pool->queueing;
    *out = task_fifo_pop(&honest->tasks);
    return *out != NULL ? NEXT_TASK : NEXT_EMPTY;
}

static inline bool honest_pending(struct pool *pool)
{
    const struct honest *honest = pool->queueing;
    return !task_fifo_is_empty(&honest->tasks);
}

static inline struct pilfer_task *honest_drain(struct pool *pool)
{
    struct honest *honest = pool->queueing;
    return task_fifo_pop(&honest->tasks);
}

#endif
