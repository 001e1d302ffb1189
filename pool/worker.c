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
    if (is_worker)
        worker->sizing_state = platform_alloc(pool->sizing->worker_state_size);
    if (pool->trace_events > 0)
        worker->trace = trace_ring_create(pool->trace_events, name, index);
    bool complete = worker->account != NULL && (worker->queueing != NULL || !has_queue) &&
                    (worker->idle_state != NULL || !is_worker) && (worker->sizing_state != NULL || !is_worker) &&
                    (worker->trace != NULL || pool->trace_events == 0);
    if (complete && has_queue && pool->scheduler->worker_init != NULL)
        complete = pool->scheduler->worker_init(worker) == 0;
    if (complete)
        return worker;
    platform_free(worker->account);
    platform_free(worker->queueing);
    platform_free(worker->idle_state);
    platform_free(worker->sizing_state);
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
    platform_free(worker->sizing_state);
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

static bool may_go_on(struct worker *worker)
{
    const struct sizing_policy *sizing = worker->pool->sizing;
    return sizing->task_done == NULL || sizing->task_done(worker);
}

/* How a turn ended. */
struct turn {
    bool ran;     /* a task at least */
    bool missed;  /* a race for a task was lost at the end */
    bool stopped; /* by the sizing policy */
};

/* One turn: from engaged to nothing found. */
static struct turn dispatch(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct pilfer_task *task;
    enum next_result result = NEXT_EMPTY;
    struct turn turn = {0};

    worker_count(worker, COUNTER_dispatches, 1);
    trace_event(worker->trace, TRACE_dispatch, TRACE_BEGIN, 0);
    if (pool->sizing->turn_began != NULL)
        pool->sizing->turn_began(worker);
    if (pool->scheduler->turn_began != NULL)
        pool->scheduler->turn_began(worker);
    pool->idle->dispatch_begin(worker);
    while (!turn.stopped && !pool_is_stopping(pool) && (result = pool->scheduler->next(worker, &task)) == NEXT_TASK) {
        if (!turn.ran)
            pool->idle->got_first(worker);
        else if (pool->idle->got_next != NULL)
            pool->idle->got_next(worker);
        turn.ran = true;
        worker_run(worker, task);
        turn.stopped = !may_go_on(worker);
    }
    trace_event(worker->trace, TRACE_dispatch, TRACE_END, 0);
    if (!turn.ran)
        worker_count(worker, COUNTER_dispatches_empty, 1);
    turn.missed = result == NEXT_MISSED;
    return turn;
}

/* What only this worker can reach goes to where the drain, or others, find it. Returns how many tasks that were. */
static uint32_t surrender(struct worker *worker)
{
    const struct scheduler *scheduler = worker->pool->scheduler;
    return scheduler->surrender_local != NULL ? scheduler->surrender_local(worker) : 0;
}

/* The sizing policy has stopped the worker: others take over what it leaves. */
static void stop_turn(struct worker *worker)
{
    const struct idle_policy *idle = worker->pool->idle;
    if (idle->stopped != NULL)
        idle->stopped(worker);
    /* While the tasks were being moved nobody could see them, and this worker takes no last look: as new ones. */
    uint32_t moved = surrender(worker);
    pool_handed_over(worker);
    if (moved > 0)
        idle->submitted(worker->pool, worker, moved);
}

/* Engaged until nothing is found, the sizing policy stops the worker, or the pool stops. */
static void work(struct worker *worker)
{
    struct pool *pool = worker->pool;
    for (bool first = true;; first = false) {
        struct turn turn = dispatch(worker);
        if (first && !turn.ran)
            worker_count(worker, COUNTER_wakes_idle, 1);
        if (turn.stopped) {
            stop_turn(worker);
            return;
        }
        if (pool_is_stopping(pool)) {
            surrender(worker);
            pool_disengage(worker);
            return;
        }
        if (!pool->idle->found_nothing(worker, turn.missed))
            return;
    }
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

    while (pool->idle->wait(worker))
        work(worker);
    platform_self_set(NULL);
}

bool pool_retire(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct platform_schedule schedule = {0};
    /* Somebody must stay, for the case that no thread can be started later. */
    uint32_t kept = pool->sizing->starts_late ? 1 : pool->min_workers;
    lock_lock(&pool->private->add_lock);
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS */
    struct pool_counts counts;
    bool retires;
    do {
        counts = counts_unpack(word);
        retires = counts.existing > counts.engaged + counts.blocked && counts.existing > kept;
        counts.existing--;
        /* relaxed: an engagement that counts on this worker comes before it in the word, or after it and sees it. */
    } while (retires && !shared_u64_cas_relaxed(&pool->counts, &word, counts_pack(counts)));
    if (retires) {
        worker->retired = true;
        platform_thread_schedule(worker->thread, &schedule);
        worker_add_schedule(&worker->ended, &schedule);
        if (pool->sizing->retired != NULL)
            pool->sizing->retired(pool, counts.existing);
    }
    lock_unlock(&pool->private->add_lock);
    return retires;
}

void worker_add_schedule(struct platform_schedule *to, const struct platform_schedule *from)
{
    to->cpu_ns += from->cpu_ns;
    to->run_delay_ns += from->run_delay_ns;
    to->voluntary_switches += from->voluntary_switches;
    to->involuntary_switches += from->involuntary_switches;
}

static int start_thread(struct worker *worker)
{
    char name[16];
    snprintf(name, sizeof(name), "worker %u", worker->index);
    return platform_thread_start(&worker->thread, name, worker_main, worker);
}

/* A retired worker, to be used again: its queues are empty and known to all. Under the add lock. */
static struct worker *find_retired(struct pool *pool)
{
    uint32_t published = shared_u32_load_relaxed(&pool->published); /* written under the lock */
    for (uint32_t i = 0; i < published; i++) {
        struct worker *worker = shared_ptr_load_relaxed(&pool->workers[i]); /* written under the lock */
        if (worker->retired)
            return worker;
    }
    return NULL;
}

static int start_again(struct worker *worker)
{
    struct platform_thread *ended = worker->thread;
    int status = start_thread(worker);
    if (status != 0) {
        worker->thread = ended;
        return status;
    }
    platform_thread_join(ended); /* it has nothing left to do */
    worker->retired = false;
    return 0;
}

static int start_new(struct pool *pool)
{
    char name[16];
    uint32_t index = shared_u32_load_relaxed(&pool->published); /* written under the lock */
    snprintf(name, sizeof(name), "worker %u", index);
    struct worker *worker = worker_create(pool, index, true, name);
    int status = worker == NULL ? -ENOMEM : start_thread(worker);
    if (status == 0) {
        shared_ptr_store_relaxed(&pool->workers[index], worker); /* exposed by @P pool.1 */
        /* @P pool.1: publishes the worker and its queues. */
        shared_u32_store_release(&pool->published, index + 1);
    } else if (worker != NULL) {
        worker_destroy(worker);
    }
    return status;
}

int worker_add(struct pool *pool)
{
    lock_lock(&pool->private->add_lock);
    struct worker *retired = find_retired(pool);
    int status = retired != NULL ? start_again(retired) : start_new(pool);
    lock_unlock(&pool->private->add_lock);
    return status;
}
