/* SPDX-License-Identifier: MIT
 *
 * D1 to D7: where scheduler dotnet puts a task and which one it takes next.
 *
 * Method. One thread plays the workers; the instrumentation (instrument.h) counts the read-modify-writes of each call.
 * Where it is missing (sanitizer builds, other compilers) the counts are left out and the line says so. D3 also runs
 * threads: an owner and two thieves on one deque, each task counted.
 *
 * Source. specs: .NET 8 ThreadPoolWorkQueue (Enqueue, Dequeue, WorkStealingQueue) and ConcurrentQueueSegment.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dotnet_items.h"
#include "dotnet_play.h"
#include "inside.h"
#include "pool.h"
#include "schedulers/dotnet.h"

#define NOBODY UINT32_MAX

static struct still_task *number_tasks(uint32_t count)
{
    struct still_task *tasks = calloc(count, sizeof(*tasks));
    check_setup(tasks != NULL);
    for (uint32_t i = 0; i < count; i++)
        tasks[i].id = i;
    return tasks;
}

static struct foreign_lock_deque *deque_of(const struct pool *pool, uint32_t worker)
{
    return &((struct dotnet_worker *)pool_worker(pool, worker)->queueing)->local;
}

/* The end of an item whose read-modify-writes were counted, where they can be. */
static _Noreturn void held_counted(const char *what, const char *counted)
{
    check_left_out(!instrument_is_available());
    check_held("%s; %s", what, instrument_is_available() ? counted : "read-modify-writes not counted in this build");
}

static void submit(struct still *still, uint32_t self, struct still_task *task, enum pilfer_placement placement)
{
    check_setup(still_submit(still, self, task, placement) >= 0);
}

static struct still_task *next_or_break(struct still *still, uint32_t worker, const char *what)
{
    struct still_task *task = still_next(still, worker);
    if (task == NULL)
        check_broken("worker %u found nothing: %s", worker, what);
    return task;
}

/* ---- D1 ---- */

/* Fills the shared queue to a depth, past several rings, and empties it, and looks into it when it is empty. */
void dotnet_global_fifo(const struct subject *subject)
{
    enum { WORKERS = 3, ROUNDS = 200, DEPTH_MAX = 300 };
    struct still still;
    struct still_task *tasks = number_tasks(DEPTH_MAX);
    uint64_t random = subject->seed, empty_looks = 0;
    still_open(&still, subject, WORKERS, NULL, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t depth = (uint32_t)(check_random(&random) % DEPTH_MAX);
        for (uint32_t i = 0; i < depth; i++) {
            tasks[i].state = STILL_FREE;
            submit(&still, NOBODY, &tasks[i], PILFER_PLACEMENT_GLOBAL);
        }
        for (uint32_t i = 0; i < depth; i++)
            expect("the oldest task of the shared queue",
                   next_or_break(&still, i % WORKERS, "the shared queue is not empty")->id, i);
        for (uint32_t i = 0; i < WORKERS; i++, empty_looks++) {
            if (still_next(&still, i) != NULL)
                check_broken("a task from empty queues");
            expect("read-modify-writes of a next on empty queues", still.trace.updates, 0);
        }
    }
    still_close(&still);
    free(tasks);
    held_counted("200 fillings of up to 300", "0 read-modify-writes in 600 looks at empty queues");
}

/* ---- D2 ---- */

/* The array is replaced by one twice as large exactly when it must be: one place of it always stays free. */
static void check_growth(const struct pool *pool, struct still *still, struct still_task *tasks, uint32_t count)
{
    const struct foreign_lock_deque *deque = deque_of(pool, 0);
    const void *array = deque->array;
    uint32_t slots = 32;
    for (uint32_t i = 0; i < count; i++) {
        submit(still, 0, &tasks[i], PILFER_PLACEMENT_LOCAL);
        const bool grew = deque->array != array;
        if (grew != (i + 1 == slots))
            check_broken("push %u into a deque of %u slots: it %s", i + 1, slots, grew ? "grew" : "did not grow");
        slots = grew ? slots * 2 : slots;
        array = deque->array;
    }
}

void dotnet_local_deque(const struct subject *subject)
{
    enum { TASKS = 260 };
    struct still still;
    struct still_task *tasks = number_tasks(TASKS);
    still_open(&still, subject, 2, NULL, 0);
    struct foreign_lock_deque *deque = deque_of(still.pool, 0);
    check_growth(still.pool, &still, tasks, TASKS);
    for (uint32_t oldest = 0, newest = TASKS; oldest < newest;) {
        expect("the owner's next", next_or_break(&still, 0, "its deque is not empty")->id, --newest);
        if (oldest < newest)
            expect("the thief's next", next_or_break(&still, 1, "the other deque is not empty")->id, oldest++);
    }
    /* The lock is tried once, by thieves; what is held is left at once. */
    struct still_task one = {.id = TASKS};
    bool missed = false;
    submit(&still, 0, &one, PILFER_PLACEMENT_LOCAL);
    shared_u32_store_relaxed(&deque->lock, 1); /* one thread */
    instrument_begin(1);
    if (foreign_lock_deque_steal(deque, &missed) != NULL || !missed)
        check_broken("a steal from a locked deque took its task, or did not say that it missed one");
    if (instrument_is_available())
        expect("tries of a held lock", instrument_end().updates, 1);
    shared_u32_store_relaxed(&deque->lock, 0); /* one thread */
    check_left_out(!instrument_is_available());
    check_held("grows at pushes 32, 64, 128 and 256; one try of the lock%s",
               instrument_is_available() ? "" : ", not counted in this build");
}

/* ---- D3 ---- */

static void check_one_exchange(const struct subject *subject)
{
    struct still still;
    struct still_task *tasks = number_tasks(8);
    still_open(&still, subject, 2, NULL, 0);
    for (uint32_t i = 0; i < 8; i++)
        submit(&still, 0, &tasks[i], PILFER_PLACEMENT_LOCAL);
    expect("read-modify-writes of a push", still.trace.updates, 0);
    next_or_break(&still, 0, "its deque holds eight");
    expect("read-modify-writes of a pop", still.trace.updates, 1);
    expect("full exchanges of a pop", still.trace.full_exchanges, 1);
    bool missed = false;
    instrument_begin(1);
    check_setup(foreign_lock_deque_steal(deque_of(still.pool, 0), &missed) != NULL);
    const struct instrument_trace steal = instrument_end();
    expect("read-modify-writes of a steal, the lock's included", steal.updates, 2);
    expect("full exchanges of a steal", steal.full_exchanges, 1);
    while (still_drain(&still) != NULL)
        ;
    still_close(&still);
    free(tasks);
}

enum { ROUND_TASKS = 1000000, THIEVES = 2, BURST_MAX = 7, PAUSES = 16 };

struct stress {
    struct foreign_lock_deque deque;
    struct shared_u32 done;   /* written once by the owner; the thieves then take one last look each */
    struct shared_u32 *taken; /* [ROUND_TASKS]: how often each was taken in this round */
    struct pilfer_task *tasks;
    uint32_t count;           /* of this round */
    struct shared_u64 stolen; /* in all rounds; counter only */
};

static void count_taken(struct stress *stress, const struct pilfer_task *task)
{
    const uint32_t times = shared_u32_add_relaxed(&stress->taken[task - stress->tasks], 1) + 1;
    if (times > 1)
        check_broken("task %td was taken twice by pops and steals that met", task - stress->tasks);
}

static void be_thief(void *argument)
{
    struct stress *stress = argument;
    bool missed;
    uint64_t stolen = 0;
    for (bool last = false; !last;) {
        last = shared_u32_load_acquire(&stress->done) != 0;
        const struct pilfer_task *task;
        for (; (task = foreign_lock_deque_steal(&stress->deque, &missed)) != NULL; stolen++)
            count_taken(stress, task);
    }
    shared_u64_add_relaxed(&stress->stolen, stolen);
}

/* Pushes a few, gives the thieves a moment, pops a few: so owner and thieves meet at the last task again and again. */
static void be_owner(struct stress *stress, uint64_t *random)
{
    for (uint32_t pushed = 0; pushed < stress->count;) {
        const uint32_t burst = 1 + (uint32_t)(check_random(random) % BURST_MAX);
        for (uint32_t i = 0; i < burst && pushed < stress->count; i++)
            check_setup(foreign_lock_deque_push(&stress->deque, &stress->tasks[pushed++]) == 0);
        const struct pilfer_task *task;
        platform_pause((uint32_t)(check_random(random) % PAUSES));
        for (uint32_t i = 0; i < burst && (task = foreign_lock_deque_pop(&stress->deque)) != NULL; i++)
            count_taken(stress, task);
        if (pushed % 1024 < BURST_MAX)
            check_progress();
    }
    shared_u32_store_release(&stress->done, 1);
}

/* Over the same deque as the rounds before. */
static void stress_once(struct stress *stress, uint64_t *random)
{
    struct platform_thread *thieves[THIEVES];
    memset(stress->taken, 0, stress->count * sizeof(*stress->taken));
    shared_u32_store_relaxed(&stress->done, 0); /* before the thieves */
    for (uint32_t i = 0; i < THIEVES; i++)
        check_setup(platform_thread_start(&thieves[i], "thief", be_thief, stress) == 0);
    be_owner(stress, random);
    for (uint32_t i = 0; i < THIEVES; i++)
        platform_thread_join(thieves[i]);
    const struct pilfer_task *task;
    while ((task = foreign_lock_deque_pop(&stress->deque)) != NULL)
        count_taken(stress, task);
    for (uint32_t i = 0; i < stress->count; i++)
        if (shared_u32_load_relaxed(&stress->taken[i]) == 0)
            check_broken("task %u of %u was lost between pops and steals", i, stress->count);
}

/* Returns how many of the tasks the thieves took. */
static uint64_t check_deque_stress(const struct subject *subject)
{
    static struct stress stress;
    uint64_t random = subject->seed;
    stress.taken = calloc(ROUND_TASKS, sizeof(*stress.taken));
    stress.tasks = calloc(ROUND_TASKS, sizeof(*stress.tasks));
    check_setup(stress.taken != NULL && stress.tasks != NULL && foreign_lock_deque_init(&stress.deque) == 0);
    for (uint64_t left = subject->tasks; left > 0; left -= stress.count) {
        check_trying("an owner and %d thieves at one deque, %llu tasks to go", THIEVES, (unsigned long long)left);
        stress.count = left < ROUND_TASKS ? (uint32_t)left : ROUND_TASKS;
        stress_once(&stress, &random);
    }
    return shared_u64_load_relaxed(&stress.stolen); /* all have been joined */
}

void dotnet_exchanges(const struct subject *subject)
{
    char stress[128];
    const uint64_t stolen = check_deque_stress(subject);
    if (instrument_is_available())
        check_one_exchange(subject);
    snprintf(stress, sizeof stress, "%llu tasks between an owner and %d thieves, %llu stolen, none lost or doubled",
             (unsigned long long)subject->tasks, THIEVES, (unsigned long long)stolen);
    held_counted(stress, "one exchange each");
}

/* ---- D4 ---- */

/* What the pools' high-priority queue does to tasks that wait for one another (dotnet.h) no public call may meet. */
static void expect_no_high_priority(struct pool *pool, const char *what)
{
    struct dotnet *dotnet = pool->queueing;
    if (!segment_queue_is_empty(&dotnet->high_priority) ||
        shared_u32_load_relaxed(&dotnet->may_have_high_priority) != 0) /* one thread */
        check_broken("%s got high priority", what);
}

void dotnet_placement(const struct subject *subject)
{
    static const struct {
        const char *what;
        uint32_t self;
        enum pilfer_placement placement;
        bool local;
    } rows[] = {
        {"a worker's, without a wish", 0, PILFER_PLACEMENT_DEFAULT, true},
        {"a worker's, prefer local", 0, PILFER_PLACEMENT_LOCAL, true},
        {"a worker's, prefer global", 0, PILFER_PLACEMENT_GLOBAL, false},
        {"the poller's, without a wish", PLAY_GUEST, PILFER_PLACEMENT_DEFAULT, false},
        {"the poller's, prefer local", PLAY_GUEST, PILFER_PLACEMENT_LOCAL, false},
        {"a stranger's, prefer local", PLAY_OUTSIDE, PILFER_PLACEMENT_LOCAL, false},
    };
    struct play play;
    play_open(&play, subject, 2, 0, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct still_task task = {.id = (uint32_t)i};
        const uint64_t locals = play_count(&play, COUNTER_placements_local);
        play_submit(&play, rows[i].self, &task, rows[i].placement);
        const bool counted_local = play_count(&play, COUNTER_placements_local) > locals;
        const bool lies_local = foreign_lock_deque_has_tasks(deque_of(play.pool, 0));
        if (lies_local != rows[i].local || counted_local != rows[i].local)
            check_broken("%s lies in %s and is counted as %s", rows[i].what,
                         lies_local ? "the worker's deque" : "the shared queue", counted_local ? "local" : "global");
        expect_no_high_priority(play.pool, rows[i].what);
        next_or_break(&play.still, 0, rows[i].what);
    }
    struct still_task task = {.id = 6};
    play_submit(&play, 0, &task, PILFER_PLACEMENT_LOCAL);
    still_surrender(&play.still, 0);
    expect_no_high_priority(play.pool, "what a worker left behind");
    next_or_break(&play.still, 1, "the first one has left a task");
    play_close(&play);
    check_held("6 ways of submitting, one of leaving; none to high priority");
}

/* ---- D5 ---- */

static void be_quiet(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)pool, (void)self, (void)wakes;
}

/* With more than 32 processors the original has several shared queues, of which each worker has one assigned: that is
 * looked into before the common one, those of others after it. They are not modelled, whatever P is, and left out. */
void dotnet_dequeue_order(const struct subject *subject)
{
    enum { ASSIGNED = 2 };
    static const struct idle_policy quiet = {.submitted = be_quiet};
    static const char *const names[] = {"local", "high priority", "shared", "another worker's"};
    struct still still;
    struct still_task tasks[4] = {{.id = 0}, {.id = 1, .state = STILL_ACCEPTED}, {.id = 2}, {.id = 3}};
    still_open(&still, subject, 2, NULL, 0);
    still.pool->idle = &quiet;
    submit(&still, 1, &tasks[3], PILFER_PLACEMENT_LOCAL);
    submit(&still, NOBODY, &tasks[2], PILFER_PLACEMENT_GLOBAL);
    check_setup(dotnet_queue_high_priority(still.pool, &tasks[1].task) == 0);
    submit(&still, 0, &tasks[0], PILFER_PLACEMENT_LOCAL);
    for (uint32_t i = 0; i < 4; i++) {
        const struct still_task *task = next_or_break(&still, 0, names[i]);
        if (task->id != i)
            check_broken("the %s task came when the %s one was due", names[task->id], names[i]);
    }
    still_close(&still);
    check_left_out(ASSIGNED);
    check_held("local, high priority, shared, stolen; not tried: the %d places of assigned queues, which are not here",
               ASSIGNED);
}

/* ---- D6 ---- */

/* Worker 0 steals from workers that all have one; with start 0 it begins at worker 1, being the first that is not it.
 */
static double start_chi_squared(struct still *still, uint32_t rounds)
{
    enum { WORKERS = 8 };
    uint32_t seen[WORKERS] = {0};
    for (uint32_t round = 0; round < rounds; round++) {
        struct still_task tasks[WORKERS] = {{.id = 0}};
        for (uint32_t i = 1; i < WORKERS; i++) {
            tasks[i].id = i;
            submit(still, i, &tasks[i], PILFER_PLACEMENT_LOCAL);
        }
        seen[next_or_break(still, 0, "the others have tasks")->id]++;
        for (uint32_t i = 1; i < WORKERS; i++)
            still_drain(still);
    }
    double chi_squared = 0;
    for (uint32_t i = 1; i < WORKERS; i++) {
        const double expected = rounds * (i == 1 ? 2.0 : 1.0) / WORKERS;
        chi_squared += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    return chi_squared;
}

void dotnet_steal_scan(const struct subject *subject)
{
    enum { WORKERS = 8, ROUNDS = 8000 };
    const double limit = 22.46; /* 6 degrees of freedom, 0.1 % */
    struct still still;
    still_open(&still, subject, WORKERS, NULL, 0);
    const struct worker *thief = pool_worker(still.pool, 0);
    const double chi_squared = start_chi_squared(&still, ROUNDS);
    if (chi_squared > limit)
        check_broken("the start is not spread evenly: chi-squared %.1f, at most %.2f in 999 of 1000", chi_squared,
                     limit);
    /* Locks that cannot be had: who tries one says that it missed a steal, which still_next takes for a fault. */
    for (uint32_t i = 0; i < WORKERS; i++)
        shared_u32_store_relaxed(&deque_of(still.pool, i)->lock, 1); /* one thread */
    uint64_t tried = counter_read(&thief->account->counters[COUNTER_steals_tried]);
    if (still_next(&still, 0) != NULL)
        check_broken("a task from empty queues");
    tried = counter_read(&thief->account->counters[COUNTER_steals_tried]) - tried;
    expect("scans that found nothing", counter_read(&thief->account->counters[COUNTER_scans_empty]), 1);
    expect("scans", counter_read(&thief->account->counters[COUNTER_scans]), ROUNDS + 1);
    expect("looks of one scan of 8 workers", tried, WORKERS - 1);
    for (uint32_t i = 0; i < WORKERS; i++)
        shared_u32_store_relaxed(&deque_of(still.pool, i)->lock, 0); /* one thread */
    for (uint32_t i = 1; i < WORKERS; i++) { /* from any start it comes round to the only task */
        struct still_task task = {.id = i};
        submit(&still, i, &task, PILFER_PLACEMENT_LOCAL);
        next_or_break(&still, 0, "one other worker has a task");
    }
    still_close(&still);
    check_held("chi-squared %.1f of at most %.2f over %d starts; 7 looks, no lock", chi_squared, limit, ROUNDS);
}

/* ---- D7 ---- */

static enum next_result try_next(struct play *play, uint32_t worker)
{
    struct pilfer_task *task;
    return play->pool->scheduler->next(pool_worker(play->pool, worker), &task);
}

struct race {
    struct foreign_lock_deque *deque;
    struct pilfer_task *taken;
};

static void pop_meanwhile(void *context)
{
    struct race *race = context;
    race->taken = foreign_lock_deque_pop(race->deque);
}

/* The owner takes its last task after the thief has seen it and has the lock, and before the thief's exchange. */
static void lose_race(struct play *play)
{
    struct still_task task = {.id = 1};
    struct race race = {deque_of(play->pool, 1), NULL};
    play_submit(play, 1, &task, PILFER_PLACEMENT_LOCAL);
    play_begin(play, 0);
    instrument_before_exchange(pop_meanwhile, &race);
    const enum next_result result = try_next(play, 0);
    check_setup(race.taken == &task.task);
    if (result != NEXT_MISSED)
        check_broken("a steal that loses the race against the owner does not count as missed");
    expect("tasks in the deque after the race", foreign_lock_deque_depth(race.deque), 0);
}

/* A task whose worker's deque cannot be stolen from while it runs, and one behind it. */
struct locked {
    struct pilfer_task task, behind;
    struct pilfer_executor *executor;
    struct shared_u32 runs, may_end; /* by the task; by the test */
    struct pilfer_latch latch;
};

static void run_behind(struct pilfer_task *task)
{
    pilfer_latch_arrive(&((struct locked *)((char *)task - offsetof(struct locked, behind)))->latch);
}

static void run_locked(struct pilfer_task *task)
{
    struct locked *locked = (struct locked *)task;
    struct foreign_lock_deque *deque = &((struct dotnet_worker *)((struct worker *)platform_self())->queueing)->local;
    shared_u32_store_release(&deque->lock, 1); /* nobody else tries: it is empty */
    check_setup(pilfer_submit(locked->executor, &locked->behind, PILFER_PLACEMENT_LOCAL) == 0);
    shared_u32_store_release(&locked->runs, 1);
    while (shared_u32_load_acquire(&locked->may_end) == 0)
        platform_yield();
    shared_u32_store_release(&deque->lock, 0);
    pilfer_latch_arrive(&locked->latch);
}

/* The other worker misses the task turn after turn, and each time asks for the next turn. */
static void miss_with_threads(const struct subject *subject, uint64_t turns)
{
    struct locked locked = {.task.run = run_locked, .behind.run = run_behind};
    struct account_totals totals;
    locked.executor = dotnet_open(subject, &(struct dotnet_pool){.min_workers = 2, .max_workers = 2});
    pilfer_latch_init(&locked.latch, 2);
    check_setup(pilfer_submit(locked.executor, &locked.task, PILFER_PLACEMENT_GLOBAL) == 0);
    while (shared_u32_load_acquire(&locked.runs) == 0)
        platform_yield();
    pilfer_totals(locked.executor, &totals);
    const uint64_t requests = totals.counters[COUNTER_worker_requests];
    do {
        pilfer_totals(locked.executor, &totals);
        if (totals.counters[COUNTER_steals_missed] > 0 && inside_engaged(locked.executor) == 1)
            check_broken("a worker that has missed a steal leaves, and nobody is asked for");
        platform_yield();
    } while (totals.counters[COUNTER_worker_requests] < requests + turns);
    shared_u32_store_release(&locked.may_end, 1);
    pilfer_wait(locked.executor, &locked.latch);
    pilfer_close(locked.executor, PILFER_CLOSE_RUN, NULL);
}

void dotnet_missed_steal(const struct subject *subject)
{
    enum { TURNS = 10 };
    struct play play;
    struct still_task task = {.id = 0};
    play_open(&play, subject, 2, 0, NULL, 0); /* goal 0: a request releases nobody */
    struct foreign_lock_deque *victim = deque_of(play.pool, 1);
    shared_u32_store_relaxed(&victim->lock, 1); /* one thread; as another thief would hold it */
    play_begin(&play, 0);
    if (try_next(&play, 0) != NEXT_EMPTY)
        check_broken("a victim that looks empty, its lock held, counts as missed");
    pool_counts_change(play.pool, 1, 0, 0); /* engaged, as the worker of a turn is; found_nothing takes it back */
    play_end(&play, 0, false);
    expect("requests after a turn that missed nothing", play_count(&play, COUNTER_worker_requests), 0);
    play_submit(&play, 1, &task, PILFER_PLACEMENT_LOCAL);
    uint64_t requests = play_count(&play, COUNTER_worker_requests);
    pool_counts_change(play.pool, 1, 0, 0);
    for (uint32_t turn = 0; turn < 3; turn++) {
        play_begin(&play, 0);
        if (try_next(&play, 0) != NEXT_MISSED)
            check_broken("a victim with a task, its lock held, does not count as missed");
        expect("requests inside the turn", play_count(&play, COUNTER_worker_requests), requests);
        play_end(&play, 0, true);
        expect("requests after a turn that missed a steal", play_count(&play, COUNTER_worker_requests), ++requests);
    }
    expect("steals counted as missed", play_count(&play, COUNTER_steals_missed), 3);
    shared_u32_store_relaxed(&victim->lock, 0); /* one thread */
    play_next(&play, 0, true, &task);
    if (instrument_is_available())
        lose_race(&play);
    play_close(&play);
    check_trying("a worker that cannot steal");
    miss_with_threads(subject, TURNS);
    check_left_out(!instrument_is_available());
    check_held("an empty victim: none; a held one: one request a turn, 3 turns; %d more of a thread's; %s", TURNS,
               instrument_is_available() ? "a race lost: missed" : "no race was staged in this build");
}
