/* SPDX-License-Identifier: MIT
 *
 * Bound fixed-concurrency: at most `parallelism` of its items at once, from a list under a lock.
 *
 * What it is. A dispatcher in the sense of actor systems: a queue of its own, emptied by reader tasks on a pool that
 * others use too. A reader keeps its worker until it sees the queue empty. Items start in submit order.
 *
 * When it does well: several kinds of work on one pool, one of which must not take all workers. When badly: items so
 * short that submitters and readers meet at the list's lock; a pool with fewer workers than its bounds have readers,
 * since a reader does not share its worker with the other bounds.
 *
 * Source. FixedConcurrencyTaskScheduler (akkadotnet/akka.net 1.4.19 to 1.4.28) with the safe protocol of safe.c.
 */
#include "../bound.h"

static int fixed_concurrency_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_fifo, &bound_protocol_safe);
}

const struct bound bound_fixed_concurrency = {
    .name = "fixed-concurrency",
    .summary = "at most parallelism items at once; locked list, safe protocol",
    .state_size = sizeof(struct bound_state),
    .init = fixed_concurrency_init,
    .fini = bound_fini,
    .submit = bound_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
