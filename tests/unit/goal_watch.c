/* SPDX-License-Identifier: MIT
 *
 * Promise: the window waits until the median of the goal of the last five seconds equals that of the five before, and
 * not a sample longer; what is said of the goal in the window is what was sampled there.
 *
 * Method: invented goals, sample by sample, and one executor with a known goal.
 */
#include "runner/goal_watch.h"

#include <check.h>
#include <stdlib.h>

#include "platform.h"

static struct goal_history history;

static void add(uint32_t goal, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        goal_history_add(&history, goal);
}

START_TEST(ten_seconds_are_needed)
{
    history = (struct goal_history){.count = 0};
    add(12, 2 * GOAL_HALF - 1);
    ck_assert(!goal_history_is_steady(&history));
    add(12, 1);
    ck_assert(goal_history_is_steady(&history));
}
END_TEST

START_TEST(a_goal_on_its_way_is_not_steady)
{
    history = (struct goal_history){.count = 0};
    for (uint32_t i = 0; i < 10 * GOAL_HALF; i++) {
        add(1 + i / 20, 1);
        ck_assert_msg(!goal_history_is_steady(&history), "after %u samples", i + 1);
    }
}
END_TEST

START_TEST(a_wave_is_steady)
{
    history = (struct goal_history){.count = 0};
    for (uint32_t i = 0; i < 2 * GOAL_HALF; i++)
        add(12 + (i % 5 == 0), 1);
    ck_assert(goal_history_is_steady(&history));
}
END_TEST

/* A step: steady again when both halves are mostly behind it. The medians differ from the sample at which more than
 * half of the new five seconds lie behind the step to the one at which the older five seconds are there as well. */
START_TEST(a_step_is_seen_and_forgotten)
{
    history = (struct goal_history){.count = 0};
    add(12, 2 * GOAL_HALF);
    add(5, GOAL_HALF / 2 - 1);
    ck_assert(goal_history_is_steady(&history));
    for (uint32_t i = GOAL_HALF / 2; i <= GOAL_HALF + GOAL_HALF / 2; i++) {
        add(5, 1);
        ck_assert_msg(!goal_history_is_steady(&history), "%u samples after the step", i);
    }
    add(5, 1);
    ck_assert(goal_history_is_steady(&history));
}
END_TEST

/* Medians that one sample more or less would move, on either side of the middle. */
START_TEST(each_half_is_its_own_five_seconds)
{
    history = (struct goal_history){.count = 0};
    add(1, GOAL_HALF / 2);
    add(2, GOAL_HALF); /* half of them before the middle, half behind it */
    add(1, GOAL_HALF / 2);
    ck_assert(goal_history_is_steady(&history));
    add(2, 1); /* one of the 2 goes over to the older half, where it makes 51; the newer half stays even */
    ck_assert(!goal_history_is_steady(&history));
}
END_TEST

START_TEST(the_window_is_summed_up)
{
    static struct goal_watch watch;
    struct pilfer_setting settings[] = {{"processors", 7}, {"hill-climbing", 0}};
    struct pilfer_options options = {.scheduler = "dotnet", .settings = settings, .setting_count = 2};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    struct goal_summary summary;
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s", message);
    goal_watch_init(&watch, executor);
    ck_assert(watch.moves);
    goal_watch_window(&watch); /* 7 */
    ck_assert_int_eq(pilfer_set_min_workers(executor, (struct pilfer_limits){1, 1}), 0);
    ck_assert_int_eq(pilfer_set_max_workers(executor, (struct pilfer_limits){3, 1}), 0);
    goal_watch_window(&watch);
    goal_watch_window(&watch); /* 3, twice */
    goal_watch_summary(&watch, &summary);
    ck_assert_uint_eq(summary.min, 3);
    ck_assert_uint_eq(summary.median, 3);
    ck_assert_uint_eq(summary.max, 7);
    ck_assert_uint_le(summary.engaged_max, 1);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

START_TEST(a_constant_goal_is_not_watched)
{
    static struct goal_watch watch;
    struct pilfer_options options = {.scheduler = "chase-lev", .max_workers = 2};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s", message);
    goal_watch_init(&watch, executor);
    goal_watch_window(&watch);
    goal_watch_warm_up(&watch);
    ck_assert(!watch.moves && watch.samples == 0 && watch.history.count == 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

int main(void)
{
    platform_init();
    TCase *tests = tcase_create("goal_watch");
    tcase_add_test(tests, ten_seconds_are_needed);
    tcase_add_test(tests, a_goal_on_its_way_is_not_steady);
    tcase_add_test(tests, a_wave_is_steady);
    tcase_add_test(tests, a_step_is_seen_and_forgotten);
    tcase_add_test(tests, each_half_is_its_own_five_seconds);
    tcase_add_test(tests, the_window_is_summed_up);
    tcase_add_test(tests, a_constant_goal_is_not_watched);
    Suite *suite = suite_create("goal_watch");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
