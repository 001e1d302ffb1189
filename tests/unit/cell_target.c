/* SPDX-License-Identifier: MIT
 *
 * Promises: a foreign server is measured as the model is, under its own name, with what its start line says and nothing
 * else of the environment; one that does not start, answers, or stay on loopback is refused in one line that says what
 * it wrote; whatever ends a cell, the runner's death included, no process that the target started is left; a window
 * that waits for steady CPU begins when it is steady, but not within the target's own warm-up; CPU that cannot be known
 * is said to be so, and a window that its keeper has missed.
 *
 * Method: this program is also the servers (target_servers.h), each of which does one thing right or wrong. A call of
 * the C library is its own, so that it can fail in the keeper.
 */
#include "target_servers.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/cell.h"
#include "runner/process_tree.h"
#include "runner/processes.h"

/* The thread sanitizer has threads of its own in each process. */
#ifdef __SANITIZE_THREAD__
#define ARE_THREADS(found, expected) ((found) >= (expected))
#else
#define ARE_THREADS(found, expected) ((found) == (expected))
#endif

/* ---- a call that fails when asked to ---- */

#define NO_SOCKETS "NO_SOCKETS" /* in the environment: in the keeper, sockets cannot be had */

static bool is_keeper;

int socket(int family, int type, int protocol)
{
    errno = EMFILE;
    return is_keeper && getenv(NO_SOCKETS) != NULL ? -1 : (int)syscall(SYS_socket, family, type, protocol);
}

static enum cell_status measure(struct result *result, char *message)
{
    struct configuration configuration;
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10};
    configure(&configuration);
    result_init(result);
    return cell_measure(&configuration, 1, &options, result, message);
}

/* ---- tests ---- */

START_TEST(test_is_measured)
{
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    write_target("picky", "\nversion = echo one two\npath = /any");
    ck_assert_msg(measure(&result, message) == CELL_MEASURED, "%s", message);
    ck_assert_msg(number(&result, "valid") == 1, "invalid: %s", result.invalid_reason);
    ck_assert_str_eq(result_get_text(&result, "target"), "mine");
    ck_assert_str_eq(result_get_text(&result, "label"), "mine");
    ck_assert_str_eq(result_get_text(&result, "workload"), "echo");
    ck_assert_str_eq(result_get_text(&result, "target_version"), "one two");
    static const char *const models[] = {"scheduler",   "idle",       "sizing",   "over",
                                         "max_workers", "spin_limit", "placement"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        ck_assert_msg(result_get_text(&result, models[i]) == NULL, "%s is not the target's", models[i]);
    ck_assert(number(&result, "requests") > 0 && number(&result, "router_cpu_percent") > 0);
    ck_assert(number(&result, "voluntary_switches") > 0);
    ck_assert(ARE_THREADS(number(&result, "threads"), 1) && number(&result, "processes") == 1);
    ck_assert(number(&result, "router_memory_mib") > 0 && number(&result, "reopened_percent") == 0);
    double self = number(&result, "router_self_cpu_percent"), threads = number(&result, "threads_cpu_percent");
    ck_assert_double_eq_tol(self, threads, 0.05 * self + 3);
    ck_assert_double_eq_tol(self, number(&result, "router_cpu_percent"), 0.05 * self + 3);
    result_fini(&result);
}
END_TEST

/* A connection for each answer: nearly all of them are opened anew. */
START_TEST(test_connections_that_it_closes_are_told)
{
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    write_target("closing", "");
    ck_assert_msg(measure(&result, message) == CELL_MEASURED, "%s", message);
    ck_assert_double_eq_tol(number(&result, "reopened_percent"), 100, 20);
    result_fini(&result);
}
END_TEST

/* Measured once: a disturbed one would take as long again, and whether it was is no matter here. */
static void measure_waiting(struct configuration *configuration, const char *longest, struct result *result)
{
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
    double unused;
    configuration_set(configuration, "warmup-max", longest);
    configuration_set(configuration, "warmup-until", "cpu");
    result_init(result);
    ck_assert_msg(cell_measure(configuration, 1, &options, result, message) == CELL_MEASURED, "%s", message);
    ck_assert(!result_get_number(result, "goal_steady", &unused));
}

/* The same CPU for each request, whatever else the machine does: without a warm-up of its own, the window would begin
 * before seven seconds. */
START_TEST(test_begins_when_steady)
{
    struct configuration configuration;
    struct result result;
    write_target("steady", "\nwarmup = 7s");
    configure(&configuration);
    measure_waiting(&configuration, "40", &result);
    ck_assert(number(&result, "requests") > 0);
    ck_assert(number(&result, "cpu_steady") == 1);
    ck_assert(number(&result, "warmup_s") >= 7 && number(&result, "warmup_s") < 40);
    result_fini(&result);
}
END_TEST

/* At a constant rate, so that what its keeper uses for each request is not what grows. */
START_TEST(test_waits_for_a_drifting_one)
{
    struct configuration configuration;
    struct result result;
    write_target("growing", "");
    configure(&configuration);
    configuration_set(&configuration, "mode", "paced");
    configuration_set(&configuration, "arrivals", "constant");
    configuration_set(&configuration, "rate", "10");
    measure_waiting(&configuration, "8", &result);
    ck_assert(number(&result, "cpu_steady") == 0);
    ck_assert_double_eq(number(&result, "warmup_s"), 8);
    result_fini(&result);
}
END_TEST

/* Its keeper waits for a window that may be moved ahead, and is stopped until that is over. */
START_TEST(test_a_window_that_is_missed)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
    write_target("holding", "");
    configure(&configuration);
    configuration_set(&configuration, "warmup-max", "1");
    configuration_set(&configuration, "warmup-until", "cpu");
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_msg(strncmp(message, "the target was held up until ", 29) == 0, "%s", message);
    ck_assert(number(&result, "valid") == 0 && number(&result, "disturbed") == 1);
    result_fini(&result);
}
END_TEST

/* In the middle of the window the only other process of the target ends, and takes its CPU with it. */
START_TEST(test_cpu_that_goes_back)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
    double unused;
    write_target("forgetful", "");
    configure(&configuration);
    configuration_set(&configuration, "mode", "paced");
    configuration_set(&configuration, "arrivals", "constant");
    configuration_set(&configuration, "rate", "100");
    configuration_set(&configuration, "duration", "2");
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert(number(&result, "valid") == 0);
    ck_assert_str_eq(message, "CPU of the target went back: a process ended whose parent did not wait for it");
    ck_assert(!result_get_number(&result, "router_cpu_percent", &unused));
    ck_assert(!result_get_number(&result, "router_self_cpu_percent", &unused));
    ck_assert(number(&result, "processes") == 1);
    result_fini(&result);
}
END_TEST

static const struct {
    const char *mode, *more, *expected;
} refusals[] = {
    {"open", "", "target: the target is not used: it listens on 0.0.0.0 port "},
    {"gone", "", "target: the target did not start: it left with status 3; it wrote: no such luck at all"},
    {"silent", "\nready-within = 200ms", "failed for 0.2 s: Connection refused; it wrote nothing"},
    {"missing", "\nready-within = 200ms", "failed for 0.2 s: status 404; it wrote nothing"},
    {"echo", " {control-port}\nworkload = router\nready-within = 200ms", "none of its processes listens on port "},
    {"late", "", "target: the target is not used: it listens on 0.0.0.0 port "},
    {"echo", "\nrequires = no-such-program-anywhere", "target mine: there is no program no-such-program-anywhere here"},
    {"echo", "\nbuild = sh -c 'exit 7'", "target mine: its build failed; see "},
};

START_TEST(test_is_refused)
{
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    write_target(refusals[_i].mode, refusals[_i].more);
    ck_assert_int_eq(measure(&result, message), CELL_SURROUNDINGS);
    ck_assert_msg(strstr(message, refusals[_i].expected) != NULL, "'%s' lacks '%s'", message, refusals[_i].expected);
    result_fini(&result);
}
END_TEST

START_TEST(test_is_not_asked_without_a_socket)
{
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    write_target("echo", "\nready-within = 200ms");
    setenv(NO_SOCKETS, "1", 1);
    ck_assert_int_eq(measure(&result, message), CELL_SURROUNDINGS);
    ck_assert_msg(strstr(message, "failed for 0.2 s: no socket: Too many open files; it wrote nothing") != NULL, "%s",
                  message);
    result_fini(&result);
}
END_TEST

/* The words and variables that the server saw. */
static char *read_report(void)
{
    static char text[16384];
    FILE *stream = fopen(servers_file, "r");
    ck_assert_ptr_nonnull(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)) != NULL; at += length) {
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
    }
    return false;
}

START_TEST(test_is_told_what_its_file_says)
{
    struct configuration configuration;
    struct processes processes;
    char message[CELL_MESSAGE_SIZE];
    const struct processes_options options = {.seed = 1, .seconds = 60};
    write_target("report", " [--workers {max-workers}] [--least {min-workers}] 'one word'\npass = PASSED ABSENT\n"
                           "[environment]\nSPIN = {spin-limit:x}\nMOST = {max-workers}\nP = {processors}\n"
                           "FIXED = {folder}\nHOME = /elsewhere");
    setenv("PASSED", "on", 1);
    setenv("NOT_PASSED", "on", 1);
    setenv("HOME", "/here", 1);
    configure(&configuration);
    configuration_set(&configuration, "spin-limit", "70");
    configuration_set(&configuration, "min-workers", "3");
    configuration_set(&configuration, "processors", "12");
    ck_assert_msg(processes_start(&processes, &configuration, &options, NULL, message) == CELL_MEASURED, "%s", message);
    processes_end(&processes);
    const char *text = read_report();
    char fixed[PATH_MAX + 32];
    snprintf(fixed, sizeof fixed, "variable FIXED=%s", servers_folder);
    ck_assert_msg(strncmp(text, "argument --least\nargument 3\nargument one word\nvariable ", 54) == 0, "%s", text);
    ck_assert(has_line(text, "variable SPIN=46"));
    ck_assert(has_line(text, "variable P=12"));
    ck_assert(has_line(text, "variable PASSED=on"));
    ck_assert(has_line(text, fixed));
    ck_assert(has_line(text, "variable HOME=/elsewhere"));
    ck_assert_ptr_null(strstr(text, "HOME=/here"));
    ck_assert_ptr_null(strstr(text, "MOST="));
    ck_assert_ptr_null(strstr(text, "NOT_PASSED="));
    ck_assert_ptr_null(strstr(text, "ABSENT="));
    ck_assert(has_line(text, "core 0"));
}
END_TEST

/* A minimum of no workers is one, to the model and so to a target: in the row, and in what the server is told. */
START_TEST(test_no_workers_are_one)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
    write_target("report", " [{min-workers}]");
    configure(&configuration);
    configuration_set(&configuration, "min-workers", "0");
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_str_eq(result_get_text(&result, "min_workers"), "0");
    ck_assert(number(&result, "min_workers_resolved") == 1);
    ck_assert_msg(strncmp(read_report(), "argument 1\n", 11) == 0, "%s", read_report());
    result_fini(&result);
}
END_TEST

/* A file whose start line is the command needs one, whatever its variables say; none at all is not started. */
START_TEST(test_needs_its_command)
{
    static const char *const commands[] = {"", "[{max-workers}]"};
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    FILE *stream = fopen(servers_ini, "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "[target]\nstart = {command}\n[environment]\nPORT = {port}\n");
    ck_assert_int_eq(fclose(stream), 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct configuration configuration;
        const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
        configure(&configuration);
        configuration_set(&configuration, "command", commands[i]);
        result_init(&result);
        ck_assert_int_eq(cell_measure(&configuration, 1, &options, &result, message), CELL_SURROUNDINGS);
        ck_assert_msg(strstr(message, ": it needs --command 'PROGRAM ...'") != NULL, "%s", message);
        result_fini(&result);
    }
}
END_TEST

/* ---- the end ---- */

/* Waits for the ids of the server's family; the server's own is the last. */
static void read_family(pid_t pids[3])
{
    const struct timespec pause = {.tv_nsec = 10000000};
    long numbers[3];
    for (int tries = 0; tries < 3000; tries++) {
        FILE *stream = fopen(servers_file, "r");
        int found = stream == NULL ? 0 : fscanf(stream, "%ld %ld %ld whole", &numbers[0], &numbers[1], &numbers[2]);
        if (stream != NULL)
            fclose(stream);
        for (int i = 0; i < 3; i++)
            pids[i] = (pid_t)numbers[i];
        if (found == 3)
            return;
        nanosleep(&pause, NULL);
    }
    ck_abort_msg("the server has not started its family");
}

/* Waits until none is alive: a zombie that nobody has waited for is not. */
static void expect_gone(const pid_t pids[3])
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 3; i++) {
        int tries = 0;
        while (tries < 1000 && process_is_alive(pids[i])) {
            tries++;
            nanosleep(&pause, NULL);
        }
        ck_assert_msg(tries < 1000, "process %d of the family is still alive", i);
    }
}

static const struct {
    const char *name;
    int signal;
} ends[] = {{"killed", SIGKILL}, {"asked to end", SIGTERM}};

static volatile int stop;

static void on_signal(int signal_number)
{
    stop = 1;
}

START_TEST(test_ends_with_the_runner)
{
    pid_t pids[3];
    write_target("family", "");
    pid_t runner = fork();
    if (runner == 0) {
        struct configuration configuration;
        struct result result;
        char message[CELL_MESSAGE_SIZE];
        const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1, .stop = &stop};
        signal(SIGTERM, on_signal);
        configure(&configuration);
        configuration_set(&configuration, "duration", "60");
        result_init(&result);
        _exit(cell_measure(&configuration, 1, &options, &result, message) == CELL_INTERRUPTED ? 0 : 1);
    }
    read_family(pids);
    kill(runner, ends[_i].signal);
    ck_assert_int_eq(waitpid(runner, NULL, 0), runner);
    expect_gone(pids);
}
END_TEST

START_TEST(test_ends_with_the_cell)
{
    struct result result;
    pid_t pids[3];
    char message[CELL_MESSAGE_SIZE] = "";
    write_target("family", "");
    ck_assert_msg(measure(&result, message) == CELL_MEASURED, "%s", message);
    ck_assert(number(&result, "processes") == 3);
    read_family(pids);
    expect_gone(pids);
    result_fini(&result);
}
END_TEST

START_TEST(test_its_death_is_told)
{
    struct configuration configuration;
    struct processes processes;
    char message[CELL_MESSAGE_SIZE];
    pid_t pids[3];
    const struct processes_options options = {.seed = 1, .seconds = 60};
    write_target("family", "");
    configure(&configuration);
    ck_assert_msg(processes_start(&processes, &configuration, &options, NULL, message) == CELL_MEASURED, "%s", message);
    read_family(pids);
    kill(pids[2], SIGKILL);
    ck_assert_int_eq(processes_wait_until(&processes, window_now_ns() + UINT64_C(20000000000)), CELL_FAILED);
    ck_assert_msg(strstr(message, "the server ended before its work was done: it was killed by signal 9") != NULL, "%s",
                  message);
    processes_end(&processes);
    expect_gone(pids);
}
END_TEST

int main(int argc, char **argv)
{
    is_keeper = argc == 3 && strcmp(argv[1], "role") == 0 && strcmp(argv[2], "target") == 0;
    if (argc == 3 && strcmp(argv[1], "role") == 0)
        return role_main(argv[2]);
    if (servers_are_asked(argc, argv))
        return servers_main(argv + 2);
    Suite *suite = suite_create("cell_target");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, servers_setup, servers_teardown);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, test_is_measured);
    tcase_add_test(cases, test_connections_that_it_closes_are_told);
    tcase_add_test(cases, test_begins_when_steady);
    tcase_add_test(cases, test_waits_for_a_drifting_one);
    tcase_add_test(cases, test_a_window_that_is_missed);
    tcase_add_test(cases, test_cpu_that_goes_back);
    tcase_add_loop_test(cases, test_is_refused, 0, sizeof refusals / sizeof refusals[0]);
    tcase_add_test(cases, test_is_not_asked_without_a_socket);
    tcase_add_test(cases, test_is_told_what_its_file_says);
    tcase_add_test(cases, test_no_workers_are_one);
    tcase_add_test(cases, test_needs_its_command);
    tcase_add_test(cases, test_ends_with_the_cell);
    tcase_add_test(cases, test_its_death_is_told);
#ifndef __SANITIZE_THREAD__
    /* The thread sanitizer delivers no signal to a handler in a child forked from a process with threads. */
    tcase_add_loop_test(cases, test_ends_with_the_runner, 0, sizeof ends / sizeof ends[0]);
#endif
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
