/* SPDX-License-Identifier: MIT
 *
 * D13, D20 and D23 to D25: how many workers scheduler dotnet has, and when one goes.
 *
 * Method. The cases of the unit tests of hill climbing, the gate and the limits are run here once more, from the same
 * files (unit_cases/check.h); dotnet_policy.c plays the policy around them. D13 adds the steps of a worker that is
 * stopped, played by one thread and done by a real worker, and counts what each worker still runs after a cut.
 *
 * Source. .NET 8 PortableThreadPool (ShouldStopProcessingWorkNow, SetMinThreads, SetMaxThreads), .GateThread,
 * .HillClimbing.
 */
#include <stdlib.h>

#include "calls.h"
#include "dotnet_items.h"
#include "dotnet_play.h"
#include "inside.h"
#include "pool.h"
#include "schedulers/dotnet.h"
#include "unit_cases/unit_cases.h"

#define COUNT_OF(array) (int)(sizeof(array) / sizeof((array)[0]))

/* ---- D13 ---- */

/* A signal once, then the end of the pool. */
static enum semaphore_result signal_then_stop(void *context)
{
    uint32_t *waits = context;
    return (*waits)++ == 0 ? SEMAPHORE_TOOK : SEMAPHORE_STOPPED;
}

/* The worker that was stopped does not spin when it waits next, and from then on it does again; its local tasks lie
 * where everybody finds them. */
static void play_stop(const struct subject *subject)
{
    enum { LOCALS = 40, SPIN_LIMIT = 70 };
    struct still_task tasks[LOCALS] = {{.id = 0}};
    uint32_t waits = 1;
    const struct call_hooks hooks = {.context = &waits, .wait = signal_then_stop};
    struct play play;
    play_open(&play, subject, 2, 2, NULL, 0);
    play.pool->spin_limit = SPIN_LIMIT;
    for (uint32_t i = 0; i < LOCALS; i++) {
        tasks[i].id = i;
        play_submit(&play, 0, &tasks[i], PILFER_PLACEMENT_LOCAL);
    }
    const struct idle_policy *idle = play.pool->idle;
    struct worker *worker = pool_worker(play.pool, 0);
    idle->stopped(worker);
    expect("local tasks moved by a stop", play.pool->scheduler->surrender_local(worker), LOCALS);
    const uint64_t stolen = play_count(&play, COUNTER_steals_won);
    for (uint32_t i = 0; i < LOCALS; i++)
        if (still_next(&play.still, 1) == NULL)
            check_broken("%u of %d local tasks of a stopped worker are found by nobody", LOCALS - i, LOCALS);
    expect("of them stolen and not found in the shared queue", play_count(&play, COUNTER_steals_won) - stolen, 0);
    pool_counts_change(play.pool, 1, 0, 0); /* the signals below count as engaged workers */
    calls_begin(&hooks);
    idle->wait(worker);
    expect("spin steps of the wait after a stop", calls_read().wait_steps, 0);
    waits = 0;
    idle->wait(worker); /* takes its signal, answers a request that is outstanding, and is stopped no more */
    idle->wait(worker);
    expect("spin steps of the waits after that", calls_read().wait_steps, 2 * SPIN_LIMIT);
    calls_begin(NULL);
    play_close(&play);
}

/* A real worker that is over the goal ends a task, with local ones behind it. */
enum { BEHIND = 40 };
struct leaving {
    struct pilfer_executor *executor;
    struct shared_u32 running, may_end[2]; /* by the tasks: how many run; by the test: that one may end */
    struct shared_u32 left;                /* by the worker: it waits; what it has written before can be read */
    struct worker *worker;
    uint32_t wait_steps;
    struct pilfer_latch latch;
    struct leaver {
        struct pilfer_task task;
        struct leaving *all;
    } tasks[2 + BEHIND]; /* the one that leaves, the one that stays, those behind the first */
};

/* The worker waits; its thread ends here. */
static enum semaphore_result note_wait(void *context)
{
    struct leaving *leaving = context;
    leaving->wait_steps = calls_read().wait_steps;
    calls_begin(NULL);
    shared_u32_store_release(&leaving->left, 1);
    return SEMAPHORE_STOPPED;
}

static void run_behind(struct pilfer_task *task)
{
    pilfer_latch_arrive(&((struct leaver *)task)->all->latch);
}

static void run_leaver(struct pilfer_task *task)
{
    struct leaving *leaving = ((struct leaver *)task)->all;
    const ptrdiff_t index = (struct leaver *)task - leaving->tasks;
    const struct call_hooks hooks = {.context = leaving, .wait = note_wait};
    if (index == 0) {
        leaving->worker = platform_self();
        calls_begin(&hooks);
        for (uint32_t i = 2; i < 2 + BEHIND; i++)
            check_setup(pilfer_submit(leaving->executor, &leaving->tasks[i].task, PILFER_PLACEMENT_LOCAL) == 0);
    }
    shared_u32_add_release(&leaving->running, 1);
    while (shared_u32_load_acquire(&leaving->may_end[index]) == 0)
        platform_yield();
    pilfer_latch_arrive(&leaving->latch);
}

/* While the other worker is held, nobody takes what the first one has left behind. */
static void leave_tasks_behind(const struct subject *subject)
{
    static struct leaving leaving;
    static const struct pilfer_setting settings[] = {{"processors", 2}, {"hill-climbing", 0}};
    struct account_totals totals;
    leaving.executor = dotnet_open(subject, &(struct dotnet_pool){.max_workers = 2,
                                                                  .spin_limit = 70,
                                                                  .sizing = "hill-climbing",
                                                                  .settings = settings,
                                                                  .setting_count = COUNT_OF(settings)});
    const struct dotnet *queues = inside_pool(leaving.executor)->queueing;
    pilfer_latch_init(&leaving.latch, 2 + BEHIND);
    for (uint32_t i = 0; i < 2 + BEHIND; i++)
        leaving.tasks[i] = (struct leaver){.task.run = i < 2 ? run_leaver : run_behind, .all = &leaving};
    for (uint32_t i = 2; i-- > 0;) { /* the one that stays first: it could steal, while it looks for its task */
        check_setup(pilfer_submit(leaving.executor, &leaving.tasks[i].task, PILFER_PLACEMENT_GLOBAL) == 0);
        while (shared_u32_load_acquire(&leaving.running) < 2 - i)
            platform_yield();
    }
    check_setup(pilfer_set_min_workers(leaving.executor, (struct pilfer_limits){1, 1}) == 0);
    check_setup(pilfer_set_max_workers(leaving.executor, (struct pilfer_limits){1, 1}) == 0);
    shared_u32_store_release(&leaving.may_end[0], 1);
    while (shared_u32_load_acquire(&leaving.left) == 0)
        platform_yield();
    const struct dotnet_worker *own = leaving.worker->queueing;
    expect("tasks in the deque of a worker that was stopped", foreign_lock_deque_depth(&own->local), 0);
    expect("those that it has left in the shared queue", segment_queue_depth(&queues->global), BEHIND);
    expect("spin steps of its wait", leaving.wait_steps, 0);
    shared_u32_store_release(&leaving.may_end[1], 1);
    pilfer_wait(leaving.executor, &leaving.latch);
    pilfer_totals(leaving.executor, &totals);
    expect("of them stolen", totals.counters[COUNTER_steals_won], 0);
    pilfer_close(leaving.executor, PILFER_CLOSE_RUN, NULL);
}

enum { WORKERS = 8, LEFT = 2, RUNNERS = 64, ITEMS_AFTER_CUT_MAX = 2 };

struct shrinking {
    struct pilfer_executor *executor;
    struct shared_u32 over; /* written by the test */
    struct shared_u64 runs; /* counter only */
    struct pilfer_latch latch;
    struct runner {
        struct pilfer_task task;
        struct shrinking *load;
    } runners[RUNNERS];
};

static void run_runner(struct pilfer_task *task)
{
    struct shrinking *load = ((struct runner *)task)->load;
    platform_charge(2000);
    shared_u64_add_relaxed(&load->runs, 1);
    if (shared_u32_load_acquire(&load->over) != 0)
        pilfer_latch_arrive(&load->latch);
    else
        check_setup(pilfer_submit(load->executor, task, PILFER_PLACEMENT_DEFAULT) == 0);
}

static void read_items(const struct pool *pool, uint64_t *items)
{
    for (uint32_t i = 0; i < WORKERS; i++)
        items[i] = counter_read(&pool_worker(pool, i)->account->counters[COUNTER_tasks_run]);
}

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Cut from 8 to 2 under load: each of the six that leave ends its item, or the next if it had just ended one. */
static void cut_under_load(struct shrinking *load)
{
    enum { RUNS_MAX = 100000 };
    struct pool *pool = inside_pool(load->executor);
    uint64_t before[WORKERS], after[WORKERS];
    check_setup(pilfer_set_min_workers(load->executor, (struct pilfer_limits){1, 1}) == 0);
    expect("the goal after a cut of the minimum", pool_numbers(pool).goal, WORKERS);
    check_setup(pilfer_set_max_workers(load->executor, (struct pilfer_limits){LEFT, 1}) == 0);
    expect("the goal after a cut of the maximum", pool_numbers(pool).goal, LEFT);
    read_items(pool, before);
    const uint64_t runs = shared_u64_load_relaxed(&load->runs);
    while (pool_numbers(pool).engaged > LEFT) {
        if (shared_u64_load_relaxed(&load->runs) - runs > RUNS_MAX)
            check_broken("%d items after the maximum was cut to %d, %u are engaged", RUNS_MAX, LEFT,
                         pool_numbers(pool).engaged);
        platform_yield();
    }
    check_progress();
    read_items(pool, after);
    for (uint32_t i = 0; i < WORKERS; i++)
        after[i] -= before[i];
    qsort(after, WORKERS, sizeof after[0], compare);
    if (after[WORKERS - LEFT - 1] > ITEMS_AFTER_CUT_MAX)
        check_broken("a worker that the cut makes leave runs %llu items more",
                     (unsigned long long)after[WORKERS - LEFT - 1]);
}

void dotnet_stop_check(const struct subject *subject)
{
    static struct shrinking load;
    static const struct pilfer_setting settings[] = {{"processors", WORKERS}, {"hill-climbing", 0}};
    check_trying("a stop, step by step");
    play_stop(subject);
    check_trying("a worker that is stopped with tasks behind it");
    leave_tasks_behind(subject);
    load.executor = dotnet_open(subject, &(struct dotnet_pool){.max_workers = WORKERS,
                                                               .sizing = "hill-climbing",
                                                               .settings = settings,
                                                               .setting_count = COUNT_OF(settings)});
    struct pool *pool = inside_pool(load.executor);
    pilfer_latch_init(&load.latch, RUNNERS);
    check_trying("8 workers under load");
    for (uint32_t i = 0; i < RUNNERS; i++) {
        load.runners[i] = (struct runner){.task.run = run_runner, .load = &load};
        check_setup(pilfer_submit(load.executor, &load.runners[i].task, PILFER_PLACEMENT_DEFAULT) == 0);
    }
    while (pool_numbers(pool).engaged < WORKERS || pool_published(pool) < WORKERS)
        platform_yield();
    check_trying("a cut from 8 to 2");
    cut_under_load(&load);
    shared_u32_store_release(&load.over, 1);
    pilfer_wait(load.executor, &load.latch); /* the local tasks of those that left as well */
    pilfer_close(load.executor, PILFER_CLOSE_RUN, NULL);
    check_held("8 cut to 2: each that left ran at most %d items more; 40 local tasks moved, twice; no spin",
               ITEMS_AFTER_CUT_MAX);
}

/* ---- D20 ---- */

/* An idle worker whose time is over stays while as many are promised as exist. */
static void play_promised(const struct subject *subject)
{
    struct play play;
    play_open(&play, subject, 3, 3, NULL, 0);
    struct worker *worker = pool_worker(play.pool, 0);
    play.pool->min_workers = 1;
    worker->thread = platform_thread_self();
    check_setup(worker->thread != NULL);
    pool_counts_change(play.pool, 3, 0, 0);
    if (pool_retire(worker))
        check_broken("3 workers exist and as many are engaged, and one that is promised a task ends");
    expect("existing after that", pool_numbers(play.pool).existing, 3);
    pool_counts_change(play.pool, -1, 0, 1);
    if (pool_retire(worker))
        check_broken("3 workers exist, 2 are engaged and 1 waits inside a task, and one of them ends");
    pool_counts_change(play.pool, 0, 0, -1);
    if (!pool_retire(worker))
        check_broken("3 workers exist, 2 are engaged, and the third one does not end");
    expect("existing after that", pool_numbers(play.pool).existing, 2);
    platform_thread_forget(worker->thread);
    worker->thread = NULL;
    play_close(&play);
}

void dotnet_idle_exit(const struct subject *subject)
{
    static const char *const cases[] = {"test_idle_exit"};
    const struct pool defaults = {.scheduler = inside_scheduler(subject)};
    expect("milliseconds after which an idle worker ends", pool_setting(&defaults, "idle-timeout-ms"), 20000);
    play_promised(subject);
    const int rounds = unit_cases_run(unit_hill_climbing_main, cases, COUNT_OF(cases));
    check_held("none below those that are engaged; %d minimums: the goal follows the workers that end, down to each",
               rounds);
}

/* ---- D23, D24, D25 ---- */

void dotnet_gate(const struct subject *subject)
{
    static const char *const decisions[] = {"test_look", "test_cadence", "test_cadence_busy", "test_rest", "test_cpu"};
    static const char *const thread[] = {"test_starvation"};
    dotnet_play_gate(subject);
    const int rounds = unit_cases_run(unit_gate_main, decisions, COUNT_OF(decisions)) +
                       unit_cases_run(unit_hill_climbing_main, thread, COUNT_OF(thread));
    check_held("%d cases, a pool whose workers are all stuck among them; 6 looks, a rest, an injection", rounds);
}

void dotnet_hill_climbing(const struct subject *subject)
{
    static const char *const cases[] = {"test_golden_vectors", "test_goal_within_limits", "test_carry_over",
                                        "test_force",          "test_intervals",          "test_off_switch"};
    dotnet_play_samples(subject);
    check_held("%d cases, golden vectors of hill_climbing.awk and the off switch among them; samples on a driven clock",
               unit_cases_run(unit_hill_climbing_main, cases, COUNT_OF(cases)));
}

void dotnet_limits(const struct subject *subject)
{
    static const char *const calls[] = {"test_calls", "test_departure", "test_public", "test_unsupported"};
    static const char *const options[] = {"test_defaults"};
    dotnet_try_limits(subject);
    const int rounds = unit_cases_run(unit_thread_limits_main, calls, COUNT_OF(calls)) +
                       unit_cases_run(unit_hill_climbing_main, options, COUNT_OF(options));
    check_held("%d cases, (0,0), (1,1) and the order of calls among them; one worker held; both forced", rounds);
}
