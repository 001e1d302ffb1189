/* SPDX-License-Identifier: MIT
 *
 * Broken bound: every 50th submit starts no reader, relying on one that may have gone. Convicted by B3.
 */
#include "bound.h"
#include "rarely.h"

struct broken_bound_strands {
    struct bound_state state;
    struct shared_u64 submitted; /* counter only */
};

static int broken_bound_strands_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_fifo, &bound_protocol_safe);
}

static int broken_bound_strands_submit(struct bound_executor *bound, struct pilfer_task *task)
{
    struct broken_bound_strands *own = bound->state;
    uint64_t ticket;
    if (!rarely(&own->submitted, 50))
        return bound_submit(bound, task);
    return own->state.queue->push(&own->state, task, &ticket);
}

const struct bound bound_broken_bound_strands = {
    .name = "broken-bound-strands",
    .summary = "starts no reader for one item in 50",
    .state_size = sizeof(struct broken_bound_strands),
    .init = broken_bound_strands_init,
    .fini = bound_fini,
    .submit = broken_bound_strands_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
