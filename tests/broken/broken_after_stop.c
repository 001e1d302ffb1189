/* SPDX-License-Identifier: MIT
 *
 * Broken: after drain has given the last task, next gives it again. Convicted by S8.
 */
#include "honest.h"

struct broken_after_stop {
    struct honest honest;
    struct shared_ptr drained; /* the task that drain gave last; @P broken_after_stop.1 */
};

static enum next_result broken_after_stop_next(struct worker *worker, struct pilfer_task **out)
{
    struct broken_after_stop *state = worker->pool->queueing;
    if (honest_next(worker, out) == NEXT_TASK)
        return NEXT_TASK;
    *out = shared_ptr_exchange_acq_rel(&state->drained, NULL); /* @P broken_after_stop.1 */
    return *out != NULL ? NEXT_TASK : NEXT_EMPTY;
}

static struct pilfer_task *broken_after_stop_drain(struct pool *pool)
{
    struct broken_after_stop *state = pool->queueing;
    struct pilfer_task *task = honest_drain(pool);
    if (task != NULL)
        shared_ptr_exchange_acq_rel(&state->drained, task); /* @P broken_after_stop.1 */
    return task;
}

const struct scheduler scheduler_broken_after_stop = {
    .name = "broken-after-stop",
    .summary = "hands out after the end",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_after_stop),
    .submit = honest_submit,
    .next = broken_after_stop_next,
    .pending = honest_pending,
    .drain = broken_after_stop_drain,
};
