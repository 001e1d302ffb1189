/* SPDX-License-Identifier: MIT
 *
 * Broken: next keeps a lock that done releases, so that it is held while the task runs. Convicted by S10.
 */
#include "honest.h"

struct broken_lock {
    struct honest honest;
    struct lock lock;
};

static enum next_result broken_lock_next(struct worker *worker, struct pilfer_task **out)
{
    struct broken_lock *state = worker->pool->queueing;
    lock_lock(&state->lock);
    const enum next_result result = honest_next(worker, out);
    if (result != NEXT_TASK)
        lock_unlock(&state->lock);
    return result;
}

static void broken_lock_done(struct worker *worker)
{
    struct broken_lock *state = worker->pool->queueing;
    lock_unlock(&state->lock);
}

const struct scheduler scheduler_broken_lock = {
    .name = "broken-lock",
    .summary = "holds a lock while a task runs",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_lock),
    .submit = honest_submit,
    .next = broken_lock_next,
    .pending = honest_pending,
    .done = broken_lock_done,
    .drain = honest_drain,
};
