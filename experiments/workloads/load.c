/* SPDX-License-Identifier: MIT
 *
 * The load generator; see load.h.
 *
 * How it works. One precise poller waits for answers and for the next arrival. Arrivals are not stored: there is the
 * next intended start, and while it lies in the past and no connection is free, it simply waits there, and those after
 * it are drawn when it has gone. Free connections are taken in turn.
 *
 * A connection that fails is closed and opened anew, and so is one that the server closes between two requests.
 */
#include "workloads/load.h"
#include "pilfer.h"
#include "transport/transport.h"
#include "workloads/flow.h"
#include "workloads/http.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOAD_EVENTS_MAX         256
#define LOAD_ANSWER_TIMEOUT_NS  5000000000u
#define LOAD_CONNECT_TIMEOUT_NS 2000000000u
#define LOAD_LOOK_NS            200000000u /* how often time limits and the stop word are looked at */
#define LOAD_REQUEST_MAX        4096

enum connection_state { CONNECTION_CLOSED, CONNECTION_OPENING, CONNECTION_FREE, CONNECTION_BUSY };

struct load_connection {
    enum connection_state state;
    struct transport_connection *transport;
    bool counted; /* the request under way belongs to the window */
    bool end_seen;
    uint32_t request_sent; /* bytes */
    uint64_t intended_ns, sent_ns;
    uint64_t retry_ns; /* closed: not opened again before this */
    struct http_response_parser parser;
};

struct load {
    struct load_options options;
    struct load_window window;
    struct load_totals *totals;
    struct transport *transport;
    struct transport_poller *poller;
    char request[LOAD_REQUEST_MAX];
    uint32_t request_length;
    uint32_t achieved;
    uint64_t connections_failed; /* also before load_run() */
    uint64_t random;
    double next_ns; /* paced: intended start of the next arrival, from the run's start */
    bool awaited;   /* the last wait was for the next arrival, which had a free connection */
    uint32_t free_count;
    uint32_t turn; /* where the search for a free connection begins */
    struct load_connection *connections;
};

const char *load_failure_name(enum load_failure failure)
{
    static const char *const names[] = {
#define LOAD_FAILURE_NAME(name, meaning) #name,
        LOAD_FAILURES(LOAD_FAILURE_NAME)
#undef LOAD_FAILURE_NAME
    };
    return names[failure];
}

/* ---- arrivals ---- */

/* Uniform in (0, 1]. SplitMix64, Steele, Lea, Flood 2014. */
static double load_uniform(struct load *load)
{
    uint64_t mixed = load->random += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return (double)((mixed >> 11) + 1) * 0x1p-53;
}

static bool load_is_paced(const struct load *load)
{
    return load->options.mode != LOAD_CLOSED;
}

static void load_next_arrival(struct load *load)
{
    const double gap_ns = 1e9 / load->options.rate_rps;
    load->next_ns += load->options.mode == LOAD_POISSON ? -log(load_uniform(load)) * gap_ns : gap_ns;
}

/* Absolute; PLATFORM_FOREVER once the window is over. */
static uint64_t load_arrival_ns(const struct load *load)
{
    const uint64_t arrival_ns = load->window.start_ns + (uint64_t)load->next_ns;
    return arrival_ns < load->window.window_end_ns ? arrival_ns : PLATFORM_FOREVER;
}

static bool load_in_window(const struct load *load, uint64_t time_ns)
{
    return time_ns >= load->window.window_start_ns && time_ns < load->window.window_end_ns;
}

/* ---- connections ---- */

static void load_close_connection(struct load_connection *connection)
{
    if (connection->transport)
        transport_connection_close(connection->transport);
    connection->transport = NULL;
    connection->state = CONNECTION_CLOSED;
}

static void load_open_connection(struct load *load, struct load_connection *connection)
{
    connection->end_seen = false;
    connection->retry_ns = platform_now_ns() + LOAD_LOOK_NS;
    if (transport_connect(load->transport, load->options.port, &connection->transport) != 0) {
        load->connections_failed++;
        return;
    }
    connection->state = CONNECTION_OPENING;
    if (transport_poller_add(load->poller, connection->transport, connection) != 0) {
        load->connections_failed++;
        load_close_connection(connection);
    }
}

static void load_reopen(struct load *load, struct load_connection *connection)
{
    load_close_connection(connection);
    load->totals->connections_reopened++;
    load_open_connection(load, connection);
}

static void load_make_free(struct load *load, struct load_connection *connection)
{
    connection->state = CONNECTION_FREE;
    load->free_count++;
}

/* ---- requests ---- */

static void load_count_failure(struct load *load, const struct load_connection *connection, enum load_failure failure)
{
    const uint64_t now_ns = platform_now_ns();
    load->totals->failed[failure]++;
    load->totals->in_flight--;
    if (load_is_paced(load) ? connection->counted : load_in_window(load, now_ns))
        load->totals->window_failures++;
}

/* Counts a failure; when the connection is of no more use, it is opened anew. */
static void load_fail(struct load *load, struct load_connection *connection, enum load_failure failure)
{
    load_count_failure(load, connection, failure);
    if (failure == LOAD_FAILURE_short || failure == LOAD_FAILURE_malformed || failure == LOAD_FAILURE_missing)
        load_reopen(load, connection);
}

static void load_answered(struct load *load, struct load_connection *connection)
{
    const uint64_t now_ns = platform_now_ns();
    load->totals->answered++;
    load->totals->in_flight--;
    const bool inside = load_in_window(load, now_ns);
    load->totals->completions += inside;
    if (load_is_paced(load) ? !connection->counted : !inside)
        return;
    load->totals->requests++;
    histogram_record(&load->totals->latency, now_ns - connection->intended_ns);
}

/* Sends what is left of the request. False when the connection broke. */
static bool load_send(struct load *load, struct load_connection *connection)
{
    while (connection->request_sent < load->request_length) {
        const ptrdiff_t count = transport_send(connection->transport, load->request + connection->request_sent,
                                               load->request_length - connection->request_sent);
        if (count == -EAGAIN)
            return true;
        if (count < 0)
            return false;
        connection->request_sent += (uint32_t)count;
    }
    return true;
}

static void load_start_request(struct load *load, struct load_connection *connection, uint64_t intended_ns,
                               uint64_t now_ns)
{
    connection->state = CONNECTION_BUSY;
    load->free_count--;
    connection->counted = load_in_window(load, intended_ns);
    connection->intended_ns = intended_ns;
    connection->sent_ns = now_ns;
    connection->request_sent = 0;
    http_response_begin(&connection->parser, false);
    load->totals->sent++;
    load->totals->in_flight++;
    if (!load_send(load, connection))
        load_fail(load, connection, LOAD_FAILURE_short);
}

/* The answer is complete. */
static void load_complete(struct load *load, struct load_connection *connection)
{
    const bool keep = connection->parser.keep_alive;
    const uint16_t status = connection->parser.status;
    load_make_free(load, connection);
    if (status == 200)
        load_answered(load, connection);
    else
        load_fail(load, connection, status == 503 ? LOAD_FAILURE_refused : LOAD_FAILURE_wrong_status);
    if (!keep) {
        load->free_count--;
        load_reopen(load, connection);
    }
}

/* Bytes of an answer. False when they are wrong or too many. */
static bool load_take_bytes(struct load *load, struct load_connection *connection, const uint8_t *bytes, size_t size)
{
    enum http_progress progress = HTTP_MORE;
    size_t consumed = 0;
    while (size > 0 && progress != HTTP_DONE && progress != HTTP_BAD) {
        progress = http_response_feed(&connection->parser, bytes, size, &consumed);
        bytes += consumed;
        size -= consumed;
    }
    if (progress == HTTP_BAD || (progress == HTTP_DONE && size > 0))
        return false;
    if (progress == HTTP_DONE)
        load_complete(load, connection);
    return true;
}

/* The server has ended a connection, or it broke. */
static void load_on_end(struct load *load, struct load_connection *connection, bool clean)
{
    switch (connection->state) {
    case CONNECTION_OPENING:
        load->connections_failed++;
        load_close_connection(connection);
        break;
    case CONNECTION_FREE: /* not at once: the server may be turning us away */
        load->free_count--;
        load->totals->connections_reopened++;
        connection->retry_ns = platform_now_ns() + LOAD_LOOK_NS;
        load_close_connection(connection);
        break;
    case CONNECTION_BUSY:
        if (clean && http_response_end(&connection->parser) == HTTP_DONE)
            load_complete(load, connection);
        else
            load_fail(load, connection, LOAD_FAILURE_short);
        break;
    default:
        break;
    }
}

static void load_receive(struct load *load, struct load_connection *connection)
{
    uint8_t bytes[8192];
    struct transport_connection *transport = connection->transport;
    while (connection->transport == transport && transport) {
        const ptrdiff_t count = transport_receive(transport, bytes, sizeof(bytes));
        if (count == -EAGAIN)
            return;
        if (count <= 0) {
            load_on_end(load, connection, count == 0);
            return;
        }
        if (connection->state != CONNECTION_BUSY) { /* an answer to nothing */
            load->free_count -= connection->state == CONNECTION_FREE;
            load_reopen(load, connection);
        } else if (!load_take_bytes(load, connection, bytes, (size_t)count)) {
            load_fail(load, connection, LOAD_FAILURE_malformed);
        }
        if (count < (ptrdiff_t)sizeof(bytes) && !connection->end_seen)
            return;
    }
}

static void load_on_event(struct load *load, const struct transport_event *event)
{
    struct load_connection *connection = event->context;
    if (event->ready & TRANSPORT_ENDED)
        connection->end_seen = true;
    if (event->ready & TRANSPORT_WRITABLE) {
        if (connection->state == CONNECTION_OPENING && !connection->end_seen)
            load_make_free(load, connection);
        else if (connection->state == CONNECTION_BUSY && !load_send(load, connection))
            load_fail(load, connection, LOAD_FAILURE_short);
    }
    if ((event->ready & TRANSPORT_READABLE) && connection->transport)
        load_receive(load, connection);
}

/* ---- the run ---- */

static bool load_may_send(const struct load *load, uint64_t now_ns)
{
    const uint64_t limit = load->window.request_limit;
    return now_ns >= load->window.start_ns && now_ns < load->window.window_end_ns &&
           (limit == 0 || load->totals->sent < limit);
}

static struct load_connection *load_take_free(struct load *load)
{
    for (;;) { /* the caller knows that there is one */
        struct load_connection *connection = &load->connections[load->turn];
        load->turn = (load->turn + 1) % load->options.connections;
        if (connection->state == CONNECTION_FREE)
            return connection;
    }
}

/* Starts what is due on the free connections. */
static void load_start_due(struct load *load)
{
    uint64_t now_ns = platform_now_ns();
    if (!load_is_paced(load)) {
        while (load->free_count > 0 && load_may_send(load, now_ns)) {
            load->totals->arrivals += load_in_window(load, now_ns);
            load_start_request(load, load_take_free(load), now_ns, now_ns);
            now_ns = platform_now_ns();
        }
        return;
    }
    for (uint64_t arrival_ns = load_arrival_ns(load); arrival_ns <= now_ns && load->free_count > 0;
         arrival_ns = load_arrival_ns(load)) {
        load->totals->arrivals += load_in_window(load, arrival_ns);
        if (load->awaited && now_ns - arrival_ns > load->totals->late_ns_max)
            load->totals->late_ns_max = now_ns - arrival_ns;
        load->awaited = false;
        load_start_request(load, load_take_free(load), arrival_ns, now_ns);
        load_next_arrival(load);
        now_ns = platform_now_ns();
    }
}

/* Answers that are overdue, and connections that may be tried again. */
static void load_look(struct load *load, uint64_t now_ns)
{
    for (uint32_t index = 0; index < load->options.connections; index++) {
        struct load_connection *connection = &load->connections[index];
        if (connection->state == CONNECTION_BUSY && now_ns - connection->sent_ns > LOAD_ANSWER_TIMEOUT_NS &&
            now_ns > connection->sent_ns)
            load_fail(load, connection, LOAD_FAILURE_missing);
        else if (connection->state == CONNECTION_CLOSED && now_ns > connection->retry_ns)
            load_open_connection(load, connection);
    }
}

/* Waits once and handles what came; 0 or a negative errno. */
static int load_turn(struct load *load, uint64_t deadline_ns)
{
    struct transport_event events[LOAD_EVENTS_MAX];
    const int count = transport_poll(load->poller, events, LOAD_EVENTS_MAX, deadline_ns);
    for (int index = 0; index < count; index++)
        load_on_event(load, &events[index]);
    return count < 0 ? count : 0;
}

/* True when everything that was to be sent has been sent and answered. */
static bool load_is_done(const struct load *load, uint64_t now_ns)
{
    const uint64_t limit = load->window.request_limit;
    if (load->totals->in_flight > 0)
        return false;
    if (limit > 0 && load->totals->sent >= limit)
        return true;
    return now_ns >= load->window.window_end_ns && (!load_is_paced(load) || load_arrival_ns(load) == PLATFORM_FOREVER);
}

/* When to look at what is due next: the next arrival if it can be started, the run's start, or the window's end. */
static uint64_t load_next_due_ns(const struct load *load, uint64_t now_ns)
{
    if (now_ns < load->window.start_ns)
        return load->window.start_ns;
    if (load_is_paced(load) && load->free_count > 0)
        return load_arrival_ns(load);
    return now_ns < load->window.window_end_ns ? load->window.window_end_ns : PLATFORM_FOREVER;
}

static int load_loop(struct load *load, const volatile int *stop)
{
    uint64_t settled_ns = load->window.window_end_ns + load->window.settle_ns;
    uint64_t now_ns = platform_now_ns(), look_ns = now_ns + LOAD_LOOK_NS;
    while (now_ns < settled_ns && !load_is_done(load, now_ns)) {
        if (stop && *stop)
            return -EINTR;
        load_start_due(load);
        uint64_t deadline_ns = load_next_due_ns(load, now_ns);
        if (deadline_ns > look_ns)
            deadline_ns = look_ns;
        load->awaited = load_is_paced(load) && load->free_count > 0;
        const int status = load_turn(load, deadline_ns < settled_ns ? deadline_ns : settled_ns);
        if (status != 0)
            return status;
        now_ns = platform_now_ns();
        if (now_ns >= look_ns) {
            load_look(load, now_ns);
            if (load->options.amend != NULL && now_ns < load->window.window_start_ns)
                load->options.amend(load->options.amend_context, &load->window);
            settled_ns = load->window.window_end_ns + load->window.settle_ns;
            look_ns = now_ns + LOAD_LOOK_NS;
        }
    }
    return 0;
}

/* Arrivals of the window that never got a connection. */
static void load_count_unsent(struct load *load)
{
    for (; load_is_paced(load) && load_arrival_ns(load) != PLATFORM_FOREVER; load_next_arrival(load)) {
        const bool counted = load_in_window(load, load_arrival_ns(load));
        load->totals->unsent += counted;
        load->totals->arrivals += counted;
    }
}

int load_run(struct load *load, const struct load_window *window, const volatile int *stop, struct load_totals *totals)
{
    memset(totals, 0, sizeof(*totals));
    histogram_init(&totals->latency);
    load->window = *window;
    load->totals = totals;
    load->random = load->options.seed;
    load->next_ns = 0;
    load->awaited = false;
    if (load_is_paced(load))
        load_next_arrival(load);
    const int status = load_loop(load, stop);
    load_count_unsent(load);
    /* What is still in flight when settling ends is missing; its answer must not meet a later run. */
    for (uint32_t index = 0; status == 0 && index < load->options.connections; index++)
        if (load->connections[index].state == CONNECTION_BUSY) {
            load_count_failure(load, &load->connections[index], LOAD_FAILURE_missing);
            load_close_connection(&load->connections[index]);
        }
    totals->connections_achieved = load->achieved;
    totals->connections_failed = load->connections_failed;
    return status;
}

/* ---- life ---- */

static int load_prepare(struct load *load)
{
    const char *target = load->options.target ? load->options.target : "/ping";
    const int length =
        snprintf(load->request, sizeof(load->request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    if (target[0] != '/' || length < 0 || length >= (int)sizeof(load->request))
        return -EINVAL;
    load->request_length = (uint32_t)length;
    load->connections = platform_alloc(load->options.connections * sizeof(load->connections[0]));
    if (!load->connections)
        return -ENOMEM;
    const int status = transport_open(&load->transport);
    return status != 0 ? status : transport_poller_open(load->transport, TRANSPORT_PRECISE, &load->poller);
}

static bool load_is_opening(const struct load *load)
{
    for (uint32_t index = 0; index < load->options.connections; index++)
        if (load->connections[index].state == CONNECTION_OPENING)
            return true;
    return false;
}

/* Opens all connections and waits until each stands or has failed. */
static int load_connect(struct load *load)
{
    const uint64_t deadline_ns = platform_now_ns() + LOAD_CONNECT_TIMEOUT_NS;
    struct load_totals unused; /* nothing is sent yet */
    memset(&unused, 0, sizeof(unused));
    load->totals = &unused;
    for (uint32_t index = 0; index < load->options.connections; index++)
        load_open_connection(load, &load->connections[index]);
    int status = 0;
    while (status == 0 && load_is_opening(load) && platform_now_ns() < deadline_ns)
        status = load_turn(load, deadline_ns);
    load->totals = NULL;
    if (status != 0)
        return status;
    load->achieved = load->free_count;
    return load->achieved > 0 ? 0 : -ECONNREFUSED;
}

int load_open(const struct load_options *options, struct load **out, char *message)
{
    const bool paced = options->mode != LOAD_CLOSED;
    if (options->connections < 1 || options->connections > LOAD_CONNECTIONS_MAX ||
        (paced && !(options->rate_rps > 0))) {
        snprintf(message, PILFER_MESSAGE_SIZE, "load: %u connections at %g requests/s: 1 to %d, and a rate over 0",
                 options->connections, options->rate_rps, LOAD_CONNECTIONS_MAX);
        return -EINVAL;
    }
    struct load *load = platform_alloc(sizeof(*load));
    if (!load) {
        snprintf(message, PILFER_MESSAGE_SIZE, "load: no memory");
        return -ENOMEM;
    }
    load->options = *options;
    int status = load_prepare(load);
    if (status == 0)
        status = load_connect(load);
    if (status != 0) {
        snprintf(message, PILFER_MESSAGE_SIZE,
                 "load: cannot open %u connections to port %u of 127.0.0.1: %s; is a server there?",
                 options->connections, options->port, strerror(-status));
        load_close(load);
        return status;
    }
    *out = load;
    return 0;
}

uint32_t load_achieved(const struct load *load)
{
    return load->achieved;
}

void load_close(struct load *load)
{
    for (uint32_t index = 0; load->connections && index < load->options.connections; index++)
        load_close_connection(&load->connections[index]);
    if (load->poller)
        transport_poller_close(load->poller);
    if (load->transport)
        transport_close(load->transport);
    platform_free(load->connections);
    platform_free(load);
}
