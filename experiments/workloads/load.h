/* SPDX-License-Identifier: MIT
 *
 * The load generator: one thread, many keep-alive HTTP/1.1 connections to one port of this machine.
 *
 * How it works. Closed loop: every connection sends its next request as soon as it has the answer. Paced: requests
 * arrive by a schedule that does not look at the server; an arrival takes a free connection or waits for one, and its
 * latency counts from the intended start, so that a stalled server cannot hide (coordinated omission). After the window
 * no new request is started, but every arrival of the window is still sent and every answer still awaited, up to the
 * settle time; so sent = answered + failed + in_flight holds exactly. What is missing when settling ends has failed;
 * in_flight is other than zero only after an interruption.
 *
 * Sources. Intended start: Tene, wrk2. Poisson arrivals: exponential gaps by inversion.
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_LOAD_H
#define PILFER_EXPERIMENTS_WORKLOADS_LOAD_H

#include "histogram.h"
#include "platform.h"

#define LOAD_CONNECTIONS_MAX 1024

enum load_mode { LOAD_CLOSED, LOAD_POISSON, LOAD_CONSTANT };

/* When to work; absolute monotonic ns. start (warm-up begins) <= window_start < window_end. */
struct load_window {
    uint64_t start_ns, window_start_ns, window_end_ns;
    uint64_t settle_ns;     /* how long after the window's end to wait for what is still missing */
    uint64_t request_limit; /* closed loop: stop sending after so many requests; 0: no limit. Ends the run early. */
};

struct load_options {
    uint16_t port;        /* of the server under test */
    uint32_t connections; /* 1 to LOAD_CONNECTIONS_MAX */
    enum load_mode mode;
    double rate_rps;    /* paced modes: arrivals per second, > 0 */
    uint64_t seed;      /* of the arrivals */
    const char *target; /* path to ask for; NULL: "/ping" */
    /* Asked a few times a second until the window begins: may move its edges to other times that still lie ahead, and
     * read the totals of the run, which are counted in the same thread. NULL: they stay. */
    void (*amend)(void *context, struct load_window *window);
    void *amend_context;
};

/* X(name, meaning). Ways for a request to fail; each is a counter. */
#define LOAD_FAILURES(X)                                                   \
    X(refused, "answered 503: the server declined")                        \
    X(short, "the connection ended before the answer was complete")        \
    X(malformed, "the answer was not HTTP/1.1 or was longer than it said") \
    X(wrong_status, "answered with a status other than 200 and 503")       \
    X(missing, "no complete answer within five seconds, or none when settling ended")

enum load_failure {
#define LOAD_FAILURE_ENUM(name, meaning) LOAD_FAILURE_##name,
    LOAD_FAILURES(LOAD_FAILURE_ENUM)
#undef LOAD_FAILURE_ENUM
        LOAD_FAILURE_COUNT
};

const char *load_failure_name(enum load_failure failure);

struct load_totals {
    /* The window. */
    uint64_t arrivals;        /* paced: intended starts in the window; closed: requests sent in the window */
    uint64_t requests;        /* answered 200; paced: of the window's arrivals; closed: answered in the window */
    uint64_t completions;     /* answered 200 inside the window, whenever they were intended */
    uint64_t window_failures; /* paced: of the window's arrivals; closed: failed in the window */
    struct histogram latency; /* of requests, in ns; paced: from the intended start, closed: from the send */

    /* Everything since load_run(): sent = answered + sum of failed + in_flight. */
    uint64_t sent, answered, in_flight;
    uint64_t failed[LOAD_FAILURE_COUNT];
    uint64_t unsent; /* paced: arrivals of the window that never got a connection before settling ended */

    uint32_t connections_achieved; /* that stood when load_open() returned */
    uint64_t connections_failed;   /* attempts that were refused or broke before they stood */
    uint64_t connections_reopened; /* after the server had closed one, or after a failure */
    uint64_t late_ns_max;          /* paced: largest delay of our own in starting an arrival that had a connection */
};

struct load;

/* Connects. Fewer connections than asked is not an error: see load_achieved(). Returns 0; or -EINVAL, -EMFILE, -ENOMEM,
 * -ECONNREFUSED (not a single one) with one line in message (PILFER_MESSAGE_SIZE bytes). */
int load_open(const struct load_options *options, struct load **out, char *message);
uint32_t load_achieved(const struct load *load);

/* Runs once, start to settled. Returns 0 or a negative errno (polling failed); -EINTR when *stop became true (stop may
 * be NULL; looked at after each wake-up, and every 200 ms). totals are written in every case. */
int load_run(struct load *load, const struct load_window *window, const volatile int *stop, struct load_totals *totals);

void load_close(struct load *load);

#endif
