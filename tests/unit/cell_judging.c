/* SPDX-License-Identifier: MIT
 *
 * Promises: a request or task that vanished makes a cell invalid, with the equation and its numbers as the reason;
 * times that do not fit the plan, and clocks that disagree, are noticed; foreign CPU over the limit, throttling and
 * suspension disturb; what a process reports arrives unchanged; the defaults of a configuration mean what the
 * documentation says.
 *
 * Method: the judging functions alone, on figures in which exactly one thing is wrong.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform.h"
#include "runner/cell.h"
#include "runner/context.h"
#include "runner/disturbance.h"
#include "runner/report.h"
#include "runner/settings.h"
#include "runner/validity.h"

static const struct validity_client sound_client = {
    .sent = 1000,
    .answered = 1000,
    .arrivals = 900,
    .requests = 900,
    .connections_asked = 10,
    .connections_achieved = 10,
};
static const struct validity_server sound_server = {
    .received = 1000,
    .answered = 1000,
    .relayed = 1000,
    .markers = 1000,
    .has_extension = true,
    .extension_received = 1000,
    .extension_answered = 1000,
};
static const struct validity_tasks sound_tasks = {.accepted = 15000, .run = 14990, .drained = 10};

static void expect_client(const struct validity_client *client, bool paced, const char *reason)
{
    char text[256] = "";
    bool valid = validity_of_client(client, paced, text, sizeof text);
    ck_assert_int_eq(valid, reason == NULL);
    if (reason != NULL)
        ck_assert_str_eq(text, reason);
}

static void expect_server(const struct validity_server *server, const char *reason)
{
    char text[256] = "";
    bool valid = validity_of_server(&sound_client, server, text, sizeof text);
    ck_assert_int_eq(valid, reason == NULL);
    if (reason != NULL)
        ck_assert_str_eq(text, reason);
}

START_TEST(client_equations)
{
    struct validity_client client = sound_client;
    expect_client(&client, true, NULL);
    client.answered = 999;
    expect_client(&client, true, "sent 1000 is not answered 999 + failed 0 + in flight 0");
    client.in_flight = 1;
    expect_client(&client, false, "sent 1000 is not answered 999 + failed 0: 1 are still in flight");
    client = sound_client;
    client.connections_achieved = 9;
    expect_client(&client, false, "connections achieved 9 is not asked 10");
    client = sound_client;
    client.answered = 999;
    client.failed = 1;
    expect_client(&client, false, "1 of 1000 requests failed otherwise than by a refusal (mostly unknown)");
    client.failure = "malformed";
    expect_client(&client, false, "1 of 1000 requests failed otherwise than by a refusal (mostly malformed)");
    client.refused = 1; /* one in a thousand is admitted */
    expect_client(&client, false, NULL);
    client.answered = 998;
    client.failed = client.refused = 2;
    expect_client(&client, false, "2 of 1000 requests were refused, more than 0.1 %");
}
END_TEST

START_TEST(client_window)
{
    struct validity_client client = sound_client;
    client.requests = 0;
    expect_client(&client, false, "no request was answered in the window (1000 in the whole run)");
    client = sound_client;
    client.requests = 890;
    expect_client(&client, false, NULL); /* a closed loop has no arrivals to keep to */
    expect_client(&client, true, "arrivals 900 is not requests 890 + failed 0 + unsent 0");
    client.unsent = 10;
    expect_client(&client, true, "the rate was not met: 10 of 900 arrivals were never sent");
}
END_TEST

START_TEST(server_equations)
{
    struct validity_server server = sound_server;
    expect_server(&server, NULL);
    server.answered = 999;
    expect_server(&server, "received 1000 is not answered 999: 1 are still in flight");
    server = sound_server;
    server.received = server.answered = 998;
    expect_server(&server, "received by the server 998 is not between answered 1000 and sent 1000");
    server = sound_server;
    server.relayed = server.markers = 999;
    expect_server(&server, "answered 1000 is not relayed 999 + refused 0 + lost 0");
    server = sound_server;
    server.markers = 1001;
    expect_server(&server, "marker items 1001 is not requests 1000");
    server = sound_server;
    server.extension_answered = 999;
    expect_server(&server, "received by the extension 1000 is not answered 999");
    server.extension_received = 999;
    expect_server(&server, "answered by the extension 999 is not relayed 1000");
    server.has_extension = false;
    expect_server(&server, NULL);
}
END_TEST

START_TEST(task_equations)
{
    struct validity_tasks tasks = sound_tasks;
    char text[256];
    ck_assert(validity_of_tasks(&tasks, text, sizeof text));
    tasks.run--; /* one in 15,000 */
    ck_assert(!validity_of_tasks(&tasks, text, sizeof text));
    ck_assert_str_eq(text, "tasks accepted 15000 is not run 14989 + drained 10 + queued 0");
    tasks = sound_tasks;
    tasks.submitted = 15001;
    ck_assert(!validity_of_tasks(&tasks, text, sizeof text));
}
END_TEST

#define SECOND UINT64_C(1000000000)

START_TEST(times)
{
    const struct window window = {.start_ns = 10 * SECOND, .end_ns = 12 * SECOND};
    struct window_edge first = {10 * SECOND, 110 * SECOND}, last = {12 * SECOND, 112 * SECOND};
    char text[256];
    ck_assert(window_is_sane(&window, &first, &last, text, sizeof text));
    last.monotonic_ns += SECOND / 100; /* a late wake-up */
    ck_assert(window_is_sane(&window, &first, &last, text, sizeof text));
    last = (struct window_edge){15 * SECOND, 115 * SECOND}; /* the runner was stopped meanwhile */
    ck_assert(!window_is_sane(&window, &first, &last, text, sizeof text));
    ck_assert_str_eq(text, "elapsed 5000.000 ms is not the planned 2000.000 ms: the runner was held up");
    last = (struct window_edge){12 * SECOND, 111 * SECOND};
    ck_assert(!window_is_sane(&window, &first, &last, text, sizeof text));
    last = first;
    ck_assert(!window_is_sane(&window, &first, &last, text, sizeof text));
    last = (struct window_edge){12 * SECOND, 172 * SECOND}; /* asleep for a minute: no wrong time, but a disturbance */
    ck_assert(window_is_sane(&window, &first, &last, text, sizeof text));
    ck_assert_uint_eq(window_suspended_ns(&first, &last), 60 * SECOND);
}
END_TEST

/* Two seconds on two CPUs that were idle for idle_s in sum, while ours used ours_s. */
static struct disturbance judge(double idle_s, double ours_s, uint64_t throttled_periods)
{
    struct disturbance_sample first = {
        .edge = {10 * SECOND, 10 * SECOND},
        .idle_known = true,
        .throttling_known = true,
        .idle_s = 500,
        .cpus = 2,
    };
    struct disturbance_sample last = first;
    last.edge = (struct window_edge){12 * SECOND, 12 * SECOND};
    last.idle_s += idle_s;
    last.throttling.periods += throttled_periods;
    struct disturbance out;
    disturbance_judge(&first, &last, (uint64_t)(ours_s * 1e9), 14, &out);
    return out;
}

START_TEST(disturbances)
{
    struct disturbance quiet = judge(3, 0.9, 0); /* busy 1 s, ours 0.9 s: 0.1 s in 2 s is 5 % of one CPU */
    ck_assert(!quiet.disturbed && quiet.foreign_known);
    ck_assert_double_eq_tol(quiet.foreign_cpu_percent, 5, 1e-9);
    struct disturbance foreign = judge(3, 0.7, 0);
    ck_assert(foreign.disturbed);
    ck_assert_str_eq(foreign.reason, "foreign CPU 15.0 % of one CPU is above the limit of 14 %");
    struct disturbance throttled = judge(3, 0.9, 1);
    ck_assert(throttled.disturbed);
    ck_assert_ptr_nonnull(strstr(throttled.reason, "held back 1 times"));
}
END_TEST

START_TEST(disturbed_by_suspension)
{
    struct disturbance_sample first = {.edge = {10 * SECOND, 10 * SECOND}, .cpus = 2};
    struct disturbance_sample last = {.edge = {12 * SECOND, 15 * SECOND}, .cpus = 2};
    struct disturbance out;
    disturbance_judge(&first, &last, 0, 14, &out);
    ck_assert(out.disturbed && !out.foreign_known);
    ck_assert_str_eq(out.reason, "the machine was suspended for 3.000 s");
}
END_TEST

static bool keep_line(void *context, char *name, char *text)
{
    if (text != NULL)
        report_set(context, name, text);
    return true;
}

START_TEST(reports)
{
    int ends[2];
    uint8_t bytes[300];
    struct report report;
    struct line_reader reader;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    ck_assert_int_eq(pipe(ends), 0);
    report_init(&report);
    line_reader_init(&reader, ends[0]);
    ck_assert(report_write_number(ends[1], "third", 1.0 / 3));
    ck_assert(report_write_integer(ends[1], "large", UINT64_MAX));
    ck_assert(report_write_text(ends[1], "text", "two\nlines = one"));
    ck_assert(report_write_bytes(ends[1], "bytes", bytes, sizeof bytes));
    ck_assert(report_write_text(ends[1], "not-a-number", "12 apples"));
    ck_assert(report_write_word(ends[1], "done"));
    close(ends[1]);
    line_reader_read(&reader, keep_line, &report);
    double number;
    uint64_t integer;
    size_t size;
    ck_assert(report_number(&report, "third", &number) && number == 1.0 / 3);
    ck_assert(report_integer(&report, "large", &integer) && integer == UINT64_MAX);
    ck_assert_str_eq(report_text(&report, "text"), "two lines = one");
    uint8_t *copy = report_bytes(&report, "bytes", &size);
    ck_assert_uint_eq(size, sizeof bytes);
    ck_assert_mem_eq(copy, bytes, size);
    ck_assert(!report_integer(&report, "not-a-number", &integer) && !report_number(&report, "not-a-number", &number));
    ck_assert_ptr_null(report_text(&report, "done"));
    free(copy);
    close(ends[0]);
    line_reader_fini(&reader);
    report_fini(&report);
}
END_TEST

START_TEST(cpu_lists)
{
    cpu_set_t set;
    ck_assert(settings_cpu_list("0-2,5", &set));
    ck_assert(CPU_COUNT(&set) == 4 && CPU_ISSET(0, &set) && CPU_ISSET(2, &set) && CPU_ISSET(5, &set));
    static const char *const wrong[] = {"", "a", "3-1", "1,", "1;2", "-1", "0-", "99999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(!settings_cpu_list(wrong[i], &set), "'%s' was taken for a list of CPUs", wrong[i]);
}
END_TEST

static void expect_text(const struct result *result, const char *name, const char *text)
{
    const char *found = result_get_text(result, name);
    ck_assert_msg(found != NULL && text != NULL ? strcmp(found, text) == 0 : found == text, "%s is '%s', not '%s'",
                  name, found != NULL ? found : "unknown", text != NULL ? text : "unknown");
}

static void expect_number(const struct result *result, const char *name, double number)
{
    double found = NAN;
    bool known = result_get_number(result, name, &found);
    if (isnan(number))
        ck_assert_msg(!known, "%s is %g, not unknown", name, found);
    else
        ck_assert_msg(known && found == number, "%s is %g, not %g", name, found, number);
}

static struct result resolve(const char *const *pairs)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    configuration_init(&configuration);
    for (; *pairs != NULL; pairs += 2)
        configuration_set(&configuration, pairs[0], pairs[1]);
    result_init(&result);
    ck_assert_msg(cell_resolve(&configuration, &result, message) == 0, "refused: %s", message);
    return result;
}

START_TEST(defaults)
{
    struct result result = resolve((const char *const[]){NULL});
    expect_text(&result, "machine", "real");
    expect_text(&result, "label", "chase-lev");
    expect_text(&result, "idle", "lifo-semaphore");
    expect_text(&result, "sizing", "fixed");
    expect_text(&result, "max_workers", "default");
    expect_number(&result, "max_workers_resolved", platform_usable_cpus());
    expect_text(&result, "spin_limit", "default");
    expect_text(&result, "mode", "closed");
    expect_number(&result, "rate_rps", NAN); /* a closed loop has none */
    expect_text(&result, "arrival_process", NULL);
    expect_number(&result, "connections", 10);
    expect_number(&result, "channels_resolved", 10);
    expect_text(&result, "parallelism", NULL); /* a knob of bounds */
    bool burns = platform_usable_cpus() >= 4;
    expect_text(&result, "extension_mode_resolved", burns ? "burn" : "delay");
    expect_number(&result, "extension_us_resolved", burns ? 53 : 400);
    expect_text(&result, "period_s", NULL); /* of another workload */
    result_fini(&result);
}
END_TEST

START_TEST(values)
{
    struct result result = resolve((const char *const[]){"max-workers", "25", "spin-limit", "0", "mode", "paced",
                                                         "rate", "5000", "extension-mode", "burn", NULL});
    expect_number(&result, "max_workers_resolved", 25);
    expect_number(&result, "spin_limit_resolved", 0);
    expect_text(&result, "mode", "paced");
    expect_number(&result, "rate_rps", 5000);
    expect_text(&result, "arrival_process", "poisson");
    expect_text(&result, "extension_mode", "burn");
    expect_number(&result, "extension_us_resolved", 53);
    result_fini(&result);
}
END_TEST

START_TEST(other_workloads)
{
    struct result result = resolve((const char *const[]){"workload", "trickle", "period", "0.002", NULL});
    expect_text(&result, "mode", "paced");
    expect_number(&result, "rate_rps", 500);
    expect_number(&result, "connections", NAN);
    expect_text(&result, "extension_mode_resolved", NULL);
    expect_text(&result, "period_s", "0.002");
    result_fini(&result);
    result = resolve((const char *const[]){"scheduler", "inline", NULL});
    expect_text(&result, "max_workers", NULL); /* it has no workers */
    expect_number(&result, "spin_limit_resolved", NAN);
    result_fini(&result);
}
END_TEST

/* Limits of the published runtime: what is in force after SetMinThreads and SetMaxThreads, or why one is refused. */
static const struct limits_row {
    const char *minimum, *maximum, *completion, *forced;
    double min_resolved, max_resolved, completion_resolved;
    const char *refused; /* part of the line, or NULL */
} limits_rows[] = {
    {"default", "default", "default", "0", 12, 32767, 1000, NULL},
    {"default", "5", "default", "0", 5, 5, 1000, NULL},
    {"default", "25", "1", "0", 12, 25, 1, NULL},
    {"0", "1", "default", "0", 1, 1, 1000, NULL},
    {"1", "1", "1", "0", 1, 1, 1, NULL},
    {"1", "default", "1", "0", 1, 32767, 1, NULL},
    {"12", "11", "default", "0", 0, 0, 0, "refuses SetMaxThreads(11, 1000), as min-workers is 12"},
    {"default", "8", "default", "8", 8, 8, 1000, NULL},
    {"default", "7", "default", "8", 0, 0, 0, "refuses SetMaxThreads(7, 1000), as force-max-workers is 8"},
    {"13", "default", "default", "0", 13, 32767, 1000, NULL},
    /* a forced maximum below P yields to P; a minimum above that is refused */
    {"13", "default", "default", "8", 0, 0, 0, "refuses SetMinThreads(13, 1), as max-workers is 12"},
};

START_TEST(published_limits)
{
    const struct limits_row *row = &limits_rows[_i];
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    configuration_init(&configuration);
    configuration_set(&configuration, "scheduler", "dotnet");
    configuration_set(&configuration, "processors", "12");
    configuration_set(&configuration, "min-workers", row->minimum);
    configuration_set(&configuration, "max-workers", row->maximum);
    configuration_set(&configuration, "max-completion-threads", row->completion);
    configuration_set(&configuration, "force-max-workers", row->forced);
    result_init(&result);
    int status = cell_resolve(&configuration, &result, message);
    if (row->refused != NULL) {
        ck_assert_int_eq(status, -1);
        ck_assert_msg(strstr(message, row->refused) != NULL, "%s", message);
    } else {
        ck_assert_msg(status == 0, "%s", message);
        expect_number(&result, "min_workers_resolved", row->min_resolved);
        expect_number(&result, "max_workers_resolved", row->max_resolved);
        expect_number(&result, "max_completion_threads_resolved", row->completion_resolved);
        expect_number(&result, "processors_resolved", 12);
        expect_text(&result, "max_completion_threads", row->completion);
        expect_text(&result, "label", strcmp(row->forced, "0") == 0 ? "dotnet" : "dotnet+force-max-workers=8");
    }
    result_fini(&result);
}
END_TEST

/* P is that of the process under test; knobs of the published pool are no columns of others. */
START_TEST(published_knobs)
{
    struct result result = resolve((const char *const[]){"scheduler", "dotnet", "quota-percent", "50", NULL});
    expect_number(&result, "processors_resolved", 1);
    expect_number(&result, "min_workers_resolved", 1);
    expect_text(&result, "hill_climbing", "1");
    expect_text(&result, "lifo_slot", NULL);
    result_fini(&result);
    result = resolve((const char *const[]){"scheduler", "dotnet", "sizing", "fixed", "max-workers", "4", NULL});
    expect_number(&result, "max_workers_resolved", 4);
    expect_text(&result, "max_completion_threads", NULL);
    expect_text(&result, "label", "dotnet+fixed");
    result_fini(&result);
    result = resolve((const char *const[]){"max-completion-threads", "7", "hill-climbing", "0", NULL});
    expect_text(&result, "max_completion_threads", NULL);
    expect_text(&result, "hill_climbing", NULL);
    expect_number(&result, "processors_resolved", NAN);
    result_fini(&result);
    result = resolve(
        (const char *const[]){"scheduler", "fixed-concurrency", "over", "dotnet", "max-workers", "4", NULL});
    expect_number(&result, "max_workers_resolved", 4);
    expect_number(&result, "parallelism_resolved", 4);
    result_fini(&result);
}
END_TEST

START_TEST(quota_and_cpus_bound_the_default)
{
    struct result result = resolve((const char *const[]){"quota-percent", "50", NULL});
    expect_number(&result, "max_workers_resolved", 1);
    result_fini(&result);
    result = resolve((const char *const[]){"quota-percent", "50", "max-workers", "7", NULL});
    expect_number(&result, "max_workers_resolved", 7); /* what was asked for stays */
    result_fini(&result);
    cpu_set_t usable;
    ck_assert_int_eq(sched_getaffinity(0, sizeof usable, &usable), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char list[16];
        if (!CPU_ISSET(cpu, &usable))
            continue;
        snprintf(list, sizeof list, "%d", cpu);
        result = resolve((const char *const[]){"router-cpus", list, NULL});
        expect_number(&result, "max_workers_resolved", 1);
        result_fini(&result);
        break;
    }
}
END_TEST

START_TEST(refusals)
{
    struct configuration configuration;
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    configuration_init(&configuration);
    configuration_set(&configuration, "machine", "simulated");
    result_init(&result);
    ck_assert_int_eq(cell_resolve(&configuration, &result, message), -1);
    ck_assert_ptr_nonnull(strstr(message, "simulated"));
    configuration_init(&configuration);
    configuration_set(&configuration, "min-workers", "5");
    configuration_set(&configuration, "max-workers", "2");
    ck_assert_int_eq(cell_resolve(&configuration, &result, message), -1);
    ck_assert_ptr_nonnull(strstr(message, "5"));
    result_fini(&result);
}
END_TEST

START_TEST(context)
{
    static const char *const names[] = {"cpu",    "cores",    "smt",       "numa-nodes", "quota",   "governor",
                                        "kernel", "pause-ns", "allocator", "compiler",   "version", "commit"};
    char text[CONTEXT_SIZE], value[512];
    ck_assert_int_eq(platform_init(), 0);
    context_write(text, sizeof text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(context_find(text, names[i], value, sizeof value) && value[0] != '\0', "no %s", names[i]);
    ck_assert(!context_find(text, "core", value, sizeof value)); /* a beginning of a name is no name */
    ck_assert(context_find(text, "pause-ns", value, sizeof value) && strtod(value, NULL) > 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cell_judging");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, client_equations);
    tcase_add_test(cases, client_window);
    tcase_add_test(cases, server_equations);
    tcase_add_test(cases, task_equations);
    tcase_add_test(cases, times);
    tcase_add_test(cases, disturbances);
    tcase_add_test(cases, disturbed_by_suspension);
    tcase_add_test(cases, reports);
    tcase_add_test(cases, cpu_lists);
    tcase_add_test(cases, defaults);
    tcase_add_test(cases, values);
    tcase_add_test(cases, other_workloads);
    tcase_add_test(cases, quota_and_cpus_bound_the_default);
    tcase_add_loop_test(cases, published_limits, 0, sizeof limits_rows / sizeof limits_rows[0]);
    tcase_add_test(cases, published_knobs);
    tcase_add_test(cases, refusals);
    tcase_add_test(cases, context);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
