/* SPDX-License-Identifier: MIT
 *
 * D8 to D12, D21 and D22: when scheduler dotnet asks for a worker, when it releases one, and how long a turn lasts.
 *
 * Method. Played by one thread (dotnet_play.h), step by step, where the order of steps is the point; then with threads,
 * from a pool at rest to a pool at rest, by differences of counters. No count depends on how fast the machine is, but
 * for the one of D12 that says how often two threads met, which is only reported. Pools of D9, D11 and D22 have the
 * scheduler's own sizing.
 *
 * Source. .NET 8 ThreadPoolWorkQueue (EnsureThreadRequested, Dispatch) and PortableThreadPool.WorkerThread.
 */
#include <errno.h>
#include <stdlib.h>

#include "../held.h"
#include "calls.h"
#include "dotnet_items.h"
#include "dotnet_play.h"
#include "idle/dotnet_workers.h"
#include "inside.h"
#include "pool.h"

struct pilfer_executor *dotnet_open(const struct subject *subject, const struct dotnet_pool *pool)
{
    const struct pilfer_options options = {
        .scheduler = subject->name,
        .sizing = pool->sizing != NULL ? pool->sizing : "fixed",
        .min_workers = pool->min_workers,
        .max_workers = pool->max_workers,
        .spin_limit = pool->spin_limit,
        .settings = pool->settings,
        .setting_count = pool->setting_count,
        .seed = subject->seed,
    };
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    const int status = pilfer_open(&options, &executor, message);
    if (status == -EAGAIN || status == -ENOMEM)
        check_skip("no %u threads here: %s", pool->min_workers, message);
    if (status != 0)
        check_broken("opening it answered %d: %s", status, message);
    return executor;
}

static void wait_until_idle(struct pilfer_executor *executor)
{
    while (inside_engaged(executor) > 0)
        platform_yield();
    check_progress();
}

static void run_nothing(struct pilfer_task *task)
{
    (void)task;
}

static void send(struct pilfer_executor *executor, struct held *task, void (*run)(struct pilfer_task *task))
{
    held_init(task, run);
    check_setup(pilfer_submit(executor, &task->task, PILFER_PLACEMENT_DEFAULT) == 0);
}

/* ---- D8 ---- */

/* Each enqueue tries the flag, whoever makes it; the flag is clear again before the turn's first dequeue. */
static void play_flag(const struct subject *subject)
{
    static const uint32_t submitters[] = {PLAY_OUTSIDE, PLAY_GUEST, 0, 1};
    struct still_task tasks[8] = {{.id = 0}};
    struct play play;
    play_open(&play, subject, 2, 2, NULL, 0);
    for (uint32_t i = 0; i < 8; i++) {
        play_submit(&play, submitters[i % 4], &tasks[i], PILFER_PLACEMENT_GLOBAL);
        expect("tries of the request flag after so many enqueues",
               play_count(&play, COUNTER_worker_requests) + play_count(&play, COUNTER_requests_merged), i + 1);
        expect("requests while the first is outstanding", play_count(&play, COUNTER_worker_requests), 1);
        expect("requests outstanding", play.pool->idle->requests(play.pool), 1);
    }
    struct still_task late = {.id = 8};
    play_wake(&play, 0);
    play_submit(&play, PLAY_OUTSIDE, &late, PILFER_PLACEMENT_GLOBAL); /* in between, nothing has been dequeued */
    expect("requests by an enqueue after the turn began, before its first dequeue",
           play_count(&play, COUNTER_worker_requests), 2);
    expect("requests outstanding", play.pool->idle->requests(play.pool), 1);
    while (still_drain(&play.still) != NULL)
        ;
    play_close(&play);
}

/* The flag is tried with a CAS whatever it is: no look before, as in the original. */
static void play_tries(const struct subject *subject)
{
    struct play play;
    play_open(&play, subject, 2, 2, NULL, 0);
    for (uint32_t i = 0; i < 4; i++) {
        instrument_begin(0);
        play.pool->idle->submitted(play.pool, i % 2 == 0 ? NULL : pool_worker(play.pool, 0), 1);
        expect("read-modify-writes of the request flag by an enqueue", instrument_end().updates, 1);
        expect("requests by so many enqueues", play_count(&play, COUNTER_worker_requests), 1);
    }
    play_close(&play);
}

/* One task at a time to a pool that falls asleep in between; a wake-up that is lost stops the test. */
static void stress_flag(const struct subject *subject, uint32_t rounds)
{
    struct pilfer_executor *executor = dotnet_open(subject, &(struct dotnet_pool){.min_workers = 3, .max_workers = 3});
    struct pool *pool = inside_pool(executor);
    for (uint32_t round = 0; round < rounds; round++) {
        struct held task;
        send(executor, &task, run_short);
        const uint32_t outstanding = pool->idle->requests(pool);
        if (outstanding > 1)
            check_broken("%u requests are outstanding", outstanding);
        pilfer_wait(executor, &task.latch);
        check_progress();
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

void dotnet_request_flag(const struct subject *subject)
{
    enum { ROUNDS = 5000 };
    check_trying("the flag, step by step");
    play_flag(subject);
    if (instrument_is_available())
        play_tries(subject);
    check_trying("%d tasks, one at a time", ROUNDS);
    stress_flag(subject, ROUNDS);
    check_left_out(!instrument_is_available());
    check_held("%d tasks one at a time, no wake-up lost; %s", ROUNDS,
               instrument_is_available() ? "one CAS of each enqueue" : "CASes not counted in this build");
}

/* ---- D9 ---- */

/* A turn asks once, with its first task in hand, however many it takes. */
static void play_turn_of_three(const struct subject *subject)
{
    struct still_task tasks[3] = {{.id = 0}, {.id = 1}, {.id = 2}};
    struct play play;
    play_open(&play, subject, 4, 4, NULL, 0);
    for (uint32_t i = 0; i < 3; i++)
        play_submit(&play, PLAY_OUTSIDE, &tasks[i], PILFER_PLACEMENT_GLOBAL);
    play_wake(&play, 0);
    play_next(&play, 0, true, &tasks[0]);
    const uint64_t merged = play_count(&play, COUNTER_requests_merged);
    expect("releases by three enqueues and one first task", play_count(&play, COUNTER_releases), 2);
    play_begin(&play, 1); /* somebody's turn clears the flag meanwhile */
    play_next(&play, 0, false, &tasks[1]);
    play_next(&play, 0, false, &tasks[2]);
    play_next(&play, 0, false, NULL);
    expect("releases after the second and the third task of a turn", play_count(&play, COUNTER_releases), 2);
    expect("tries of the flag by them", play_count(&play, COUNTER_requests_merged) - merged, 0);
    play_close(&play);
}

/* A socket event, as the engine makes it: one item that queues itself again before it handles the event. The second
 * worker takes that while the first is still at it, and asks for a third, which finds nothing. */
static void play_socket_event(const struct subject *subject)
{
    struct still_task drain = {.id = 0}, again = {.id = 1};
    struct play play;
    play_open(&play, subject, 4, 4, NULL, 0);
    play_submit(&play, PLAY_GUEST, &drain, PILFER_PLACEMENT_GLOBAL);
    play_wake(&play, 0);
    play_next(&play, 0, true, &drain);
    play_submit(&play, 0, &again, PILFER_PLACEMENT_GLOBAL);
    play_wake(&play, 1);
    play_next(&play, 1, true, &again);
    play_wake(&play, 2);
    play_next(&play, 2, true, NULL);
    for (uint32_t worker = 0; worker < 3; worker++) {
        play_next(&play, worker, false, NULL);
        if (play_end(&play, worker, false))
            check_broken("worker %u begins another turn, and nobody has asked for it", worker);
    }
    expect("releases by one socket event", play_count(&play, COUNTER_releases), 3);
    expect("signals left", play_signals(&play), 0);
    expect("engaged in the end", play_engaged(&play), 0);
    play_close(&play);
}

void dotnet_releases(const struct subject *subject)
{
    enum { WORKERS = 4, ROUNDS = 50 };
    check_trying("turns and events, step by step");
    play_turn_of_three(subject);
    play_socket_event(subject);
    struct pilfer_executor *executor = dotnet_open(
        subject,
        &(struct dotnet_pool){.min_workers = WORKERS, .max_workers = WORKERS, .sizing = "hill-climbing"});
    wait_until_idle(executor);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct held task;
        check_trying("one task into an idle pool, round %u", round);
        const uint64_t releases = count_of(executor, COUNTER_releases);
        send(executor, &task, run_short);
        pilfer_wait(executor, &task.latch);
        wait_until_idle(executor);
        expect("releases by one task into an idle pool", count_of(executor, COUNTER_releases) - releases, 2);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    check_held("one task releases 2, %d times; one socket event 3", ROUNDS);
}

/* ---- D10 ---- */

static void start_nobody(void *context)
{
    (void)context;
}

void dotnet_counts(const struct subject *subject)
{
    enum { WORKERS = 3, GOAL = 2 };
    const struct call_hooks hooks = {.start_thread = start_nobody};
    struct play play;
    play_open(&play, subject, WORKERS, GOAL, NULL, 0);
    pool_counts_change(play.pool, 0, -WORKERS, 0); /* no thread exists yet */
    expect("bytes of the word of counts", sizeof(play.pool->counts), 8);
    calls_begin(&hooks);
    for (uint32_t i = 0; i < WORKERS; i++) {
        dotnet_workers_request(play.pool, NULL);
        const struct pool_numbers numbers = pool_numbers(play.pool);
        const uint32_t engaged = i < GOAL ? i + 1 : GOAL;
        expect("engaged after so many requests", numbers.engaged, engaged);
        expect("existing, which is no less than engaged", numbers.existing, engaged);
        expect("the goal", numbers.goal, GOAL);
        const struct calls calls = calls_read();
        expect("threads started for them", calls.thread_starts, engaged);
        expect("releases before the first thread is started", calls.releases_before_start, 1);
        check_progress();
    }
    calls_begin(NULL);
    play_close(&play);
    check_held("3 requests at goal 2: 2 engaged, each released before its thread is started");
}

/* ---- D11 ---- */

/* A pool with the default limits, which its user cuts to one worker, the minimum first. */
static struct pilfer_executor *open_and_cut(const struct subject *subject)
{
    struct pilfer_executor *executor = dotnet_open(subject, &(struct dotnet_pool){.sizing = "hill-climbing"});
    if (pilfer_set_min_workers(executor, (struct pilfer_limits){1, 1}) != 0 ||
        pilfer_set_max_workers(executor, (struct pilfer_limits){1, 1}) != 0)
        check_broken("SetMin(1, 1) or SetMax(1, 1) is refused");
    expect("the goal after SetMin(1, 1) and SetMax(1, 1)", pool_numbers(inside_pool(executor)).goal, 1);
    return executor;
}

void dotnet_one_worker(const struct subject *subject)
{
    enum { SUBMITS = 1000 };
    struct pilfer_executor *executor = open_and_cut(subject);
    struct pilfer_task *tasks = calloc(SUBMITS, sizeof(*tasks));
    struct held held;
    check_setup(tasks != NULL);
    check_trying("a busy worker at max 1");
    wait_until_idle(executor);
    send(executor, &held, run_held);
    held_await(&held);
    expect("releases until the one worker is busy", count_of(executor, COUNTER_releases), 1);
    const uint64_t wakes = count_of(executor, COUNTER_wakes_sent);
    for (uint32_t i = 0; i < SUBMITS; i++) {
        tasks[i].run = run_nothing;
        check_setup(pilfer_submit(executor, &tasks[i], PILFER_PLACEMENT_DEFAULT) == 0);
    }
    expect("releases by 1000 enqueues while the one worker is busy", count_of(executor, COUNTER_releases) - 1, 0);
    expect("wake-ups by them", count_of(executor, COUNTER_wakes_sent) - wakes, 0);
    held_let_go(&held);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    free(tasks);
    check_held("%d enqueues after SetMin(1, 1) and SetMax(1, 1), 0 releases, 0 wake-ups", SUBMITS);
}

/* ---- D12 ---- */

struct late {
    struct play *play;
    struct still_task *task;
};

static void submit_late(void *context)
{
    const struct late *late = context;
    play_submit(late->play, PLAY_OUTSIDE, late->task, PILFER_PLACEMENT_GLOBAL);
}

/* A request is made after the worker has looked for one and before it stops counting as engaged: the goal looks
 * reached, nobody is released, and only the second look can see it. */
static void play_last_look(const struct subject *subject)
{
    struct still_task first = {.id = 0}, second = {.id = 1};
    struct play play;
    struct late late = {&play, &second};
    const struct call_hooks hooks = {.context = &late, .before_disengage = submit_late};
    play_open(&play, subject, 2, 1, NULL, 0);
    play_submit(&play, PLAY_OUTSIDE, &first, PILFER_PLACEMENT_GLOBAL);
    play_wake(&play, 0);
    play_next(&play, 0, true, &first); /* which makes a request; its turn comes, and finds nothing */
    play_next(&play, 0, false, NULL);
    if (!play_end(&play, 0, false))
        check_broken("a request is outstanding, and the worker leaves");
    play_begin(&play, 0);
    play_next(&play, 0, true, NULL);
    const uint64_t releases = play_count(&play, COUNTER_releases);
    calls_begin(&hooks);
    if (play_end(&play, 0, false))
        check_broken("the worker begins a turn, and nobody had asked for it");
    calls_begin(NULL);
    expect("releases for a request that met the worker on its way out", play_count(&play, COUNTER_releases) - releases,
           1);
    expect("engaged for it", play_engaged(&play), 1);
    play_wake(&play, 1);
    play_next(&play, 1, true, &second);
    play_close(&play);
}

/* The way out takes longer, as when a worker's thread is preempted there. */
static void dally(void *context)
{
    uint64_t *random = context;
    platform_pause((uint32_t)(check_random(random) % 32));
    if (check_random(random) % 8 == 0)
        platform_yield();
}

static uint64_t dally_random; /* the worker's own */

static void run_dallying(struct pilfer_task *task)
{
    const struct call_hooks hooks = {.context = &dally_random, .before_disengage = dally};
    calls_begin(&hooks);
    run_short(task);
}

/* Requests to a pool of one worker, each as soon as a turn has taken the one before, so that many meet that turn's
 * worker on its way out. They come without a task and past the flag. A request that nobody comes for stops the test.
 * Returns how many the last look found: they are the releases by the worker itself. */
static uint64_t stress_last_look(const struct subject *subject, uint32_t rounds)
{
    struct pilfer_executor *executor = dotnet_open(subject, &(struct dotnet_pool){.max_workers = 1});
    struct pool *pool = inside_pool(executor);
    uint64_t random = subject->seed;
    struct held task;
    dally_random = check_random(&random);
    send(executor, &task, run_dallying);
    pilfer_wait(executor, &task.latch);
    wait_until_idle(executor);
    const struct shared_u64 *releases = &pool_worker(pool, 0)->account->counters[COUNTER_releases];
    const uint64_t before = counter_read(releases);
    for (uint32_t round = 0; round < rounds; round++) {
        dotnet_workers_request(pool, NULL);
        for (uint32_t looks = 1; pool->idle->requests(pool) > 0; looks++)
            if (looks % 64 == 0)
                platform_yield(); /* there may be one CPU only */
        platform_pause((uint32_t)(check_random(&random) % 32));
        check_progress();
    }
    wait_until_idle(executor);
    const uint64_t found = counter_read(releases) - before;
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    return found;
}

void dotnet_last_look(const struct subject *subject)
{
    enum { ROUNDS = 20000 };
    check_trying("a request between look and exit, step by step");
    play_last_look(subject);
    check_trying("%d requests to a worker on its way out", ROUNDS);
    const uint64_t found = stress_last_look(subject, ROUNDS);
    check_left_out(found == 0); /* the threads have not met */
    check_held("a request made between look and exit releases a worker; the last look found %llu of a thread's %d",
               (unsigned long long)found, ROUNDS);
}

/* ---- D21 ---- */

static void check_between(const struct subject *subject, uint32_t processors, bool missed, uint64_t pauses)
{
    const struct pilfer_setting setting = {"processors", processors};
    struct still_task task = {.id = 0};
    struct play play;
    play_open(&play, subject, 2, 1, &setting, 1);
    play.pool->processors = processors;
    play_submit(&play, PLAY_OUTSIDE, &task, PILFER_PLACEMENT_GLOBAL);
    play_wake(&play, 0);
    play_next(&play, 0, true, &task); /* it has made a request, and at goal 1 nobody else comes for it */
    play_next(&play, 0, false, NULL);
    calls_begin(NULL);
    if (!play_end(&play, 0, missed))
        check_broken("a request is outstanding, and the worker leaves");
    const struct calls calls = calls_read();
    expect("yields between two requests of one wake", calls.yields, 1);
    expect("pauses between them", calls.pauses, pauses);
    expect("units of pause", calls.pause_units, pauses);
    if (pauses > 0)
        expect("yields before the pause", calls.yields_before_pause, 1);
    play_close(&play);
}

void dotnet_between_turns(const struct subject *subject)
{
    check_between(subject, 4, false, 1);
    check_between(subject, 4, true, 1); /* a missed steal adds nothing */
    check_between(subject, 1, false, 0);
    check_held("one yield, then one pause; with P = 1 the yield alone");
}

/* ---- D22 ---- */

/* One worker, the other one being held, and one task that queues itself again, which takes longer than a quantum each
 * time by the clock that the worker's thread reads. That goes on from the last stamp, which the sizing policy knows. */
struct endless {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct pilfer_latch latch;
    struct call_clock clock;
    uint32_t runs;
    uint64_t turns_first, turns_last; /* begun until the first run, and the last */
};
enum { QUANTUM_MS = 30, QUANTA = 100 };

static void run_endless(struct pilfer_task *task)
{
    struct endless *endless = (struct endless *)task;
    const struct call_hooks hooks = {.clock = &endless->clock};
    const uint64_t turns = count_of(endless->executor, COUNTER_dispatches);
    check_progress();
    if (endless->runs++ == 0) {
        endless->turns_first = turns;
        endless->clock.now_ns = platform_stamp();
        calls_begin(&hooks);
    }
    endless->clock.now_ns += (QUANTUM_MS + 1) * UINT64_C(1000000);
    if (endless->runs <= QUANTA) {
        check_setup(pilfer_submit(endless->executor, task, PILFER_PLACEMENT_GLOBAL) == 0);
        return;
    }
    endless->turns_last = turns;
    calls_begin(NULL);
    pilfer_latch_arrive(&endless->latch);
}

void dotnet_quantum(const struct subject *subject)
{
    struct endless endless = {.task.run = run_endless};
    struct held held;
    endless.executor = dotnet_open(
        subject, &(struct dotnet_pool){.min_workers = 2, .max_workers = 2, .sizing = "hill-climbing"});
    pilfer_latch_init(&endless.latch, 1);
    send(endless.executor, &held, run_held);
    held_await(&held);
    check_trying("a task that queues itself again, each run longer than a quantum");
    check_setup(pilfer_submit(endless.executor, &endless.task, PILFER_PLACEMENT_GLOBAL) == 0);
    pilfer_wait(endless.executor, &endless.latch);
    held_let_go(&held);
    pilfer_wait(endless.executor, &held.latch);
    pilfer_close(endless.executor, PILFER_CLOSE_RUN, NULL);
    expect("turns begun in 100 quanta without a look at an empty queue", endless.turns_last - endless.turns_first, 0);
    check_held("%d items, each longer than %d ms on a driven clock, in one turn", QUANTA + 1, QUANTUM_MS);
}
