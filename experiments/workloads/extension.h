/* SPDX-License-Identifier: MIT
 *
 * The extension: the one single-threaded process behind the router, and the bottleneck of the published finding.
 *
 * How it works. One connection to the router's control port carries `channels` streams (frames: workloads/frames.h).
 * Each request is answered, then its stream is opened anew. Service is one of
 *   burn   service_ns of CPU per request, one after the other
 *   delay  one server with absolute deadlines and no CPU: a request is answered service_ns after the deadline of the
 *          one before; the schedule is kept while it is late by less than two services, else it starts again from now.
 *          So the rate does not depend on how late the thread wakes up.
 * Without work it is blocked. When the router goes, it ends.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_EXTENSION_H
#define PILFER_EXPERIMENTS_WORKLOADS_EXTENSION_H

#include "platform.h"

#define EXTENSION_CHANNELS_MAX 1024

enum extension_mode { EXTENSION_BURN, EXTENSION_DELAY };

struct extension_options {
    uint16_t control_port; /* the router's */
    uint32_t channels;     /* 1 to EXTENSION_CHANNELS_MAX */
    enum extension_mode mode;
    uint64_t service_ns;     /* per request; published: 53,000 of burning */
    uint32_t reply_segments; /* 1, or 2: the reply's end comes in a segment of its own */
};

struct extension_totals {
    uint64_t requests_received;
    uint64_t requests_answered;
    uint64_t schedule_restarts; /* mode delay: deadlines given up: two services late with a request there in time */
};

struct extension;

/* Connects and opens the streams; returns when the router has accepted all of them. Returns 0; or -EINVAL,
 * -ECONNREFUSED, -ETIMEDOUT (after five seconds), -EPROTO, -ENOMEM, -EMFILE with one line in message
 * (PILFER_MESSAGE_SIZE bytes). */
int extension_open(const struct extension_options *options, struct extension **out, char *message);

/* Serves until the router closes the connection or *stop is true (looked at after each wake-up and every 200 ms; a
 * signal wakes it). Returns 0, or -EPROTO when the router broke the protocol. totals are written in every case. */
int extension_serve(struct extension *extension, const volatile int *stop, struct extension_totals *totals);

void extension_close(struct extension *extension);

#endif
