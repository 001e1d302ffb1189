/* SPDX-License-Identifier: MIT
 *
 * The router workload's process under test: HTTP/1.1 clients on one side, one extension on the other, and a graph of
 * small work items between them that runs on the executor being measured.
 *
 * How it works. Clients connect to router_port(). The extension opens one connection to router_control_port() and keeps
 * `channels` streams open on it; each stream carries one request and its reply, then the extension opens the next. A
 * request takes an idle stream, or waits until one is opened. One request is about 15 work items, 14 of them placed
 * globally and one locally:
 *
 *   poller -> A1 engine drain -> A2 connection loop -> A3 frame writer -> A4 send     (client to extension)
 *   poller -> B1 engine drain -> B2 input copy -> B3 frame parser -> B4 relay -> B5 send  (extension to client)
 *                                                   B3 -> B6 new stream -> A3 -> A4    B4 -> B7 probe (local)
 *
 * A1 and B1 queue themselves once more before they work and then usually find nothing (A1s, B1s). All but A1, B4, B6
 * and B7 coalesce: at most one of each runs or waits per connection, and what arrives meanwhile is done by it.
 *
 * Sources. Specified from the public lambda-dispatch router (pwrdrvr/lambda-dispatch, January 2024) and the .NET 8
 * socket engine and Kestrel; item costs are the published estimates, scaled by item_cost_percent.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_ROUTER_H
#define PILFER_EXPERIMENTS_WORKLOADS_ROUTER_H

#include "pilfer.h"
#include "workloads/server.h"

struct router;

/* X(name, published cost in ns, what one unit is). Kinds of units of work that are charged and counted. */
#define ROUTER_COSTS(X)                                                         \
    X(poller, 0, "wake-up of a poller")                                         \
    X(engine, 3000, "A1, B1: event handled by an engine drain")                 \
    X(requeue, 300, "A1s, B1s: engine drain that found nothing")                \
    X(connection, 12000, "A2: request parsed and given to a stream")            \
    X(writer, 3000, "A3: stream with a request written as frames")              \
    X(writer_accept, 1500, "B8: stream accepted, without a request")            \
    X(send_control, 5000, "A4: send on the control connection with requests")   \
    X(send_accept, 3000, "B9: send on the control connection without requests") \
    X(copy, 1500, "B2: run of the control input copy loop")                     \
    X(parser, 3000, "B3: run of the frame parser")                              \
    X(relay, 10000, "B4: run of a relay")                                       \
    X(send_client, 5000, "B5: send to a client")                                \
    X(open, 6000, "B6: new stream")                                             \
    X(probe, 500, "B7: probe for waiting requests")

enum router_cost {
#define ROUTER_COST_ENUM(name, ns, meaning) ROUTER_COST_##name,
    ROUTER_COSTS(ROUTER_COST_ENUM)
#undef ROUTER_COST_ENUM
        ROUTER_COST_COUNT
};

/* X(name, meaning). Kinds of work items, counted as runs. */
#define ROUTER_ITEMS(X)                                        \
    X(engine, "A1, B1: engine drains that handled events")     \
    X(requeue, "A1s, B1s: engine drains that found nothing")   \
    X(connection, "A2: client connection loops")               \
    X(writer, "A3, B8: frame-writer loops")                    \
    X(send_control, "A4, B9: sends on the control connection") \
    X(copy, "B2: control input copy loops")                    \
    X(parser, "B3: frame parsers")                             \
    X(relay, "B4: relays")                                     \
    X(send_client, "B5: sends to clients")                     \
    X(open, "B6: new streams")                                 \
    X(probe, "B7: probes for waiting requests")

enum router_item {
#define ROUTER_ITEM_ENUM(name, meaning) ROUTER_ITEM_##name,
    ROUTER_ITEMS(ROUTER_ITEM_ENUM)
#undef ROUTER_ITEM_ENUM
        ROUTER_ITEM_COUNT
};

const char *router_item_name(enum router_item item);

struct router_options {
    uint16_t port;            /* for clients; 0: any free one */
    uint16_t control_port;    /* for the extension; 0: any free one */
    uint32_t poller_threads;  /* 1 to SERVER_POLLERS_MAX */
    uint32_t io_queues;       /* 1 to SERVER_IO_QUEUES_MAX; 0: usable CPUs, at most SERVER_IO_QUEUES_MAX */
    bool placement_published; /* items go global or local as published; false: all PILFER_PLACEMENT_DEFAULT */
    uint64_t cost_ns[ROUTER_COST_COUNT]; /* charged per unit, already scaled by item-cost-percent */
};

/* Fills the published costs, scaled; percent of the published ones. Other fields: zero but one poller, published. */
void router_options_init(struct router_options *options, double item_cost_percent);

/* Sums since the start; monotone, so a window is a difference. */
struct router_totals {
    uint64_t requests_received; /* complete, well-formed requests */
    uint64_t requests_answered; /* of those: answers handed to the client's output, any status */
    uint64_t requests_relayed;  /* of the answered: with the extension's own reply; equals the marker items (B4 ends) */
    uint64_t requests_refused;  /* of the answered: 503, the executor refused an item of theirs */
    uint64_t requests_lost;     /* of the answered: 502 or 503, the extension was absent, went away or sent nonsense */
    uint64_t requests_unheard;  /* of the answered: the client had left, or threw the answer away unread */
    uint64_t requests_invalid;  /* not among received: answered 400, 405, 413, 414, 431, 501 or 505, then closed */
    uint64_t requests_waited;   /* of the received: took the pending path */
    uint64_t markers;           /* B4 that finished a request */
    uint64_t items[ROUTER_ITEM_COUNT]; /* runs */
    uint64_t items_inline;             /* of those: ran in the submitter because the executor refused them */
    uint64_t polls;                    /* wake-ups of the pollers that brought events */
    uint64_t connections_accepted, connections_open, connections_expired, connections_rejected, descriptors_exhausted;
    uint64_t extensions_accepted, channels_idle; /* the second: streams that are idle now */
};

/* Starts listening and starts the pollers. The executor must be used by this router alone and must stay open until
 * after router_stop(). Returns 0; or -EINVAL, -EADDRINUSE, -EMFILE, -ENOMEM, -EAGAIN with one line in message
 * (PILFER_MESSAGE_SIZE bytes), nothing left behind. */
int router_start(const struct router_options *options, struct pilfer_executor *executor, struct router **out,
                 char *message);
uint16_t router_port(const struct router *router);
uint16_t router_control_port(const struct router *router);

/* Any thread; approximate while requests are under way, exact when none is. */
void router_totals(struct router *router, struct router_totals *out);

/* The end has two steps with pilfer_close() between them: router_stop() joins the pollers, so that nothing new reaches
 * the executor; closing the executor runs what is queued; router_free() closes every connection and frees everything.
 */
void router_stop(struct router *router);
void router_free(struct router *router);

#endif
