/* SPDX-License-Identifier: MIT
 *
 * A pool without threads (see still.h).
 */
#include "still.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "inside.h"
#include "pool.h"

#define NOBODY UINT32_MAX

static void add_worker(struct still *still, uint32_t index)
{
    struct pool *pool = still->pool;
    struct worker *worker = worker_create(pool, index, true, "still");
    if (worker == NULL)
        check_broken("worker %u of %u could not be made (worker_init failed)", index, still->workers);
    account_init(worker->account, ACTIVITY_search, worker->random);
    shared_ptr_store_relaxed(&pool->workers[index], worker); /* one thread */
    shared_u32_store_release(&pool->published, index + 1);    /* one thread */
    instrument_own(index, worker->queueing, pool->scheduler->worker_state_size);
}

void still_open(struct still *still, const struct subject *subject, uint32_t workers,
                const struct pilfer_setting *settings, uint32_t setting_count)
{
    const struct scheduler *scheduler = inside_scheduler(subject);
    struct pool *pool = platform_alloc(sizeof(*pool));
    check_setup(scheduler != NULL && pool != NULL && workers <= STILL_WORKERS_MAX);
    pool->scheduler = scheduler;
    pool->idle = registry_idle(scheduler->idle);
    pool->sizing = registry_sizing(scheduler->sizing);
    check_setup(pool->idle != NULL && pool->sizing != NULL);
    pool->min_workers = pool->max_workers = pool->worker_slots = workers;
    pool->processors = platform_usable_cpus();
    pool->seed = subject->seed;
    pool->settings = settings;
    pool->setting_count = setting_count;
    pool->queueing = platform_alloc(scheduler->pool_state_size);
    pool->workers = platform_alloc(workers * sizeof(*pool->workers));
    pool->private = platform_alloc(sizeof(*pool->private));
    check_setup(pool->queueing != NULL && pool->workers != NULL && pool->private != NULL);
    pool->private->outside_account = platform_alloc(sizeof(struct account));
    check_setup(pool->private->outside_account != NULL);
    *still = (struct still){.pool = pool, .workers = workers, .callback = "init"};
    instrument_forget();
    if (scheduler->init != NULL && scheduler->init(pool) != 0)
        check_broken("init failed");
    for (uint32_t i = 0; i < workers; i++)
        add_worker(still, i);
    still->guest = worker_create(pool, NOBODY, false, "guest");
    check_setup(still->guest != NULL);
    account_init(still->guest->account, ACTIVITY_run, still->guest->random);
}

void still_close(struct still *still)
{
    struct pool *pool = still->pool;
    for (uint32_t i = 0; i < still->workers; i++)
        worker_destroy(pool_worker(pool, i));
    worker_destroy(still->guest);
    if (pool->scheduler->fini != NULL)
        pool->scheduler->fini(pool);
    platform_free(pool->private->outside_account);
    platform_free(pool->private);
    platform_free(pool->workers);
    platform_free(pool->queueing);
    platform_free(pool);
}

static void end_call(struct still *still, const char *callback)
{
    still->trace = instrument_end();
    still->callback = callback;
    check_progress();
}

int still_submit(struct still *still, uint32_t index, struct still_task *task, enum pilfer_placement placement)
{
    struct worker *self = index == NOBODY ? still->guest : pool_worker(still->pool, index);
    check_setup(task->state == STILL_FREE);
    task->state = STILL_ACCEPTED;
    instrument_begin(index);
    const int status = still->pool->scheduler->submit(still->pool, self, &task->task, placement);
    end_call(still, "submit");
    if (status < 0)
        task->state = STILL_FREE;
    return status;
}

static struct still_task *take(struct pilfer_task *taken, const char *who)
{
    struct still_task *task = (struct still_task *)taken;
    if (task->state == STILL_FREE)
        check_broken("%s gave task %u, which nobody had submitted", who, task->id);
    if (task->state == STILL_TAKEN)
        check_broken("%s gave task %u, which had been handed out before", who, task->id);
    task->state = STILL_TAKEN;
    return task;
}

struct still_task *still_next(struct still *still, uint32_t index)
{
    const struct scheduler *scheduler = still->pool->scheduler;
    struct worker *worker = pool_worker(still->pool, index);
    struct pilfer_task *taken = NULL;
    instrument_begin(index);
    const enum next_result result = scheduler->next(worker, &taken);
    end_call(still, "next");
    if (result == NEXT_MISSED)
        check_broken("next says that it lost a race, and no other thread runs");
    if (result != NEXT_TASK)
        return NULL;
    if (taken == NULL)
        check_broken("next says that it gives a task, and gives NULL");
    struct still_task *task = take(taken, "next");
    if (scheduler->done != NULL)
        scheduler->done(worker);
    return task;
}

struct still_task *still_drain(struct still *still)
{
    struct pilfer_task *taken = still->pool->scheduler->drain(still->pool);
    return taken != NULL ? take(taken, "drain") : NULL;
}

void still_surrender(struct still *still, uint32_t index)
{
    const struct scheduler *scheduler = still->pool->scheduler;
    if (scheduler->surrender_local == NULL)
        return;
    instrument_begin(index);
    scheduler->surrender_local(pool_worker(still->pool, index));
    end_call(still, "surrender_local");
}

void still_drain_all(struct still *still, uint64_t expected)
{
    uint64_t drained = 0;
    while (still_drain(still) != NULL) {
        drained++;
        check_progress();
    }
    if (drained != expected)
        check_broken("%llu accepted tasks were not handed out, and drain gives %llu", (unsigned long long)expected,
                     (unsigned long long)drained);
    if (still_drain(still) != NULL)
        check_broken("drain gave NULL and then a task");
    for (uint32_t i = 0; i < still->workers; i++)
        if (still_next(still, i) != NULL)
            check_broken("next gave a task after drain had given all");
}
