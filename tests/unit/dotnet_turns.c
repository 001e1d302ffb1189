/* SPDX-License-Identifier: MIT
 *
 * What a worker of the .NET pools keeps from one turn to the next, what it hands over when a turn is broken off, and
 * what a task that waits sets in motion.
 *
 * Method. A real pool whose workers are parked; the test's own thread calls the tables' functions in the place of one
 * of them. The linker leads semaphore_wait here (--wrap): for the test's thread it answers at once, as it is told.
 * Waits inside a task are real, with one callback of a table counted.
 */
#include <check.h>
#include <stdlib.h>

#include "../held.h"
#include "dotnet.h"
#include "idle/dotnet_workers.h"
#include "pool.h"

enum { TIMEOUT_S = 60 };

static enum semaphore_result test_answer; /* the test's thread only, both */
static uint32_t test_steps;

enum semaphore_result __real_semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                            struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns);
enum semaphore_result __wrap_semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                            struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns);
enum semaphore_result __wrap_semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                            struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns)
{
    if (platform_self() != NULL)
        return __real_semaphore_wait(semaphore, worker, waiter, steps, deadline_ns);
    test_steps = steps;
    enum semaphore_result answer = test_answer;
    test_answer = SEMAPHORE_STOPPED;
    return answer;
}

static uint64_t count_in(struct pool *pool, enum counter counter)
{
    struct account_totals totals;
    pool_totals(pool, &totals);
    return totals.counters[counter];
}

/* A pool at rest: each worker waits on the semaphore. Not an executor: it lies in *executor. */
static struct pool *open_with(struct pilfer_executor *executor, const struct scheduler *scheduler,
                              const struct idle_policy *idle, const struct sizing_policy *sizing,
                              const struct pilfer_options *options)
{
    *executor = (struct pilfer_executor){0};
    ck_assert_int_eq(pool_create(options, scheduler, idle, sizing, &executor->pool), 0);
    while (count_in(executor->pool, COUNTER_parks) < options->min_workers)
        platform_yield();
    return executor->pool;
}

static struct pool *open_pool(struct pilfer_executor *executor, const char *scheduler, const struct idle_policy *idle,
                              const struct pilfer_options *options)
{
    const struct scheduler *table = registry_scheduler(scheduler);
    return open_with(executor, table, idle != NULL ? idle : registry_idle(table->idle), registry_sizing("fixed"),
                     options);
}

/* Whose functions the test's thread calls now: what it wrote before it lay down is seen, through the lock of the
 * semaphore, which comes first in the state of the policies that this is used with. */
static struct worker *parked_worker(struct pool *pool)
{
    struct semaphore *semaphore = pool->idle_state;
    lock_lock(&semaphore->lock);
    lock_unlock(&semaphore->lock);
    return pool_worker(pool, 0);
}

static void wait_until_idle(struct pool *pool)
{
    while (pool_numbers(pool).engaged > 0)
        platform_yield();
}

static void close_pool(struct pool *pool)
{
    pool_stop(pool, true);
    pool_drain(pool, true, NULL);
    pool_destroy(pool);
}

static void run_nothing(struct pilfer_task *task)
{
    (void)task;
}

/* ---- what is kept ---- */

/* A worker that was stopped does not spin in its next wait; the one that is started in its place after it has retired
 * does, and so does the one that could not retire go on without. */
START_TEST(test_started_again)
{
    struct pilfer_executor executor;
    struct pool *pool = open_pool(&executor, "dotnet", NULL,
                                  &(struct pilfer_options){.min_workers = 1, .max_workers = 2, .spin_limit = 5});
    struct worker *worker = parked_worker(pool);
    pool->idle->stopped(worker);
    test_answer = SEMAPHORE_TIMED_OUT; /* as the last one that exists, it may not retire, and waits again */
    ck_assert(!pool->idle->wait(worker));
    ck_assert_uint_eq(test_steps, 0);
    pool_counts_change(pool, 0, 1, 0); /* as if there were two */
    test_steps = 1;
    test_answer = SEMAPHORE_TIMED_OUT;
    ck_assert(!pool->idle->wait(worker));
    ck_assert_uint_eq(test_steps, 0);
    ck_assert_uint_eq(pool_numbers(pool).existing, 1); /* it has retired */
    test_answer = SEMAPHORE_STOPPED;
    ck_assert(!pool->idle->wait(worker));
    ck_assert_uint_eq(test_steps, 10);
    close_pool(pool);
}
END_TEST

/* A turn that is broken off does not go on with high-priority tasks next time, unless the hint says that there are. */
START_TEST(test_high_priority_ends)
{
    static const char *const schedulers[] = {"dotnet", "dotnet-9", "dotnet-11"};
    struct pilfer_executor executor;
    struct pool *pool = open_pool(&executor, schedulers[_i], registry_idle("eager"),
                                  &(struct pilfer_options){.min_workers = 1, .max_workers = 1, .spin_limit = 5});
    struct worker *worker = parked_worker(pool);
    struct dotnet *dotnet = pool->queueing;
    const struct dotnet_worker *own = worker->queueing;
    struct pilfer_task first = {.run = run_nothing}, *task;
    segment_queue_push(&dotnet->high_priority, &first);
    shared_u32_store_relaxed(&dotnet->may_have_high_priority, 1); /* the worker sleeps; as below */
    ck_assert_int_eq(pool->scheduler->next(worker, &task), NEXT_TASK);
    ck_assert_ptr_eq(task, &first);
    ck_assert(own->processes_high_priority);
    ck_assert_uint_eq(pool->scheduler->surrender_local(worker), 0);
    ck_assert(!own->processes_high_priority);
    ck_assert_uint_eq(shared_u32_load_relaxed(&dotnet->may_have_high_priority), 1);
    ck_assert_int_eq(pool->scheduler->next(worker, &task), NEXT_EMPTY);
    close_pool(pool);
}
END_TEST

/* ---- the task that is laid aside ---- */

static void expect_next(struct worker *worker, struct pilfer_task *expected)
{
    struct pilfer_task *task = NULL;
    ck_assert_int_eq(worker->pool->scheduler->next(worker, &task), expected != NULL ? NEXT_TASK : NEXT_EMPTY);
    ck_assert_ptr_eq(task, expected);
}

static void place_locally(struct worker *worker, struct pilfer_task *task)
{
    ck_assert_int_gt(worker->pool->scheduler->submit(worker->pool, worker, task, PILFER_PLACEMENT_LOCAL), 0);
}

static void begin_turn(struct worker *worker)
{
    worker->pool->scheduler->turn_began(worker);
}

/* First of a turn, however the last one ended; later in the turn after the worker's own. So the place is empty when the
 * turn's second task is to be laid there, also where a worker has kept tasks of its own (it was stopped, and there was
 * no memory for moving them). */
START_TEST(test_laid_aside)
{
    struct pilfer_executor executor;
    struct pool *pool = open_pool(&executor, "dotnet-9", registry_idle("eager"),
                                  &(struct pilfer_options){.min_workers = 1, .max_workers = 1, .spin_limit = 5});
    struct worker *worker = parked_worker(pool);
    struct pilfer_task aside = {.run = run_nothing}, own[3] = {aside, aside, aside};
    for (uint32_t i = 0; i < 3; i++)
        place_locally(worker, &own[i]);
    pool->scheduler->set_aside(worker, &aside);
    begin_turn(worker);
    expect_next(worker, &aside);
    expect_next(worker, &own[2]);
    pool->scheduler->set_aside(worker, &own[2]);
    expect_next(worker, &own[1]); /* and goes on */
    expect_next(worker, &own[0]);
    expect_next(worker, &own[2]);
    expect_next(worker, NULL);
    place_locally(worker, &own[0]);
    pool->scheduler->set_aside(worker, &aside);
    begin_turn(worker);
    expect_next(worker, &aside);
    pool->scheduler->set_aside(worker, &aside);
    ck_assert_uint_eq(pool->scheduler->surrender_local(worker), 1); /* stopped */
    place_locally(worker, &own[1]);
    begin_turn(worker);
    expect_next(worker, &aside);
    expect_next(worker, &own[1]);
    expect_next(worker, &own[0]);
    expect_next(worker, NULL);
    close_pool(pool);
}
END_TEST

/* A look that finds nothing is not the end of a turn: the one for a second task, or that of a task that waits, which
 * then hands over what it has. What another worker has laid aside meanwhile comes after the worker's own. */
START_TEST(test_turn_goes_on)
{
    struct pilfer_executor executor;
    struct pool *pool = open_pool(&executor, "dotnet-9", registry_idle("eager"),
                                  &(struct pilfer_options){.min_workers = 1, .max_workers = 1, .spin_limit = 5});
    struct worker *worker = parked_worker(pool);
    struct pilfer_task aside = {.run = run_nothing}, own[3] = {aside, aside, aside};
    begin_turn(worker);
    place_locally(worker, &own[2]);
    expect_next(worker, &own[2]);
    for (uint32_t waits = 0; waits <= 1; waits++) {
        expect_next(worker, NULL);
        if (waits)
            ck_assert_uint_eq(pool->scheduler->surrender_local(worker), 0);
        place_locally(worker, &own[0]);
        place_locally(worker, &own[1]);
        pool->scheduler->set_aside(worker, &aside);
        expect_next(worker, &own[1]);
        expect_next(worker, &own[0]);
        expect_next(worker, &aside);
    }
    close_pool(pool);
}
END_TEST

static struct shared_u32 begun; /* turns, or looks, that a counted callback was told of; any thread */

static void turn_began_counted(struct worker *worker)
{
    shared_u32_add_relaxed(&begun, 1);
    registry_scheduler("dotnet-9")->turn_began(worker);
}

/* The core tells the scheduler of each turn. */
START_TEST(test_turns_are_told)
{
    enum { ROUNDS = 10 };
    struct pilfer_executor executor;
    struct scheduler scheduler = *registry_scheduler("dotnet-9");
    scheduler.turn_began = turn_began_counted;
    shared_u32_store_relaxed(&begun, 0); /* no pool yet */
    struct pool *pool = open_with(&executor, &scheduler, registry_idle(scheduler.idle), registry_sizing("fixed"),
                                  &(struct pilfer_options){.min_workers = 2, .max_workers = 2, .spin_limit = 5});
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct held awaited;
        held_init(&awaited, run_short);
        ck_assert_int_eq(pilfer_submit(&executor, &awaited.task, PILFER_PLACEMENT_GLOBAL), 0);
        pilfer_wait(&executor, &awaited.latch);
        wait_until_idle(pool);
    }
    ck_assert_uint_ge(count_in(pool, COUNTER_dispatches), ROUNDS);
    ck_assert_uint_eq(shared_u32_load_relaxed(&begun), count_in(pool, COUNTER_dispatches));
    close_pool(pool);
}
END_TEST

/* ---- a wait that moves tasks ---- */

enum { LEVELS = PILFER_HELP_DEPTH_MAX + 1 };

static struct shared_u32 told; /* tasks that the idle policy was told of; any thread */

static void submitted_counted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    shared_u32_add_relaxed(&told, wakes);
    registry_idle("dotnet-handshake")->submitted(pool, self, wakes);
}

/* Each level submits the next one, local, and waits for it; the innermost waits for one that nobody on its stack may
 * run any more. The other worker is held meanwhile. */
struct level {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct level *below;
    struct pilfer_latch latch;
};

static void run_level(struct pilfer_task *task)
{
    struct level *level = (struct level *)task;
    while (pool_numbers(level->executor->pool).goal > 1)
        platform_yield();
    if (level->below != NULL) {
        ck_assert_int_eq(pilfer_submit(level->executor, &level->below->task, PILFER_PLACEMENT_LOCAL), 0);
        ck_assert_int_eq(pilfer_wait(level->executor, &level->below->latch), 0);
    }
    pilfer_latch_arrive(&level->latch);
}

static void submit_level(struct pilfer_executor *executor, struct level *level)
{
    level->executor = executor;
    pilfer_latch_init(&level->latch, 1);
    ck_assert_int_eq(pilfer_submit(executor, &level->task, PILFER_PLACEMENT_GLOBAL), 0);
}

/* What a worker moves before it blocks is told to the idle policy, if no substitute comes that looks for it: here the
 * goal has fallen to one, and one other is engaged. */
START_TEST(test_moved_by_a_wait)
{
    static struct level levels[LEVELS + 1];
    struct idle_policy idle = *registry_idle("dotnet-handshake");
    struct pilfer_executor executor;
    struct held held;
    idle.submitted = submitted_counted;
    struct pool *pool = open_pool(&executor, "dotnet", &idle,
                                  &(struct pilfer_options){.min_workers = 2, .max_workers = 2, .spin_limit = 5});
    held_init(&held, run_held);
    ck_assert_int_eq(pilfer_submit(&executor, &held.task, PILFER_PLACEMENT_GLOBAL), 0);
    held_await(&held);
    for (uint32_t i = LEVELS + 1; i-- > 0;) {
        levels[i] = (struct level){.task.run = run_level, .executor = &executor};
        levels[i].below = i < LEVELS ? &levels[i + 1] : NULL;
        pilfer_latch_init(&levels[i].latch, 1);
    }
    ck_assert_int_eq(pilfer_submit(&executor, &levels[0].task, PILFER_PLACEMENT_GLOBAL), 0);
    pool_set_goal(pool, 1);
    while (pool_numbers(pool).blocked == 0)
        platform_yield();
    while (shared_u32_load_relaxed(&told) < LEVELS + 3)
        platform_yield(); /* it is told after the count: the held one, all levels, and the last one again */
    held_let_go(&held);
    ck_assert_int_eq(pilfer_wait(&executor, &levels[0].latch), 0);
    ck_assert_int_eq(pilfer_wait(&executor, &held.latch), 0);
    ck_assert_uint_eq(shared_u32_load_relaxed(&told), LEVELS + 3);
    close_pool(pool);
}
END_TEST

/* ---- what a wait sets in motion ---- */

static void look_counted(struct worker *worker)
{
    (void)worker;
    shared_u32_add_relaxed(&begun, 1);
}

/* A sizing policy hears of each look for a task, also inside a task that waits: one that helps is not stuck. */
START_TEST(test_looks_are_told)
{
    static struct level levels[2];
    struct pilfer_executor executor;
    struct sizing_policy sizing = *registry_sizing("fixed");
    sizing.turn_began = look_counted;
    shared_u32_store_relaxed(&begun, 0); /* no pool yet */
    struct pool *pool = open_with(&executor, registry_scheduler("dotnet"), registry_idle("dotnet-handshake"), &sizing,
                                  &(struct pilfer_options){.min_workers = 1, .max_workers = 1, .spin_limit = 5});
    levels[1] = (struct level){.task.run = run_level, .executor = &executor};
    pilfer_latch_init(&levels[1].latch, 1);
    levels[0] = (struct level){.task.run = run_level, .below = &levels[1]};
    submit_level(&executor, &levels[0]);
    ck_assert_int_eq(pilfer_wait(&executor, &levels[0].latch), 0);
    wait_until_idle(pool);
    ck_assert_uint_eq(count_in(pool, COUNTER_helps), 1);
    ck_assert_uint_eq(shared_u32_load_relaxed(&begun), count_in(pool, COUNTER_dispatches) + 1);
    close_pool(pool);
}
END_TEST

struct waiting {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct pilfer_latch awaited, done;
};

static void run_waiting(struct pilfer_task *task)
{
    struct waiting *waiting = (struct waiting *)task;
    ck_assert_int_eq(pilfer_wait(waiting->executor, &waiting->awaited), 0);
    pilfer_latch_arrive(&waiting->done);
}

static const struct {
    const char *scheduler, *idle;
    uint64_t releases; /* for the task and for the substitute, where they are counted */
} looking[] = {{"dotnet", "dotnet-handshake", 2},       {"dotnet-9", "dotnet-9-handshake", 2},
               {"dotnet-11", "dotnet-11-handshake", 2}, {"dedicated-threads", "unfair-semaphore", 2},
               {"chase-lev", "lifo-semaphore", 0},      {"chase-lev", "eager", 0},
               {"chase-lev", "single-waker", 0}};

/* A parked task looks now and then whether there is something to do. As long as there is nothing it wakes nobody: its
 * one substitute stays asleep. */
START_TEST(test_looks_wake_nobody)
{
    enum { LOOKS = 3 };
    struct pilfer_executor executor;
    struct pool *pool =
        open_pool(&executor, looking[_i].scheduler, registry_idle(looking[_i].idle),
                  &(struct pilfer_options){.min_workers = 1, .max_workers = 1, .spin_limit = 5});
    struct account *account = pool_worker(pool, 0)->account;
    struct waiting waiting = {.task.run = run_waiting, .executor = &executor};
    pilfer_latch_init(&waiting.awaited, 1);
    pilfer_latch_init(&waiting.done, 1);
    ck_assert_int_eq(pilfer_submit(&executor, &waiting.task, PILFER_PLACEMENT_GLOBAL), 0);
    while (pool_numbers(pool).blocked == 0 || pool_numbers(pool).engaged > 0)
        platform_yield();
    const uint64_t before = counter_read(&account->counters[COUNTER_parks]);
    while (counter_read(&account->counters[COUNTER_parks]) < before + LOOKS)
        platform_yield();
    ck_assert_uint_eq(count_in(pool, COUNTER_substitutes), 1);
    ck_assert_uint_eq(count_in(pool, COUNTER_releases), looking[_i].releases);
    pilfer_latch_arrive(&waiting.awaited);
    pilfer_wait(&executor, &waiting.done);
    close_pool(pool);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 3;
    Suite *suite = suite_create("dotnet_turns");
    TCase *turns = tcase_create("turns");
    tcase_set_timeout(turns, TIMEOUT_S);
    tcase_add_test(turns, test_started_again);
    tcase_add_loop_test(turns, test_high_priority_ends, 0, 3);
    tcase_add_test(turns, test_laid_aside);
    tcase_add_test(turns, test_turn_goes_on);
    tcase_add_test(turns, test_turns_are_told);
    tcase_add_test(turns, test_moved_by_a_wait);
    tcase_add_test(turns, test_looks_are_told);
    tcase_add_loop_test(turns, test_looks_wake_nobody, 0, sizeof looking / sizeof looking[0]);
    suite_add_tcase(suite, turns);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
