/* SPDX-License-Identifier: MIT
 *
 * Promises: a process of a cell that crashes, refuses, hangs or loses a task ends its cell with a line that says what
 * happened, and leaves no process and no listening socket; the next cell is measured as if nothing had been; processes
 * die with the runner; an interruption ends the cell; the runner's reading of CPU time is that of the process itself.
 *
 * Method: the runner starts its own program again for each process, so this program is the process under test as well:
 * FAULT in the environment says what it does wrong, and where. Nothing sleeps to wait for an event.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform.h"
#include "runner/cell.h"
#include "runner/processes.h"
#include "runner/role.h"
#include "runner/usage.h"

/* ---- the process under test ---- */

static bool fault_is(const char *name)
{
    const char *fault = getenv("FAULT");
    return fault != NULL && strcmp(fault, name) == 0;
}

static void crash_at(const char *point)
{
    char name[32];
    snprintf(name, sizeof name, "crash-%s", point);
    if (fault_is(name))
        raise(SIGTRAP); /* which no sanitizer takes for itself */
    snprintf(name, sizeof name, "hang-%s", point);
    while (fault_is(name))
        pause();
}

/* Listens, so that a test can see that nobody does any more when the cell has ended. */
static uint64_t listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        _exit(99);
    return ntohs(address.sin_port);
}

static void *burn(void *argument)
{
    struct timespec end = *(struct timespec *)argument, now;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
    return NULL;
}

static void sleep_until(uint64_t ns)
{
    struct timespec until = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

/* Reports a window in which 1,000 tasks were run, all of them unless a loss is injected. */
static void say_counts(void)
{
    role_say_integer("load.sent", 1000);
    role_say_integer("load.answered", 1000);
    role_say_integer("load.failed", 0);
    role_say_integer("load.in_flight", 0);
    role_say_integer("load.arrivals", 1000);
    role_say_integer("load.requests", 1000);
    role_say_integer("load.completions", fault_is("backlog") ? 970 : 990);
    role_say_integer("load.submitted", 1000);
    role_say_integer("total.accepted", 1000);
    role_say_integer("total.run", fault_is("lose-a-task") ? 999 : 1000);
    role_say_integer("total.drained", 0);
}

static void say_edge(const char *name, const struct window_edge *edge)
{
    char line[64];
    snprintf(line, sizeof line, "%s.monotonic_ns", name);
    role_say_integer(line, edge->monotonic_ns);
    snprintf(line, sizeof line, "%s.boot_ns", name);
    role_say_integer(line, edge->boot_ns);
}

/* A stand-in for role_in_process: burns one CPU through the window when asked to. */
static int stand_in(struct role *role)
{
    pthread_t burner;
    crash_at("start");
    if (fault_is("refuse"))
        role_refuse("opening the executor", "no thread could be started");
    if (fault_is("hang-with-a-child")) {
        pid_t child = fork();
        while (child == 0)
            pause();
        role_say_integer("child", (uint64_t)child);
    }
    role_say_integer("port", listen_somewhere());
    role_say_word("ready");
    crash_at("ready");
    role_wait(role, "window", UINT64_MAX);
    uint64_t start_ns = role_fact(role, "window-start-ns"), end_ns = role_fact(role, "window-end-ns");
    struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000) + 1};
    bool burns = fault_is("burn") && pthread_create(&burner, NULL, burn, &end) == 0;
    sleep_until(start_ns);
    struct window_edge first = window_edge_now();
    uint64_t cpu_ns = usage_of_self();
    crash_at("window");
    sleep_until(end_ns);
    struct window_edge last = window_edge_now();
    role_say_integer("window.process_cpu_ns", usage_of_self() - cpu_ns);
    say_edge("first", &first);
    say_edge("last", &last);
    role_wait(role, "stop", UINT64_MAX);
    crash_at("stop");
    if (burns)
        pthread_join(burner, NULL);
    say_counts();
    role_say_word("done");
    return 0;
}

static bool take_line(void *context, char *name, char *text)
{
    struct role *role = context;
    if (text != NULL)
        report_set(&role->facts, name, text);
    else
        snprintf(role->word, sizeof role->word, "%s", name);
    return text != NULL;
}

/* What role_main does, without a configuration. */
static int play(const char *name)
{
    static struct role role;
    line_reader_init(&role.commands, CHILD_COMMANDS);
    report_init(&role.facts);
    while (role.word[0] == '\0' && !role.commands.ended)
        line_reader_read(&role.commands, take_line, &role);
    role.word[0] = '\0';
    return strcmp(name, "inprocess") == 0 ? stand_in(&role) : 98;
}

/* ---- the runner ---- */

static void configure(struct configuration *configuration)
{
    configuration_init(configuration);
    configuration_set(configuration, "workload", "ping");
    configuration_set(configuration, "duration", "0.2");
    configuration_set(configuration, "warmup", "0");
}

static enum cell_status measure_workload(const char *fault, const char *workload, struct result *result, char *message)
{
    struct configuration configuration;
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10}; /* late wake-ups */
    configure(&configuration);
    configuration_set(&configuration, "workload", workload);
    setenv("FAULT", fault, 1);
    result_init(result);
    message[0] = '\0';
    return cell_measure(&configuration, 1, &options, result, message);
}

static enum cell_status measure(const char *fault, struct result *result, char *message)
{
    return measure_workload(fault, "ping", result, message);
}

static void expect_no_children(void)
{
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

static void expect_invalid(const struct result *result, const char *reason)
{
    double valid;
    ck_assert(result_get_number(result, "valid", &valid));
    ck_assert(valid == 0);
    ck_assert_ptr_nonnull(result->invalid_reason);
    ck_assert_msg(strstr(result->invalid_reason, reason) != NULL, "'%s' does not say '%s'", result->invalid_reason,
                  reason);
}

START_TEST(sound)
{
    struct result result;
    char message[CELL_MESSAGE_SIZE];
    double number;
    ck_assert_int_eq(measure("none", &result, message), CELL_MEASURED);
    ck_assert(result_get_number(&result, "valid", &number));
    ck_assert_msg(number == 1, "invalid: %s", result.invalid_reason);
    ck_assert(result_get_number(&result, "requests", &number) && number == 1000);
    expect_no_children();
    result_fini(&result);
}
END_TEST

static const struct {
    const char *fault, *says;
    enum cell_status status;
} faults[] = {
    {"crash-start", "killed by signal 5", CELL_FAILED},
    {"crash-window", "killed by signal 5", CELL_FAILED},
    {"crash-stop", "killed by signal 5", CELL_FAILED},
    {"refuse", "opening the executor: no thread could be started", CELL_SURROUNDINGS},
    {"lose-a-task", "tasks accepted 1000 is not run 999 + drained 0 + queued 0", CELL_MEASURED},
};

START_TEST(faulty)
{
    struct result result;
    char message[CELL_MESSAGE_SIZE];
    ck_assert_int_eq(measure(faults[_i].fault, &result, message), faults[_i].status);
    ck_assert_msg(strstr(message, faults[_i].says) != NULL, "'%s' does not say '%s'", message, faults[_i].says);
    ck_assert_ptr_null(strchr(message, '\n'));
    if (faults[_i].status != CELL_SURROUNDINGS)
        expect_invalid(&result, faults[_i].says);
    expect_no_children();
    result_fini(&result);
    ck_assert_int_eq(measure("none", &result, message), CELL_MEASURED); /* and the next cell is well */
    ck_assert_msg(result.invalid_reason == NULL, "invalid: %s", result.invalid_reason);
    result_fini(&result);
}
END_TEST

/* Paced (trickle): answers that slip out of the window take the CPU per request with them. Else the window is theirs.
 */
START_TEST(backlog)
{
    static const struct {
        const char *fault, *workload;
        bool disturbed;
    } cases[] = {{"backlog", "trickle", true}, {"none", "trickle", false}, {"backlog", "ping", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct result result;
        char message[CELL_MESSAGE_SIZE];
        double number;
        ck_assert_int_eq(measure_workload(cases[i].fault, cases[i].workload, &result, message), CELL_MEASURED);
        ck_assert(result_get_number(&result, "disturbed", &number));
        ck_assert_msg((number != 0) == cases[i].disturbed, "%s, %s: disturbed is %g", cases[i].fault, cases[i].workload,
                      number);
        result_fini(&result);
    }
}
END_TEST

static bool somebody_listens(uint64_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(client, 0);
    bool connected = connect(client, (struct sockaddr *)&address, sizeof address) == 0;
    close(client);
    return connected;
}

/* Starts the processes with a fault that shows later. */
static void start(const char *fault, struct processes *processes, char *message)
{
    struct configuration configuration;
    const struct processes_options options = {.seed = 1, .seconds = 1};
    configure(&configuration);
    setenv("FAULT", fault, 1);
    ck_assert_int_eq(processes_start(processes, &configuration, &options, NULL, message), CELL_MEASURED);
}

START_TEST(hang)
{
    struct processes processes;
    char message[CELL_MESSAGE_SIZE], expected[128];
    uint64_t port;
    start("hang-stop", &processes, message);
    const struct window window = {window_now_ns(), window_now_ns() + 1000000};
    processes_announce(&processes, &window, window.start_ns, 0);
    child_send(processes.router, "stop", NULL);
    pid_t pid = processes.router->pid;
    ck_assert(report_integer(&processes.router->report, "port", &port));
    ck_assert(somebody_listens(port));
    ck_assert_int_eq(processes_wait_for(&processes, processes.router, false, 200000000), CELL_FAILED);
    snprintf(expected, sizeof expected, "inprocess process %ld hangs: it did not come to its end within 0.2 s",
             (long)pid);
    ck_assert_msg(strstr(message, expected) != NULL, "'%s' does not say '%s'", message, expected);
    processes_end(&processes);
    ck_assert(kill(pid, 0) == -1 && errno == ESRCH);
    ck_assert(kill(-pid, 0) == -1 && errno == ESRCH);
    ck_assert(!somebody_listens(port));
    expect_no_children();
}
END_TEST

START_TEST(killed_by_somebody)
{
    struct processes processes;
    char message[CELL_MESSAGE_SIZE];
    start("none", &processes, message);
    kill(processes.router->pid, SIGKILL);
    ck_assert_int_eq(processes_wait_until(&processes, UINT64_MAX), CELL_FAILED);
    ck_assert_ptr_nonnull(strstr(message, "killed by signal 9"));
    processes_end(&processes);
    expect_no_children();
}
END_TEST

START_TEST(interrupted)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE];
    const volatile int stop = 1;
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 3, .stop = &stop};
    configure(&configuration);
    configuration_set(&configuration, "duration", "3600");
    setenv("FAULT", "none", 1);
    result_init(&result);
    ck_assert_int_eq(cell_measure(&configuration, 1, &options, &result, message), CELL_INTERRUPTED);
    expect_no_children();
    result_fini(&result);
}
END_TEST

/* A runner of its own that starts a process which does not listen to it, says its number and waits to be killed. */
static _Noreturn void doomed_runner(int out)
{
    struct processes processes;
    static char message[CELL_MESSAGE_SIZE];
    start("hang-ready", &processes, message);
    if (write(out, &processes.router->pid, sizeof processes.router->pid) < 0)
        _exit(1);
    for (;;)
        pause();
}

/* Waits for the end of a process that is no child of this one. */
static bool has_ended(int handle)
{
    struct pollfd ended = {.fd = handle, .events = POLLIN};
    bool seen = poll(&ended, 1, 5000) == 1;
    close(handle);
    return seen;
}

START_TEST(whole_group_is_ended)
{
    struct processes processes;
    char message[CELL_MESSAGE_SIZE];
    uint64_t child;
    start("hang-with-a-child", &processes, message);
    ck_assert(report_integer(&processes.router->report, "child", &child));
    int handle = (int)syscall(SYS_pidfd_open, (pid_t)child, 0);
    ck_assert_int_ge(handle, 0);
    processes_end(&processes);
    bool ended = has_ended(handle);
    if (!ended)
        kill((pid_t)child, SIGKILL);
    ck_assert(ended);
}
END_TEST

START_TEST(dies_with_the_runner)
{
    int ends[2];
    pid_t orphan;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t runner = fork();
    if (runner == 0)
        doomed_runner(ends[1]);
    ck_assert_int_eq(read(ends[0], &orphan, sizeof orphan), sizeof orphan);
    int handle = (int)syscall(SYS_pidfd_open, orphan, 0);
    ck_assert_int_ge(handle, 0);
    kill(runner, SIGKILL);
    ck_assert_int_eq(waitpid(runner, NULL, 0), runner);
    bool ended = has_ended(handle);
    if (!ended)
        kill(orphan, SIGKILL);
    ck_assert(ended);
}
END_TEST

/* The two readings are not taken at one instant: on a busy machine each may be late by some ms. */
#define POINTS 3.0

static void expect_agreement(const char *fault)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE];
    double outer, inner;
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
    configure(&configuration);
    configuration_set(&configuration, "duration", "1");
    setenv("FAULT", fault, 1);
    result_init(&result);
    ck_assert_int_eq(cell_measure(&configuration, 1, &options, &result, message), CELL_MEASURED);
    ck_assert(result_get_number(&result, "router_cpu_percent", &outer));
    ck_assert(result_get_number(&result, "router_self_cpu_percent", &inner));
    ck_assert_msg(outer > inner - POINTS && outer < inner + POINTS, "the runner read %g %%, the process itself %g %%",
                  outer, inner);
    if (strcmp(fault, "burn") == 0)
        ck_assert_msg(outer > POINTS, "a burning thread showed as %g %%", outer);
    result_fini(&result);
}

START_TEST(clocks_agree)
{
    expect_agreement("none");
    expect_agreement("burn");
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "role") == 0)
        return play(argv[2]);
    Suite *suite = suite_create("cell_processes");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, sound);
    tcase_add_loop_test(cases, faulty, 0, sizeof faults / sizeof faults[0]);
    tcase_add_test(cases, backlog);
    tcase_add_test(cases, hang);
    tcase_add_test(cases, killed_by_somebody);
    tcase_add_test(cases, interrupted);
    tcase_add_test(cases, whole_group_is_ended);
    tcase_add_test(cases, dies_with_the_runner);
    tcase_add_test(cases, clocks_agree);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
