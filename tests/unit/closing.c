/* SPDX-License-Identifier: MIT
 *
 * The end of a pool while its only worker is about to sleep: what is queued then is run by a worker, and may submit.
 *
 * Method. Idle policy eager, whose last look is at the queue. The scheduler is global-queue, with two of its callbacks
 * held up. next tells that it has found the queue empty and waits until the test has submitted a task (which nobody is
 * woken for, since the worker still counts as engaged). pending, the worker's last look, waits until close has begun,
 * and then until the workers are told to leave, or for so many yields that they would have been. In the second setting
 * it waits only until close looks at the queue, and that look is held up until the worker has taken the task; the task
 * waits for the workers to be told to leave, as above, before it submits. Nothing sleeps.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "pool.h"

enum phase {
    PHASE_FREE,      /* nothing is held up */
    PHASE_ARMED,     /* the next empty queue is held up */
    PHASE_LOOKED,    /* next has seen it */
    PHASE_SUBMITTED, /* a task has been put into it since */
    PHASE_LAST_LOOK, /* the worker counts as idle and takes its last look */
    PHASE_CLOSER,    /* close looks at the queue */
    PHASE_RUNS,      /* the worker came back and has taken the task */
};

enum { LOOKS_MAX = 5000 };

static struct shared_u32 phase; /* written by the test and the worker by turns; @P test.phase */
static bool closer_held_up;     /* the second setting; before any thread */

static const struct scheduler *honest(void)
{
    return registry_scheduler("global-queue");
}

static enum next_result next_held_up(struct worker *worker, struct pilfer_task **out)
{
    const enum next_result result = honest()->next(worker, out);
    if (result == NEXT_EMPTY && shared_u32_load_acquire(&phase) == PHASE_ARMED) {
        shared_u32_store_release(&phase, PHASE_LOOKED);
        while (shared_u32_load_acquire(&phase) != PHASE_SUBMITTED)
            platform_yield();
    }
    return result;
}

/* Until the workers are told to leave, or would have been. */
static void wait_for_stop(const struct pool *pool)
{
    for (uint32_t look = 0; look < LOOKS_MAX; look++)
        if (shared_u32_load_relaxed(&pool->state) < POOL_STOPPED)
            platform_yield();
}

static bool pending_held_up(struct pool *pool)
{
    const bool is_closer = pool_self(pool) == NULL;
    if (!is_closer && shared_u32_load_acquire(&phase) == PHASE_SUBMITTED) {
        shared_u32_store_release(&phase, PHASE_LAST_LOOK);
        while (shared_u32_load_relaxed(&pool->state) == POOL_RUNNING)
            platform_yield();
        if (closer_held_up)
            while (shared_u32_load_acquire(&phase) != PHASE_CLOSER)
                platform_yield();
        else
            wait_for_stop(pool);
    } else if (is_closer && closer_held_up && shared_u32_load_acquire(&phase) == PHASE_LAST_LOOK) {
        shared_u32_store_release(&phase, PHASE_CLOSER);
        while (shared_u32_load_acquire(&phase) != PHASE_RUNS)
            platform_yield();
    }
    return honest()->pending(pool);
}

/* Runs once; submits child, where there is one. */
struct item {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct item *child;
    uint32_t runs;
    int status; /* of the child's submit */
};

static void run_item(struct pilfer_task *task)
{
    struct item *item = (struct item *)task;
    item->runs++;
    if (shared_u32_load_acquire(&phase) == PHASE_CLOSER) {
        shared_u32_store_release(&phase, PHASE_RUNS);
        wait_for_stop(item->executor->pool);
    }
    if (item->child != NULL)
        item->status = pilfer_submit(item->executor, &item->child->task, PILFER_PLACEMENT_DEFAULT);
}

/* Closes a pool whose worker has found nothing while parent was submitted; returns how many tasks its workers ran. */
static uint64_t close_at_last_look(bool run, struct item *parent)
{
    const struct pilfer_options options = {.min_workers = 1, .max_workers = 1};
    struct scheduler scheduler = *honest();
    struct pilfer_executor executor = {0};
    struct item first = {.task.run = run_item};
    struct account_totals totals;
    scheduler.next = next_held_up;
    scheduler.pending = pending_held_up;
    parent->executor = &executor;
    ck_assert_int_eq(
        pool_create(&options, &scheduler, registry_idle("eager"), registry_sizing("fixed"), &executor.pool), 0);
    shared_u32_store_release(&phase, PHASE_ARMED);
    ck_assert_int_eq(pilfer_submit(&executor, &first.task, PILFER_PLACEMENT_DEFAULT), 0);
    while (shared_u32_load_acquire(&phase) != PHASE_LOOKED)
        platform_yield();
    ck_assert_int_eq(pilfer_submit(&executor, &parent->task, PILFER_PLACEMENT_DEFAULT), 0);
    shared_u32_store_release(&phase, PHASE_SUBMITTED);
    while (shared_u32_load_acquire(&phase) != PHASE_LAST_LOOK)
        platform_yield();
    pool_stop(executor.pool, run);
    pool_totals(executor.pool, &totals);
    pool_drain(executor.pool, run, NULL);
    pool_destroy(executor.pool);
    return totals.counters[COUNTER_tasks_run];
}

/* PILFER_CLOSE_RUN: what is queued may submit, and a worker runs both. */
START_TEST(test_run)
{
    struct item child = {.task.run = run_item};
    struct item parent = {.task.run = run_item, .child = &child, .status = -EINVAL};
    ck_assert_uint_eq(close_at_last_look(true, &parent), 3);
    ck_assert_int_eq(parent.status, 0);
    ck_assert_uint_eq(child.runs, 1);
}
END_TEST

/* The same, with a worker that comes back to it while close looks around. */
START_TEST(test_run_taken)
{
    struct item child = {.task.run = run_item};
    struct item parent = {.task.run = run_item, .child = &child, .status = -EINVAL};
    closer_held_up = true;
    ck_assert_uint_eq(close_at_last_look(true, &parent), 3);
    ck_assert_int_eq(parent.status, 0);
    ck_assert_uint_eq(child.runs, 1);
}
END_TEST

/* PILFER_CLOSE_DROP: a worker that comes back to it leaves it, since nobody would run what it might wait for. */
START_TEST(test_drop)
{
    struct item parent = {.task.run = run_item};
    ck_assert_uint_eq(close_at_last_look(false, &parent), 1);
    ck_assert_uint_eq(parent.runs, 0);
}
END_TEST

int main(void)
{
    platform_init();
    TCase *ends = tcase_create("ends");
    tcase_set_timeout(ends, 60);
    tcase_add_test(ends, test_run);
    tcase_add_test(ends, test_run_taken);
    tcase_add_test(ends, test_drop);
    Suite *suite = suite_create("closing");
    suite_add_tcase(suite, ends);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
