/* SPDX-License-Identifier: MIT
 *
 * Broken: every 1,000th task is accepted and forgotten. Convicted by S1.
 */
#include "honest.h"
#include "rarely.h"

struct broken_drop {
    struct honest honest;
    struct shared_u64 submitted; /* counter only */
};

static int broken_drop_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                              enum pilfer_placement placement)
{
    struct broken_drop *state = pool->queueing;
    if (rarely(&state->submitted, 1000))
        return 1;
    return honest_submit(pool, worker, task, placement);
}

const struct scheduler scheduler_broken_drop = {
    .name = "broken-drop",
    .summary = "forgets one task in 1,000",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_drop),
    .submit = broken_drop_submit,
    .next = honest_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
