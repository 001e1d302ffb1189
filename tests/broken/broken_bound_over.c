/* SPDX-License-Identifier: MIT
 *
 * Broken bound: one reader more than the limit (fixed-concurrency, off by one). Convicted by B2.
 */
#include "bound.h"

static int broken_bound_over_init(struct bound_executor *bound)
{
    bound->parallelism++;
    return bound_init(bound, &bound_queue_fifo, &bound_protocol_safe);
}

const struct bound bound_broken_bound_over = {
    .name = "broken-bound-over",
    .summary = "one item too many at once",
    .state_size = sizeof(struct bound_state),
    .init = broken_bound_over_init,
    .fini = bound_fini,
    .submit = bound_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
