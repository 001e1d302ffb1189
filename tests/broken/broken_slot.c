/* SPDX-License-Identifier: MIT
 *
 * Broken: a LIFO slot without a limit, so that a task that keeps submitting starves all others. Convicted by S6.
 */
#include "honest.h"

struct broken_slot_worker {
    struct pilfer_task *slot; /* private to the owner */
};

static int broken_slot_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                              enum pilfer_placement placement)
{
    if (worker == NULL || !worker->is_worker || placement == PILFER_PLACEMENT_GLOBAL ||
        pool_setting(pool, "lifo-slot") == 0)
        return honest_submit(pool, worker, task, placement);
    struct broken_slot_worker *own = worker->queueing;
    struct pilfer_task *evicted = own->slot;
    own->slot = task;
    return evicted != NULL ? honest_submit(pool, worker, evicted, placement) : 0;
}

static enum next_result broken_slot_next(struct worker *worker, struct pilfer_task **out)
{
    struct broken_slot_worker *own = worker->queueing;
    if (own->slot == NULL)
        return honest_next(worker, out);
    *out = own->slot;
    own->slot = NULL;
    worker_count(worker, COUNTER_lifo_slot_hits, 1);
    return NEXT_TASK;
}

static uint32_t broken_slot_surrender_local(struct worker *worker)
{
    struct broken_slot_worker *own = worker->queueing;
    struct pilfer_task *task = own->slot;
    own->slot = NULL;
    if (task != NULL)
        honest_submit(worker->pool, worker, task, PILFER_PLACEMENT_GLOBAL);
    return task != NULL;
}

static struct pilfer_task *broken_slot_drain(struct pool *pool)
{
    for (uint32_t i = 0; i < pool_published(pool); i++)
        broken_slot_surrender_local(pool_worker(pool, i));
    return honest_drain(pool);
}

static const struct scheduler_parameter broken_slot_parameters[] = {
    {"lifo-slot", 0, 1, 0, "keep the newest local task in an unstealable slot"},
    {NULL},
};

const struct scheduler scheduler_broken_slot = {
    .name = "broken-slot",
    .summary = "a LIFO slot without a limit",
    .caps = SCHEDULER_LIFO_SLOT,
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .parameters = broken_slot_parameters,
    .pool_state_size = sizeof(struct honest),
    .worker_state_size = sizeof(struct broken_slot_worker),
    .submit = broken_slot_submit,
    .next = broken_slot_next,
    .pending = honest_pending,
    .surrender_local = broken_slot_surrender_local,
    .drain = broken_slot_drain,
};
