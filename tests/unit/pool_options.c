/* SPDX-License-Identifier: MIT
 *
 * What options mean (pool/pilfer.h, pool/resolve.c): what is refused and with which words, defaults, labels, and what
 * there is to choose from.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "pilfer.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void open_and_close(const char *name)
{
    const struct pilfer_options options = {.scheduler = name, .max_workers = 1};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s: %s", name, message);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

static const struct pilfer_setting unknown_setting = {"no-such-tunable", 1}, wrong_value = {"lifo-slot", 2},
                                   forced_minimum = {"force-min-workers", 5}, forced_maximum = {"force-max-workers", 5};

/* What is refused, with what, and a word that the message must contain. */
static const struct {
    struct pilfer_options options;
    int status;
    const char *word;
} refusals[] = {
    {{.scheduler = NULL}, -ENOENT, "scheduler"},
    {{.scheduler = "chase-lef"}, -ENOENT, "chase-lef"},
    {{.scheduler = "fixed-concurrency", .over = "no-such"}, -ENOENT, "no-such"},
    {{.scheduler = "chase-lev", .over = "skeleton"}, -EINVAL, "chase-lev"},
    {{.scheduler = "chase-lev", .idle = "no-such"}, -ENOENT, "no-such"},
    {{.scheduler = "chase-lev", .sizing = "no-such"}, -ENOENT, "no-such"},
    {{.scheduler = "chase-lev", .max_workers = PILFER_WORKERS_MAX + 1}, -EINVAL, "32768"},
    {{.scheduler = "chase-lev", .max_workers = 2, .min_workers = 3}, -EINVAL, "min-workers 3"},
    {{.scheduler = "chase-lev", .max_workers = 2, .spin_limit = PILFER_SPIN_LIMIT_MAX + 1}, -EINVAL, "spin-limit"},
    {{.scheduler = "fixed-concurrency", .parallelism = PILFER_WORKERS_MAX + 1}, -EINVAL, "parallelism"},
    {{.scheduler = "chase-lev", .settings = &unknown_setting, .setting_count = 1}, -EINVAL, "no-such-tunable"},
    {{.scheduler = "global-queue", .settings = &wrong_value, .setting_count = 1}, -EINVAL, "lifo-slot"},
    {{.scheduler = "chase-lev", .settings = &wrong_value, .setting_count = 1}, -EINVAL, "0 to 1"},
    {{.scheduler = "dotnet", .max_workers = 4, .settings = &forced_minimum, .setting_count = 1},
     -EINVAL,
     "force-min-workers 5 is above max-workers 4"},
    {{.scheduler = "dotnet", .max_workers = 4, .settings = &forced_maximum, .setting_count = 1},
     -EINVAL,
     "force-max-workers 5 is above max-workers 4"},
};

START_TEST(test_options_refused)
{
    struct pilfer_executor *executor = (struct pilfer_executor *)&unknown_setting;
    struct pilfer_resolved resolved;
    char message[PILFER_MESSAGE_SIZE] = "";
    ck_assert_int_eq(pilfer_open(&refusals[_i].options, &executor, message), refusals[_i].status);
    ck_assert_ptr_eq(executor, (struct pilfer_executor *)&unknown_setting);
    ck_assert_msg(strstr(message, refusals[_i].word) != NULL, "'%s' lacks '%s'", message, refusals[_i].word);
    ck_assert_ptr_null(strchr(message, '\n'));
    message[0] = '\0';
    ck_assert_int_eq(pilfer_resolve(&refusals[_i].options, &resolved, message), refusals[_i].status);
    ck_assert(message[0] != '\0');
}
END_TEST

/* What the defaults mean, and the label. */
static const struct pilfer_setting as_published[] = {{"processors", 12}, {"hill-climbing", 1}},
                                   departing[] = {{"processors", 12}, {"hill-climbing", 0}, {"idle-timeout-ms", 5}},
                                   own[] = {{"lifo-slot", 1}};
static const struct {
    struct pilfer_options options;
    const char *label;
} labels[] = {
    {{.scheduler = "chase-lev"}, "chase-lev"},
    {{.scheduler = "chase-lev", .idle = "lifo-semaphore"}, "chase-lev"},
    {{.scheduler = "chase-lev", .idle = "eager"}, "chase-lev+eager"},
    {{.scheduler = "fixed-concurrency"}, "fixed-concurrency/chase-lev"},
    {{.scheduler = "channel-reader", .over = "global-queue", .idle = "single-waker"},
     "channel-reader/global-queue+single-waker"},
    {{.scheduler = "inline"}, "inline"},
    /* a published pool that is not as published says so; ours have nothing to depart from */
    {{.scheduler = "dotnet", .settings = as_published, .setting_count = 2}, "dotnet"},
    {{.scheduler = "dotnet", .settings = departing, .setting_count = 3}, "dotnet+idle-timeout-ms=5+hill-climbing=0"},
    {{.scheduler = "dotnet", .idle = "eager", .sizing = "fixed"}, "dotnet+eager+fixed"},
    {{.scheduler = "dotnet", .max_workers = 5, .settings = &forced_maximum, .setting_count = 1},
     "dotnet+force-max-workers=5"},
    {{.scheduler = "chase-lev", .settings = own, .setting_count = 1}, "chase-lev"},
};

START_TEST(test_labels)
{
    struct pilfer_resolved resolved;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_int_eq(pilfer_resolve(&labels[_i].options, &resolved, message), 0);
    ck_assert_str_eq(resolved.label, labels[_i].label);
}
END_TEST

START_TEST(test_defaults)
{
    struct pilfer_resolved resolved;
    char message[PILFER_MESSAGE_SIZE];
    const struct pilfer_options pool = {.scheduler = "chase-lev", .spin_limit = PILFER_SPIN_LIMIT_DEFAULT};
    ck_assert_int_eq(pilfer_resolve(&pool, &resolved, message), 0);
    ck_assert_uint_eq(resolved.max_workers, platform_usable_cpus());
    ck_assert_uint_eq(resolved.min_workers, 1);
    ck_assert(resolved.spin_limit == 70 || resolved.spin_limit == 280);
    ck_assert_uint_eq(resolved.parallelism, 0);
    ck_assert_ptr_null(resolved.over);

    const struct pilfer_options bound = {.scheduler = "fixed-concurrency", .max_workers = 5};
    ck_assert_int_eq(pilfer_resolve(&bound, &resolved, message), 0);
    ck_assert_str_eq(resolved.over, "chase-lev");
    ck_assert_uint_eq(resolved.parallelism, 5);

    const struct pilfer_options no_workers = {.scheduler = "inline", .max_workers = 5, .spin_limit = 9};
    ck_assert_int_eq(pilfer_resolve(&no_workers, &resolved, message), 0);
    ck_assert_uint_eq(resolved.max_workers, 0);
    ck_assert_uint_eq(resolved.spin_limit, 0);
}
END_TEST

/* The most workers that are allowed can be asked for; they are started when they are wanted, so one exists. */
START_TEST(test_workers_max)
{
    const struct pilfer_options most = {.scheduler = "chase-lev", .max_workers = PILFER_WORKERS_MAX};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_int_eq(pilfer_open(&most, &executor, message), 0);
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    ck_assert_uint_eq(totals.workers_started, 1);
    ck_assert_int_eq(pilfer_write_trace(executor, STDOUT_FILENO), -ENODATA);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* ---- what there is ---- */

/* Every entry has a name, a summary, and a name that can be opened; what it admits exists. */
START_TEST(test_entries)
{
    struct pilfer_entry entry, idle;
    uint32_t entries = 0;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_SCHEDULER, i, &entry); i++) {
        ck_assert_ptr_nonnull(entry.summary);
        ck_assert_ptr_null(strchr(entry.name, '_'));
        uint32_t admitted = 0;
        for (uint32_t j = 0; pilfer_entry(PILFER_KIND_IDLE, j, &idle); j++)
            admitted += pilfer_admits(entry.name, idle.name);
        ck_assert_msg(admitted > 0, "%s admits no idle policy", entry.name);
        ck_assert(pilfer_admits(entry.name, "fixed"));
        ck_assert(!pilfer_admits(entry.name, "no-such-policy"));
        open_and_close(entry.name);
        entries++;
    }
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_BOUND, i, &entry); i++) {
        ck_assert(entry.knobs & PILFER_KNOB_PARALLELISM);
        open_and_close(entry.name);
    }
    ck_assert_uint_gt(entries, 3);
    ck_assert(!pilfer_admits("no-such-scheduler", "eager"));
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 3;
    Suite *suite = suite_create("pool_options");
    TCase *cases = tcase_create("options");
    tcase_add_loop_test(cases, test_options_refused, 0, (int)COUNT_OF(refusals));
    tcase_add_loop_test(cases, test_labels, 0, (int)COUNT_OF(labels));
    tcase_add_test(cases, test_defaults);
    tcase_add_test(cases, test_workers_max);
    tcase_add_test(cases, test_entries);
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
