/* SPDX-License-Identifier: MIT
 *
 * Specimen fixed-concurrency-published: fixed-concurrency with the protocol as it was published.
 *
 * What it is. The protocol of published.c over the list of fixed-concurrency. It can strand items, exceed its bound and
 * miscount its readers for good. Not for use: the tests pass only while it is convicted.
 *
 * Source. FixedConcurrencyTaskScheduler, akkadotnet/akka.net 1.4.19 to 1.4.28.
 */
#include "../bound.h"

static int fixed_concurrency_published_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_fifo, &bound_protocol_published);
}

const struct bound bound_fixed_concurrency_published = {
    .name = "fixed-concurrency-published",
    .summary = "specimen: the published protocol with its races R1 to R4; locked list",
    .state_size = sizeof(struct bound_state),
    .init = fixed_concurrency_published_init,
    .fini = bound_fini,
    .submit = bound_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
