/* SPDX-License-Identifier: MIT
 *
 * The gate thread's decisions (pool/sizing/gate.h) with the test's own clock: when it adds a worker, how often at most,
 * when it rests, and what it takes for the load of the CPUs.
 */
#include <check.h>

#include "sizing/gate.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* One look each: the goal that is to be set, or 0. */
static const struct {
    const char *what;
    struct gate_view view;
    uint32_t goal;
} looks[] = {
    {"all stuck for long", {10000, 9000, 1, 10, 4, 4, 9}, 5},
    {"nobody asked for", {10000, 9000, 0, 10, 4, 4, 9}, 0},
    {"exactly the limit is not longer", {10000, 9500, 1, 10, 4, 4, 9}, 0},
    {"one more is", {10001, 9500, 1, 10, 4, 4, 9}, 5},
    {"a task was taken after the look began", {10000, 10400, 1, 10, 4, 4, 9}, 0},
    {"workers are on their way", {10000, 9000, 1, 10, 3, 4, 9}, 0},
    {"more engaged than the goal: one above them", {10000, 9000, 1, 10, 6, 4, 9}, 7},
    {"at the maximum", {10000, 9000, 1, 10, 9, 9, 9}, 0},
    {"one below it", {10000, 9000, 1, 10, 8, 8, 9}, 9},
    {"79 % is not busy", {10000, 9499, 1, 79, 4, 4, 9}, 5},
    {"80 % is: a second per worker of the goal", {10000, 6000, 1, 80, 4, 4, 9}, 0},
    {"and longer", {10001, 6000, 1, 80, 4, 4, 9}, 5},
    {"with more workers longer", {10001, 6000, 1, 100, 5, 5, 9}, 0},
};

START_TEST(test_look)
{
    uint32_t goal = gate_goal(&looks[_i].view);
    ck_assert_msg(goal == looks[_i].goal, "%s: %u, expected %u", looks[_i].what, goal, looks[_i].goal);
}
END_TEST

/* A pool whose workers all get stuck in the first task that they take, under a gate that looks every 500 ms. Each
 * worker that is added takes a task lag_ms after the look. Fills times_ms; returns how many were added. */
struct stuck_pool {
    uint32_t cpu_percent, workers, maximum;
    uint64_t lag_ms, until_ms;
};

static uint32_t add_to_stuck(const struct stuck_pool *pool, uint64_t *times_ms, uint32_t room)
{
    struct gate_view view = {.requests = 1,
                             .cpu_percent = pool->cpu_percent,
                             .engaged = pool->workers,
                             .goal = pool->workers,
                             .maximum = pool->maximum};
    uint32_t added = 0;
    for (uint64_t now_ms = GATE_PERIOD_MS; now_ms <= pool->until_ms; now_ms += GATE_PERIOD_MS) {
        view.now_ms = now_ms;
        uint32_t goal = gate_goal(&view);
        if (goal == 0)
            continue;
        ck_assert_uint_lt(added, room);
        ck_assert_uint_eq(goal, view.engaged + 1);
        times_ms[added++] = now_ms;
        view.goal = view.engaged = goal;
        view.last_dequeue_ms = now_ms + pool->lag_ms;
    }
    return added;
}

/* Nothing is taken but by those added: the second look finds half a second exceeded, and from then on every other. */
START_TEST(test_cadence)
{
    static const struct stuck_pool idle = {10, 2, 100, 1, 10000};
    uint64_t times_ms[32];
    ck_assert_uint_eq(add_to_stuck(&idle, times_ms, COUNT_OF(times_ms)), 10);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(times_ms[i], 1000 * (i + 1));
    /* At the most, and only if time stands still between a look and the task: two a second, never more. */
    struct stuck_pool quickest = idle;
    quickest.lag_ms = (uint64_t)-1;
    uint32_t added = add_to_stuck(&quickest, times_ms, COUNT_OF(times_ms));
    ck_assert_uint_eq(added, 19);
    for (uint32_t i = 1; i < added; i++)
        ck_assert_uint_eq(times_ms[i] - times_ms[i - 1], 500);
    struct stuck_pool small = idle;
    small.maximum = 4;
    ck_assert_uint_eq(add_to_stuck(&small, times_ms, COUNT_OF(times_ms)), 2);
}
END_TEST

/* With the CPUs busy each further worker takes a second longer: from two, at 2.5, then over 3, over 4 s later ... */
START_TEST(test_cadence_busy)
{
    static const struct stuck_pool busy = {90, 2, 100, 1, 21000};
    static const uint64_t expected_ms[] = {2500, 6000, 10500, 16000};
    uint64_t times_ms[32];
    ck_assert_uint_eq(add_to_stuck(&busy, times_ms, COUNT_OF(times_ms)), COUNT_OF(expected_ms));
    for (uint32_t i = 0; i < COUNT_OF(expected_ms); i++)
        ck_assert_uint_eq(times_ms[i], expected_ms[i]);
}
END_TEST

/* Two looks in a row without a request, and it rests; a look with one costs nothing. */
START_TEST(test_rest)
{
    ck_assert_uint_eq(gate_cycles_left(GATE_IDLE_CYCLES, 0), 1);
    ck_assert_uint_eq(gate_cycles_left(1, 0), 0);
    ck_assert_uint_eq(gate_cycles_left(GATE_IDLE_CYCLES, 1), 2);
    ck_assert_uint_eq(gate_cycles_left(1, 3), 1);
    ck_assert_uint_eq(gate_cycles_left(0, 0), 0);
}
END_TEST

START_TEST(test_cpu)
{
    struct gate_reading before = {.wall_ns = 1000000000, .cpu_ns = 500000000};
    struct gate_reading now = {.wall_ns = 1500000000, .cpu_ns = 900000000};
    ck_assert_uint_eq(gate_cpu_percent(&before, &now, 1), 80);
    ck_assert_uint_eq(gate_cpu_percent(&before, &now, 2), 40);
    ck_assert_uint_eq(gate_cpu_percent(&before, &now, 12), 6);
    ck_assert_uint_eq(gate_cpu_percent(&before, &before, 2), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gate");
    TCase *cases = tcase_create("gate");
    tcase_add_loop_test(cases, test_look, 0, (int)COUNT_OF(looks));
    tcase_add_test(cases, test_cadence);
    tcase_add_test(cases, test_cadence_busy);
    tcase_add_test(cases, test_rest);
    tcase_add_test(cases, test_cpu);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
