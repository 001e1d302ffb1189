/* SPDX-License-Identifier: MIT
 *
 * Broken: every 500th task is handed out twice. Convicted by S2.
 */
#include "honest.h"
#include "rarely.h"

struct broken_double {
    struct honest honest;
    struct shared_u64 taken; /* counter only */
    struct shared_ptr again; /* the task to be handed out once more; any thread */
};

static enum next_result broken_double_next(struct worker *worker, struct pilfer_task **out)
{
    struct broken_double *state = worker->pool->queueing;
    *out = shared_ptr_exchange_acq_rel(&state->again, NULL);
    if (*out != NULL)
        return NEXT_TASK;
    const enum next_result result = honest_next(worker, out);
    if (result == NEXT_TASK && rarely(&state->taken, 500))
        shared_ptr_exchange_acq_rel(&state->again, *out);
    return result;
}

const struct scheduler scheduler_broken_double = {
    .name = "broken-double",
    .summary = "hands every 500th task out twice",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_double),
    .submit = honest_submit,
    .next = broken_double_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
