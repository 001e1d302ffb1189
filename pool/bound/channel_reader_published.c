/* SPDX-License-Identifier: MIT
 *
 * Specimen channel-reader-published: channel-reader with the protocol as it was published.
 *
 * What it is. The protocol of published.c over the channel of channel-reader. It can strand items, exceed its bound and
 * miscount its readers for good. Not for use: the tests pass only while it is convicted.
 *
 * Source. The ChannelExecutor of pull request 4882 of akkadotnet/akka.net, removed there before the merge.
 */
#include "../bound.h"

static int channel_reader_published_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_channel, &bound_protocol_published);
}

const struct bound bound_channel_reader_published = {
    .name = "channel-reader-published",
    .summary = "specimen: the published protocol with its races R1 to R4; channel",
    .state_size = sizeof(struct bound_state),
    .init = channel_reader_published_init,
    .fini = bound_fini,
    .submit = bound_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = bound_extras,
};
