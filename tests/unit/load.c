/* SPDX-License-Identifier: MIT
 *
 * Promise: the load generator counts each way to fail apart, and sent = answered + failed + in flight holds whatever
 * the server does.
 *
 * Method. A server of our own, with plain sockets in a thread, answers every request with the same bytes, or ends the
 * connection instead of the rest. It knows nothing of HTTP but the empty line that ends a request.
 */
#include "network.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static const struct server_case {
    const char *answer;
    bool end;                  /* closes the connection after the answer */
    enum load_failure failure; /* LOAD_FAILURE_COUNT: answered */
} cases[] = {
    {OK_ANSWER, false, LOAD_FAILURE_COUNT},
    {OK_ANSWER, true, LOAD_FAILURE_COUNT},
    {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", true, LOAD_FAILURE_COUNT},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, LOAD_FAILURE_COUNT},
    {"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", false, LOAD_FAILURE_refused},
    {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, LOAD_FAILURE_wrong_status},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", true, LOAD_FAILURE_short},
    {"", true, LOAD_FAILURE_short},
    {OK_ANSWER "and more", false, LOAD_FAILURE_malformed},
    {"pong\r\n\r\n", false, LOAD_FAILURE_malformed},
    {"", false, LOAD_FAILURE_missing},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", false, LOAD_FAILURE_missing},
};

struct fake_server {
    const struct server_case *behaviour;
    int listener, wake; /* the second ends it */
    uint64_t requests;  /* read after it has ended */
};

/* Answers each empty line that came; false when the connection is to be closed. */
static bool fake_answer(struct fake_server *server, int client)
{
    char bytes[4096];
    const ssize_t count = recv(client, bytes, sizeof(bytes) - 1, 0);
    if (count <= 0)
        return false;
    bytes[count] = '\0';
    for (const char *at = strstr(bytes, "\r\n\r\n"); at; at = strstr(at + 4, "\r\n\r\n")) {
        server->requests++;
        raw_send_text(client, server->behaviour->answer);
        if (server->behaviour->end)
            return false;
    }
    return true;
}

static void fake_serve(void *argument)
{
    struct fake_server *server = argument;
    struct pollfd sockets[64] = {{.fd = server->wake, .events = POLLIN}, {.fd = server->listener, .events = POLLIN}};
    nfds_t count = 2;
    while (poll(sockets, count, -1) >= 0 && sockets[0].revents == 0) {
        for (nfds_t index = count - 1; index >= 2; index--)
            if (sockets[index].revents && !fake_answer(server, sockets[index].fd)) {
                close(sockets[index].fd);
                sockets[index] = sockets[--count];
            }
        if (sockets[1].revents && count < 64)
            sockets[count++] = (struct pollfd){.fd = accept(server->listener, NULL, NULL), .events = POLLIN};
    }
    while (count > 2)
        close(sockets[--count].fd);
}

static uint16_t fake_listen(struct fake_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(server->listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(server->listener, 64), 0);
    ck_assert_int_eq(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

/* Runs a short closed or paced load against a behaviour. */
static void run_case(const struct server_case *behaviour, enum load_mode mode, struct load_totals *totals,
                     uint64_t *requests)
{
    char message[PILFER_MESSAGE_SIZE];
    struct fake_server server = {.behaviour = behaviour};
    struct platform_thread *thread;
    struct load *load;
    int ends[2];
    ck_assert_int_eq(platform_init(), 0);
    ck_assert_int_eq(pipe(ends), 0);
    server.wake = ends[0];
    const struct load_options options = {
        .port = fake_listen(&server), .connections = 3, .mode = mode, .rate_rps = 200, .seed = 3};
    ck_assert_int_eq(platform_thread_start(&thread, "server", fake_serve, &server), 0);
    ck_assert_msg(load_open(&options, &load, message) == 0, "%s", message);
    const uint64_t now_ns = platform_now_ns();
    const struct load_window window = {.start_ns = now_ns,
                                       .window_start_ns = now_ns,
                                       .window_end_ns = now_ns + 200000000,
                                       .settle_ns =
                                           behaviour->failure == LOAD_FAILURE_missing ? 100000000 : 10000000000u,
                                       .request_limit = mode == LOAD_CLOSED ? 60 : 0};
    ck_assert_int_eq(load_run(load, &window, NULL, totals), 0);
    load_close(load);
    ck_assert_int_eq(write(ends[1], "", 1), 1);
    platform_thread_join(thread);
    close(server.listener);
    close(ends[0]);
    close(ends[1]);
    *requests = server.requests;
}

static void check_case(const struct server_case *behaviour, enum load_mode mode)
{
    static struct load_totals totals;
    uint64_t requests, failed = 0;
    run_case(behaviour, mode, &totals, &requests);
    for (int failure = 0; failure < LOAD_FAILURE_COUNT; failure++) {
        failed += totals.failed[failure];
        /* A connection that the server closes between two requests may take the next one with it. */
        if (failure != (int)behaviour->failure && !(failure == LOAD_FAILURE_short && behaviour->end))
            ck_assert_msg(totals.failed[failure] == 0, "%s", load_failure_name((enum load_failure)failure));
    }
    ck_assert_uint_gt(totals.sent, 0);
    ck_assert_uint_eq(totals.sent, totals.answered + failed);
    ck_assert_uint_eq(totals.in_flight, 0);
    if (behaviour->failure == LOAD_FAILURE_COUNT)
        ck_assert_uint_gt(totals.answered, 0);
    else
        ck_assert_uint_gt(totals.failed[behaviour->failure], 0);
    ck_assert_uint_le(requests, totals.sent);
    if (mode == LOAD_CLOSED) /* what ends after the window is not of the window */
        ck_assert_uint_le(totals.requests + totals.window_failures, totals.arrivals);
    else
        ck_assert_uint_eq(totals.requests + totals.window_failures + totals.unsent, totals.arrivals);
    ck_assert_uint_eq(totals.latency.count, totals.requests);
}

START_TEST(closed_loop)
{
    check_case(&cases[_i], LOAD_CLOSED);
}
END_TEST

START_TEST(paced)
{
    check_case(&cases[_i], LOAD_CONSTANT);
}
END_TEST

/* The same seed gives the same arrivals, another seed others; the number is about rate x time. */
START_TEST(arrivals_are_seeded)
{
    static struct load_totals totals;
    uint64_t requests;
    run_case(&cases[0], LOAD_POISSON, &totals, &requests);
    const uint64_t first = totals.arrivals;
    run_case(&cases[0], LOAD_POISSON, &totals, &requests);
    ck_assert_uint_eq(totals.arrivals, first);
    /* 40 expected; five standard deviations. */
    ck_assert_uint_ge(first, 9);
    ck_assert_uint_le(first, 71);
}
END_TEST

/* Nobody listens; no connection asked for; no rate. */
START_TEST(refused_to_start)
{
    char message[PILFER_MESSAGE_SIZE];
    struct load *load;
    struct fake_server server;
    struct load_options options = {.port = fake_listen(&server), .connections = 2, .mode = LOAD_CLOSED};
    close(server.listener);
    ck_assert_int_eq(load_open(&options, &load, message), -ECONNREFUSED);
    options.connections = 0;
    ck_assert_int_eq(load_open(&options, &load, message), -EINVAL);
    options.connections = 1;
    options.mode = LOAD_POISSON;
    ck_assert_int_eq(load_open(&options, &load, message), -EINVAL);
}
END_TEST

int main(void)
{
    const int count = (int)(sizeof(cases) / sizeof(cases[0]));
    Suite *suite = suite_create("load");
    TCase *tests = tcase_create("load");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, closed_loop, 0, count);
    tcase_add_loop_test(tests, paced, 0, count);
    tcase_add_test(tests, arrivals_are_seeded);
    tcase_add_test(tests, refused_to_start);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
