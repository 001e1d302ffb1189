/* SPDX-License-Identifier: MIT
 *
 * The seam for connections: listen, connect, accept, send, receive, and pollers that wait for readiness or a deadline.
 *
 * What it is. Workloads are written once above this header, pool/platform.h, pool/ordered.h and pool/pilfer.h. No
 * address appears anywhere: an end point is a port of this machine's loopback interface, so nothing else can be reached
 * or offered by construction.
 *
 * How it works. Back ends implement the same functions:
 *   real.c     TCP over 127.0.0.1, edge-triggered epoll, one descriptor kept in reserve for accept without descriptors
 *   simulated  rings and words built on platform.h alone (not part of this tree yet)
 * Everything but transport_poll() returns at once. Readiness is edge-triggered: an event says that something may have
 * changed, and the receiver then calls until it is told -EAGAIN. A spurious event is always possible.
 *
 * Times are absolute, in ns of platform_now_ns(); PLATFORM_FOREVER means no deadline. Errors are negative errno values.
 */
#ifndef PILFER_EXPERIMENTS_TRANSPORT_TRANSPORT_H
#define PILFER_EXPERIMENTS_TRANSPORT_TRANSPORT_H

#include "platform.h"

struct transport;            /* one process's end of the network */
struct transport_listener;   /* a port that accepts connections */
struct transport_connection; /* one stream of bytes, both ways */
struct transport_poller;     /* what one thread waits for */

/* Sums since transport_open(). */
struct transport_counters {
    uint64_t connections_accepted;
    uint64_t connections_opened;     /* by transport_connect() */
    uint64_t descriptors_exhausted;  /* accepts that found no free descriptor */
    uint64_t connections_sacrificed; /* of those: accepted with the reserve and closed at once */
};

/* Opens this process's end. Returns 0, -ENOMEM or -EMFILE; *out is closed with transport_close(). Any thread. */
int transport_open(struct transport **out);

/* Closes it. Everything opened from it must have been closed before. */
void transport_close(struct transport *transport);

/* Reads the counters; any thread. */
void transport_read(const struct transport *transport, struct transport_counters *out);

/* ---- end points ---- */

/* Listens on a port; 0 means any free one. Returns 0, -EADDRINUSE, -EACCES, -EMFILE or -ENOMEM. Any thread. */
int transport_listen(struct transport *transport, uint16_t port, struct transport_listener **out);
uint16_t transport_listener_port(const struct transport_listener *listener);
void transport_listener_close(struct transport_listener *listener);

/* Takes one waiting connection. Returns 0; -EAGAIN when none waits; -EMFILE when there is no descriptor for it (one
 * waiting connection may have been closed instead, see the counters; try again after a pause, no event will come);
 * another negative errno when a connection broke before it was taken. One thread at a time per listener. */
int transport_accept(struct transport_listener *listener, struct transport_connection **out);

/* Starts to connect to a port. Returns 0, -EMFILE, -ENOMEM, -EADDRNOTAVAIL (no port of our own left) or -ECONNREFUSED.
 * The connection may be used at once: until it stands, send and receive say -EAGAIN; if it fails, they say why. */
int transport_connect(struct transport *transport, uint16_t port, struct transport_connection **out);

/* ---- streams ---- */

/* Receives up to size bytes, size > 0. Returns how many; 0 when the peer has ended its side; -EAGAIN when there is
 * nothing yet; another negative errno when the connection is broken. One receiver at a time. */
ptrdiff_t transport_receive(struct transport_connection *connection, void *buffer, size_t size);

/* Sends up to size bytes, size > 0. Returns how many were taken; -EAGAIN when none could be; another negative errno
 * when the connection is broken. Never raises a signal. One sender at a time; beside a receiver. */
ptrdiff_t transport_send(struct transport_connection *connection, const void *buffer, size_t size);

/* Ends our side (the peer's receive will say 0), or both sides at once: then every later call on the connection returns
 * 0 or an error, and pollers report it. Any thread, while the connection is open. */
void transport_end_sending(struct transport_connection *connection);
void transport_end(struct transport_connection *connection);

/* Closes and frees. No other thread may use the connection any more; a poller that holds it forgets it. */
void transport_connection_close(struct transport_connection *connection);

/* ---- waiting ---- */

enum transport_ready {
    TRANSPORT_READABLE = 1, /* receive or accept may succeed, or report the end */
    TRANSPORT_WRITABLE = 2, /* send may succeed, or report an error */
    TRANSPORT_ENDED = 4,    /* with READABLE: the peer has ended its side or the connection is broken, so a receiver
                               must go on until it is told so; without it, a receive that does not fill its buffer has
                               taken all there was, and more will bring an event */
};

struct transport_event {
    void *context;  /* as given when it was added */
    uint32_t ready; /* enum transport_ready, or-ed */
};

enum transport_precision {
    TRANSPORT_COARSE,  /* deadlines may be late by the system's timer slack (some 50 us) */
    TRANSPORT_PRECISE, /* as exact as the system can, without burning CPU */
};

/* Opens a poller for one thread. Returns 0, -EMFILE or -ENOMEM. */
int transport_poller_open(struct transport *transport, enum transport_precision precision,
                          struct transport_poller **out);
void transport_poller_close(struct transport_poller *poller);

/* Adds a listener or connection; from now on its events carry context. An event comes soon for what is ready already.
 * At most one poller each. Returns 0, -ENOMEM or -ENOSPC. Any thread. */
int transport_poller_add_listener(struct transport_poller *poller, struct transport_listener *listener, void *context);
int transport_poller_add(struct transport_poller *poller, struct transport_connection *connection, void *context);

/* Waits until something is ready, somebody interrupts, or the deadline. Returns the number of events, 0 to capacity; 0
 * for an interruption, a signal and the deadline; or a negative errno. The poller's own thread. */
int transport_poll(struct transport_poller *poller, struct transport_event *events, uint32_t capacity,
                   uint64_t deadline_ns);

/* Makes the current or the next transport_poll() return. Any thread. */
void transport_interrupt(struct transport_poller *poller);

#endif
