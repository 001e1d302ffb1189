/* SPDX-License-Identifier: MIT
 *
 * What one task, or a thousand, sets in motion: requests, releases and wake-ups of the .NET pools and of dedicated
 * threads, counted exactly.
 *
 * Method. Pools of real threads under sizing fixed, brought to a state in which nothing moves (all workers idle, one
 * worker held in a task, workers that spin), and differences of counters from there. No count depends on how fast the
 * machine is; where one could (a spinner that gives up), the attempt is repeated.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../held.h"
#include "idle/semaphore.h"
#include "pool.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { TIMEOUT_S = 60, SUBMITS = 1000, SETTINGS_MAX = 2 };

struct opened {
    struct pilfer_executor *executor;
    struct pool *pool;
};

static struct opened open_pool(const struct pilfer_options *options)
{
    struct pilfer_options with_sizing = *options;
    struct opened opened;
    char message[PILFER_MESSAGE_SIZE];
    with_sizing.sizing = "fixed";
    ck_assert_msg(pilfer_open(&with_sizing, &opened.executor, message) == 0, "%s", message);
    opened.pool = opened.executor->pool;
    return opened;
}

static void wait_until_idle(const struct opened *opened, uint32_t workers)
{
    while (pool_numbers(opened->pool).engaged > 0 || count_of(opened->executor, COUNTER_parks) < workers)
        platform_yield();
}

/* ---- tasks ---- */

static void submit(const struct opened *opened, struct held *held, void (*run)(struct pilfer_task *task))
{
    held_init(held, run);
    ck_assert_int_eq(pilfer_submit(opened->executor, &held->task, PILFER_PLACEMENT_DEFAULT), 0);
}

/* One worker, and it is held in a task. */
static void hold_the_worker(const struct opened *opened, struct held *held)
{
    submit(opened, held, run_held);
    held_await(held);
}

static void let_go_and_close(const struct opened *opened, struct held *held)
{
    held_let_go(held);
    pilfer_close(opened->executor, PILFER_CLOSE_RUN, NULL);
}

/* ---- one isolated task ---- */

static const struct {
    const char *scheduler;
    uint64_t releases;
} isolated[] = {{"dotnet", 2}, {"dotnet-9", 1}, {"dotnet-11", 1}, {"dedicated-threads", 1}};

START_TEST(test_isolated_task)
{
    enum { WORKERS = 4, ROUNDS = 20 };
    struct opened opened = open_pool(&(struct pilfer_options){
        .scheduler = isolated[_i].scheduler, .min_workers = WORKERS, .max_workers = WORKERS});
    wait_until_idle(&opened, WORKERS);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct held task;
        uint64_t before = count_of(opened.executor, COUNTER_releases);
        submit(&opened, &task, run_short);
        pilfer_wait(opened.executor, &task.latch);
        wait_until_idle(&opened, WORKERS);
        uint64_t releases = count_of(opened.executor, COUNTER_releases) - before;
        ck_assert_msg(releases == isolated[_i].releases, "%s: %llu releases, expected %llu", isolated[_i].scheduler,
                      (unsigned long long)releases, (unsigned long long)isolated[_i].releases);
    }
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* ---- at max 1, with the worker busy ---- */

static const struct {
    const char *scheduler;
    struct pilfer_setting settings[SETTINGS_MAX];
    uint32_t setting_count;
    uint64_t requests, releases; /* for all of the submits */
} busy[] = {
    {"dotnet", {{NULL, 0}}, 0, 0, 0}, /* the running task has made the one request */
    {"dotnet", {{"request-cap", 2}}, 1, 1, 0},
    {"dotnet", {{"request-cap", 0}, {"processors", 7}}, 2, 6, 0},
    {"dotnet-9", {{NULL, 0}}, 0, 1, 0},
    {"dotnet-11", {{NULL, 0}}, 0, 1, 0},
    {"dedicated-threads", {{NULL, 0}}, 0, 0, 0}, /* releases: P permits, see below */
};

START_TEST(test_busy_worker)
{
    struct held held, *tasks = calloc(SUBMITS, sizeof *tasks);
    struct opened opened = open_pool(&(struct pilfer_options){.scheduler = busy[_i].scheduler,
                                                              .max_workers = 1,
                                                              .settings = busy[_i].settings,
                                                              .setting_count = busy[_i].setting_count});
    hold_the_worker(&opened, &held);
    uint64_t requests = count_of(opened.executor, COUNTER_worker_requests);
    uint64_t releases = count_of(opened.executor, COUNTER_releases);
    uint64_t wakes = count_of(opened.executor, COUNTER_wakes_sent);
    for (uint32_t i = 0; i < SUBMITS; i++)
        submit(&opened, &tasks[i], run_short);
    uint64_t permits = strcmp(busy[_i].scheduler, "dedicated-threads") == 0 ? opened.pool->processors : 0;
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_worker_requests) - requests, busy[_i].requests);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_releases) - releases, busy[_i].releases + permits);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_wakes_sent) - wakes, 0);
    let_go_and_close(&opened, &held);
    free(tasks);
}
END_TEST

/* ---- spinners ---- */

static const struct {
    const char *scheduler;
    uint32_t spin_limit;
    uint32_t spinners; /* after one task: as many as it has released */
    uint64_t wakes;    /* by a further task, with the others parked */
} spinning[] = {
    {"dotnet", 20000, 2, 0},
    {"dotnet-9", 20000, 1, 0},
    {"dotnet-11", 100000, 1, 1}, /* does not count spinners: whoever is parked is woken */
    {"dedicated-threads", 20000, 1, 0},
};

enum { SPINNING_WORKERS = 3, ATTEMPTS_MAX = 200 };

static uint64_t steps_of(const struct opened *opened, uint32_t worker)
{
    const struct account *account = pool_worker(opened->pool, worker)->account;
    return counter_read(&account->counters[COUNTER_spins]) + counter_read(&account->counters[COUNTER_yields]);
}

/* Until so many workers take steps of their back-off and none is engaged. False: one has parked since. */
static bool wait_for_spinners(const struct opened *opened, uint32_t spinners)
{
    uint64_t steps[SPINNING_WORKERS], parks = count_of(opened->executor, COUNTER_parks);
    while (pool_numbers(opened->pool).engaged > 0)
        platform_yield();
    for (uint32_t i = 0; i < SPINNING_WORKERS; i++)
        steps[i] = steps_of(opened, i);
    for (uint32_t seen = 0; seen < spinners; platform_yield()) {
        seen = 0;
        for (uint32_t i = 0; i < SPINNING_WORKERS; i++)
            seen += steps_of(opened, i) > steps[i];
        if (count_of(opened->executor, COUNTER_parks) > parks)
            return false;
    }
    return true;
}

/* False: a spin has ended meanwhile, and the attempt says nothing. */
static bool release_to_spinners(const struct opened *opened, uint32_t spinners, uint64_t *wakes)
{
    struct held first, second;
    wait_until_idle(opened, SPINNING_WORKERS);
    submit(opened, &first, run_short);
    pilfer_wait(opened->executor, &first.latch);
    uint64_t parks = count_of(opened->executor, COUNTER_parks);
    if (!wait_for_spinners(opened, spinners))
        return false;
    *wakes = count_of(opened->executor, COUNTER_wakes_sent);
    uint64_t won = count_of(opened->executor, COUNTER_spin_waits_won);
    submit(opened, &second, run_short);
    pilfer_wait(opened->executor, &second.latch);
    while (pool_numbers(opened->pool).engaged > 0)
        platform_yield();
    *wakes = count_of(opened->executor, COUNTER_wakes_sent) - *wakes;
    if (count_of(opened->executor, COUNTER_parks) > parks)
        return false;
    if (*wakes == 0)
        ck_assert_uint_gt(count_of(opened->executor, COUNTER_spin_waits_won), won);
    return true;
}

/* With spinners enough, and another worker parked, a release makes no system call. */
START_TEST(test_spinner_present)
{
    bool undisturbed = false;
    uint64_t wakes = 0;
    for (uint32_t attempt = 0; attempt < ATTEMPTS_MAX && !undisturbed; attempt++) {
        struct opened opened = open_pool(&(struct pilfer_options){.scheduler = spinning[_i].scheduler,
                                                                  .min_workers = SPINNING_WORKERS,
                                                                  .max_workers = SPINNING_WORKERS,
                                                                  .spin_limit = spinning[_i].spin_limit});
        undisturbed = release_to_spinners(&opened, spinning[_i].spinners, &wakes);
        pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
    }
    ck_assert(undisturbed);
    ck_assert_uint_eq(wakes, spinning[_i].wakes);
}
END_TEST

/* ---- shapes ---- */

/* The default spin of each: pauses and yields of one worker from its start until it parks. */
static const struct {
    const char *scheduler;
    struct pilfer_setting settings[SETTINGS_MAX];
    uint32_t setting_count;
    uint32_t spin_limit;
    uint64_t pauses, yields;
    uint64_t spin_waits;
} shapes[] = {
    {"dotnet", {{"processors", 2}}, 1, 70, 75, 65, 1},
    {"dotnet", {{"processors", 2}}, 1, 5, 10, 0, 1},
    {"dotnet", {{"processors", 1}}, 1, 70, 0, 130, 1},
    {"dotnet", {{"processors", 2}, {"spin-yields", 0}}, 2, 70, 140, 0, 1},
    {"dotnet-9", {{"processors", 2}}, 1, 70, 75, 65, 1},
    {"dotnet-11", {{"processors", 1}}, 1, 256, 0, 1, 0}, /* no spin; it gives way once before it lies down */
};

START_TEST(test_spin_shape)
{
    struct opened opened = open_pool(&(struct pilfer_options){.scheduler = shapes[_i].scheduler,
                                                              .min_workers = 1,
                                                              .max_workers = 1,
                                                              .spin_limit = shapes[_i].spin_limit,
                                                              .settings = shapes[_i].settings,
                                                              .setting_count = shapes[_i].setting_count});
    wait_until_idle(&opened, 1);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_spins), shapes[_i].pauses);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_yields), shapes[_i].yields);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_spin_waits), shapes[_i].spin_waits);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_spin_waits_won), 0);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* The budget is about 256 pauses, in steps that double: 8 or 9 of them. The first look pauses not at all. */
static const struct {
    uint32_t spin_limit;
    uint64_t least, most;
} short_spins[] = {{PILFER_SPIN_LIMIT_DEFAULT, 8, 9}, {1, 1, 1}, {3, 2, 2}};

START_TEST(test_short_spin)
{
    const struct pilfer_setting two = {"processors", 2};
    struct opened opened = open_pool(&(struct pilfer_options){.scheduler = "dotnet-11",
                                                              .min_workers = 1,
                                                              .max_workers = 1,
                                                              .spin_limit = short_spins[_i].spin_limit,
                                                              .settings = &two,
                                                              .setting_count = 1});
    wait_until_idle(&opened, 1);
    ck_assert_uint_ge(count_of(opened.executor, COUNTER_spins), short_spins[_i].least);
    ck_assert_uint_le(count_of(opened.executor, COUNTER_spins), short_spins[_i].most);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_yields), 1);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* A lone spinner yields 50 x P times, L x P with another limit. */
START_TEST(test_unfair_spin)
{
    static const uint32_t limits[] = {0, 1, 50, PILFER_SPIN_LIMIT_DEFAULT};
    uint64_t limit = limits[_i] == PILFER_SPIN_LIMIT_DEFAULT ? 50 : limits[_i];
    struct opened opened = open_pool(
        &(struct pilfer_options){.scheduler = "dedicated-threads", .max_workers = 1, .spin_limit = limits[_i]});
    wait_until_idle(&opened, 1);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_yields), limit * opened.pool->processors);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* All threads at once, unless somebody says otherwise. */
START_TEST(test_starts_all)
{
    enum { WORKERS = 5 };
    struct opened opened =
        open_pool(&(struct pilfer_options){.scheduler = "dedicated-threads", .max_workers = WORKERS});
    ck_assert_uint_eq(pool_published(opened.pool), WORKERS);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
    opened = open_pool(
        &(struct pilfer_options){.scheduler = "dedicated-threads", .min_workers = 2, .max_workers = WORKERS});
    ck_assert_uint_eq(pool_published(opened.pool), 2);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* Parked on a futex a worker is woken as it is from mutex and condition variable. */
START_TEST(test_futex)
{
    enum { WORKERS = 3 };
    const struct pilfer_setting futex = {"park-on-conditions", 0};
    struct opened opened = open_pool(&(struct pilfer_options){.scheduler = "dotnet",
                                                              .min_workers = WORKERS,
                                                              .max_workers = WORKERS,
                                                              .settings = &futex,
                                                              .setting_count = 1});
    wait_until_idle(&opened, WORKERS);
    for (uint32_t i = 0; i < SUBMITS; i++) {
        struct held task;
        submit(&opened, &task, run_short);
        pilfer_wait(opened.executor, &task.latch);
    }
    ck_assert_uint_gt(count_of(opened.executor, COUNTER_wakes_sent), 0);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* ---- what the scheduler says of parking and spinning ---- */

/* The policies on the LIFO semaphore, and how they park where the scheduler says nothing. */
static const struct {
    const char *idle;
    bool parks_on_conditions;
} on_semaphore[] = {{"dotnet-handshake", true},
                    {"dotnet-9-handshake", true},
                    {"eager", false},
                    {"lifo-semaphore", false},
                    {"single-waker", false}};

static void expect_configured(const char *scheduler, const char *idle, const struct pilfer_setting *setting,
                              bool parks_on_conditions, bool pauses_only)
{
    struct opened opened = open_pool(&(struct pilfer_options){.scheduler = scheduler,
                                                              .idle = idle,
                                                              .max_workers = 1,
                                                              .settings = setting,
                                                              .setting_count = setting != NULL});
    const struct semaphore *semaphore = opened.pool->idle_state; /* it comes first in each of them */
    ck_assert_msg(semaphore->parks_on_conditions == parks_on_conditions && semaphore->pauses_only == pauses_only,
                  "%s+%s: conditions %d, pauses only %d", scheduler, idle, semaphore->parks_on_conditions,
                  semaphore->pauses_only);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}

START_TEST(test_configured)
{
    const struct pilfer_setting futex = {"park-on-conditions", 0}, pauses = {"spin-yields", 0};
    const char *idle = on_semaphore[_i].idle;
    expect_configured("chase-lev", idle, NULL, on_semaphore[_i].parks_on_conditions, false);
    expect_configured("dotnet-11", idle, NULL, on_semaphore[_i].parks_on_conditions, false);
    expect_configured("dotnet", idle, NULL, true, false);
    expect_configured("dotnet", idle, &futex, false, false);
    expect_configured("dotnet", idle, &pauses, true, true);
}
END_TEST

/* The searcher of single-waker, which spins on its own. */
START_TEST(test_searcher_shape)
{
    const struct pilfer_setting settings[] = {{"processors", 2}, {"spin-yields", _i == 0}};
    struct opened opened = open_pool(&(struct pilfer_options){.scheduler = "dotnet",
                                                              .idle = "single-waker",
                                                              .min_workers = 1,
                                                              .max_workers = 1,
                                                              .spin_limit = 70,
                                                              .settings = settings,
                                                              .setting_count = COUNT_OF(settings)});
    struct held task;
    wait_until_idle(&opened, 1);
    submit(&opened, &task, run_short);
    pilfer_wait(opened.executor, &task.latch);
    wait_until_idle(&opened, 2);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_spins), _i == 0 ? 75 : 140);
    ck_assert_uint_eq(count_of(opened.executor, COUNTER_yields), _i == 0 ? 65 : 0);
    pilfer_close(opened.executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return EXIT_FAILURE;
    Suite *suite = suite_create("dotnet_releases");
    TCase *tests = tcase_create("releases");
    tcase_set_timeout(tests, TIMEOUT_S);
    tcase_add_loop_test(tests, test_isolated_task, 0, COUNT_OF(isolated));
    tcase_add_loop_test(tests, test_busy_worker, 0, COUNT_OF(busy));
    tcase_add_loop_test(tests, test_spinner_present, 0, COUNT_OF(spinning));
    tcase_add_loop_test(tests, test_spin_shape, 0, COUNT_OF(shapes));
    tcase_add_loop_test(tests, test_short_spin, 0, COUNT_OF(short_spins));
    tcase_add_loop_test(tests, test_unfair_spin, 0, 4);
    tcase_add_test(tests, test_starts_all);
    tcase_add_test(tests, test_futex);
    tcase_add_loop_test(tests, test_configured, 0, COUNT_OF(on_semaphore));
    tcase_add_loop_test(tests, test_searcher_shape, 0, 2);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
