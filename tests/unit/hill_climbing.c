/* SPDX-License-Identifier: MIT
 *
 * Hill climbing (pool/sizing/climb.h) against golden vectors, its bounds one by one, and the policy around it
 * (pool/sizing/hill_climbing.c): its off switches, its limits, its goal.
 *
 * Method. The vectors are printed by hill_climbing.awk, which was written from the method's description and shares no
 * code with the climber: goals must be equal, the control setting to 1e-9. Nothing here depends on how fast the machine
 * is.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "sizing/climb.h"

#define TOLERANCE       1e-9
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { SERIES_MIN = 12, UPDATES_PER_SERIES = 300 };
enum { INTERVAL_MIN_MS = 10, INTERVAL_MAX_MS = 200, MORE_DATA_MS = 10 };

/* ---- golden vectors ---- */

struct vector {
    struct climb_sample sample;
    uint32_t goal;
    double control, factor;
};

static bool read_vector(const char *line, struct vector *out)
{
    unsigned long long completions;
    *out = (struct vector){0};
    int fields = sscanf(line, "%u %u %u %u %lf %llu -> %u %lf %lf", &out->sample.goal, &out->sample.minimum,
                        &out->sample.maximum, &out->sample.cpu_percent, &out->sample.seconds, &completions, &out->goal,
                        &out->control, &out->factor);
    out->sample.completions = completions;
    return fields == 9;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= TOLERANCE * fmax(1, fmax(fabs(a), fabs(b)));
}

static void check_vector(struct climb *climb, const struct vector *vector, const char *where)
{
    struct climb_step step = climb_update(climb, &vector->sample);
    ck_assert_msg(step.goal == vector->goal, "%s: goal %u, expected %u", where, step.goal, vector->goal);
    ck_assert_msg(is_close(climb->control, vector->control), "%s: control %.17g, expected %.17g", where, climb->control,
                  vector->control);
    ck_assert_uint_ge(climb->interval_ms, INTERVAL_MIN_MS);
    ck_assert_uint_le(climb->interval_ms, INTERVAL_MAX_MS);
    if (vector->sample.minimum == vector->sample.maximum)
        return; /* the workers do not swing: the ratio is one of rounding errors */
    double expected_ms = vector->factor == 0 ? MORE_DATA_MS : trunc(0.5 + climb->interval_ms * vector->factor);
    ck_assert_msg(step.interval_ms == expected_ms, "%s: next in %u ms, expected %g", where, step.interval_ms,
                  expected_ms);
}

START_TEST(test_golden_vectors)
{
    FILE *golden = popen("awk -f '" GOLDEN_SCRIPT "'", "r");
    ck_assert_ptr_nonnull(golden);
    char line[256], name[64] = "", where[128];
    uint32_t series = 0, updates = 0;
    struct climb climb;
    while (fgets(line, sizeof line, golden) != NULL) {
        struct vector vector;
        if (sscanf(line, "series %63s", name) == 1) {
            ck_assert_msg(updates == series * UPDATES_PER_SERIES, "the series before %s is cut", name);
            climb_init(&climb, ++series);
            continue;
        }
        snprintf(where, sizeof where, "%s, update %u", name, updates % UPDATES_PER_SERIES + 1);
        ck_assert_msg(read_vector(line, &vector), "%s: not a vector: %s", where, line);
        check_vector(&climb, &vector, where);
        updates++;
    }
    ck_assert_int_eq(pclose(golden), 0);
    ck_assert_uint_ge(series, SERIES_MIN);
    ck_assert_uint_eq(updates, series * UPDATES_PER_SERIES);
}
END_TEST

/* ---- one by one ---- */

static struct climb_sample sample_of(uint32_t goal, uint32_t minimum, uint32_t maximum, uint64_t completions)
{
    return (struct climb_sample){.goal = goal,
                                 .minimum = minimum,
                                 .maximum = maximum,
                                 .cpu_percent = 50,
                                 .seconds = 0.1,
                                 .completions = completions};
}

/* With any throughput the goal stays between the limits, and near the low one the wave still shows. */
START_TEST(test_goal_within_limits)
{
    static const struct {
        uint32_t minimum, maximum;
    } limits[] = {{1, 1}, {1, 2}, {3, 4}, {2, 32767}, {12, 25}, {1000, 1001}};
    uint32_t minimum = limits[_i].minimum, maximum = limits[_i].maximum, goal = minimum, highest = 0;
    struct climb climb;
    climb_init(&climb, 7);
    srandom(3);
    for (uint32_t i = 0; i < 2000; i++) {
        struct climb_sample sample = sample_of(goal, minimum, maximum, 1000 + (uint64_t)random() % 200000);
        goal = climb_update(&climb, &sample).goal;
        ck_assert_uint_ge(goal, minimum);
        ck_assert_uint_le(goal, maximum);
        ck_assert(climb.control >= minimum && climb.control <= maximum);
        highest = goal > highest ? goal : highest;
    }
    ck_assert_uint_gt(highest, minimum - (minimum == maximum));
}
END_TEST

/* Too few completions for so many workers: nothing is stored, and all is counted once there are enough. */
START_TEST(test_carry_over)
{
    struct climb climb;
    climb_init(&climb, 7);
    struct climb_sample sample = sample_of(10, 1, 20, 1000);
    climb_update(&climb, &sample);
    ck_assert_uint_eq(climb.samples, 1); /* the first is stored whatever it is */
    for (uint32_t i = 1; i <= 3; i++) {
        sample = sample_of(10, 1, 20, 15); /* 9 workers of 60 tasks are 15 %: still too many */
        struct climb_step step = climb_update(&climb, &sample);
        ck_assert_uint_eq(step.goal, 10);
        ck_assert_uint_eq(step.interval_ms, MORE_DATA_MS);
        ck_assert_uint_eq(climb.samples, 1);
    }
    sample = sample_of(10, 1, 20, 16);
    climb_update(&climb, &sample);
    ck_assert_uint_eq(climb.samples, 2);
    ck_assert(is_close(climb.throughputs[1], 61 / 0.4));
}
END_TEST

/* A change that others made moves the setting by as much, and draws a new interval; no change does neither. */
START_TEST(test_force)
{
    struct climb climb;
    climb_init(&climb, 7);
    climb_force(&climb, 12);
    ck_assert_double_eq(climb.control, 12);
    uint64_t random = climb.random;
    climb_force(&climb, 12);
    ck_assert_double_eq(climb.control, 12);
    ck_assert_uint_eq(climb.random, random);
    climb_force(&climb, 9);
    ck_assert_double_eq(climb.control, 9);
    ck_assert_uint_ne(climb.random, random);
}
END_TEST

/* The interval is drawn from all of 10 to 200 ms, evenly: chi-squared over 191 values, 0.1 % level. */
START_TEST(test_intervals)
{
    enum { VALUES = INTERVAL_MAX_MS - INTERVAL_MIN_MS + 1, DRAWS = VALUES * 200 };
    uint32_t seen[VALUES] = {0};
    struct climb climb;
    climb_init(&climb, 42);
    for (uint32_t i = 0; i < DRAWS; i++) {
        climb_force(&climb, 1 + i % 2);
        ck_assert(climb.interval_ms >= INTERVAL_MIN_MS && climb.interval_ms <= INTERVAL_MAX_MS);
        seen[climb.interval_ms - INTERVAL_MIN_MS]++;
    }
    double chi_squared = 0;
    for (uint32_t i = 0; i < VALUES; i++)
        chi_squared += (seen[i] - 200.0) * (seen[i] - 200.0) / 200;
    ck_assert_msg(chi_squared < 255, "chi-squared %.1f with %d degrees of freedom", chi_squared, VALUES - 1);
}
END_TEST

/* ---- the policy ---- */

static struct pilfer_executor *open_pool(const struct pilfer_setting *settings, uint32_t setting_count,
                                         uint32_t max_workers)
{
    const struct pilfer_options options = {.scheduler = "dotnet",
                                           .sizing = "hill-climbing",
                                           .max_workers = max_workers,
                                           .settings = settings,
                                           .setting_count = setting_count};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_msg(pilfer_open(&options, &executor, message) == 0, "%s", message);
    return executor;
}

struct wanted {
    const char *name;
    double value;
};

static void look_for(void *context, const char *name, double value)
{
    struct wanted *wanted = context;
    if (strcmp(name, wanted->name) == 0)
        wanted->value = value;
}

static double extra(struct pilfer_executor *executor, const char *name)
{
    struct wanted wanted = {name, NAN};
    pilfer_extras(executor, look_for, &wanted);
    ck_assert_msg(!isnan(wanted.value), "no number %s", name);
    return wanted.value;
}

/* Tasks that submit themselves again until the pool has run so many. */
enum { RUNNERS = 16 };
struct runner {
    struct pilfer_task task;
    struct load *load;
};
struct load {
    struct shared_u64 left; /* counter that the tasks take from */
    struct pilfer_executor *executor;
    struct pilfer_latch latch;
    struct runner runners[RUNNERS];
};

static void run_runner(struct pilfer_task *task)
{
    struct load *load = ((struct runner *)task)->load;
    platform_charge(2000);
    if ((int64_t)shared_u64_add_relaxed(&load->left, (uint64_t)-1) > 0 &&
        pilfer_submit(load->executor, task, PILFER_PLACEMENT_GLOBAL) == 0)
        return;
    pilfer_latch_arrive(&load->latch);
}

static void start_load(struct load *load, struct pilfer_executor *executor, uint64_t tasks)
{
    *load = (struct load){.executor = executor};
    shared_u64_store_relaxed(&load->left, tasks);
    pilfer_latch_init(&load->latch, RUNNERS);
    for (uint32_t i = 0; i < RUNNERS; i++) {
        load->runners[i] = (struct runner){.task.run = run_runner, .load = load};
        ck_assert_int_eq(pilfer_submit(executor, &load->runners[i].task, PILFER_PLACEMENT_GLOBAL), 0);
    }
}

static void run_load(struct pilfer_executor *executor, uint64_t tasks)
{
    struct load load;
    start_load(&load, executor, tasks);
    pilfer_wait(executor, &load.latch);
}

/* Under load the goal moves with the switch on, and never with it off; P is the minimum and the start. */
START_TEST(test_off_switch)
{
    enum { PROCESSORS = 3, ROUNDS_MAX = 200, TASKS = 20000 };
    struct pilfer_setting settings[] = {{"processors", PROCESSORS}, {"hill-climbing", (uint64_t)_i}};
    struct pilfer_executor *executor = open_pool(settings, COUNT_OF(settings), 20);
    ck_assert_double_eq(extra(executor, "goal"), PROCESSORS);
    uint32_t rounds = 0;
    while (rounds < (_i ? ROUNDS_MAX : 10) && extra(executor, "goal_changes") < 3) {
        run_load(executor, TASKS);
        rounds++;
        ck_assert(extra(executor, "goal") >= PROCESSORS && extra(executor, "goal") <= 20);
    }
    if (_i)
        ck_assert_double_ge(extra(executor, "goal_changes"), 3);
    else
        ck_assert_double_eq(extra(executor, "goal_changes"), 0);
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    ck_assert_uint_le(totals.workers_max, 20);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* The stop check: after a cut of the maximum under load, no more than that are engaged soon, and from then on. */
START_TEST(test_cut_under_load)
{
    enum { WORKERS = 8, LEFT = 2 };
    struct pilfer_setting settings[] = {{"processors", WORKERS}, {"hill-climbing", 0}};
    struct pilfer_executor *executor = open_pool(settings, COUNT_OF(settings), WORKERS);
    struct load load;
    start_load(&load, executor, UINT32_MAX);
    while (pool_numbers(executor->pool).engaged < WORKERS)
        platform_yield();
    ck_assert_int_eq(pilfer_set_min_workers(executor, (struct pilfer_limits){1, 1}), 0);
    ck_assert_uint_eq(pool_numbers(executor->pool).goal, WORKERS);
    ck_assert_int_eq(pilfer_set_max_workers(executor, (struct pilfer_limits){LEFT, 1}), 0);
    while (pool_numbers(executor->pool).engaged > LEFT)
        platform_yield();
    uint64_t until = shared_u64_load_relaxed(&load.left) - 2000;
    while (shared_u64_load_relaxed(&load.left) > until) {
        ck_assert_uint_le(pool_numbers(executor->pool).engaged, LEFT);
        platform_yield();
    }
    shared_u64_store_relaxed(&load.left, 0);
    pilfer_wait(executor, &load.latch);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* Idle workers end, but for one, and the goal follows them down to the minimum. */
START_TEST(test_idle_exit)
{
    struct pilfer_setting settings[] = {{"processors", 6}, {"hill-climbing", 0}, {"idle-timeout-ms", 1}};
    struct pilfer_executor *executor = open_pool(settings, COUNT_OF(settings), 6);
    ck_assert_int_eq(pilfer_set_min_workers(executor, (struct pilfer_limits){_i, 1}), 0);
    do {
        run_load(executor, 1000); /* with two engaged at least */
        for (uint32_t i = 0; i < 1000 && pool_numbers(executor->pool).existing > 1; i++)
            platform_charge(10000);
    } while (pool_numbers(executor->pool).existing > 1 || pool_numbers(executor->pool).goal > (uint32_t)_i);
    ck_assert_uint_eq(pool_numbers(executor->pool).goal, _i);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* One worker, in a task that waits for the next one in the queue: somebody must raise the goal. */
struct stuck {
    struct pilfer_task task;
    struct shared_u32 *runs, *open; /* set by the tasks */
    struct pilfer_latch *latch;
};

static void run_stuck(struct pilfer_task *task)
{
    struct stuck *stuck = (struct stuck *)task;
    shared_u32_store_release(stuck->runs, 1);
    while (shared_u32_load_acquire(stuck->open) == 0)
        platform_yield();
    pilfer_latch_arrive(stuck->latch);
}

static void run_opening(struct pilfer_task *task)
{
    struct stuck *stuck = (struct stuck *)task;
    shared_u32_store_release(stuck->open, 1);
    pilfer_latch_arrive(stuck->latch);
}

static void wait_ms(uint64_t ms)
{
    struct shared_u32 word = {0};
    const uint64_t until_ns = platform_now_ns() + ms * 1000000;
    while (platform_park(&word, 0, until_ns) != -ETIMEDOUT)
        ;
}

/* 0: the gate does. 1: the gate may not, a caller raises the minimum. */
START_TEST(test_starvation)
{
    struct pilfer_setting settings[] = {{"processors", 1}, {"starvation-detection", _i == 0}, {"hill-climbing", 0}};
    struct pilfer_executor *executor = open_pool(settings, COUNT_OF(settings), 2);
    struct shared_u32 runs = {0}, open = {0};
    struct pilfer_latch latch;
    struct stuck waiting = {.task.run = run_stuck, .runs = &runs, .open = &open, .latch = &latch};
    struct stuck opening = {.task.run = run_opening, .open = &open, .latch = &latch};
    pilfer_latch_init(&latch, 2);
    ck_assert_int_eq(pilfer_submit(executor, &waiting.task, PILFER_PLACEMENT_GLOBAL), 0);
    while (shared_u32_load_acquire(&runs) == 0)
        platform_yield();
    ck_assert_int_eq(pilfer_submit(executor, &opening.task, PILFER_PLACEMENT_GLOBAL), 0);
    if (_i == 1) {
        wait_ms(1500); /* in which the gate would have come */
        ck_assert_uint_eq(shared_u32_load_acquire(&open), 0);
        ck_assert_int_eq(pilfer_set_min_workers(executor, (struct pilfer_limits){2, 1}), 0);
    }
    pilfer_wait(executor, &latch);
    ck_assert_uint_eq(pool_numbers(executor->pool).goal, 2);
    ck_assert_double_eq(extra(executor, "workers_injected"), _i == 0);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}
END_TEST

/* The two limits as options: defaults, and what does not fit. */
START_TEST(test_defaults)
{
    struct pilfer_setting processors = {"processors", 12};
    struct pilfer_options options = {.scheduler = "dotnet", .settings = &processors, .setting_count = 1};
    struct pilfer_resolved resolved;
    char message[PILFER_MESSAGE_SIZE];
    ck_assert_int_eq(pilfer_resolve(&options, &resolved, message), 0);
    ck_assert_str_eq(resolved.sizing, "hill-climbing");
    ck_assert_str_eq(resolved.label, "dotnet");
    ck_assert_uint_eq(resolved.min_workers, 12);
    ck_assert_uint_eq(resolved.max_workers, 32767);
    options.max_workers = 5;
    ck_assert_int_eq(pilfer_resolve(&options, &resolved, message), 0);
    ck_assert_uint_eq(resolved.min_workers, 5);
    options.min_workers = 6;
    ck_assert_int_eq(pilfer_resolve(&options, &resolved, message), -EINVAL);
}
END_TEST

int main(void)
{
    if (platform_init() != 0)
        return 3;
    Suite *suite = suite_create("hill_climbing");
    TCase *climber = tcase_create("climber");
    tcase_add_test(climber, test_golden_vectors);
    tcase_add_loop_test(climber, test_goal_within_limits, 0, 6);
    tcase_add_test(climber, test_carry_over);
    tcase_add_test(climber, test_force);
    tcase_add_test(climber, test_intervals);
    tcase_set_timeout(climber, 60);
    suite_add_tcase(suite, climber);
    TCase *policy = tcase_create("policy");
    tcase_add_loop_test(policy, test_off_switch, 0, 2);
    tcase_add_test(policy, test_cut_under_load);
    tcase_add_loop_test(policy, test_idle_exit, 1, 4);
    tcase_add_loop_test(policy, test_starvation, 0, 2);
    tcase_add_test(policy, test_defaults);
    tcase_set_timeout(policy, 90);
    suite_add_tcase(suite, policy);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
