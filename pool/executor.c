/* SPDX-License-Identifier: MIT
 *
 * The public executor: a pool scheduler, or a bound that stands on another executor, behind one set of functions.
 *
 * How it works. Every executor has the pool at the bottom, whose gate, counters and workers it uses. A bound's items go
 * to the bound's own queue; its readers are tasks of the executor below.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pool.h"

static int fail(int status, char *message, const char *what)
{
    snprintf(message, PILFER_MESSAGE_SIZE, "cannot %s: %s", what, strerror(-status));
    return status;
}

static int open_bound(struct pilfer_executor *executor, const struct bound *table, uint32_t parallelism)
{
    struct bound_executor *bound = platform_alloc(sizeof(*bound));
    if (bound == NULL)
        return -ENOMEM;
    bound->bound = table;
    bound->below = executor->below;
    bound->parallelism = parallelism;
    bound->state = platform_alloc(table->state_size);
    int status = bound->state == NULL ? -ENOMEM : table->init != NULL ? table->init(bound) : 0;
    if (status != 0) {
        platform_free(bound->state);
        platform_free(bound);
        return status;
    }
    executor->bound = bound;
    return 0;
}

static int open_pool(struct pilfer_executor *executor, const struct pilfer_options *options,
                     const struct resolution *resolution)
{
    struct pilfer_options resolved = *options;
    resolved.min_workers = resolution->resolved.min_workers;
    resolved.max_workers = resolution->resolved.max_workers;
    resolved.spin_limit = resolution->spin_limit;
    return pool_create(&resolved, resolution->scheduler, resolution->idle, resolution->sizing, &executor->pool);
}

int pilfer_open(const struct pilfer_options *options, struct pilfer_executor **out, char *message)
{
    struct resolution resolution;
    int status = resolve(options, &resolution, message);
    if (status != 0)
        return status;
    struct pilfer_executor *executor = platform_alloc(sizeof(*executor));
    if (executor == NULL)
        return fail(-ENOMEM, message, "open an executor");
    if (resolution.bound == NULL) {
        status = open_pool(executor, options, &resolution);
    } else {
        executor->below = platform_alloc(sizeof(*executor->below));
        status = executor->below == NULL ? -ENOMEM : open_pool(executor->below, options, &resolution);
        if (status == 0) {
            executor->pool = executor->below->pool;
            status = open_bound(executor, resolution.bound, resolution.resolved.parallelism);
            if (status != 0) {
                pool_stop(executor->pool, false);
                pool_destroy(executor->pool);
            }
        }
    }
    if (status == 0) {
        *out = executor;
        return 0;
    }
    platform_free(executor->below);
    platform_free(executor);
    return fail(status, message, status == -EAGAIN ? "start the first worker thread" : "open an executor");
}

int pilfer_submit(struct pilfer_executor *executor, struct pilfer_task *task, enum pilfer_placement placement)
{
    struct pool *pool = executor->pool;
    struct worker *self = pool_self(pool);
    struct pool_gate gate;
    int status;
    if (!pool_enter(pool, self, 1, &gate))
        return -ESHUTDOWN;
    if (executor->bound == NULL) {
        status = pool_submit(pool, self, task, placement);
    } else {
        task_mark_queued(task);
        status = executor->bound->bound->submit(executor->bound, task);
        if (status != 0)
            task_mark_refused(task);
        pool_count(pool, self, status == 0 ? COUNTER_tasks_accepted : COUNTER_submits_refused, 1);
    }
    pool_leave(pool, self, &gate);
    return status;
}

int pilfer_submit_batch(struct pilfer_executor *executor, struct pilfer_task *first, uint32_t count,
                        enum pilfer_placement placement)
{
    struct pool *pool = executor->pool;
    struct worker *self = pool_self(pool);
    if (executor->bound == NULL) {
        struct pool_gate gate;
        if (!pool_enter(pool, self, count, &gate))
            return -ESHUTDOWN;
        int taken = pool_submit_batch(pool, self, first, count, placement);
        pool_leave(pool, self, &gate);
        return taken;
    }
    int taken = 0;
    for (struct pilfer_task *task = first, *next; count > 0; task = next, count--, taken++) {
        next = task->next;
        int status = pilfer_submit(executor, task, placement);
        if (status != 0)
            return taken > 0 ? taken : status;
    }
    return taken;
}

int bound_submit_below(struct bound_executor *bound, struct pilfer_task *reader)
{
    struct pilfer_executor *below = bound->below;
    return pool_submit(below->pool, pool_self(below->pool), reader, PILFER_PLACEMENT_GLOBAL);
}

int pilfer_attach(struct pilfer_executor *executor, const char *name)
{
    return pool_attach(executor->pool, name);
}

void pilfer_detach(struct pilfer_executor *executor)
{
    pool_detach(executor->pool);
}

int pilfer_wait(struct pilfer_executor *executor, struct pilfer_latch *latch)
{
    return pool_wait(executor->pool, latch);
}

/* Items whose reader was refused by the executor below are given readers now, while the workers are still there. If
 * that fails again and again (no memory), the closing thread runs them itself, see drain_bound. */
static void settle_bound(struct pilfer_executor *executor)
{
    enum { TRIES_MAX = 100 };
    pool_quiesce(executor->pool, true);
    for (int i = 0; i < TRIES_MAX && executor->bound->bound->busy(executor->bound); i++)
        pool_quiesce(executor->pool, true);
}

/* The items that a bound still holds once its readers are gone. */
static void drain_bound(struct pilfer_executor *executor, enum pilfer_close how, void (*cancel)(struct pilfer_task *))
{
    struct bound_executor *bound = executor->bound;
    struct pool *pool = executor->pool;
    struct pilfer_task *task;
    while ((task = bound->bound->drain(bound)) != NULL) {
        task_mark_taken(task);
        if (how == PILFER_CLOSE_RUN) {
            task->run(task);
            pool_count(pool, NULL, COUNTER_tasks_run, 1);
            continue;
        }
        pool_count(pool, NULL, COUNTER_tasks_drained, 1);
        if (cancel != NULL)
            cancel(task);
    }
}

void pilfer_close(struct pilfer_executor *executor, enum pilfer_close how, void (*cancel)(struct pilfer_task *task))
{
    struct pool *pool = executor->pool;
    bool run = how == PILFER_CLOSE_RUN;
    if (run && executor->bound != NULL)
        settle_bound(executor);
    pool_stop(pool, run);
    pool_drain(pool, run, executor->bound == NULL ? cancel : NULL);
    if (executor->bound != NULL) {
        drain_bound(executor, how, cancel);
        if (executor->bound->bound->fini != NULL)
            executor->bound->bound->fini(executor->bound);
        platform_free(executor->bound->state);
        platform_free(executor->bound);
        platform_free(executor->below);
    }
    pool_destroy(pool);
    platform_free(executor);
}

void pilfer_totals(struct pilfer_executor *executor, struct account_totals *out)
{
    pool_totals(executor->pool, out);
}

void pilfer_extras(struct pilfer_executor *executor, void (*visit)(void *context, const char *name, double value),
                   void *context)
{
    if (executor->bound != NULL && executor->bound->bound->extras != NULL)
        executor->bound->bound->extras(executor->bound, visit, context);
    if (executor->pool->scheduler->extras != NULL)
        executor->pool->scheduler->extras(executor->pool, visit, context);
    if (executor->pool->sizing->extras != NULL)
        executor->pool->sizing->extras(executor->pool, visit, context);
}

int pilfer_set_min_workers(struct pilfer_executor *executor, struct pilfer_limits minimum)
{
    struct pool *pool = executor->pool;
    if (pool->sizing->set_minimum == NULL)
        return -ENOTSUP;
    return pool->sizing->set_minimum(pool, pool_self(pool), minimum) ? 0 : -EINVAL;
}

int pilfer_set_max_workers(struct pilfer_executor *executor, struct pilfer_limits maximum)
{
    struct pool *pool = executor->pool;
    if (pool->sizing->set_maximum == NULL)
        return -ENOTSUP;
    return pool->sizing->set_maximum(pool, pool_self(pool), maximum) ? 0 : -EINVAL;
}

int pilfer_read_limits(struct pilfer_executor *executor, struct pilfer_limit_values *out)
{
    struct pool *pool = executor->pool;
    if (pool->sizing->read_limits == NULL)
        return -ENOTSUP;
    pool->sizing->read_limits(pool, out);
    return 0;
}

int pilfer_write_trace(struct pilfer_executor *executor, int descriptor)
{
    struct pool *pool = executor->pool;
    if (pool->trace_events == 0)
        return -ENODATA;
    lock_lock(&pool->private->add_lock);
    uint32_t count = 0, published = pool_published(pool);
    for (const struct worker *guest = pool->private->guests; guest != NULL; guest = guest->next_guest)
        count++;
    struct trace_ring **rings = platform_alloc((published + count) * sizeof(*rings));
    int status = -ENOMEM;
    if (rings != NULL) {
        count = 0;
        for (uint32_t i = 0; i < published; i++)
            rings[count++] = pool_worker(pool, i)->trace;
        for (const struct worker *guest = pool->private->guests; guest != NULL; guest = guest->next_guest)
            rings[count++] = guest->trace;
        status = trace_write(rings, count, descriptor);
    }
    lock_unlock(&pool->private->add_lock);
    platform_free(rings);
    return status;
}
