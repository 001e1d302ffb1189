/* SPDX-License-Identifier: MIT
 *
 * Promises: CPU per request is steady when five seconds show no trend beyond the tolerance, and not before: neither
 * while it drifts nor soon after a step, nor when nothing was answered; noise is no trend; when the clocks are read is
 * no matter.
 *
 * Method: samples of made-up processes, whose CPU per request is given for each second.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "runner/cpu_watch.h"

#define REQUESTS 1000 /* in each second */

static struct cpu_watch watch;
static struct cpu_sample sample;

/* A clock has some time on it when it is first read. */
static void begin(void)
{
    watch = (struct cpu_watch){.count = 0};
    sample = (struct cpu_sample){.answered = 17, .answered_at_ns = 5000, .cpu_ns = 300, .cpu_at_ns = 6000};
    cpu_watch_add(&watch, &sample);
}

/* A second with these requests, of which each takes so many us. */
static void pass(uint64_t requests, double cost_us)
{
    sample.answered += requests;
    sample.cpu_ns += (uint64_t)llround((double)requests * cost_us * 1000);
    sample.answered_at_ns += CPU_PERIOD_NS;
    sample.cpu_at_ns += CPU_PERIOD_NS;
    cpu_watch_add(&watch, &sample);
}

static bool is_steady_after(const double *costs_us, int count)
{
    begin();
    for (int i = 0; i < count; i++)
        pass(REQUESTS, costs_us[i]);
    return cpu_watch_is_steady(&watch);
}

START_TEST(five_seconds_are_needed)
{
    ck_assert(!cpu_watch_is_steady(&(struct cpu_watch){.count = 0}));
    begin();
    for (int i = 0; i < 5; i++) {
        ck_assert_msg(!cpu_watch_is_steady(&watch), "after %d", i);
        pass(REQUESTS, 100);
    }
    for (int i = 5; i < 20; i++) {
        ck_assert_msg(cpu_watch_is_steady(&watch), "after %d", i);
        pass(REQUESTS, 100);
    }
}
END_TEST

static const struct {
    const char *name;
    double costs_us[5];
    bool is_steady;
} rows[] = {
    {"the last one dearer, within the tolerance", {100, 100, 100, 100, 104.9}, true},
    {"the last one dearer, beyond it", {100, 100, 100, 100, 105.1}, false},
    {"the last one cheaper, within it", {104.9, 104.9, 104.9, 104.9, 100}, true},
    {"the last one cheaper, beyond it", {105.1, 105.1, 105.1, 105.1, 100}, false},
    {"three rises, no fall", {104, 100, 100, 100, 108}, true},
    {"three falls, no rise", {100, 104, 104, 104, 96}, true},
    {"an outlier in the middle", {100, 100, 300, 100, 100}, true},
    {"a saw", {100, 150, 90, 160, 110}, true},
    {"falling, ever less", {300, 200, 150, 130, 120}, false},
    {"falling, with noise", {200, 160, 170, 120, 130}, false},
    {"rising", {100, 110, 121, 133, 146}, false},
    {"a drift too slow to matter", {100, 101, 102, 103, 104}, true},
    {"a slow drift", {100, 103, 106, 109, 112}, false},
};

START_TEST(a_trend_is_seen)
{
    ck_assert_msg(is_steady_after(rows[_i].costs_us, 5) == rows[_i].is_steady, "%s", rows[_i].name);
}
END_TEST

/* Five different figures in any order: rises and falls differ by two at most in 62 of the 120 orders, as the numbers of
 * permutations of five by inversions (1, 4, 9, 15, 20, 22, 20, ...) say, and never by three. */
START_TEST(noise_is_no_trend)
{
    static const double figures_us[] = {100, 120, 140, 170, 200};
    int orders = 0, steady = 0;
    for (int code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
        double costs_us[5];
        int used = 0;
        for (int i = 0, rest = code; i < 5; i++, rest /= 5) {
            costs_us[i] = figures_us[rest % 5];
            used |= 1 << rest % 5;
        }
        if (used != 31)
            continue;
        orders++;
        steady += is_steady_after(costs_us, 5);
    }
    ck_assert_int_eq(orders, 120);
    ck_assert_int_eq(steady, 62);
}
END_TEST

START_TEST(a_step_is_forgotten)
{
    begin();
    for (int i = 0; i < 7; i++)
        pass(REQUESTS, 200);
    ck_assert(cpu_watch_is_steady(&watch));
    for (int i = 1; i <= 5; i++) {
        pass(REQUESTS, 100);
        ck_assert_msg(cpu_watch_is_steady(&watch) == (i == 5), "%d seconds after the step", i);
    }
}
END_TEST

/* What breaks the row of figures. */
static void answer_nothing(void)
{
    sample.cpu_ns += 1000000; /* CPU is used all the same */
    pass(0, 100);
}

static void lose_a_process(void)
{
    sample.cpu_ns /= 2;
    pass(REQUESTS, 0);
}

static void stand_still(void)
{
    pass(REQUESTS, 0);
}

static void (*const breaks[])(void) = {answer_nothing, lose_a_process, stand_still};

START_TEST(a_second_without_a_figure_is_not_steady)
{
    begin();
    for (int i = 0; i < 6; i++)
        pass(REQUESTS, 100);
    ck_assert(cpu_watch_is_steady(&watch));
    breaks[_i]();
    for (int i = 0; i < 5; i++) {
        ck_assert_msg(!cpu_watch_is_steady(&watch), "%d seconds after it", i);
        pass(REQUESTS, 100);
    }
    ck_assert(cpu_watch_is_steady(&watch));
}
END_TEST

/* Readings of the CPU that come late, each by another time, of a process that uses it evenly; and seconds of which some
 * are longer. */
START_TEST(late_readings_make_no_difference)
{
    static const uint64_t late_ns[] = {0, 300000000, 10000000, 700000000, 50000000, 900000000};
    static const uint64_t length_ns[] = {0, 1000000000, 3000000000, 1200000000, 1000000000, 2000000000};
    uint64_t at_ns = 0;
    watch = (struct cpu_watch){.count = 0};
    for (int i = 0; i < 6; i++) {
        at_ns += length_ns[i];
        uint64_t cpu_at_ns = at_ns + late_ns[i];
        cpu_watch_add(&watch, &(struct cpu_sample){at_ns / 1000000, at_ns, cpu_at_ns / 4, cpu_at_ns});
    }
    ck_assert_uint_eq(watch.count, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(watch.costs_ns[i], 250000, 1);
    ck_assert(cpu_watch_is_steady(&watch));
}
END_TEST

START_TEST(a_sample_is_due_each_second)
{
    watch = (struct cpu_watch){.count = 0};
    ck_assert(cpu_watch_is_due(&watch, 5000));
    begin();
    ck_assert(!cpu_watch_is_due(&watch, 5000));
    ck_assert(!cpu_watch_is_due(&watch, 5000 + UINT64_C(999999999)));
    ck_assert(cpu_watch_is_due(&watch, 5000 + UINT64_C(1000000000)));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cpu_watch");
    tcase_add_test(tests, five_seconds_are_needed);
    tcase_add_loop_test(tests, a_trend_is_seen, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(tests, noise_is_no_trend);
    tcase_add_test(tests, a_step_is_forgotten);
    tcase_add_loop_test(tests, a_second_without_a_figure_is_not_steady, 0, sizeof breaks / sizeof breaks[0]);
    tcase_add_test(tests, late_readings_make_no_difference);
    tcase_add_test(tests, a_sample_is_due_each_second);
    Suite *suite = suite_create("cpu_watch");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
