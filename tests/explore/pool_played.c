/* SPDX-License-Identifier: MIT
 *
 * Scenarios whose own threads play the workers of a pool, from the middle of a turn on: what needs many steps to come
 * to and few to go wrong can be walked through.
 *
 * How it works. The pool is made by the core without a worker thread; its workers are made by the core as well, and two
 * threads call the hooks of a worker's life (scheduler.h) in the order in which worker.c calls them.
 */
#include "pool_scenarios.h"

#include <stddef.h>
#include <string.h>

#include "pool.h"

enum { WORKERS = 2 };

struct played {
    struct pool *pool;
    struct pilfer_task task; /* in memory of the run */
    struct shared_u32 ran;
};

static void run_task(struct pilfer_task *task)
{
    struct played *played = (struct played *)((char *)task - offsetof(struct played, task));
    explored_note("runs the task");
    shared_u32_store_release(&played->ran, 1);
    platform_wake(&played->ran, UINT32_MAX);
}

/* A turn; whether it lost a race at the end. */
static bool dispatch(struct worker *worker)
{
    const struct pool *pool = worker->pool;
    struct pilfer_task *task;
    enum next_result result;
    pool->idle->dispatch_begin(worker);
    for (bool first = true; (result = pool->scheduler->next(worker, &task)) == NEXT_TASK; first = false) {
        if (first)
            pool->idle->got_first(worker);
        else if (pool->idle->got_next != NULL)
            pool->idle->got_next(worker);
        worker_run(worker, task);
    }
    return result == NEXT_MISSED;
}

/* From here to the end of the pool; engaged: its turn has just found nothing. */
static void be_worker(struct worker *worker, bool engaged)
{
    const struct idle_policy *idle = worker->pool->idle;
    platform_self_set(worker);
    account_init(worker->account, ACTIVITY_search, worker->random);
    while (engaged || idle->wait(worker)) {
        bool missed = engaged ? false : dispatch(worker);
        while (idle->found_nothing(worker, missed))
            missed = dispatch(worker);
        engaged = false;
    }
    platform_self_set(NULL);
}

static void be_engaged_worker(void *argument)
{
    struct played *played = argument;
    be_worker(pool_worker(played->pool, 0), true);
}

static void submit_and_stop(void *argument)
{
    struct played *played = argument;
    if (pool_submit(played->pool, NULL, &played->task, PILFER_PLACEMENT_GLOBAL) != 0)
        explored_fail("S1", "the task was refused though there is memory");
    while (shared_u32_load_acquire(&played->ran) == 0)
        platform_park(&played->ran, 0, PLATFORM_FOREVER);
    played->pool->idle->stop(played->pool);
}

static void at_rest(void *context)
{
    const struct played *played = context;
    if (shared_u32_load_relaxed(&played->ran) == 0)
        explored_fail("S3", "the task is queued and nobody comes for it");
}

static void open_played(struct played *played, const struct configuration *configuration)
{
    const struct pilfer_options options = {.max_workers = WORKERS, .seed = 1};
    if (pool_create(&options, registry_scheduler(configuration->scheduler), registry_idle(configuration->idle),
                    registry_sizing("fixed"), &played->pool) != 0)
        explored_fail("S1", "no pool though there is memory");
    struct pool *pool = played->pool;
    for (uint32_t i = 0; i < WORKERS; i++) {
        pool_counts_change(pool, 0, 1, 0);
        shared_ptr_store_relaxed(&pool->workers[i], worker_create(pool, i, true, "played")); /* one thread so far */
        shared_u32_store_release(&pool->published, i + 1);                                    /* as in the core */
    }
    played->task.run = run_task;
    explored_at_rest(at_rest, played);
}

bool played_leaves_spare(const struct configuration *configuration)
{
    return strcmp(configuration->idle != NULL ? configuration->idle : "", "unfair-semaphore") == 0 &&
           !configuration->lifo_slot && configuration->tunable.name == NULL && !sizing_moves(configuration);
}

/* One of two workers may be engaged, and P = 1. The engaged one has run what a submit came for that gave a permit
 * beside it; now the other one takes that permit, may not engage itself, and leaves the look at the queue to the first.
 * On that the next submit relies, which sees the permit still outstanding. */
void played_spare(const struct configuration *configuration)
{
    struct played *played = platform_alloc(sizeof *played);
    struct platform_thread *engaged, *submitter;
    open_played(played, configuration);
    struct pool *pool = played->pool;
    pool->processors = 1;
    pool_set_goal(pool, 1);
    pool_counts_change(pool, 1, 0, 0);
    pool->idle->submitted(pool, NULL, 1);
    platform_thread_start(&engaged, "engaged", be_engaged_worker, played);
    platform_thread_start(&submitter, "submitter", submit_and_stop, played);
    be_worker(pool_worker(pool, 1), false);
    platform_thread_join(submitter);
    platform_thread_join(engaged);
    pool_destroy(pool);
    platform_free(played);
}
