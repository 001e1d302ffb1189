/* SPDX-License-Identifier: MIT
 *
 * Promises: router and echo are measured over real sockets, nothing is lost between clients, server and extension, and
 * the columns of the three processes are there, what watching takes apart; when any of the three is killed the cell
 * ends with a line that names it, and neither a process nor a listening socket is left; a served router answers a
 * client of its own, counts it, and ends when told.
 *
 * Method: small cells of this program, which is also each of the three processes.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform.h"
#include "runner/cell.h"
#include "runner/processes.h"
#include "runner/serve.h"

static void configure(struct configuration *configuration, const char *const *pairs)
{
    ck_assert_int_eq(platform_init(), 0);
    configuration_init(configuration);
    configuration_set(configuration, "duration", "0.4");
    configuration_set(configuration, "warmup", "0.1");
    configuration_set(configuration, "connections", "4");
    configuration_set(configuration, "extension-us", "200");
    for (; pairs != NULL && *pairs != NULL; pairs += 2)
        configuration_set(configuration, pairs[0], pairs[1]);
}

static double number(const struct result *result, const char *name)
{
    double value = 0;
    ck_assert_msg(result_get_number(result, name, &value), "%s is not known", name);
    return value;
}

static const char *const closed_router[] = {"extension-mode", "delay", NULL};
static const char *const paced_router[] = {"mode", "paced", "rate", "300", "extension-mode", "burn", NULL};
static const char *const closed_echo[] = {"workload", "echo", NULL};
static const char *const bounded_router[] = {"scheduler", "fixed-concurrency", "parallelism", "2", NULL};
static const char *const inline_router[] = {"scheduler", "inline", NULL};
static const char *const *const cells[] = {closed_router, paced_router, closed_echo, bounded_router, inline_router};

START_TEST(cell)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10}; /* late wake-ups */
    configure(&configuration, cells[_i]);
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_msg(number(&result, "valid") == 1, "invalid: %s", result.invalid_reason);
    ck_assert(number(&result, "requests") > 0);
    ck_assert(number(&result, "router_cpu_percent") > 0 && number(&result, "load_cpu_percent") > 0);
    ck_assert(number(&result, "items_per_request") > 1);
    double unused;
    bool has_extension = cells[_i] != closed_echo, paced = cells[_i] == paced_router;
    ck_assert_int_eq(result_get_number(&result, "extension_cpu_percent", &unused), has_extension);
    ck_assert_int_eq(result_get_number(&result, "latency_us_p50", &unused), paced);
    ck_assert_int_eq(result.histogram != NULL, paced);
    if (paced)
        ck_assert(number(&result, "arrivals") == number(&result, "requests"));
    result_fini(&result);
}
END_TEST

/* The calls are made on the executor itself: it says what is in force. */
START_TEST(published_calls)
{
    static const char *const pairs[] = {"scheduler",   "dotnet", "processors",  "12", "max-completion-threads", "5",
                                        "min-workers", "2",      "max-workers", "3",  NULL};
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10}; /* late wake-ups */
    configure(&configuration, pairs);
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_msg(number(&result, "valid") == 1, "invalid: %s", result.invalid_reason);
    ck_assert(number(&result, "limit_min_workers") == 2 && number(&result, "limit_max_workers") == 3);
    ck_assert(number(&result, "limit_max_completion_threads") == 5);
    ck_assert(number(&result, "goal_lowest") >= 2 && number(&result, "goal_highest") <= 3);
    ck_assert(number(&result, "goal") >= 2 && number(&result, "goal") <= 3);
    ck_assert(number(&result, "workers_engaged_mean") <= number(&result, "workers_engaged_highest"));
    ck_assert(number(&result, "workers_max") <= 3);
    result_fini(&result);
}
END_TEST

/* Without a steady goal the window begins when the longest warm-up is over. With one: tests/cli/published.sh. */
START_TEST(longest_warm_up)
{
    static const char *const pairs[] = {"scheduler", "dotnet", "warmup-max", "1.5", NULL};
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10};
    configure(&configuration, pairs);
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_msg(number(&result, "valid") == 1, "invalid: %s", result.invalid_reason);
    double unused;
    ck_assert(number(&result, "goal_steady") == 0);
    ck_assert(!result_get_number(&result, "cpu_steady", &unused));
    ck_assert_double_eq(number(&result, "warmup_s"), 1.5);
    result_fini(&result);
}
END_TEST

/* Of a sizing that moves, the goal does not count then. */
START_TEST(steady_cpu)
{
    static const char *const pairs[] = {"scheduler",  "dotnet", "workload", "echo", "warmup-until", "cpu",
                                        "warmup-max", "40",     NULL};
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1}; /* disturbed or not */
    double unused;
    configure(&configuration, pairs);
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert(number(&result, "requests") > 0);
    ck_assert(number(&result, "cpu_steady") == 1);
    ck_assert(number(&result, "warmup_s") < 40);
    ck_assert(!result_get_number(&result, "goal_steady", &unused));
    result_fini(&result);
}
END_TEST

/* What it takes to watch the goal and to read the figures is said apart from the CPU of the rest. */
START_TEST(watching_is_said)
{
    static const char *const pairs[] = {"scheduler", "dotnet", "workload", "echo", NULL};
    struct configuration configuration;
    struct processes processes;
    char message[CELL_MESSAGE_SIZE];
    uint64_t process_ns, watching_ns;
    const struct processes_options options = {.seed = 1, .seconds = 60};
    configure(&configuration, pairs);
    ck_assert_msg(processes_start(&processes, &configuration, &options, NULL, message) == CELL_MEASURED, "%s", message);
    uint64_t now_ns = window_now_ns();
    const struct window window = {now_ns + 100000000, now_ns + 700000000};
    processes_announce(&processes, &window, now_ns, 0);
    ck_assert_msg(processes_wait_until(&processes, window.end_ns) == CELL_MEASURED, "%s", message);
    ck_assert_msg(processes_stop(&processes, 0) == CELL_MEASURED, "%s", message);
    ck_assert(report_integer(&processes.router->report, "window.process_cpu_ns", &process_ns));
    ck_assert(report_integer(&processes.router->report, "window.watching_cpu_ns", &watching_ns));
    ck_assert(watching_ns > 0 && process_ns > 0);
    processes_end(&processes);
}
END_TEST

static int connect_to(uint64_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(client, 0);
    if (connect(client, (struct sockaddr *)&address, sizeof address) == 0)
        return client;
    close(client);
    return -1;
}

START_TEST(killed)
{
    struct configuration configuration;
    struct processes processes;
    char message[CELL_MESSAGE_SIZE], expected[64];
    uint64_t port, control_port;
    const struct processes_options options = {.seed = 1, .seconds = 60};
    configure(&configuration, closed_router);
    ck_assert_msg(processes_start(&processes, &configuration, &options, NULL, message) == CELL_MEASURED, "%s", message);
    ck_assert_uint_eq(processes.count, 3);
    ck_assert(report_integer(&processes.router->report, "port", &port));
    ck_assert(report_integer(&processes.router->report, "control-port", &control_port));
    uint64_t now_ns = window_now_ns();
    const struct window window = {now_ns, now_ns + UINT64_C(60000000000)};
    processes_announce(&processes, &window, now_ns, 0);
    struct child *const victims[] = {processes.router, processes.extension, processes.load};
    pid_t pids[] = {processes.router->pid, processes.extension->pid, processes.load->pid};
    kill(pids[_i], SIGKILL);
    ck_assert_int_eq(processes_wait_until(&processes, window.end_ns), CELL_FAILED);
    snprintf(expected, sizeof expected, "%s process killed by signal 9", victims[_i]->role);
    ck_assert_msg(strstr(message, expected) == message, "'%s' does not begin with '%s'", message, expected);
    processes_end(&processes);
    for (int i = 0; i < 3; i++)
        ck_assert(kill(pids[i], 0) == -1 && errno == ESRCH);
    ck_assert_int_eq(connect_to(port), -1);
    ck_assert_int_eq(connect_to(control_port), -1);
}
END_TEST

static volatile int stop;

static void on_signal(int signal_number)
{
    stop = 1;
}

/* The serving process: what it prints goes to the pipe. */
static _Noreturn void serve(int out)
{
    struct configuration configuration;
    char message[CELL_MESSAGE_SIZE];
    configure(&configuration, closed_router);
    signal(SIGTERM, on_signal);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    _exit(serve_run(&configuration, 0, &stop, message));
}

/* Asks once and reads the answer's first bytes. */
static void expect_answer(uint64_t port)
{
    static const char request[] = "GET /anything HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char answer[64] = "";
    int client = connect_to(port);
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(write(client, request, sizeof request - 1), sizeof request - 1);
    ck_assert_int_eq(recv(client, answer, 15, MSG_WAITALL), 15);
    ck_assert_str_eq(answer, "HTTP/1.1 200 OK");
    char byte;
    while (recv(client, &byte, 1, MSG_DONTWAIT) == 1) /* a client that leaves bytes unread would not count */
        continue;
    close(client);
}

START_TEST(served)
{
    int ends[2], status;
    unsigned long port, requests, tasks, refused;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t server = fork();
    if (server == 0)
        serve(ends[1]);
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    char line[128];
    ck_assert_ptr_nonnull(fgets(line, sizeof line, output));
    ck_assert_int_eq(sscanf(line, "listening on http://127.0.0.1:%lu", &port), 1);
    for (int i = 0; i < 3; i++)
        expect_answer(port);
    kill(server, SIGTERM);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, output));
    ck_assert_int_eq(sscanf(line, "requests=%lu tasks_run=%lu refused=%lu", &requests, &tasks, &refused), 3);
    ck_assert_uint_eq(requests, 3);
    ck_assert_uint_gt(tasks, requests);
    ck_assert_uint_eq(refused, 0);
    ck_assert_int_eq(waitpid(server, &status, 0), server);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(connect_to(port), -1);
    fclose(output);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "role") == 0)
        return role_main(argv[2]);
    Suite *suite = suite_create("cell_networked");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, cell, 0, sizeof cells / sizeof cells[0]);
    tcase_add_test(cases, published_calls);
    tcase_add_test(cases, longest_warm_up);
    tcase_add_test(cases, steady_cpu);
    tcase_add_test(cases, watching_is_said);
    tcase_add_loop_test(cases, killed, 0, 3);
#ifndef __SANITIZE_THREAD__
    /* The thread sanitizer delivers no signal to a handler in a child forked from a process with threads. */
    tcase_add_test(cases, served);
#endif
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
