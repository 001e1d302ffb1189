/* SPDX-License-Identifier: MIT
 *
 * Broken: pending is wrongly false while tasks are queued, every other time. Convicted by S3, under an idle policy that
 * takes its last look through it.
 */
#include "honest.h"

struct broken_pending {
    struct honest honest;
    struct shared_u64 looks; /* counter only */
};

static bool broken_pending_pending(struct pool *pool)
{
    struct broken_pending *state = pool->queueing;
    return honest_pending(pool) && shared_u64_add_relaxed(&state->looks, 1) % 2 != 0;
}

const struct scheduler scheduler_broken_pending = {
    .name = "broken-pending",
    .summary = "says that nothing is pending while something is",
    .idle = "eager",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_pending),
    .submit = honest_submit,
    .next = honest_next,
    .pending = broken_pending_pending,
    .drain = honest_drain,
};
