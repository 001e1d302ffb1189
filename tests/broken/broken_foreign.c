/* SPDX-License-Identifier: MIT
 *
 * Broken: a worker that finds nothing writes plainly into the state of the next worker (a hint whom to ask). Convicted
 * by S7.
 */
#include "honest.h"

struct broken_foreign_worker {
    uint32_t asked_by;
};

static enum next_result broken_foreign_next(struct worker *worker, struct pilfer_task **out)
{
    const enum next_result result = honest_next(worker, out);
    struct broken_foreign_worker *own = worker->queueing;
    own->asked_by = UINT32_MAX;
    struct worker *peer = pool_worker(worker->pool, worker->index + 1);
    if (result == NEXT_EMPTY && peer != NULL)
        ((struct broken_foreign_worker *)peer->queueing)->asked_by = worker->index;
    return result;
}

const struct scheduler scheduler_broken_foreign = {
    .name = "broken-foreign",
    .summary = "writes into the state of another worker",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .worker_state_size = sizeof(struct broken_foreign_worker),
    .submit = honest_submit,
    .next = broken_foreign_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
