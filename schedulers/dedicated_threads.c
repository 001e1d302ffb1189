/* SPDX-License-Identifier: MIT
 *
 * Scheduler dedicated-threads: a fixed number of threads and one lock-free queue.
 *
 * Idea       What an actor runtime calls its fork-join executor, though nothing forks or is stolen: all threads start
 *            at once, take from one queue, first in first out, and stay. What makes it is its waiting: idle policy
 *            unfair-semaphore.
 * Good at    A workload kept apart from others on the same machine; threads that are always there.
 * Bad at     Sparse events: each thread yields some hundred times before it sleeps, see the idle policy. Tasks that
 *            wait: no thread is added for them, except in the middle of pilfer_wait.
 * Placement  local is not honoured: there is no local queue.
 *
 * Differences to the source. min-workers and other sizing policies are admitted, for comparison. The queue keeps the
 * rings that it has outgrown. A task that waits in pilfer_wait gets a substitute; there it holds its thread.
 *
 * Tunables   processors is the P of the idle policy, pass-on see there.
 *
 * Source. Helios DedicatedThreadPool and the ForkJoinExecutor of akka.net 1.4; before 2016 each thread had a queue of
 * its own, filled in turns (akka.net#1538, #1569).
 */
#include "dotnet_queues.h"
#include "scheduler.h"

struct dedicated_threads {
    struct segment_queue tasks; /* any thread */
};

static int dedicated_threads_init(struct pool *pool)
{
    struct dedicated_threads *dedicated = pool->queueing;
    return segment_queue_init(&dedicated->tasks);
}

static void dedicated_threads_fini(struct pool *pool)
{
    struct dedicated_threads *dedicated = pool->queueing;
    segment_queue_fini(&dedicated->tasks);
}

static int dedicated_threads_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                                    enum pilfer_placement placement)
{
    struct dedicated_threads *dedicated = pool->queueing;
    int status = segment_queue_push(&dedicated->tasks, task);
    if (status != 0)
        return status;
    pool_count(pool, worker, COUNTER_placements_global, 1);
    if (placement == PILFER_PLACEMENT_GLOBAL)
        pool_count(pool, worker, COUNTER_placements_honoured, 1);
    return 1;
}

static enum next_result dedicated_threads_next(struct worker *worker, struct pilfer_task **out)
{
    struct dedicated_threads *dedicated = worker->pool->queueing;
    bool missed = false;
    *out = segment_queue_pop(&dedicated->tasks, &missed);
    return *out != NULL ? NEXT_TASK : missed ? NEXT_MISSED : NEXT_EMPTY;
}

static bool dedicated_threads_pending(struct pool *pool)
{
    struct dedicated_threads *dedicated = pool->queueing;
    return !segment_queue_is_empty(&dedicated->tasks);
}

static struct pilfer_task *dedicated_threads_drain(struct pool *pool)
{
    struct dedicated_threads *dedicated = pool->queueing;
    bool missed = false; /* nobody else is here */
    return segment_queue_pop(&dedicated->tasks, &missed);
}

static uint64_t dedicated_threads_depth(struct pool *pool)
{
    struct dedicated_threads *dedicated = pool->queueing;
    return segment_queue_depth(&dedicated->tasks);
}

static const struct scheduler_parameter dedicated_threads_parameters[] = {
    {"processors", 0, PILFER_WORKERS_MAX, 0, "P, in place of the usable CPUs (0)"},
    {"pass-on", 0, 1, 1, "with more workers than P, a woken worker wakes one more for what is left"},
    {NULL},
};

const struct scheduler scheduler_dedicated_threads = {
    .name = "dedicated-threads",
    .summary = "a fixed number of threads, one lock-free queue, first in first out",
    .caps = SCHEDULER_FIFO_GLOBAL | SCHEDULER_STARTS_ALL,
    .published = true,
    .idle = "unfair-semaphore",
    .sizing = "fixed",
    .parameters = dedicated_threads_parameters,
    .pool_state_size = sizeof(struct dedicated_threads),
    .init = dedicated_threads_init,
    .fini = dedicated_threads_fini,
    .submit = dedicated_threads_submit,
    .next = dedicated_threads_next,
    .pending = dedicated_threads_pending,
    .drain = dedicated_threads_drain,
    .depth = dedicated_threads_depth,
};
