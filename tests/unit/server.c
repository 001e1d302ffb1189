/* SPDX-License-Identifier: MIT
 *
 * Promise (R38): the servers under test stay within their limits and answer honest clients whatever the others do.
 *
 * Method. Plain sockets against an echo server: pipelines, bytes one at a time, half-closed and reset connections,
 * every kind of bad request, clients that never read, more connections than admitted, no descriptors, and clients that
 * are slow or silent for longer than they may.
 */
#include "network.h"

#include "workloads/echo.h"
#include "workloads/http.h"
#include "workloads/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct echo_stand {
    struct pilfer_executor *executor;
    struct echo *echo;
    uint16_t port;
    int descriptors; /* before it was started */
};

static void echo_begin(struct echo_stand *stand, uint32_t pollers)
{
    char message[PILFER_MESSAGE_SIZE];
    const struct pilfer_options pool = {.scheduler = "chase-lev", .max_workers = 2};
    struct router_options options;
    stand->descriptors = raw_descriptors();
    ck_assert_int_eq(platform_init(), 0);
    ck_assert_msg(pilfer_open(&pool, &stand->executor, message) == 0, "%s", message);
    router_options_init(&options, 0);
    options.poller_threads = pollers;
    ck_assert_msg(echo_start(&options, stand->executor, &stand->echo, message) == 0, "%s", message);
    stand->port = echo_port(stand->echo);
}

/* Ends it; nothing may be left open. */
static void echo_end(struct echo_stand *stand, struct router_totals *totals)
{
    echo_stop(stand->echo);
    pilfer_close(stand->executor, PILFER_CLOSE_RUN, NULL);
    echo_totals(stand->echo, totals);
    echo_free(stand->echo);
    ck_assert_int_eq(raw_descriptors(), stand->descriptors);
}

static int ask(int client, const char *request, char *body, size_t size)
{
    raw_send_text(client, request);
    return raw_answer(client, strncmp(request, "HEAD", 4) == 0, body, size);
}

/* Waits until only so many connections are open. */
static void wait_open(const struct echo_stand *stand, uint64_t count)
{
    struct router_totals totals;
    do {
        platform_yield();
        echo_totals(stand->echo, &totals);
    } while (totals.connections_open != count);
}

START_TEST(answers)
{
    char body[64], end[64];
    struct echo_stand stand;
    struct router_totals totals;
    echo_begin(&stand, 1);
    int client = raw_connect(stand.port);
    ck_assert_int_eq(ask(client, "GET /one HTTP/1.1\r\nHost: a\r\n\r\n", body, sizeof(body)), 200);
    ck_assert_str_eq(body, "/one");
    ck_assert_int_eq(ask(client, "HEAD /two HTTP/1.1\r\nHost: a\r\n\r\n", body, sizeof(body)), 200);
    ck_assert_int_eq(ask(client, "GET /three HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", body, sizeof(body)), 200);
    ck_assert_str_eq(body, "/three");
    ck_assert_int_eq(ask(client, "GET /four HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", body, sizeof(body)),
                     200);
    ck_assert_int_eq((int)raw_read_end(client, end, sizeof(end)), 0);
    close(client);
    client = raw_connect(stand.port);
    ck_assert_int_eq(ask(client, "GET /five HTTP/1.0\r\n\r\n", body, sizeof(body)), 200);
    ck_assert_int_eq((int)raw_read_end(client, end, sizeof(end)), 0);
    close(client);
    wait_open(&stand, 0);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.requests_received, 5);
    ck_assert_uint_eq(totals.requests_answered, 5);
    ck_assert_uint_eq(totals.connections_accepted, 2);
}
END_TEST

/* Pipelines of 1 to 64 and of 2,000 requests, sent at once, are answered completely and in order. */
START_TEST(pipelines)
{
    static char requests[2000 * 48];
    char body[64], expected[32];
    struct echo_stand stand;
    struct router_totals totals;
    uint64_t sent = 0;
    echo_begin(&stand, 2);
    const int client = raw_connect(stand.port);
    for (int count = 1; count <= 2000; count = count < 64 ? count + 1 : count + 1936) {
        size_t size = 0;
        for (int index = 0; index < count; index++)
            size += (size_t)snprintf(requests + size, sizeof(requests) - size, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n",
                                     index);
        raw_send(client, requests, size);
        for (int index = 0; index < count; index++) {
            snprintf(expected, sizeof(expected), "/%d", index);
            ck_assert_int_eq(raw_answer(client, false, body, sizeof(body)), 200);
            ck_assert_str_eq(body, expected);
        }
        sent += (uint64_t)count;
    }
    close(client);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.requests_answered, sent);
}
END_TEST

/* A request in packets of one byte; a client that has ended its side before it reads; one that breaks off. */
START_TEST(odd_clients)
{
    static const char request[] = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    const int on = 1;
    char body[64], end[64];
    struct echo_stand stand;
    struct router_totals totals;
    echo_begin(&stand, 1);
    int client = raw_connect(stand.port);
    setsockopt(client, 6 /* TCP */, 1 /* no delay */, &on, sizeof(on));
    for (size_t index = 0; index < sizeof(request) - 1; index++)
        raw_send(client, request + index, 1);
    ck_assert_int_eq(raw_answer(client, false, body, sizeof(body)), 200);
    ck_assert_str_eq(body, "/slow");
    close(client);

    client = raw_connect(stand.port);
    raw_send_text(client,
                  "GET /half HTTP/1.1\r\nHost: a\r\n\r\nGET /closed HTTP/1.1\r\nHost: a\r\n\r\nGET /unfinished");
    shutdown(client, SHUT_WR);
    ck_assert_int_eq(raw_answer(client, false, body, sizeof(body)), 200);
    ck_assert_str_eq(body, "/half");
    ck_assert_int_eq(raw_answer(client, false, body, sizeof(body)), 200);
    ck_assert_str_eq(body, "/closed");
    ck_assert_int_eq((int)raw_read_end(client, end, sizeof(end)), 0);
    close(client);

    for (int index = 0; index < 50; index++) {
        client = raw_connect(stand.port);
        raw_send(client, request, index % 2 ? sizeof(request) - 1 : sizeof(request) / 2);
        setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(client);
    }
    client = raw_connect(stand.port);
    ck_assert_int_eq(ask(client, request, body, sizeof(body)), 200);
    close(client);
    wait_open(&stand, 0);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.requests_received, totals.requests_answered);
}
END_TEST

/* Bad requests: the status, then the end of the connection, and not a reset that would take the answer along. */
START_TEST(bad_requests)
{
    static const struct {
        int status;
        const char *request;
    } inputs[] = {
        {400, "GET / HTTP/1.1\nHost: a\n\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"},
        {405, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"},
        {413, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"},
        {501, "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
        {501, "BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n"},
        {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
    };
    enum { COUNT = sizeof(inputs) / sizeof(inputs[0]) };
    static char large[100000], end[64];
    char body[64];
    struct echo_stand stand;
    struct router_totals totals;
    echo_begin(&stand, 1);
    for (int index = 0; index < COUNT + 2; index++) {
        const int client = raw_connect(stand.port);
        int status;
        if (index < COUNT) {
            raw_send_text(client, inputs[index].request);
            status = inputs[index].status;
        } else { /* too long a target, too large a header; much more is sent than anybody will read */
            memset(large, 'x', sizeof(large));
            const char *begin = index == COUNT ? "GET /" : "GET / HTTP/1.1\r\nHost: a\r\nX: ";
            memcpy(large, begin, strlen(begin));
            raw_send(client, large, sizeof(large));
            status = index == COUNT ? 414 : 431;
        }
        ck_assert_int_eq(raw_answer(client, false, body, sizeof(body)), status);
        ck_assert_int_eq((int)raw_read_end(client, end, sizeof(end)), 0);
        close(client);
    }
    wait_open(&stand, 0);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.requests_invalid, COUNT + 2);
    ck_assert_uint_eq(totals.requests_received, 0);
}
END_TEST

/* A client that sends and never reads fills a bounded output and is not read any more; others are served; once it
 * reads, it gets every answer. */
START_TEST(client_that_does_not_read)
{
    static char requests[64 * 1024];
    char body[HTTP_TARGET_MAX + 1];
    struct echo_stand stand;
    struct router_totals totals;
    size_t size = 0, sent = 0, at = 0;
    echo_begin(&stand, 1);
    const int greedy = raw_connect(stand.port), honest = raw_connect(stand.port);
    while (size + HTTP_TARGET_MAX + 64 < sizeof(requests))
        size += (size_t)snprintf(requests + size, sizeof(requests) - size, "GET /%0*d HTTP/1.1\r\nHost: a\r\n\r\n",
                                 HTTP_TARGET_MAX - 1, 0);
    const size_t length = size / (size / (HTTP_TARGET_MAX + strlen("GET  HTTP/1.1\r\nHost: a\r\n\r\n")));
    fcntl(greedy, F_SETFL, O_NONBLOCK);
    for (;;) { /* until the server takes no more, for a second */
        struct pollfd ready = {.fd = greedy, .events = POLLOUT};
        const ssize_t count = send(greedy, requests + at, size - at, MSG_NOSIGNAL);
        if (count < 0 && poll(&ready, 1, 1000) == 0)
            break;
        if (count < 0)
            continue;
        sent += (size_t)count;
        at = (at + (size_t)count) % size;
        ck_assert_uint_lt(sent, 1u << 30);
    }
    ck_assert_int_eq(ask(honest, NETWORK_REQUEST, body, sizeof(body)), 200);
    const int measure = raw_connect(stand.port);
    raw_send(measure, requests, length);
    shutdown(measure, SHUT_WR);
    const ptrdiff_t answer = raw_read_end(measure, body, sizeof(body));
    ck_assert_int_gt(answer, HTTP_TARGET_MAX);
    fcntl(greedy, F_SETFL, 0);
    shutdown(greedy, SHUT_WR);
    ck_assert_int_eq(raw_read_end(greedy, body, sizeof(body)), answer * (ptrdiff_t)(sent / length));
    close(measure);
    close(greedy);
    close(honest);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.requests_answered, sent / length + 2);
}
END_TEST

/* 1,024 connections are served at once, one more is closed at once and counted, and there is room again when one ends.
 */
START_TEST(connection_limit)
{
    static int clients[SERVER_CONNECTIONS_MAX];
    const struct rlimit limit = {.rlim_cur = 3 * SERVER_CONNECTIONS_MAX, .rlim_max = 3 * SERVER_CONNECTIONS_MAX};
    char body[64], end[64];
    struct echo_stand stand;
    struct router_totals totals;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return; /* too few descriptors are admitted here to see the limit */
    echo_begin(&stand, 2);
    for (int index = 0; index < SERVER_CONNECTIONS_MAX; index++) {
        clients[index] = raw_connect(stand.port);
        ck_assert_int_eq(ask(clients[index], NETWORK_REQUEST, body, sizeof(body)), 200);
    }
    const int further = raw_connect(stand.port);
    ck_assert_int_le((int)raw_read_end(further, end, sizeof(end)), 0);
    close(further);
    close(clients[0]);
    wait_open(&stand, SERVER_CONNECTIONS_MAX - 1);
    clients[0] = raw_connect(stand.port);
    for (int index = 0; index < SERVER_CONNECTIONS_MAX; index++) {
        ck_assert_int_eq(ask(clients[index], NETWORK_REQUEST, body, sizeof(body)), 200);
        close(clients[index]);
    }
    wait_open(&stand, 0);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.connections_rejected, 1);
    ck_assert_uint_eq(totals.requests_answered, 2 * SERVER_CONNECTIONS_MAX);
}
END_TEST

/* The client process of the next test: 20 connections at once against a server without descriptors. Its exit status is
 * the number of those that were answered. */
static int storm(uint16_t port)
{
    int clients[20], answered = 0;
    char body[64];
    for (int index = 0; index < 20; index++)
        clients[index] = raw_connect(port);
    for (int index = 0; index < 20; index++)
        answered += ask(clients[index], NETWORK_REQUEST, body, sizeof(body)) == 200;
    return answered;
}

/* Out of descriptors: the waiting clients are turned away rather than left waiting, and the server recovers. */
START_TEST(no_descriptors)
{
    struct echo_stand stand;
    struct router_totals totals;
    struct rlimit limit;
    char body[64];
    int status;
    echo_begin(&stand, 1);
    int client = raw_connect(stand.port);
    ck_assert_int_eq(ask(client, NETWORK_REQUEST, body, sizeof(body)), 200);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(storm(stand.port) == 20 ? 1 : 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)raw_descriptors() + 5;
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "the clients hung or failed");
    wait_open(&stand, 1);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(ask(client, NETWORK_REQUEST, body, sizeof(body)), 200);
    close(client);
    client = raw_connect(stand.port);
    ck_assert_int_eq(ask(client, NETWORK_REQUEST, body, sizeof(body)), 200);
    close(client);
    echo_end(&stand, &totals);
    if (WEXITSTATUS(status) == 0)
        ck_assert_uint_gt(totals.descriptors_exhausted, 0);
}
END_TEST

/* Silent and dribbling clients are dropped when their time is up; honest ones, busy or idle, are not. */
START_TEST(slow_clients)
{
    char body[64], end[64];
    struct echo_stand stand;
    struct router_totals totals;
    echo_begin(&stand, 1);
    const int silent = raw_connect(stand.port), dribbling = raw_connect(stand.port);
    const int idle = raw_connect(stand.port), busy = raw_connect(stand.port);
    ck_assert_int_eq(ask(idle, NETWORK_REQUEST, body, sizeof(body)), 200);
    raw_send_text(dribbling, "GET / HTTP/1.1\r\n");
    struct pollfd ready[2] = {{.fd = silent, .events = POLLIN}, {.fd = dribbling, .events = POLLIN}};
    for (int turn = 0; ready[0].fd >= 0 || ready[1].fd >= 0; turn++) {
        ck_assert_int_lt(turn, 300); /* half a minute */
        ck_assert_int_eq(ask(busy, NETWORK_REQUEST, body, sizeof(body)), 200);
        raw_send_text(dribbling, "X: y\r\n");
        if (poll(ready, 2, 100) == 0)
            continue;
        for (int index = 0; index < 2; index++)
            if (ready[index].fd >= 0 && ready[index].revents)
                ready[index].fd = -1;
    }
    ck_assert_int_le((int)raw_read_end(silent, end, sizeof(end)), 0);
    ck_assert_int_le((int)raw_read_end(dribbling, end, sizeof(end)), 0);
    ck_assert_int_eq(ask(idle, NETWORK_REQUEST, body, sizeof(body)), 200);
    close(silent);
    close(dribbling);
    close(idle);
    close(busy);
    wait_open(&stand, 0);
    echo_end(&stand, &totals);
    ck_assert_uint_eq(totals.connections_expired, 2);
    ck_assert_uint_eq(totals.requests_received, totals.requests_answered);
}
END_TEST

/* Four items per request: engine drain, its re-queue, connection loop, send. */
START_TEST(four_items)
{
    enum { COUNT = 500 };
    char body[64];
    struct echo_stand stand;
    struct router_totals totals;
    echo_begin(&stand, 1);
    const int client = raw_connect(stand.port);
    for (int index = 0; index < COUNT; index++)
        ck_assert_int_eq(ask(client, NETWORK_REQUEST, body, sizeof(body)), 200);
    close(client);
    wait_open(&stand, 0);
    echo_end(&stand, &totals);
    uint64_t items = 0;
    for (int item = 0; item < ROUTER_ITEM_COUNT; item++)
        items += totals.items[item];
    /* One at a time, nothing merges but the re-queue with the next event; opening and closing take a few more. */
    ck_assert_uint_ge(items, 3 * COUNT);
    ck_assert_uint_le(items, 4 * COUNT + 16);
    ck_assert_uint_ge(totals.items[ROUTER_ITEM_connection], COUNT);
    ck_assert_uint_ge(totals.items[ROUTER_ITEM_send_client], COUNT);
    ck_assert_uint_eq(totals.markers, COUNT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server");
    TCase *tests = tcase_create("server");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, answers);
    tcase_add_test(tests, pipelines);
    tcase_add_test(tests, odd_clients);
    tcase_add_test(tests, bad_requests);
    tcase_add_test(tests, client_that_does_not_read);
    tcase_add_test(tests, connection_limit);
    tcase_add_test(tests, no_descriptors);
    tcase_add_test(tests, slow_clients);
    tcase_add_test(tests, four_items);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
