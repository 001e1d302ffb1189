/* SPDX-License-Identifier: MIT
 *
 * A worker's life: made, waits, dispatches, leaves; and the running of one task.
 *
 * How it works. See the loop at the head of scheduler.h. The core stamps the change of activity around each task and
 * leaves spinning, waking and parking to the idle policy, which stamps its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pool.h"

#ifdef PILFER_CHECKING
enum { TASK_FREE, TASK_QUEUED };

static void task_violation(const char *what)
{
    fprintf(stderr, "pilfer: invariant S2 broken: %s\n", what);
    abort();
}

void task_mark_queued(struct pilfer_task *task)
{
    /* acq_rel: a task that changes hands through other means than a queue is still seen in its newest state. */
    if (shared_u32_exchange_acq_rel(&task->state, TASK_QUEUED) != TASK_FREE)
        task_violation("a task was submitted while it was queued");
}

void task_mark_refused(struct pilfer_task *task)
{
    shared_u32_store_release(&task->state, TASK_FREE); /* the submitter still owns it */
}

void task_mark_taken(struct pilfer_task *task)
{
    /* acq_rel: as above. */
    if (shared_u32_exchange_acq_rel(&task->state, TASK_FREE) != TASK_QUEUED)
        task_violation("a task was handed out twice");
}
#endif

uint32_t worker_random(struct worker *worker, uint32_t below)
{
    uint64_t x = worker->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    worker->random = x;
    return (uint32_t)(((x * 0x2545F4914F6CDD1Dull >> 32) * below) >> 32);
}

/* ---- making ---- */

struct worker *worker_create(struct pool *pool, uint32_t index, bool is_worker, const char *name)
{
    struct worker *worker = platform_alloc(sizeof(*worker));
    if (worker == NULL)
        return NULL;
    worker->pool = pool;
    worker->index = index;
    worker->is_worker = is_worker;
    worker->random = (pool->seed ^ ((uint64_t)index + 1) * 0x9E3779B97F4A7C15ull) | 1;
    bool has_queue = is_worker || (pool->scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0;
    worker->account = platform_alloc(sizeof(*worker->account));
    if (has_queue)
        worker->queueing = platform_alloc(pool->scheduler->worker_state_size);
    if (is_worker)
        worker->idle_state = platform_alloc(pool->idle->worker_state_size);
    if (pool->trace_events > 0)
        worker->trace = trace_ring_create(pool->trace_events, name, index);
    bool complete = worker->account != NULL && (worker->queueing != NULL || !has_queue) &&
                    (worker->idle_state != NULL || !is_worker) && (worker->trace != NULL || pool->trace_events == 0);
    if (complete && has_queue && pool->scheduler->worker_init != NULL)
        complete = pool->scheduler->worker_init(worker) == 0;
    if (complete)
        return worker;
    platform_free(worker->account);
    platform_free(worker->queueing);
    platform_free(worker->idle_state);
    trace_ring_destroy(worker->trace);
    platform_free(worker);
    return NULL;
}

void worker_destroy(struct worker *worker)
{
    if (worker->queueing != NULL && worker->pool->scheduler->worker_fini != NULL)
        worker->pool->scheduler->worker_fini(worker);
    platform_free(worker->account);
    platform_free(worker->queueing);
    platform_free(worker->idle_state);
    trace_ring_destroy(worker->trace);
    platform_free(worker);
}

/* ---- running ---- */

static void run_task(struct worker *worker, struct pilfer_task *task)
{
    task_mark_taken(task);
    trace_event(worker->trace, TRACE_run, TRACE_BEGIN, (uint64_t)(uintptr_t)task);
    task->run(task);
    trace_event(worker->trace, TRACE_run, TRACE_END, 0);
    worker_count(worker, COUNTER_tasks_run, 1);
}

void worker_run(struct worker *worker, struct pilfer_task *task)
{
    account_switch(worker->account, ACTIVITY_run);
    run_task(worker, task);
    account_switch(worker->account, ACTIVITY_search);
    const struct pool *pool = worker->pool;
    if (pool->scheduler->done != NULL)
        pool->scheduler->done(worker);
    if (pool->sizing->task_done != NULL)
        pool->sizing->task_done(worker);
}

void run_nested(struct worker *worker, struct pilfer_task *task)
{
    enum activity before = worker->account->current;
    account_switch(worker->account, ACTIVITY_run);
    run_task(worker, task);
    account_switch(worker->account, before);
}

void worker_run_inline(struct worker *worker)
{
    if (worker->runs_inline)
        return; /* the outermost submit of this thread runs it, in order */
    enum activity before = worker->account->current;
    struct pilfer_task *task;
    worker->runs_inline = true;
    account_switch(worker->account, ACTIVITY_search);
    while (worker->pool->scheduler->next(worker, &task) == NEXT_TASK)
        worker_run(worker, task);
    account_switch(worker->account, before);
    worker->runs_inline = false;
}

/* One turn: from engaged to nothing found. Returns whether it ran a task; *missed: a race was lost. */
static bool dispatch(struct worker *worker, bool *missed)
{
    struct pool *pool = worker->pool;
    struct pilfer_task *task;
    enum next_result result = NEXT_EMPTY;
    bool ran = false;

    worker_count(worker, COUNTER_dispatches, 1);
    trace_event(worker->trace, TRACE_dispatch, TRACE_BEGIN, 0);
    pool->idle->dispatch_begin(worker);
    while (!pool_is_stopping(pool) && (result = pool->scheduler->next(worker, &task)) == NEXT_TASK) {
        if (!ran)
            pool->idle->got_first(worker);
        ran = true;
        worker_run(worker, task);
    }
    trace_event(worker->trace, TRACE_dispatch, TRACE_END, 0);
    if (!ran)
        worker_count(worker, COUNTER_dispatches_empty, 1);
    *missed = result == NEXT_MISSED;
    return ran;
}

/* The pool stops: what only this worker can reach goes to where the drain, or a blocked task, finds it. */
static void leave(struct worker *worker)
{
    if (worker->pool->scheduler->surrender_local != NULL)
        worker->pool->scheduler->surrender_local(worker);
    pool_disengage(worker);
}

static void worker_main(void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;

    /* The adder holds the lock until this worker is published: its queue must be visible before it can get a task. */
    lock_lock(&pool->private->add_lock);
    lock_unlock(&pool->private->add_lock);
    platform_self_set(worker);
    account_init(worker->account, ACTIVITY_search, worker->random);

    while (pool->idle->wait(worker)) {
        bool first = true, again = true;
        while (again) {
            bool missed;
            bool ran = dispatch(worker, &missed);
            if (first && !ran)
                worker_count(worker, COUNTER_wakes_idle, 1);
            first = false;
            if (pool_is_stopping(pool))
                break;
            again = pool->idle->found_nothing(worker, missed);
        }
        if (again)
            leave(worker);
    }
    platform_self_set(NULL);
}

int worker_add(struct pool *pool)
{
    char name[16];
    lock_lock(&pool->private->add_lock);
    uint32_t index = shared_u32_load_relaxed(&pool->existing); /* written under the lock */
    snprintf(name, sizeof(name), "worker %u", index);
    struct worker *worker = worker_create(pool, index, true, name);
    int status = worker == NULL ? -ENOMEM : platform_thread_start(&worker->thread, name, worker_main, worker);
    if (status == 0) {
        shared_ptr_store_relaxed(&pool->workers[index], worker); /* exposed by @P pool.1 */
        /* @P pool.1: publishes the worker and its queues. */
        shared_u32_store_release(&pool->existing, index + 1);
    } else if (worker != NULL) {
        worker_destroy(worker);
    }
    lock_unlock(&pool->private->add_lock);
    return status;
}
