/* SPDX-License-Identifier: MIT
 *
 * Threads that cannot be started any more, after workers have retired.
 *
 * Method. The linker leads platform_thread_start here (--wrap), where it fails on demand. A pool grows to three
 * workers, two retire for want of work, and from then on no thread can be started. A task then waits for a latch: the
 * one worker may try to get a substitute, must give up, must run what is submitted meanwhile, since nobody else can,
 * and must notice that the latch has opened.
 */
#include <check.h>
#include <errno.h>

#include "pool.h"

enum { TIMEOUT_S = 20, WORKERS = 3, LOOKS = 5 };
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct shared_u32 starts_fail;  /* 1: they do; written by the test */
static struct shared_u32 starts_tried; /* since then; any thread; counter only */

int __real_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument);
int __wrap_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument);
int __wrap_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument)
{
    if (shared_u32_load_relaxed(&starts_fail) == 0) /* before the task that makes it matter is submitted */
        return __real_platform_thread_start(out, name, body, argument);
    shared_u32_add_relaxed(&starts_tried, 1);
    return -EAGAIN;
}

struct held {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct pilfer_latch *awaited, *done;
};

/* Holds its worker until all of them are held. */
static void run_held(struct pilfer_task *task)
{
    struct held *held = (struct held *)task;
    pilfer_latch_arrive(held->awaited);
    while (shared_u32_load_acquire(&held->awaited->remaining) != 0)
        platform_yield();
    pilfer_latch_arrive(held->done);
}

static void run_plain(struct pilfer_task *task)
{
    pilfer_latch_arrive(((struct held *)task)->done);
}

static void run_waiting(struct pilfer_task *task)
{
    struct held *held = (struct held *)task;
    pilfer_wait(held->executor, held->awaited);
    pilfer_latch_arrive(held->done);
}

/* Three workers exist, then one. */
static void grow_and_shrink(struct pilfer_executor *executor)
{
    struct pilfer_latch all_held, done;
    struct held tasks[WORKERS];
    pilfer_latch_init(&all_held, WORKERS);
    pilfer_latch_init(&done, WORKERS);
    for (uint32_t i = 0; i < WORKERS; i++) {
        tasks[i] = (struct held){{.run = run_held}, executor, &all_held, &done};
        ck_assert_int_eq(pilfer_submit(executor, &tasks[i].task, PILFER_PLACEMENT_GLOBAL), 0);
    }
    pilfer_wait(executor, &done);
    while (pool_numbers(executor->pool).existing > 1)
        platform_yield();
}

static uint64_t count_of(struct pilfer_executor *executor, enum counter counter)
{
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    return totals.counters[counter];
}

static const char *const schedulers[] = {"dotnet", "dotnet-9", "dotnet-11"};

START_TEST(test_wait_without_substitutes)
{
    const struct pilfer_setting settings[] = {
        {"processors", WORKERS}, {"hill-climbing", 0}, {"starvation-detection", 0}, {"idle-timeout-ms", 1}};
    const struct pilfer_options options = {
        .scheduler = schedulers[_i], .max_workers = WORKERS, .settings = settings, .setting_count = COUNT_OF(settings)};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_int_eq(platform_init(), 0);
    shared_u32_store_relaxed(&starts_fail, 0); /* no pool yet; as below */
    shared_u32_store_relaxed(&starts_tried, 0);
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s", message);
    grow_and_shrink(executor);
    shared_u32_store_relaxed(&starts_fail, 1);

    struct pilfer_latch awaited, done, helped;
    struct held waiting = {{.run = run_waiting}, executor, &awaited, &done};
    struct held plain = {{.run = run_plain}, executor, NULL, &helped};
    pilfer_latch_init(&awaited, 1);
    pilfer_latch_init(&done, 1);
    pilfer_latch_init(&helped, 1);
    const uint64_t before = count_of(executor, COUNTER_parks);
    ck_assert_int_eq(pilfer_submit(executor, &waiting.task, PILFER_PLACEMENT_GLOBAL), 0);
    while (pool_numbers(executor->pool).blocked == 0 || count_of(executor, COUNTER_parks) - before < LOOKS)
        platform_yield(); /* it looks for other tasks in between, since nobody else can */
    ck_assert_int_eq(pilfer_submit(executor, &plain.task, PILFER_PLACEMENT_GLOBAL), 0);
    pilfer_wait(executor, &helped);
    ck_assert_uint_eq(count_of(executor, COUNTER_helps), 1);
    pilfer_latch_arrive(&awaited);
    pilfer_wait(executor, &done);
    ck_assert_uint_eq(shared_u32_load_relaxed(&starts_tried), 1);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread_failures");
    TCase *waits = tcase_create("waiting");
    tcase_set_timeout(waits, TIMEOUT_S);
    tcase_add_loop_test(waits, test_wait_without_substitutes, 0, (int)COUNT_OF(schedulers));
    suite_add_tcase(suite, waits);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
