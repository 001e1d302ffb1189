/* SPDX-License-Identifier: MIT
 *
 * The published pool's limits (pool/sizing/thread_limits.h), call by call, and through the public functions.
 *
 * Method. Each row is a start, some calls in order with the answer, the limits and the goal that each must leave.
 */
#include <check.h>
#include <errno.h>

#include "platform.h"
#include "sizing/thread_limits.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { CALLS_MAX = 6, P = 12 };

struct call {
    enum { END, SET_MIN, SET_MAX } which;
    int32_t workers, completion_threads;
    bool done;
    struct pilfer_limits minimum, maximum; /* afterwards */
    int32_t goal;
};

static const struct thread_limits_start plain = {P, 32767, 32767, 0, 0};

static const struct row {
    const char *what;
    struct thread_limits_start start;
    struct call calls[CALLS_MAX];
} rows[] = {
    {"zeros: a minimum of one, no maximum",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, 0, 0, true, {1, 1}, {32767, 1000}, P}, {SET_MAX, 0, 0, false, {1, 1}, {32767, 1000}, P}}},
    {"ones: the maximum after the minimum",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, 1, 1, true, {1, 1}, {32767, 1000}, P}, {SET_MAX, 1, 1, true, {1, 1}, {1, 1}, 1}}},
    {"ones: not before it",
     {P, 32767, 32767, 0, 0},
     {{SET_MAX, 1, 1, false, {P, 1}, {32767, 1000}, P}, {SET_MIN, 1, 1, true, {1, 1}, {32767, 1000}, P}}},
    {"a cut of the minimum leaves the goal",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, 2, 1, true, {2, 1}, {32767, 1000}, P}}},
    {"a raise lifts it",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, 25, 1, true, {25, 1}, {32767, 1000}, 25}, {SET_MIN, 20, 1, true, {20, 1}, {32767, 1000}, 25}}},
    {"a maximum below the goal cuts it, one above leaves it",
     {4, 32767, 32767, 0, 0},
     {{SET_MIN, 20, 1, true, {20, 1}, {32767, 1000}, 20},
      {SET_MIN, 2, 1, true, {2, 1}, {32767, 1000}, 20},
      {SET_MAX, 30, 9, true, {2, 1}, {30, 9}, 20},
      {SET_MAX, 12, 9, true, {2, 1}, {12, 9}, 12},
      {SET_MAX, 25, 9, true, {2, 1}, {25, 9}, 12}}},
    {"negative",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, -1, 1, false, {P, 1}, {32767, 1000}, P},
      {SET_MIN, 1, -1, false, {P, 1}, {32767, 1000}, P},
      {SET_MAX, -1, 1, false, {P, 1}, {32767, 1000}, P},
      {SET_MAX, 20, 0, false, {P, 1}, {32767, 1000}, P}}},
    {"a minimum above the maximum, a maximum below the minimum",
     {P, 20, 32767, 0, 0},
     {{SET_MIN, 21, 1, false, {P, 1}, {20, 1000}, P},
      {SET_MIN, 20, 1, true, {20, 1}, {20, 1000}, 20},
      {SET_MAX, 19, 1, false, {20, 1}, {20, 1000}, 20},
      {SET_MAX, 20, 1, true, {20, 1}, {20, 1}, 20}}},
    {"the completion threads are checked, kept and given back",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, P, 1001, false, {P, 1}, {32767, 1000}, P},
      {SET_MIN, P, 1000, true, {P, 1000}, {32767, 1000}, P},
      {SET_MAX, 100, 999, false, {P, 1000}, {32767, 1000}, P},
      {SET_MAX, 100, 5000, true, {P, 1000}, {100, 5000}, P},
      {SET_MIN, P, 2000, true, {P, 2000}, {100, 5000}, P}}},
    {"a wrong number of completion threads refuses the workers too",
     {P, 32767, 32767, 0, 0},
     {{SET_MIN, 25, 1001, false, {P, 1}, {32767, 1000}, P}, {SET_MAX, 20, 0, false, {P, 1}, {32767, 1000}, P}}},
    {"no more than can exist",
     {4, 8, 8, 0, 0},
     {{SET_MAX, 100, 40000, true, {4, 1}, {8, 32767}, 4}, {SET_MIN, 9, 1, false, {4, 1}, {8, 32767}, 4}}},
    {"a forced minimum",
     {P, 32767, 32767, 3, 0},
     {{SET_MIN, 4, 1, false, {3, 1}, {32767, 1000}, 3},
      {SET_MIN, 3, 7, true, {3, 7}, {32767, 1000}, 3},
      {SET_MAX, 5, 7, true, {3, 7}, {5, 7}, 3}}},
    {"a forced maximum",
     {2, 32767, 32767, 0, 6},
     {{SET_MAX, 5, 9, false, {2, 1}, {6, 1000}, 2},
      {SET_MAX, 6, 9, true, {2, 1}, {6, 9}, 2},
      {SET_MIN, 7, 1, false, {2, 1}, {6, 9}, 2}}},
    {"forced both, in contradiction: neither",
     {P, 32767, 32767, 7, 6},
     {{SET_MIN, 4, 1, true, {4, 1}, {32767, 1000}, P}, {SET_MAX, 8, 1, true, {4, 1}, {8, 1}, 8}}},
    {"a maximum that is forced below the minimum is raised to it",
     {P, 32767, 32767, 0, 6},
     {{SET_MAX, 7, 1, false, {P, 1}, {P, 1000}, P}}},
};

static void assert_limits(struct pilfer_limits seen, struct pilfer_limits expected, const char *what, uint32_t number)
{
    ck_assert_msg(seen.workers == expected.workers && seen.completion_threads == expected.completion_threads,
                  "%s, call %u: (%d, %d), expected (%d, %d)", what, number, seen.workers, seen.completion_threads,
                  expected.workers, expected.completion_threads);
}

START_TEST(test_calls)
{
    const struct row *row = &rows[_i];
    struct thread_limits limits;
    thread_limits_init(&limits, &row->start);
    int32_t goal = limits.minimum.workers;
    for (uint32_t i = 0; i < CALLS_MAX && row->calls[i].which != END; i++) {
        const struct call *call = &row->calls[i];
        struct pilfer_limits pair = {call->workers, call->completion_threads};
        bool done = call->which == SET_MIN ? thread_limits_set_minimum(&limits, pair, &goal)
                                           : thread_limits_set_maximum(&limits, pair, &goal);
        ck_assert_msg(done == call->done, "%s, call %u: %d, expected %d", row->what, i + 1, done, call->done);
        assert_limits(limits.minimum, call->minimum, row->what, i + 1);
        assert_limits(limits.maximum, call->maximum, row->what, i + 1);
        ck_assert_msg(goal == call->goal, "%s, call %u: goal %d, expected %d", row->what, i + 1, goal, call->goal);
    }
}
END_TEST

/* An idle worker has ended: the goal follows to what is left, not below the minimum, and never rises. */
static const struct {
    int32_t minimum, goal, existing, expected;
} departures[] = {
    {2, 10, 7, 7}, {2, 10, 1, 2}, {2, 10, 12, 10}, {2, 10, 10, 10}, {8, 5, 1, 5}, {1, 3, 0, 1}, {1, 1, 0, 1},
};

START_TEST(test_departure)
{
    struct thread_limits limits;
    thread_limits_init(&limits, &plain);
    limits.minimum.workers = departures[_i].minimum;
    ck_assert_int_eq(thread_limits_goal_left(&limits, departures[_i].goal, departures[_i].existing),
                     departures[_i].expected);
}
END_TEST

/* ---- the public functions ---- */

static struct pilfer_executor *open_pool(const char *scheduler, const char *sizing)
{
    static const struct pilfer_setting processors = {"processors", P};
    const struct pilfer_options options = {
        .scheduler = scheduler, .sizing = sizing, .settings = &processors, .setting_count = sizing == NULL};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s", message);
    return executor;
}

/* The calls of a published row, in order, and what the getters say. */
START_TEST(test_public)
{
    struct pilfer_executor *executor = open_pool("dotnet", NULL);
    struct pilfer_limit_values values;
    ck_assert_int_eq(pilfer_read_limits(executor, &values), 0);
    assert_limits(values.minimum, (struct pilfer_limits){P, 1}, "defaults", 0);
    assert_limits(values.maximum, (struct pilfer_limits){32767, 1000}, "defaults", 0);
    assert_limits(values.available, (struct pilfer_limits){32767, 1000}, "defaults", 0);
    ck_assert_int_eq(pilfer_set_max_workers(executor, (struct pilfer_limits){1, 1}), -EINVAL);
    ck_assert_int_eq(pilfer_set_min_workers(executor, (struct pilfer_limits){1, 1}), 0);
    ck_assert_int_eq(pilfer_set_max_workers(executor, (struct pilfer_limits){1, 25}), 0);
    ck_assert_int_eq(pilfer_read_limits(executor, &values), 0);
    assert_limits(values.minimum, (struct pilfer_limits){1, 1}, "afterwards", 0);
    assert_limits(values.maximum, (struct pilfer_limits){1, 25}, "afterwards", 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

START_TEST(test_unsupported)
{
    struct pilfer_executor *executor = open_pool("dotnet", "fixed");
    struct pilfer_limit_values values;
    ck_assert_int_eq(pilfer_set_min_workers(executor, (struct pilfer_limits){1, 1}), -ENOTSUP);
    ck_assert_int_eq(pilfer_set_max_workers(executor, (struct pilfer_limits){1, 1}), -ENOTSUP);
    ck_assert_int_eq(pilfer_read_limits(executor, &values), -ENOTSUP);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 3;
    Suite *suite = suite_create("thread_limits");
    TCase *cases = tcase_create("limits");
    tcase_add_loop_test(cases, test_calls, 0, (int)COUNT_OF(rows));
    tcase_add_loop_test(cases, test_departure, 0, (int)COUNT_OF(departures));
    tcase_add_test(cases, test_public);
    tcase_add_test(cases, test_unsupported);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
