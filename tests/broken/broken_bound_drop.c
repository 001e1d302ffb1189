/* SPDX-License-Identifier: MIT
 *
 * Broken bound: every 500th item is accepted and forgotten. Convicted by B1.
 */
#include "bound.h"
#include "rarely.h"

struct broken_bound_drop {
    struct bound_state state;
    struct shared_u64 submitted; /* counter only */
};

static int broken_bound_drop_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_fifo, &bound_protocol_safe);
}

static int broken_bound_drop_submit(struct bound_executor *bound, struct pilfer_task *task)
{
    struct broken_bound_drop *own = bound->state;
    return rarely(&own->submitted, 500) ? 0 : bound_submit(bound, task);
}

const struct bound bound_broken_bound_drop = {
    .name = "broken-bound-drop",
    .summary = "forgets one item in 500",
    .state_size = sizeof(struct broken_bound_drop),
    .init = broken_bound_drop_init,
    .fini = bound_fini,
    .submit = broken_bound_drop_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
