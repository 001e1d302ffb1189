/* SPDX-License-Identifier: MIT
 *
 * The promises of the work-stealing deque: the owner takes the newest task, thieves the oldest, each task goes to
 * exactly one of them, an empty deque gives none, also a fresh one, and growing loses nothing. Built several times,
 * with 2 slots at first and indices that pass the wrap of a narrower type (see the list of tests).
 *
 * Method: random operations against an array with two ends; an owner and two thieves on real threads that count each
 * task.
 *
 * Not shown here: that the full fence of a pop is needed. Its absence shows only when two CPUs meet within nanoseconds,
 * which is for a test that chooses every interleaving and every delayed store.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "deque.h"
#include "platform.h"

#define TASKS_MAX 500
#define STEPS     500000

/* For loops: ck_assert makes a system call each time it holds. */
#define HOLDS(condition)                            \
    do {                                            \
        if (!(condition))                           \
            ck_abort_msg("not so: %s", #condition); \
    } while (0)

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du % below;
}

static struct deque *deque_new(void)
{
    struct deque *deque = platform_alloc(sizeof *deque);
    ck_assert_ptr_nonnull(deque);
    ck_assert_int_eq(deque_init(deque), 0);
    return deque;
}

static void deque_free(struct deque *deque)
{
    deque_fini(deque);
    platform_free(deque);
}

START_TEST(a_fresh_one_is_empty)
{
    struct deque *deque = deque_new();
    struct pilfer_task *task = NULL;
    for (int turn = 0; turn < 3; turn++) {
        ck_assert_ptr_null(deque_pop(deque));
        ck_assert_int_eq(deque_steal(deque, &task), DEQUE_EMPTY);
        ck_assert(!deque_has_tasks(deque));
        ck_assert_uint_eq(deque_depth(deque), 0);
    }
    deque_free(deque);
}
END_TEST

/* The oracle: an array, oldest first. */
struct plain_deque {
    uint32_t count;
    struct pilfer_task *tasks[TASKS_MAX];
};

static struct pilfer_task *plain_take(struct plain_deque *plain, bool newest)
{
    if (plain->count == 0)
        return NULL;
    struct pilfer_task *task = plain->tasks[newest ? plain->count - 1 : 0];
    plain->count--;
    if (!newest)
        memmove(plain->tasks, plain->tasks + 1, plain->count * sizeof *plain->tasks);
    return task;
}

struct differential {
    struct deque *deque;
    struct plain_deque plain;
    struct pilfer_task tasks[TASKS_MAX];
    struct pilfer_task *spare[TASKS_MAX]; /* tasks that are not in the deque */
    uint32_t spare_count;
};

static void step(struct differential *test, uint64_t pushes_of_8)
{
    struct pilfer_task *task;
    if (random_below(8) < pushes_of_8) {
        if (test->spare_count == 0)
            return;
        task = test->spare[--test->spare_count];
        HOLDS(deque_push(test->deque, task) == 0);
        test->plain.tasks[test->plain.count++] = task;
        return;
    }
    bool newest = random_below(2) == 0;
    struct pilfer_task *expected = plain_take(&test->plain, newest);
    if (newest)
        task = deque_pop(test->deque);
    else if (deque_steal(test->deque, &task) != DEQUE_TASK)
        task = NULL;
    HOLDS(task == expected);
    if (task != NULL)
        test->spare[test->spare_count++] = task;
}

START_TEST(equals_an_array_with_two_ends)
{
    struct differential *test = calloc(1, sizeof *test);
    ck_assert_ptr_nonnull(test);
    test->deque = deque_new();
    for (uint32_t index = 0; index < TASKS_MAX; index++)
        test->spare[test->spare_count++] = &test->tasks[index];
    uint64_t pushes_of_8 = 4;
    for (int count = 0; count < STEPS; count++) {
        if (count % 3000 == 0)
            pushes_of_8 = 3 + random_below(4); /* phases of filling and of emptying */
        step(test, pushes_of_8);
        HOLDS(deque_depth(test->deque) == test->plain.count);
        HOLDS(deque_has_tasks(test->deque) == (test->plain.count > 0));
    }
    deque_free(test->deque);
    free(test);
}
END_TEST

/* ---- an owner and thieves ---- */

#define THIEVES 2
#ifndef TASKS
#define TASKS 1000000
#endif

struct counted {
    struct pilfer_task task;
    struct shared_u32 taken;
};

struct crowd {
    struct deque *deque;
    struct counted *tasks;
    struct shared_u32 done; /* the owner has pushed everything and found the deque empty */
    struct shared_u64 stolen;
};

static void take(struct pilfer_task *task)
{
    shared_u32_add_relaxed(&((struct counted *)task)->taken, 1);
}

static void steal_until_done(void *argument)
{
    struct crowd *crowd = argument;
    uint64_t stolen = 0, misses = 0;
    struct pilfer_task *task;
    while (shared_u32_load_acquire(&crowd->done) == 0) {
        if (deque_steal(crowd->deque, &task) == DEQUE_TASK) {
            take(task);
            stolen++;
        } else if (++misses % 4096 == 0) {
            platform_yield(); /* on few CPUs: let the owner in */
        }
    }
    shared_u64_add_relaxed(&crowd->stolen, stolen);
}

/* Bursts of pushes, mostly of one, then pops, mostly down to the last task, where owner and thieves meet. */
static uint64_t own(struct crowd *crowd)
{
    uint64_t popped = 0;
    struct pilfer_task *task;
    for (uint32_t index = 0; index < TASKS;) {
        for (uint64_t burst = random_below(16) == 0 ? 1 + random_below(16) : 1; burst > 0 && index < TASKS; burst--)
            HOLDS(deque_push(crowd->deque, &crowd->tasks[index++].task) == 0);
        for (uint64_t burst = random_below(4); burst > 0 && (task = deque_pop(crowd->deque)) != NULL; burst--) {
            take(task);
            popped++;
        }
        if (random_below(4096) == 0)
            platform_yield(); /* on few CPUs: let the thieves in */
    }
    while ((task = deque_pop(crowd->deque)) != NULL) {
        take(task);
        popped++;
    }
    return popped;
}

START_TEST(each_task_once)
{
    struct crowd crowd = {.deque = deque_new(), .tasks = calloc(TASKS, sizeof(struct counted))};
    ck_assert_ptr_nonnull(crowd.tasks);
    struct platform_thread *thieves[THIEVES];
    for (int index = 0; index < THIEVES; index++)
        ck_assert_int_eq(platform_thread_start(&thieves[index], "thief", steal_until_done, &crowd), 0);
    uint64_t popped = own(&crowd);
    shared_u32_store_release(&crowd.done, 1);
    for (int index = 0; index < THIEVES; index++)
        platform_thread_join(thieves[index]);
    uint64_t stolen = shared_u64_load_relaxed(&crowd.stolen);
    ck_assert_uint_eq(popped + stolen, TASKS);
    ck_assert_uint_gt(stolen, 0); /* else the test has shown nothing */
    for (uint32_t index = 0; index < TASKS; index++)
        HOLDS(shared_u32_load_relaxed(&crowd.tasks[index].taken) == 1);
    free(crowd.tasks);
    deque_free(crowd.deque);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 1;
    Suite *suite = suite_create("deque");
    TCase *cases = tcase_create("deque");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, a_fresh_one_is_empty);
    tcase_add_test(cases, equals_an_array_with_two_ends);
    tcase_add_test(cases, each_task_once);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
