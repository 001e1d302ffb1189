/* SPDX-License-Identifier: MIT
 *
 * Promise: where a tree of processes listens is seen, and a socket that other machines may reach is told from one on
 * loopback.
 *
 * Method: a child of this program with one socket. Where there is no IPv6, its rows are not tried, and the program is
 * skipped (77) when all others hold.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/listeners.h"
#include "runner/process_tree.h"

#define SKIPPED 77
/* What a failed test leaves behind ends by itself. */
#define CHILD_LIFE_S 60

static void wait_for_ever(void)
{
    alarm(CHILD_LIFE_S);
    for (;;)
        pause();
}

static int listen_on(int family, const char *address, uint16_t *port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr *any = family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    socklen_t size = family == AF_INET ? sizeof four : sizeof six;
    ck_assert_int_eq(inet_pton(family, address, family == AF_INET ? (void *)&four.sin_addr : (void *)&six.sin6_addr),
                     1);
    int descriptor = socket(family, SOCK_STREAM, 0);
    if (descriptor < 0 || bind(descriptor, any, size) != 0)
        return -1;
    ck_assert_int_eq(listen(descriptor, 1), 0);
    ck_assert_int_eq(getsockname(descriptor, any, &size), 0);
    *port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
    return descriptor;
}

/* Those of IPv6 come last. */
static const struct {
    int family;
    const char *address;
    enum listeners expected;
} addresses[] = {
    {AF_INET, "127.0.0.1", LISTENERS_LOCAL},
    {AF_INET, "127.9.9.9", LISTENERS_LOCAL},
    {AF_INET, "0.0.0.0", LISTENERS_OPEN},
    {AF_INET6, "::1", LISTENERS_LOCAL},
    {AF_INET6, "::", LISTENERS_OPEN},
    {AF_INET6, "::ffff:127.0.0.1", LISTENERS_LOCAL},
    {AF_INET6, "::ffff:0.0.0.0", LISTENERS_OPEN},
};

START_TEST(test_listeners)
{
    char message[256] = "";
    uint16_t port;
    int descriptor = listen_on(addresses[_i].family, addresses[_i].address, &port);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(listeners_look(getpid(), port, message, sizeof message), LISTENERS_MISSING);
    pid_t child = fork();
    if (child == 0)
        wait_for_ever();
    close(descriptor);
    ck_assert_int_eq(listeners_look(getpid(), port, message, sizeof message), addresses[_i].expected);
    if (addresses[_i].expected == LISTENERS_OPEN) {
        char expected[96];
        snprintf(expected, sizeof expected, "it listens on %s port %u", addresses[_i].address, port);
        ck_assert_msg(strstr(message, expected) != NULL, "'%s' lacks '%s'", message, expected);
    } else {
        ck_assert_int_eq(listeners_look(getpid(), port + 1, message, sizeof message), LISTENERS_MISSING);
    }
    process_tree_kill(getpid());
    waitpid(child, NULL, 0);
}
END_TEST

/* A connection is no listener, whatever its port. */
START_TEST(test_connections)
{
    char message[256];
    uint16_t port;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int listener = listen_on(AF_INET, "127.0.0.1", &port), client = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ck_assert_int_eq(connect(client, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(getsockname(client, (struct sockaddr *)&address, &size), 0);
    pid_t child = fork();
    if (child == 0)
        wait_for_ever();
    ck_assert_int_eq(listeners_look(getpid(), port, message, sizeof message), LISTENERS_LOCAL);
    ck_assert_int_eq(listeners_look(getpid(), ntohs(address.sin_port), message, sizeof message), LISTENERS_MISSING);
    process_tree_kill(getpid());
    waitpid(child, NULL, 0);
}
END_TEST

/* How many of the addresses can be had. */
static int usable_addresses(void)
{
    const struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int usable = sizeof addresses / sizeof addresses[0];
    int descriptor = socket(AF_INET6, SOCK_STREAM, 0);
    if (descriptor < 0 || bind(descriptor, (const struct sockaddr *)&own, sizeof own) != 0) {
        printf("skipped: the addresses of IPv6: %s\n", strerror(errno));
        while (addresses[usable - 1].family == AF_INET6)
            usable--;
    }
    if (descriptor >= 0)
        close(descriptor);
    return usable;
}

int main(void)
{
    const int all = sizeof addresses / sizeof addresses[0], usable = usable_addresses();
    Suite *suite = suite_create("listeners");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, test_listeners, 0, usable);
    tcase_add_test(cases, test_connections);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0 ? 1 : usable < all ? SKIPPED : 0;
}
