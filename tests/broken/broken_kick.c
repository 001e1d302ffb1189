/* SPDX-License-Identifier: MIT
 *
 * Broken: every 100th submit asks for no wake. Convicted by S3.
 */
#include "honest.h"
#include "rarely.h"

struct broken_kick {
    struct honest honest;
    struct shared_u64 submitted; /* counter only */
};

static int broken_kick_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task,
                              enum pilfer_placement placement)
{
    struct broken_kick *state = pool->queueing;
    honest_submit(pool, worker, task, placement);
    return rarely(&state->submitted, 100) ? 0 : 1;
}

const struct scheduler scheduler_broken_kick = {
    .name = "broken-kick",
    .summary = "asks for no wake, now and then",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_kick),
    .submit = broken_kick_submit,
    .next = honest_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
