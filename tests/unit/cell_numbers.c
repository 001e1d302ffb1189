/* SPDX-License-Identifier: MIT
 *
 * Promises: CPU of the thread that watches inside the process under test is the harness's, in every figure that has it
 * in, and is not taken for foreign; CPU of a target that went back makes the repeat invalid, and is no figure.
 *
 * Method: results filled from readings and reports that are made up, of a window of one second on two CPUs.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "platform.h"
#include "runner/cell_numbers.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

struct made_up {
    struct configuration configuration;
    struct processes processes;
    struct cell_measurement measurement;
};

static void say(struct made_up *cell, const char *name, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    report_set(&cell->processes.router->report, name, text);
}

/* What a sound process under test reports of 1,000 requests. */
static void say_counts(struct made_up *cell)
{
    static const char *const thousands[] = {"load.sent",        "load.answered",  "load.arrivals",  "load.requests",
                                            "load.completions", "load.submitted", "total.accepted", "total.run"};
    for (size_t i = 0; i < sizeof thousands / sizeof thousands[0]; i++)
        say(cell, thousands[i], 1000);
    say(cell, "first.monotonic_ns", 10 * SECOND);
    say(cell, "first.boot_ns", 10 * SECOND);
    say(cell, "last.monotonic_ns", 11 * SECOND);
    say(cell, "last.boot_ns", 11 * SECOND);
}

/* The process under test used 400 ms in the window, the runner 20 ms, and the two CPUs were idle for the rest. */
static void setup_cell(struct made_up *cell)
{
    memset(cell, 0, sizeof *cell);
    ck_assert_int_eq(platform_init(), 0);
    configuration_init(&cell->configuration);
    configuration_set(&cell->configuration, "workload", "ping");
    cell->processes.router = &cell->processes.children[0];
    child_init(cell->processes.router, "inprocess");
    struct cell_edge edge = {.machine = {.edge = {10 * SECOND, 10 * SECOND}, .idle_known = true, .cpus = 2}};
    edge.router_ns = SECOND;
    edge.runner_ns = SECOND;
    cell->measurement = (struct cell_measurement){
        .configuration = &cell->configuration,
        .processes = &cell->processes,
        .window = {10 * SECOND, 11 * SECOND},
        .first = edge,
        .last = edge,
        .edges_known = true,
    };
    cell->measurement.last.machine.edge = (struct window_edge){11 * SECOND, 11 * SECOND};
    cell->measurement.last.machine.idle_s = 2 - 0.42;
    cell->measurement.last.router_ns += 400 * MS;
    cell->measurement.last.runner_ns += 20 * MS;
    say_counts(cell);
}

static void fill(struct made_up *cell, struct result *result)
{
    result_init(result);
    cell_fill(&cell->measurement, 14, result);
    report_fini(&cell->processes.router->report);
}

static void expect(const struct result *result, const char *name, double number)
{
    double found = NAN;
    bool known = result_get_number(result, name, &found);
    ck_assert_msg(known && fabs(found - number) < 1e-6, "%s is %g, not %g", name, found, number);
}

START_TEST(without_a_watching_thread)
{
    struct made_up cell;
    struct result result;
    setup_cell(&cell);
    fill(&cell, &result);
    expect(&result, "valid", 1);
    expect(&result, "router_cpu_percent", 40);
    expect(&result, "router_cpu_us_per_request", 400);
    expect(&result, "runner_cpu_percent", 2);
    expect(&result, "foreign_cpu_percent", 0);
    result_fini(&result);
}
END_TEST

/* 100 of the 400 ms are the watching thread's, and the rest is split without a remainder. */
START_TEST(with_a_watching_thread)
{
    struct made_up cell;
    struct result result;
    setup_cell(&cell);
    say(&cell, "window.watching_cpu_ns", 100 * MS);
    for (int i = 0; i < ACTIVITY_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "activity.%s_cpu_ns", activity_name(i));
        say(&cell, name, 300 * MS / ACTIVITY_COUNT);
    }
    fill(&cell, &result);
    expect(&result, "valid", 1);
    expect(&result, "router_cpu_percent", 30);
    expect(&result, "router_cpu_us_per_request", 300);
    expect(&result, "unaccounted_cpu_percent", 0);
    expect(&result, "split_valid", 1);
    expect(&result, "runner_cpu_percent", 12);
    expect(&result, "foreign_cpu_percent", 0);
    result_fini(&result);
}
END_TEST

/* A server that cannot keep up: rate and CPU per request are those of what it answered, and the repeat is disturbed. */
START_TEST(with_a_backlog)
{
    struct made_up cell;
    struct result result;
    setup_cell(&cell);
    configuration_set(&cell.configuration, "workload", "trickle"); /* paced */
    say(&cell, "load.completions", 250);
    fill(&cell, &result);
    expect(&result, "valid", 1);
    expect(&result, "requests", 1000);
    expect(&result, "rps", 250);
    expect(&result, "router_cpu_us_per_request", 1600);
    expect(&result, "disturbed", 1);
    result_fini(&result);
}
END_TEST

/* 500 ms of a clock that went on by 400: the two were read at other times, which is no CPU of less than nothing. */
START_TEST(with_a_watching_thread_read_apart)
{
    struct made_up cell;
    struct result result;
    double number;
    setup_cell(&cell);
    say(&cell, "window.watching_cpu_ns", 500 * MS);
    fill(&cell, &result);
    expect(&result, "valid", 0);
    expect(&result, "disturbed", 1);
    ck_assert_ptr_nonnull(strstr(result.invalid_reason, "less than that of the thread that watches it"));
    ck_assert(!result_get_number(&result, "router_cpu_percent", &number));
    result_fini(&result);
}
END_TEST

static const struct {
    const char *name;
    bool runner_sees_it, keeper_sees_it;
} clocks[] = {{"by both", true, true}, {"by the runner alone", true, false}, {"by the keeper alone", false, true}};

START_TEST(cpu_that_went_back)
{
    static const enum result_column unknown[] = {RESULT_router_cpu_percent, RESULT_router_cpu_us_per_request,
                                                 RESULT_unaccounted_cpu_percent};
    struct made_up cell;
    struct result result;
    double number;
    setup_cell(&cell);
    cell.processes.router->role = "target";
    cell.processes.router->keeps_tree = true;
    if (clocks[_i].runner_sees_it)
        cell.measurement.last.router_ns = cell.measurement.first.router_ns - 100 * MS;
    if (clocks[_i].keeper_sees_it)
        say(&cell, "window.cpu_went_back", 1);
    fill(&cell, &result);
    expect(&result, "valid", 0);
    ck_assert_str_eq(result.invalid_reason,
                     "CPU of the target went back: a process ended whose parent did not wait for it");
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        ck_assert_msg(!result_get_number(&result, result_column_name(unknown[i]), &number), "%s, seen %s: %g",
                      result_column_name(unknown[i]), clocks[_i].name, number);
    expect(&result, "foreign_cpu_percent", clocks[_i].runner_sees_it ? 40 : 0);
    result_fini(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cell_numbers");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, without_a_watching_thread);
    tcase_add_test(cases, with_a_watching_thread);
    tcase_add_test(cases, with_a_backlog);
    tcase_add_test(cases, with_a_watching_thread_read_apart);
    tcase_add_loop_test(cases, cpu_that_went_back, 0, sizeof clocks / sizeof clocks[0]);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
