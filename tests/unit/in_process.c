/* SPDX-License-Identifier: MIT
 *
 * Promises: each workload without clients submits what it says, counts each request once, and ends with every task run;
 * a cell of each is measured from start to end and is valid; its split of CPU adds up to the CPU of the process; live
 * counters can be read while it runs and are gone afterwards.
 *
 * Method: the workloads on real executors, first alone, then as cells; this program is also the process under test.
 */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "platform.h"
#include "runner/cell.h"
#include "runner/counter_page.h"
#include "workloads/in_process.h"

static const char *const workloads[] = {"trickle", "burst", "chain", "spawn", "ping"};
#define WORKLOADS ((int)(sizeof workloads / sizeof workloads[0]))

static const char *const schedulers[] = {"inline", "global-queue", "chase-lev", "fixed-concurrency"};
#define SCHEDULERS ((int)(sizeof schedulers / sizeof schedulers[0]))

static struct pilfer_executor *open_executor(const char *scheduler)
{
    const struct pilfer_options options = {.scheduler = scheduler, .max_workers = 3, .spin_limit = 0, .seed = 1};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE] = "";
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s", message);
    return executor;
}

/* Runs until that many more tasks than now are done, however long that takes. */
static void run_more(struct pilfer_executor *executor, uint64_t tasks)
{
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    const uint64_t enough = totals.counters[COUNTER_tasks_run] + tasks;
    while (totals.counters[COUNTER_tasks_run] < enough) {
        platform_yield();
        pilfer_totals(executor, &totals);
    }
}

START_TEST(conserves)
{
    const char *workload = workloads[_i % WORKLOADS], *scheduler = schedulers[_i / WORKLOADS];
    const struct in_process_options options = {
        .workload = workload,
        .submitters = 2,
        .tasks = 7,
        .chain_length = 5,
        .task_ns = 1000,
        .period_ns = 200000,
        .gap_ns = 1000,
    };
    struct in_process *run;
    struct in_process_counts counts;
    static struct histogram latencies;
    struct account_totals totals;
    ck_assert_int_eq(platform_init(), 0);
    struct pilfer_executor *executor = open_executor(scheduler);
    ck_assert_int_eq(in_process_start(executor, &options, &run), 0);
    in_process_window(run, 1, PLATFORM_FOREVER); /* everything from here on counts */
    run_more(executor, 200); /* more than were on their way when the window opened: whole rounds are inside */
    ck_assert(in_process_stop(run, UINT64_C(20000000000), &counts, &latencies));
    /* A worker counts a task after it has run, and so perhaps after the latch: the promise is that the sums meet. */
    do
        pilfer_totals(executor, &totals);
    while (totals.counters[COUNTER_tasks_accepted] != totals.counters[COUNTER_tasks_run]);
    ck_assert_uint_eq(counts.in_flight, 0);
    /* A trickle whose tasks pile up while the machine is busy elsewhere may have skipped some. */
    ck_assert_uint_eq(counts.sent, counts.answered + counts.failed);
    ck_assert_uint_eq(counts.submitted, counts.answered);
    ck_assert_uint_gt(counts.requests, 0);
    ck_assert_uint_le(counts.requests, counts.answered);
    if (strcmp(scheduler, "fixed-concurrency") != 0) /* below a bound, its readers are tasks too */
        ck_assert_uint_eq(counts.answered, totals.counters[COUNTER_tasks_run]);
    ck_assert_uint_eq(latencies.count, in_process_has_latency(workload) ? counts.requests : 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

START_TEST(refuses)
{
    struct in_process *run;
    const struct in_process_options unknown = {
        .workload = "router", .submitters = 1, .tasks = 1, .chain_length = 1, .period_ns = 1};
    ck_assert_int_eq(platform_init(), 0);
    struct pilfer_executor *executor = open_executor("chase-lev");
    ck_assert(in_process_start(executor, &unknown, &run) < 0);
    struct in_process_options none = unknown;
    none.workload = "ping";
    none.submitters = 0;
    ck_assert(in_process_start(executor, &none, &run) < 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

static double number(const struct result *result, const char *name)
{
    double value = NAN;
    ck_assert_msg(result_get_number(result, name, &value), "%s is not known", name);
    return value;
}

START_TEST(cell)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10}; /* late wake-ups */
    configuration_init(&configuration);
    configuration_set(&configuration, "workload", workloads[_i]);
    configuration_set(&configuration, "tasks", "50");
    configuration_set(&configuration, "duration", "0.5");
    configuration_set(&configuration, "warmup", "0.1");
    result_init(&result);
    ck_assert_int_eq(platform_init(), 0);
    ck_assert_msg(cell_measure(&configuration, 7, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_msg(number(&result, "valid") == 1, "invalid: %s", result.invalid_reason);
    ck_assert(number(&result, "seed") == 7 && number(&result, "tries") >= 1);
    ck_assert_double_eq_tol(number(&result, "rps"), number(&result, "requests") / 0.5, 1e-6);
    ck_assert_double_eq_tol(number(&result, "router_cpu_us_per_request"),
                            number(&result, "router_cpu_percent") * 1e4 / number(&result, "rps"), 1e-6);
    static const char *const parts[] = {"run_cpu_percent",   "search_cpu_percent",     "spin_cpu_percent",
                                        "yield_cpu_percent", "wake_cpu_percent",       "park_cpu_percent",
                                        "poll_cpu_percent",  "unaccounted_cpu_percent"};
    double sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        sum += number(&result, parts[i]);
    ck_assert_double_eq_tol(sum, number(&result, "router_cpu_percent"), 1e-6);
    double unused;
    ck_assert(!result_get_number(&result, "load_cpu_percent", &unused));
    ck_assert_int_eq(result_get_number(&result, "latency_us_p50", &unused), in_process_has_latency(workloads[_i]));
    result_fini(&result);
}
END_TEST

/* Finds the page of a child of this process that a cell has started, and reads it once it has been refreshed. */
static bool read_live(struct counter_page_state *state)
{
    pid_t pids[16];
    uint32_t count = counter_page_list(pids, 16);
    for (uint32_t i = 0; i < count && i < 16; i++) {
        struct counter_page_reader *reader = counter_page_open(pids[i]);
        while (reader != NULL && counter_page_read(reader, state) && state->refreshed_ns == 0)
            platform_yield();
        if (reader != NULL)
            counter_page_close(reader);
        if (reader != NULL && state->refreshed_ns != 0)
            return true;
    }
    return false;
}

START_TEST(live_counters)
{
    char folder[] = "/tmp/pilfer-test-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_RUNTIME_DIR", folder, 1);
    pid_t runner = fork();
    if (runner == 0) {
        struct configuration configuration;
        struct result result;
        char message[CELL_MESSAGE_SIZE];
        const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 10}; /* late wake-ups */
        configuration_init(&configuration);
        configuration_set(&configuration, "workload", "ping");
        configuration_set(&configuration, "duration", "2");
        result_init(&result);
        _exit(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED ? 0 : 1);
    }
    struct counter_page_state state;
    int status;
    bool seen = false;
    while (!seen && waitpid(runner, &status, WNOHANG) == 0)
        seen = read_live(&state);
    ck_assert(seen);
    ck_assert_str_eq(state.label, "chase-lev");
    ck_assert_str_eq(state.workload, "ping");
    bool found = false;
    for (uint32_t i = 0; i < state.count; i++)
        found = found || (strcmp(state.entries[i].name, "tasks_run") == 0 && state.entries[i].value > 0);
    ck_assert(found);
    ck_assert_int_eq(waitpid(runner, &status, 0), runner);
    ck_assert_int_eq(status, 0);
    pid_t left;
    ck_assert_uint_eq(counter_page_list(&left, 1), 0);
    snprintf(path, sizeof path, "%s/pilfer-%lu", folder, (unsigned long)getuid());
    rmdir(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(pages_of_the_dead)
{
    char folder[] = "/tmp/pilfer-test-XXXXXX", path[96];
    pid_t pids[4];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_RUNTIME_DIR", folder, 1);
    struct counter_page *page = counter_page_create("chase-lev", "ping");
    ck_assert_ptr_nonnull(page);
    pid_t dead = fork();
    if (dead == 0)
        _exit(counter_page_create("chase-lev", "ping") != NULL ? 0 : 1); /* without removing it */
    int status;
    ck_assert_int_eq(waitpid(dead, &status, 0), dead);
    ck_assert_int_eq(status, 0);
    ck_assert(!counter_page_is_watched(page));
    snprintf(path, sizeof path, "%s/pilfer-%lu/counters-%ld", folder, (unsigned long)getuid(), (long)dead);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_uint_eq(counter_page_list(pids, 4), 1);
    ck_assert_int_eq(pids[0], getpid());
    ck_assert_int_ne(access(path, F_OK), 0);
    struct counter_page_reader *reader = counter_page_open(getpid());
    ck_assert_ptr_nonnull(reader);
    ck_assert(counter_page_is_watched(page));
    counter_page_close(reader);
    counter_page_remove(page);
    snprintf(path, sizeof path, "%s/pilfer-%lu", folder, (unsigned long)getuid());
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "role") == 0)
        return role_main(argv[2]);
    Suite *suite = suite_create("in_process");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, conserves, 0, WORKLOADS * SCHEDULERS);
    tcase_add_test(cases, refuses);
    tcase_add_loop_test(cases, cell, 0, WORKLOADS);
    tcase_add_test(cases, live_counters);
    tcase_add_test(cases, pages_of_the_dead);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
