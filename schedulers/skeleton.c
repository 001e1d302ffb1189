/* SPDX-License-Identifier: MIT
 *
 * Scheduler skeleton: the smallest correct scheduler, to be copied.
 *
 * Idea       One list under one lock. Every callback that must exist, and the comment that says what it owes.
 * Good at    Being read. Few workers, long tasks.
 * Bad at     Many workers with short tasks: all meet at the lock.
 * Source     None; the contract is pool/scheduler.h, the walk-through is README.md beside this file.
 *
 * To make your own: copy this file, replace every "skeleton" by your name (underscores in the file and symbols, hyphens
 * in .name), add the file's stem to the list in meson.build, and run `./run check NAME`.
 */
#include "queues.h"
#include "scheduler.h"

/* What the pool keeps for this scheduler: zeroed memory, shared by all threads. Say of each field who writes and reads
 * it. A scheduler with a queue per worker also has a struct for those (worker_state_size, worker->queueing). */
struct skeleton {
    struct task_fifo tasks; /* any thread, under its own lock */
};

/* Required. Take the task over and publish it; say how many sleepers may now find work. Never run it, block or wake. */
static int skeleton_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                           enum pilfer_placement placement)
{
    struct skeleton *skeleton = pool->queueing;
    task_fifo_push(&skeleton->tasks, task);
    pool_count(pool, worker, COUNTER_placements_global, 1);
    if (placement == PILFER_PLACEMENT_GLOBAL)
        pool_count(pool, worker, COUNTER_placements_honoured, 1);
    return 1;
}

/* Required. The calling worker's next task. EMPTY only if every queue was seen empty; MISSED if a race was lost. */
static enum next_result skeleton_next(struct worker *worker, struct pilfer_task **out)
{
    struct skeleton *skeleton = worker->pool->queueing;
    *out = task_fifo_pop(&skeleton->tasks);
    return *out != NULL ? NEXT_TASK : NEXT_EMPTY;
}

/* Required. The last look of a worker that is about to sleep: never wrongly false. */
static bool skeleton_pending(struct pool *pool)
{
    struct skeleton *skeleton = pool->queueing;
    return !task_fifo_is_empty(&skeleton->tasks);
}

/* Required. At the end, alone: every task that was never handed out. */
static struct pilfer_task *skeleton_drain(struct pool *pool)
{
    struct skeleton *skeleton = pool->queueing;
    return task_fifo_pop(&skeleton->tasks);
}

const struct scheduler scheduler_skeleton = {
    .name = "skeleton",
    .summary = "the smallest correct scheduler, to be copied",
    .caps = SCHEDULER_FIFO_GLOBAL,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct skeleton),
    .submit = skeleton_submit,
    .next = skeleton_next,
    .pending = skeleton_pending,
    .drain = skeleton_drain,
};
