/* SPDX-License-Identifier: MIT
 *
 * Making a pool and ending it.
 *
 * How it works. See "Close" in README.md: refuse, wait for submits in progress, wait until nobody is engaged or
 * blocked and nothing that is to be run is queued, stop the idle policy, join, drain.
 */
#include <errno.h>
#include <string.h>

#include "pool.h"

static bool allocate(struct pool *pool)
{
    pool->workers = platform_alloc(pool->worker_slots * sizeof(struct shared_ptr));
    pool->queueing = platform_alloc(pool->scheduler->pool_state_size);
    pool->idle_state = platform_alloc(pool->idle->pool_state_size);
    pool->sizing_state = platform_alloc(pool->sizing->pool_state_size);
    pool->private = platform_alloc(sizeof(*pool->private));
    struct pilfer_setting *settings = platform_alloc(pool->setting_count * sizeof(*settings));
    if (settings != NULL && pool->setting_count > 0)
        memcpy(settings, pool->settings, pool->setting_count * sizeof(*settings));
    pool->settings = settings;
    if (pool->private != NULL)
        pool->private->outside_account = platform_alloc(sizeof(struct account));
    return pool->workers != NULL && pool->queueing != NULL && pool->idle_state != NULL && pool->sizing_state != NULL &&
           pool->private != NULL && pool->private->outside_account != NULL && settings != NULL;
}

static void release_memory(struct pool *pool)
{
    if (pool->private != NULL)
        platform_free(pool->private->outside_account);
    platform_free(pool->private);
    platform_free((void *)pool->settings);
    platform_free(pool->sizing_state);
    platform_free(pool->idle_state);
    platform_free(pool->queueing);
    platform_free(pool->workers);
    platform_free(pool);
}

/* The three tables' init hooks; undone on failure. */
static int init_tables(struct pool *pool)
{
    int status = pool->scheduler->init != NULL ? pool->scheduler->init(pool) : 0;
    if (status != 0)
        return status;
    status = pool->idle->init != NULL ? pool->idle->init(pool) : 0;
    if (status == 0) {
        status = pool->sizing->init != NULL ? pool->sizing->init(pool) : 0;
        if (status == 0)
            return 0;
        if (pool->idle->fini != NULL)
            pool->idle->fini(pool);
    }
    if (pool->scheduler->fini != NULL)
        pool->scheduler->fini(pool);
    return status;
}

static int start_workers(struct pool *pool)
{
    uint32_t at_once = pool->min_workers > 0 && pool->sizing->starts_late ? 1 : pool->min_workers;
    for (uint32_t i = 0; i < at_once; i++) {
        pool_counts_change(pool, 0, 1, 0);
        int status = worker_add(pool);
        if (status == 0)
            continue;
        pool_counts_change(pool, 0, -1, 0);
        if (i == 0)
            return status;
        shared_u32_store_relaxed(&pool->thread_limit, i); /* counter only */
        pool_count(pool, NULL, COUNTER_thread_failures, 1);
        break;
    }
    return 0;
}

int pool_create(const struct pilfer_options *options, const struct scheduler *scheduler, const struct idle_policy *idle,
                const struct sizing_policy *sizing, struct pool **out)
{
    struct pool *pool = platform_alloc(sizeof(*pool));
    if (pool == NULL)
        return -ENOMEM;
    bool has_workers = (scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) == 0;
    pool->scheduler = scheduler;
    pool->idle = idle;
    pool->sizing = sizing;
    pool->min_workers = has_workers ? options->min_workers : 0;
    pool->max_workers = has_workers ? options->max_workers : 0;
    pool->spin_limit = options->spin_limit;
    pool->worker_slots = has_workers ? options->max_workers + PILFER_SUBSTITUTES_MAX : 0;
    pool->seed = options->seed;
    pool->trace_events = options->trace_events;
    pool->settings = options->settings;
    pool->setting_count = options->setting_count;
    pool->processors = resolve_processors(options);
    shared_u32_store_relaxed(&pool->thread_limit, pool->worker_slots); /* counter only */
    int status = allocate(pool) ? init_tables(pool) : -ENOMEM;
    if (status != 0) {
        release_memory(pool);
        return status;
    }
    status = start_workers(pool);
    if (status != 0) {
        pool_stop(pool, false);
        pool_destroy(pool);
        return status;
    }
    *out = pool;
    return 0;
}

/* Waits until no submit of a guest or an unattached thread is in progress. */
static void wait_for_submitters(struct pool *pool)
{
    /* @F pool.1: the state is written, then the marks are read; see pool_enter. */
    ordered_fence_heavy();
    for (;;) {
        /* acquire: @F pool.1, the tasks queued by those that have left are visible to the drain. */
        bool busy = shared_u32_load_acquire(&pool->private->outside) != 0;
        lock_lock(&pool->private->add_lock);
        for (struct worker *guest = pool->private->guests; guest != NULL; guest = guest->next_guest)
            busy = busy || shared_u32_load_acquire(&guest->submitting) != 0; /* @F pool.1: as above */
        lock_unlock(&pool->private->add_lock);
        if (!busy)
            return;
        platform_yield();
    }
}

/* Waits until no worker is engaged or blocked, and, if what is queued is to be run, nothing is queued either. A worker
 * that is not engaged may be taking its last look: it comes back if that finds a task, and the task may submit others
 * and wait for them, so the workers must not be told to leave before. */
static void wait_for_quiet(struct pool *pool, bool run_queued)
{
    for (;;) {
        /* @P pool.4: relies on the counts as they were left; a change since then is not slept through. */
        uint32_t seen = shared_u32_load_acquire(&pool->private->quiet);
        bool queued = run_queued && pool->scheduler->pending(pool);
        /* @F pool.3: the queues are read, then the counts. The other way round a worker on its last look could be
         * engaged and take the last task in between: nobody counted, nothing queued, and a task about to run. */
        ordered_fence_seq_cst();
        struct pool_counts counts = counts_unpack(shared_u64_load_relaxed(&pool->counts)); /* ordered by @F pool.3 */
        if (counts.engaged > 0 || counts.blocked > 0)
            platform_park(&pool->private->quiet, seen, PLATFORM_FOREVER);
        else if (!queued)
            return;
        else if (pool_engage(pool, NULL))
            pool->idle->release(pool, NULL);
        else
            platform_yield();
    }
}

void pool_quiesce(struct pool *pool, bool run_queued)
{
    shared_u32_store_relaxed(&pool->state, run_queued ? POOL_CLOSING : POOL_STOPPED); /* ordered by fence @F pool.1 */
    wait_for_submitters(pool);
    wait_for_quiet(pool, run_queued);
}

void pool_stop(struct pool *pool, bool run_queued)
{
    pool_quiesce(pool, run_queued);
    shared_u32_store_relaxed(&pool->state, POOL_STOPPED); /* a hint to workers; the idle policy ends their waits */
    if (pool->sizing->stop != NULL)
        pool->sizing->stop(pool);
    if (pool->idle->stop != NULL)
        pool->idle->stop(pool);
    /* A substitute may be added by a running task until it ends: join by index, and look again. */
    for (uint32_t i = 0; i < pool_published(pool); i++) {
        struct worker *worker = pool_worker(pool, i);
        platform_thread_join(worker->thread);
        worker->thread = NULL;
    }
}

void pool_drain(struct pool *pool, bool run, void (*give_back)(struct pilfer_task *task))
{
    struct pilfer_task *task;
    if (run && pool_attach(pool, "closer") == 0) {
        pool->private->closer = pool_self(pool);
        /* @P pool.2: exposes closer to a late submit, which is refused because it is not the closer's. */
        shared_u32_store_release(&pool->state, POOL_DRAINING);
        while ((task = pool->scheduler->drain(pool)) != NULL)
            worker_run(pool->private->closer, task);
        shared_u32_store_relaxed(&pool->state, POOL_STOPPED); /* as above */
        pool_detach(pool);
    }
    while ((task = pool->scheduler->drain(pool)) != NULL) {
        task_mark_taken(task);
        pool_count(pool, NULL, COUNTER_tasks_drained, 1);
        if (give_back != NULL)
            give_back(task);
    }
}

void pool_destroy(struct pool *pool)
{
    for (uint32_t i = 0; i < pool_published(pool); i++)
        worker_destroy(pool_worker(pool, i));
    for (struct worker *guest = pool->private->guests, *next; guest != NULL; guest = next) {
        next = guest->next_guest;
        platform_thread_forget(guest->thread);
        worker_destroy(guest);
    }
    if (pool->sizing->fini != NULL)
        pool->sizing->fini(pool);
    if (pool->idle->fini != NULL)
        pool->idle->fini(pool);
    if (pool->scheduler->fini != NULL)
        pool->scheduler->fini(pool);
    release_memory(pool);
}
