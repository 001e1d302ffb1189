/* SPDX-License-Identifier: MIT
 *
 * Broken: init allocates twice, and keeps the first when the second fails. Convicted by S4.
 */
#include <errno.h>

#include "honest.h"

struct broken_init {
    struct honest honest;
    void *first, *second; /* constant */
};

static int broken_init_init(struct pool *pool)
{
    struct broken_init *state = pool->queueing;
    state->first = platform_alloc(64);
    if (state->first == NULL)
        return -ENOMEM;
    state->second = platform_alloc(64);
    return state->second != NULL ? 0 : -ENOMEM;
}

static void broken_init_fini(struct pool *pool)
{
    struct broken_init *state = pool->queueing;
    platform_free(state->first);
    platform_free(state->second);
}

const struct scheduler scheduler_broken_init = {
    .name = "broken-init",
    .summary = "does not undo a half-done init",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct broken_init),
    .init = broken_init_init,
    .fini = broken_init_fini,
    .submit = honest_submit,
    .next = honest_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
