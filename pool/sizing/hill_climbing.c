/* SPDX-License-Identifier: MIT
 *
 * Sizing policy hill-climbing: the sizing of the portable .NET 8 pool. The goal moves between min-workers and
 * max-workers.
 *
 * How it works. After each task its worker counts it, notes the time, and leaves its turn if more than the goal are
 * engaged. Now and then (10 to 200 ms) one of them hands what was done meanwhile to the climber (climb.h), which says
 * how many should be engaged next. A thread of this policy's own, the gate, looks twice a second whether requests
 * starve (gate.h), and rests while there are none; it begins with the first request. An idle worker that ends takes
 * the goal with it, down to min-workers. A caller may move the limits (thread_limits.h). Defaults: min-workers =
 * processors, max-workers = 32,767; the goal begins at min-workers. One worker is started at once and stays; in the
 * original there may be none.
 *
 * Tunables of the scheduler, where it has them: hill-climbing, starvation-detection (0: off), processors,
 * force-min-workers, force-max-workers (0: not forced).
 *
 * Not here. The original's adjustment for workers that block on a task: in this library such a worker is not counted as
 * engaged, so that another one takes its turn at once (pool_wait), and the goal has nothing to do with it. With default
 * limits a max-workers below the number of processors lowers min-workers as well; the original would raise the maximum.
 *
 * Worst case. One shared line is written after each task by every worker, as in the original: the time of the last one.
 * A throughput that is mostly noise makes the goal wander above min-workers.
 *
 * Labels
 *   @F hill_climbing.1  make a request, then read the looks left  |  take a look away, then read the requests
 *
 * Source. dotnet/runtime 8.0: PortableThreadPool (NotifyWorkItemProgress, AdjustMaxWorkersActive,
 * ShouldStopProcessingWorkNow), .GateThread, .HillClimbing.
 */
#include <errno.h>

#include "lock.h"
#include "scheduler.h"
#include "sizing/climb.h"
#include "sizing/gate.h"
#include "sizing/thread_limits.h"

/* The length of a millisecond; the explorer, whose runs are short, builds with less. */
#ifndef HILL_CLIMBING_NS_PER_MS
#define HILL_CLIMBING_NS_PER_MS 1000000
#endif
#define NS_PER_S (1000 * (double)HILL_CLIMBING_NS_PER_MS)

struct gate {
    struct lock lock; /* guards thread and stopped, which the thread itself does not need it for */
    struct platform_thread *thread;
    bool stopped;
    struct gate_reading reading; /* the gate thread's own */
    struct shared_u32 stopping;  /* written once by stop; read by the gate, which waits for its next look on it */
    /* 0: it rests, and waits on this word. Set by requests, taken away by the gate; @F hill_climbing.1 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 looks_left;
};

struct hill {
    bool climbs, detects_starvation; /* constant */
    uint64_t start_ticks;            /* constant; times below are counted from here */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 last_dequeue_ms; /* any worker after each task; read by the gate */
    /* When the next sample is due. Written under the lock; read by all without it: re-checked under it. */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 due_ms;
    struct shared_u32 cpu_percent; /* written by the gate; read by who takes a sample; a hint */
    _Alignas(CACHE_LINE_SIZE) struct lock lock; /* of the rest, and of every change of the goal */
    struct thread_limits limits;
    struct climb climb;
    uint64_t sample_start_ns, sample_start_completions;
    uint32_t interval_ms;
    uint64_t goal_changes, workers_injected; /* for the report */
    struct gate gate;
};

struct hill_worker {
    struct shared_u64 completions; /* a counter; those of tasks that ran inside a waiting one are not in it */
};

static uint64_t elapsed_ns(const struct hill *hill, uint64_t ticks)
{
    return platform_stamp_ns(ticks - hill->start_ticks);
}

/* Of the worker's last change of activity, which was just now. */
static uint64_t recent_ms(const struct hill *hill, const struct worker *worker)
{
    return elapsed_ns(hill, worker->account->last_ticks) / HILL_CLIMBING_NS_PER_MS;
}

/* ---- what idle policies offer ---- */

static uint32_t requests_of(struct pool *pool)
{
    return pool->idle->requests != NULL ? pool->idle->requests(pool) : pool->scheduler->pending(pool);
}

/* For a request that was made already, or for none. Not under the lock: it may start a thread. */
static void add_worker(struct pool *pool, struct worker *self)
{
    if (pool->idle->add_worker != NULL)
        pool->idle->add_worker(pool, self);
    else if (pool_engage(pool, self))
        pool->idle->release(pool, self);
}

/* ---- the goal; under the lock ---- */

static void set_goal(struct pool *pool, uint32_t before, uint32_t goal)
{
    struct hill *hill = pool->sizing_state;
    if (goal == before)
        return;
    pool_set_goal(pool, goal);
    hill->goal_changes++;
}

static uint64_t sum_completions(const struct pool *pool)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pool_published(pool); i++) {
        const struct hill_worker *other = pool_worker(pool, i)->sizing_state;
        sum += counter_read(&other->completions);
    }
    return sum;
}

/* Hands the climber what was done since the last sample. True: the goal has risen. */
static bool take_sample(struct pool *pool, uint32_t goal)
{
    struct hill *hill = pool->sizing_state;
    uint64_t now_ns = elapsed_ns(hill, platform_stamp());
    uint64_t sample_ns = now_ns - hill->sample_start_ns;
    if (sample_ns < (uint64_t)hill->interval_ms * HILL_CLIMBING_NS_PER_MS / 2 || sample_ns == 0)
        return false;
    uint64_t completions = sum_completions(pool);
    struct climb_step step = climb_update(
        &hill->climb, &(struct climb_sample){
                          .goal = goal,
                          .minimum = (uint32_t)hill->limits.minimum.workers,
                          .maximum = (uint32_t)hill->limits.maximum.workers,
                          .cpu_percent = shared_u32_load_relaxed(&hill->cpu_percent), /* a hint */
                          .seconds = (double)sample_ns / NS_PER_S,
                          .completions = completions - hill->sample_start_completions,
                      });
    set_goal(pool, goal, step.goal);
    hill->interval_ms = step.interval_ms;
    hill->sample_start_ns = now_ns;
    hill->sample_start_completions = completions;
    /* single writer: under the lock */
    shared_u64_store_relaxed(&hill->due_ms, now_ns / HILL_CLIMBING_NS_PER_MS + step.interval_ms);
    return step.goal > goal;
}

/* ---- after each task ---- */

static void adjust(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct hill *hill = pool->sizing_state;
    if (!lock_try(&hill->lock))
        return; /* whoever holds it does this */
    struct pool_numbers numbers = pool_numbers(pool);
    bool rises = numbers.engaged <= numbers.goal && take_sample(pool, numbers.goal);
    lock_unlock(&hill->lock);
    if (rises)
        add_worker(pool, worker); /* if it finds a task it asks for the next one */
}

static bool hill_task_done(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct hill *hill = pool->sizing_state;
    struct hill_worker *own = worker->sizing_state;
    uint64_t now_ms = recent_ms(hill, worker);
    counter_add(&own->completions, 1);
    shared_u64_store_relaxed(&hill->last_dequeue_ms, now_ms); /* a hint */
    if (hill->climbs && now_ms >= shared_u64_load_relaxed(&hill->due_ms)) { /* re-checked under the lock */
        struct pool_numbers numbers = pool_numbers(pool);
        if (numbers.engaged <= numbers.goal)
            adjust(worker);
    }
    return !pool_disengage_over(worker);
}

static void hill_turn_began(struct worker *worker)
{
    struct hill *hill = worker->pool->sizing_state;
    shared_u64_store_relaxed(&hill->last_dequeue_ms, recent_ms(hill, worker)); /* a hint */
}

/* An idle worker has ended: the goal follows, down to the minimum. */
static void hill_retired(struct pool *pool, uint32_t existing)
{
    struct hill *hill = pool->sizing_state;
    lock_lock(&hill->lock);
    uint32_t before = pool_numbers(pool).goal;
    uint32_t goal = (uint32_t)thread_limits_goal_left(&hill->limits, (int32_t)before, (int32_t)existing);
    set_goal(pool, before, goal);
    climb_force(&hill->climb, goal);
    lock_unlock(&hill->lock);
}

/* ---- the gate ---- */

static void read_cpu(struct pool *pool)
{
    struct hill *hill = pool->sizing_state;
    struct gate_reading now = {platform_now_ns(), platform_process_cpu_ns()};
    uint32_t percent = gate_cpu_percent(&hill->gate.reading, &now, pool->processors);
    shared_u32_store_relaxed(&hill->cpu_percent, percent); /* a hint */
    hill->gate.reading = now;
}

/* Adds a worker if those that are engaged are all stuck. */
static void relieve(struct pool *pool, uint32_t requests)
{
    struct hill *hill = pool->sizing_state;
    lock_lock(&hill->lock);
    struct pool_numbers numbers = pool_numbers(pool);
    uint32_t goal = gate_goal(&(struct gate_view){
        .now_ms = elapsed_ns(hill, platform_stamp()) / HILL_CLIMBING_NS_PER_MS,
        .last_dequeue_ms = shared_u64_load_relaxed(&hill->last_dequeue_ms), /* a hint */
        .requests = requests,
        .cpu_percent = shared_u32_load_relaxed(&hill->cpu_percent), /* written by this thread */
        .engaged = numbers.engaged,
        .goal = numbers.goal,
        .maximum = (uint32_t)hill->limits.maximum.workers,
    });
    if (goal != 0) {
        set_goal(pool, numbers.goal, goal);
        climb_force(&hill->climb, goal);
        hill->workers_injected++;
    }
    lock_unlock(&hill->lock);
    if (goal != 0)
        add_worker(pool, NULL);
}

static void look(struct pool *pool)
{
    struct hill *hill = pool->sizing_state;
    struct gate *gate = &hill->gate;
    read_cpu(pool);
    /* @F hill_climbing.1: the last look was taken away, then the requests are read. */
    ordered_fence_seq_cst();
    uint32_t requests = requests_of(pool);
    if (hill->detects_starvation)
        relieve(pool, requests);
    uint32_t left = shared_u32_load_relaxed(&gate->looks_left); /* re-checked by CAS */
    /* relaxed: ordered by fence @F hill_climbing.1, of the next look */
    while (!shared_u32_cas_relaxed(&gate->looks_left, &left, gate_cycles_left(left, requests)))
        ;
}

static bool gate_stops(const struct gate *gate)
{
    return shared_u32_load_relaxed(&gate->stopping) != 0; /* written once; nothing is read after it */
}

/* Until the time has come for a look. False: the pool stops. */
static bool await_look(struct gate *gate)
{
    while (shared_u32_load_relaxed(&gate->looks_left) == 0 && !gate_stops(gate)) /* re-checked by CAS in look() */
        platform_park(&gate->looks_left, 0, PLATFORM_FOREVER);
    uint64_t due_ns = platform_now_ns() + (uint64_t)GATE_PERIOD_MS * HILL_CLIMBING_NS_PER_MS;
    while (!gate_stops(gate) && platform_park(&gate->stopping, 0, due_ns) != -ETIMEDOUT)
        ;
    return !gate_stops(gate);
}

static void gate_main(void *argument)
{
    struct pool *pool = argument;
    struct hill *hill = pool->sizing_state;
    hill->gate.reading = (struct gate_reading){platform_now_ns(), platform_process_cpu_ns()};
    while (await_look(&hill->gate))
        look(pool);
}

/* A request has found the gate at rest, or not begun. */
static void rouse(struct pool *pool, struct worker *self)
{
    struct hill *hill = pool->sizing_state;
    struct gate *gate = &hill->gate;
    lock_lock(&gate->lock);
    if (gate->thread != NULL) {
        platform_wake(&gate->looks_left, 1);
    } else if (!gate->stopped && platform_thread_start(&gate->thread, "gate", gate_main, pool) != 0) {
        gate->thread = NULL;
        pool_count(pool, self, COUNTER_thread_failures, 1);
        shared_u32_store_relaxed(&gate->looks_left, 0); /* nobody else takes any away: the next request tries again */
    }
    lock_unlock(&gate->lock);
}

static void hill_requested(struct pool *pool, struct worker *self)
{
    struct hill *hill = pool->sizing_state;
    struct gate *gate = &hill->gate;
    /* @F hill_climbing.1: the request was made (seq_cst, or a fence came after it), then the looks are read. Without it
     * this thread could see all looks left and the gate, having taken both away, no request: it would rest while
     * requests starve. */
    uint32_t left = shared_u32_load_seq_cst(&gate->looks_left);
    /* relaxed: what the gate takes away after the value read above, it takes away before a fence @F hill_climbing.1 */
    while (left != GATE_IDLE_CYCLES && !shared_u32_cas_relaxed(&gate->looks_left, &left, GATE_IDLE_CYCLES))
        ;
    if (left == 0) /* of several threads one finds it at rest */
        rouse(pool, self);
}

static void hill_stop(struct pool *pool)
{
    struct hill *hill = pool->sizing_state;
    struct gate *gate = &hill->gate;
    lock_lock(&gate->lock);
    gate->stopped = true;
    struct platform_thread *thread = gate->thread;
    shared_u32_store_relaxed(&gate->stopping, 1); /* the park compares it again */
    platform_wake(&gate->stopping, 1);
    shared_u32_store_relaxed(&gate->looks_left, GATE_IDLE_CYCLES); /* as above: it does not rest any more */
    platform_wake(&gate->looks_left, 1);
    lock_unlock(&gate->lock);
    if (thread != NULL)
        platform_thread_join(thread);
}

/* ---- the limits ---- */

static void hill_limits(uint32_t processors, uint32_t *min_workers, uint32_t *max_workers)
{
    if (*max_workers == 0)
        *max_workers = PILFER_WORKERS_MAX;
    if (*min_workers == 0)
        *min_workers = processors < *max_workers ? processors : *max_workers;
}

/* Makes one of the two calls; *before and *after it the goal. */
static bool call_limits(struct pool *pool, bool (*call)(struct thread_limits *, struct pilfer_limits, int32_t *goal),
                        struct pilfer_limits limits, uint32_t *before, uint32_t *after)
{
    struct hill *hill = pool->sizing_state;
    lock_lock(&hill->lock);
    *before = pool_numbers(pool).goal;
    int32_t goal = (int32_t)*before;
    bool done = call(&hill->limits, limits, &goal);
    *after = (uint32_t)goal;
    set_goal(pool, *before, *after);
    lock_unlock(&hill->lock);
    return done;
}

static bool hill_set_minimum(struct pool *pool, struct worker *self, struct pilfer_limits minimum)
{
    uint32_t before, after;
    bool done = call_limits(pool, thread_limits_set_minimum, minimum, &before, &after);
    /* A policy that does not say what was requested of it may hold a request that found the goal reached. */
    if (after > before && (pool->idle->requests == NULL || requests_of(pool) > 0))
        add_worker(pool, self);
    return done;
}

static bool hill_set_maximum(struct pool *pool, struct worker *self, struct pilfer_limits maximum)
{
    uint32_t before, after; /* a lower goal engages nobody */
    (void)self;
    return call_limits(pool, thread_limits_set_maximum, maximum, &before, &after);
}

static void hill_read_limits(struct pool *pool, struct pilfer_limit_values *out)
{
    struct hill *hill = pool->sizing_state;
    lock_lock(&hill->lock);
    out->minimum = hill->limits.minimum;
    out->maximum = hill->limits.maximum;
    int32_t engaged = (int32_t)pool_numbers(pool).engaged;
    out->available = hill->limits.maximum;
    out->available.workers -= engaged < out->available.workers ? engaged : out->available.workers;
    lock_unlock(&hill->lock);
}

static void hill_extras(struct pool *pool, void (*visit)(void *context, const char *name, double value), void *context)
{
    struct hill *hill = pool->sizing_state;
    struct pilfer_limit_values values;
    hill_read_limits(pool, &values);
    lock_lock(&hill->lock);
    uint64_t goal_changes = hill->goal_changes, injected = hill->workers_injected;
    lock_unlock(&hill->lock);
    visit(context, "goal", pool_numbers(pool).goal);
    visit(context, "goal_changes", (double)goal_changes);
    visit(context, "workers_injected", (double)injected);
    visit(context, "limit_min_workers", values.minimum.workers);
    visit(context, "limit_max_workers", values.maximum.workers);
    visit(context, "limit_min_completion_threads", values.minimum.completion_threads);
    visit(context, "limit_max_completion_threads", values.maximum.completion_threads);
}

/* ---- making ---- */

static int hill_init(struct pool *pool)
{
    struct hill *hill = pool->sizing_state;
    hill->climbs = pool_setting_or(pool, "hill-climbing", 1) != 0;
    hill->detects_starvation = pool_setting_or(pool, "starvation-detection", 1) != 0;
    hill->start_ticks = platform_stamp();
    thread_limits_init(&hill->limits,
                       &(struct thread_limits_start){
                           .minimum = (int32_t)pool->min_workers,
                           .maximum = (int32_t)pool->max_workers,
                           .possible = (int32_t)pool->max_workers,
                           .forced_minimum = (int32_t)pool_setting_or(pool, "force-min-workers", 0),
                           .forced_maximum = (int32_t)pool_setting_or(pool, "force-max-workers", 0),
                       });
    climb_init(&hill->climb, pool->seed);
    pool_set_goal(pool, (uint32_t)hill->limits.minimum.workers);
    return 0;
}

const struct sizing_policy sizing_hill_climbing = {
    .name = "hill-climbing",
    .summary = "as .NET 8: climbs after throughput, a gate adds workers",
    .limits = hill_limits,
    .starts_late = true,
    .pool_state_size = sizeof(struct hill),
    .worker_state_size = sizeof(struct hill_worker),
    .init = hill_init,
    .turn_began = hill_turn_began,
    .task_done = hill_task_done,
    .requested = hill_requested,
    .retired = hill_retired,
    .stop = hill_stop,
    .set_minimum = hill_set_minimum,
    .set_maximum = hill_set_maximum,
    .read_limits = hill_read_limits,
    .extras = hill_extras,
};
