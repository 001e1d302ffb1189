/* SPDX-License-Identifier: MIT
 *
 * Broken: next walks through the whole list for the task with the lowest address. Convicted by S5.
 */
#include "lock.h"
#include "scheduler.h"

struct broken_scan {
    struct lock lock;
    struct pilfer_task *head; /* under lock */
};

static int broken_scan_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                              enum pilfer_placement placement)
{
    struct broken_scan *state = pool->queueing;
    lock_lock(&state->lock);
    task->next = state->head;
    state->head = task;
    lock_unlock(&state->lock);
    return 1;
}

static struct pilfer_task *take_lowest(struct broken_scan *state)
{
    struct pilfer_task **lowest = &state->head;
    lock_lock(&state->lock);
    for (struct pilfer_task **link = &state->head; *link != NULL; link = &(*link)->next)
        if (*link < *lowest)
            lowest = link;
    struct pilfer_task *task = *lowest;
    if (task != NULL)
        *lowest = task->next;
    lock_unlock(&state->lock);
    return task;
}

static enum next_result broken_scan_next(struct worker *worker, struct pilfer_task **out)
{
    *out = take_lowest(worker->pool->queueing);
    return *out != NULL ? NEXT_TASK : NEXT_EMPTY;
}

static bool broken_scan_pending(struct pool *pool)
{
    struct broken_scan *state = pool->queueing;
    lock_lock(&state->lock);
    const bool pending = state->head != NULL;
    lock_unlock(&state->lock);
    return pending;
}

static struct pilfer_task *broken_scan_drain(struct pool *pool)
{
    return take_lowest(pool->queueing);
}

const struct scheduler scheduler_broken_scan = {
    .name = "broken-scan",
    .summary = "walks through all queued tasks for the next one",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_scan),
    .submit = broken_scan_submit,
    .next = broken_scan_next,
    .pending = broken_scan_pending,
    .drain = broken_scan_drain,
};
