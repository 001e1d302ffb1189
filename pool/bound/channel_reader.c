/* SPDX-License-Identifier: MIT
 *
 * Bound channel-reader: at most `parallelism` of its items at once, from a channel.
 *
 * What it is. As fixed-concurrency, but the items wait in a channel: producers serialise on a lock, readers take items
 * without one. Items start in submit order.
 *
 * When it does well: many readers and short items, since readers do not disturb submitters. When badly: a queue that
 * was long once keeps its memory.
 *
 * Source. The ChannelExecutor of pull request 4882 of akkadotnet/akka.net, with the safe protocol of safe.c; the
 * channel is described in queues.h.
 */
#include "../bound.h"

static int channel_reader_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_channel, &bound_protocol_safe);
}

const struct bound bound_channel_reader = {
    .name = "channel-reader",
    .summary = "at most parallelism items at once; channel, safe protocol",
    .state_size = sizeof(struct bound_state),
    .init = channel_reader_init,
    .fini = bound_fini,
    .submit = bound_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
