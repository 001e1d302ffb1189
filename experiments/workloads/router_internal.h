/* SPDX-License-Identifier: MIT
 *
 * The router's own objects: the router, the control connection, its streams.
 *
 * Meeting of requests and streams. Idle streams and waiting requests each have a ring. Whoever adds to one of them then
 * looks into both (router_match), so that none is left waiting beside the other; a full fence between adding and
 * looking closes the race in which both sides look too early (@F router.match).
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_ROUTER_INTERNAL_H
#define PILFER_EXPERIMENTS_WORKLOADS_ROUTER_INTERNAL_H

#include "workloads/frames.h"
#include "workloads/server_internal.h"

/* A stream ends with its probe, which may be late; the next one on its channel then takes another object. Tests lower
 * it. */
#ifndef ROUTER_STREAMS_PER_CHANNEL
#define ROUTER_STREAMS_PER_CHANNEL 3
#endif
#define ROUTER_CONTROLS_MAX        64 /* control connections over the life of a router */
#define CONTROL_PIPE_SIZE          65536

struct control;

/* One request and its reply. Given out by the frame parser, given back by the probe (B7). */
struct stream {
    struct control *control;
    struct gate
        outgoing;      /* bits STREAM_ACCEPT, STREAM_REQUEST; owner: the frame writer's ring, then the frame writer */
    struct gate relay; /* bits RELAY_*; owner: B4, then B7, then the free ring, then the frame parser */
    struct pilfer_task relay_task, open_task, probe_task;
    uint16_t channel;
    uint32_t outgoing_left; /* bits that the frame writer had no room for; its own */
    struct shared_u32
        sent; /* 1: the request is on its way; written by the frame writer; @P router.sent, @F router.down */
    struct client *client; /* whose request; written by who assigns it, before it is sent */
    uint32_t request_length;
    char request[FRAME_REQUEST_MAX];
    struct shared_u32 reply_length; /* written by the frame parser; @P router.reply */
    uint8_t reply[FRAME_RESPONSE_MAX];
    /* Of the relay gate's owner. */
    struct http_response_parser parser;
    uint32_t reply_used;
    bool head_written;
    struct shared_u64 relays, markers, opens, probes; /* counters, each of one owner */
};
enum { STREAM_ACCEPT = 1, STREAM_REQUEST = 2 };
enum { RELAY_DATA = 1, RELAY_END = 2, RELAY_LOST = 4 };

/* The extension's connection. */
struct control {
    struct router *router;
    struct receiver receiver; /* B1; news goes to copy */
    struct gate copy;         /* bits RECEIVER_*; owner: B2, which owns the next two */
    struct pilfer_task copy_task;
    bool copy_ended, end_told;
    struct pipe frames;
    struct stall frames_full;
    struct gate parser; /* bits RECEIVER_*; owner: B3, which owns the next five */
    struct pilfer_task parser_task;
    bool parser_ended, broken;
    uint32_t channels, stream_count;
    struct stream **current; /* by channel: the open stream */
    struct stream *streams;
    struct shared_ptr streams_shared; /* the same pointer, for sums; @P router.streams */
    struct ring streams_free;
    struct stall no_stream;
    struct ring idle;   /* accepted streams without a request */
    struct gate writer; /* bit 1; owner: A3, which owns the next one */
    struct pilfer_task writer_task;
    struct stream *unwritten; /* had no room */
    struct ring outgoing;
    struct sender sender;                       /* A4 */
    struct shared_u32 down;                     /* 1: no more requests; written by the frame parser; @F router.down */
    struct shared_u64 copies, parsers, writers; /* counters, each of its gate's owner */
};

struct router {
    struct server server;
    struct transport_listener *control_listener;
    struct source control_listening;
    struct ring pending; /* clients whose request waits for a stream */
    struct shared_ptr
        control; /* the latest struct control, or NULL; written by the accepting item; @P router.control */
    struct shared_ptr controls[ROUTER_CONTROLS_MAX]; /* all of them */
    struct shared_u32 control_count;                 /* @P router.controls */
};

/* ---- router.c ---- */

/* The extension to which requests go now; NULL when there is none. Any thread. */
struct control *router_control(struct router *router);
/* Brings idle streams and waiting requests together. Any thread. */
void router_match(struct router *router, struct control *control);
/* Answers all waiting requests with 503. Any thread; after control->down, or without an extension. */
void router_fail_pending(struct router *router);
/* Answers a request that will get no reply, and goes on with its client. The owner of the client's loop. */
void router_fail(struct client *client, int status);

/* ---- router_control.c ---- */

/* A new connection on the control port. */
void control_adopt(struct server *server, struct transport_connection *connection);
void control_free(struct control *control);
bool control_is_down(const struct control *control);
/* A stream has something to send: A3. Any thread. */
void control_kick_writer(struct control *control, struct stream *stream, uint32_t bits);
/* A stream is free again. */
void control_return_stream(struct control *control, struct stream *stream);

/* ---- router_stream.c ---- */

void stream_init(struct stream *stream, struct control *control);
/* Makes it ready for a new life on a channel. The frame parser. */
void stream_open(struct stream *stream, uint16_t channel);
/* Gives it a request and sends it. bits: STREAM_REQUEST, with STREAM_ACCEPT if that is still owed. */
void stream_assign(struct stream *stream, struct client *client, uint32_t bits);
/* Tells the relay. Any thread. */
void stream_kick_relay(struct stream *stream, uint32_t bits);

#endif
