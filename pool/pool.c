/* SPDX-License-Identifier: MIT
 *
 * The core: the counts word, submitting, waiting, counters, and the end.
 *
 * How it works. The counts word {engaged, existing, goal, blocked} is changed by CAS. Who wants a task run engages a
 * worker if the goal allows it; a worker that found nothing disengages and only then takes its last look, so that either
 * the submitter sees the lower count or the worker sees the task (@F of each idle policy). A task that waits inside the
 * pool counts as blocked, not as engaged, so that a substitute can be engaged for it.
 *
 * Closing. Submits and close are kept apart by a gate: a submitter marks itself, then reads the state; close writes the
 * state, then waits for the marks to go. Workers need no mark, since they are joined.
 *
 * Labels
 *   @P pool.1      a published worker: its queues are initialised
 *   @P pool.latch  the last arrival -> the waiter: everything done before the arrivals
 *   @F pool.1      the gate: between the submitter's mark and its read of the state, and between close's write of the
 *                  state and its read of the marks
 *
 * Sources. The counts word and engage/disengage: dotnet/runtime 8.0, PortableThreadPool (ThreadCounts).
 */
#include <errno.h>
#include <string.h>

#include "pool.h"

/* ---- the counts word ---- */

static void raise_workers_max(struct pool *pool, uint32_t engaged)
{
    uint32_t seen = shared_u32_load_relaxed(&pool->workers_max); /* counter only */
    while (seen < engaged && !shared_u32_cas_relaxed(&pool->workers_max, &seen, engaged)) /* counter only */
        ;
}

/* Adds to the fields of the counts word. */
static void counts_change(struct pool *pool, int engaged, int existing, int blocked)
{
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS */
    struct pool_counts counts;
    do {
        counts = counts_unpack(word);
        counts.engaged = (uint16_t)(counts.engaged + engaged);
        counts.existing = (uint16_t)(counts.existing + existing);
        counts.blocked = (uint16_t)(counts.blocked + blocked);
        /* Full order: a worker's exit from engaged is before its last look, a submitter's publication before this. */
    } while (!shared_u64_cas_seq_cst(&pool->counts, &word, counts_pack(counts)));
    raise_workers_max(pool, counts.engaged);
}

/* No thread could be started: no more are tried, and those that exist do the work. */
static void thread_failed(struct pool *pool, struct worker *self)
{
    shared_u32_store_relaxed(&pool->thread_limit, shared_u32_load_relaxed(&pool->existing)); /* counter only */
    counts_change(pool, -1, -1, 0);
    pool_count(pool, self, COUNTER_thread_failures, 1);
}

bool pool_engage(struct pool *pool, struct worker *self)
{
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS; ordered by the caller's fence */
    for (;;) {
        struct pool_counts counts = counts_unpack(word);
        if (counts.engaged >= counts.goal)
            return false;
        bool grow = counts.engaged + counts.blocked >= counts.existing;
        if (grow && counts.existing >= shared_u32_load_relaxed(&pool->thread_limit)) /* counter only */
            return false;
        counts.engaged++;
        counts.existing = (uint16_t)(counts.existing + grow);
        /* Full order: competes with pool_disengage; one of the two sides sees the other. */
        if (!shared_u64_cas_seq_cst(&pool->counts, &word, counts_pack(counts)))
            continue;
        raise_workers_max(pool, counts.engaged);
        if (!grow || worker_add(pool) == 0)
            return true;
        /* While the thread was being started, the goal looked reached to others: look once more for an existing one. */
        thread_failed(pool, self);
        word = shared_u64_load_seq_cst(&pool->counts);
    }
}

bool pool_has_room(const struct pool *pool)
{
    struct pool_counts counts = counts_unpack(shared_u64_load_relaxed(&pool->counts)); /* ordered by the caller's fence */
    return counts.engaged < counts.goal &&
           (counts.engaged + counts.blocked < counts.existing ||
            counts.existing < shared_u32_load_relaxed(&pool->thread_limit)); /* counter only */
}

bool pool_engage_self(struct worker *worker)
{
    struct pool *pool = worker->pool;
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS; ordered by the caller's fence */
    for (;;) {
        struct pool_counts counts = counts_unpack(word);
        if (counts.engaged >= counts.goal)
            return false;
        counts.engaged++;
        /* Full order: as in pool_engage. */
        if (shared_u64_cas_seq_cst(&pool->counts, &word, counts_pack(counts))) {
            raise_workers_max(pool, counts.engaged);
            return true;
        }
    }
}

/* While the pool closes, the closing thread waits for the last worker to disengage. */
static void tell_closer(struct pool *pool)
{
    if (shared_u32_load_seq_cst(&pool->state) == POOL_RUNNING)
        return;
    shared_u32_add_seq_cst(&pool->private->quiet, 1); /* seq_cst: after the change of counts that the closer looks for */
    platform_wake(&pool->private->quiet, 1);
}

void pool_disengage(struct worker *worker)
{
    counts_change(worker->pool, -1, 0, 0);
    tell_closer(worker->pool);
}

void pool_set_goal(struct pool *pool, uint32_t goal)
{
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS */
    struct pool_counts counts;
    do {
        counts = counts_unpack(word);
        counts.goal = (uint16_t)goal;
    } while (!shared_u64_cas_seq_cst(&pool->counts, &word, counts_pack(counts))); /* full order, as in pool_engage */
}

/* ---- small services ---- */

struct worker *pool_worker(const struct pool *pool, uint32_t index)
{
    /* @P pool.1: relies on the worker's queues being initialised. */
    if (index >= shared_u32_load_acquire(&pool->existing))
        return NULL;
    return shared_ptr_load_relaxed(&pool->workers[index]); /* exposed by @P pool.1 */
}

uint32_t pool_existing(const struct pool *pool)
{
    /* @P pool.1: relies on the workers below this index being initialised. */
    return shared_u32_load_acquire(&pool->existing);
}

uint64_t pool_setting(const struct pool *pool, const char *name)
{
    for (uint32_t i = 0; i < pool->setting_count; i++)
        if (strcmp(pool->settings[i].name, name) == 0)
            return pool->settings[i].value;
    for (const struct scheduler_parameter *p = pool->scheduler->parameters; p != NULL && p->name != NULL; p++)
        if (strcmp(p->name, name) == 0)
            return p->initial;
    return 0;
}

bool pool_is_stopping(const struct pool *pool)
{
    if (shared_u32_load_relaxed(&pool->state) < POOL_STOPPED) /* a late look only runs one more task */
        return false;
    return counts_unpack(shared_u64_load_relaxed(&pool->counts)).blocked == 0; /* re-checked by the closer */
}

void pool_count(struct pool *pool, struct worker *self, enum counter counter, uint64_t amount)
{
    if (self != NULL)
        worker_count(self, counter, amount);
    else
        shared_u64_add_relaxed(&pool->private->outside_account->counters[counter], amount); /* counter only */
}

void pool_wake(struct pool *pool, struct worker *self, struct shared_u32 *word, uint32_t count)
{
    pool_count(pool, self, COUNTER_wakes_sent, 1);
    if (self == NULL) {
        platform_wake(word, count);
        return;
    }
    enum activity before = self->account->current;
    trace_event(self->trace, TRACE_wake, TRACE_INSTANT, count);
    account_switch(self->account, ACTIVITY_wake);
    platform_wake(word, count);
    account_switch(self->account, before);
}

struct worker *pool_self(const struct pool *pool)
{
    for (struct worker *worker = platform_self(); worker != NULL; worker = worker->outer)
        if (worker->pool == pool)
            return worker;
    return NULL;
}

/* ---- submitting ---- */

static bool may_submit(const struct pool *pool, const struct worker *self, uint32_t state)
{
    switch (state) {
    case POOL_RUNNING:
        return true;
    case POOL_CLOSING:
        return self != NULL && self->is_worker;
    case POOL_DRAINING:
        return self != NULL && self == pool->private->closer;
    default:
        return false;
    }
}

bool pool_enter(struct pool *pool, struct worker *self, struct pool_gate *gate)
{
    if (self != NULL && self->is_worker)
        return may_submit(pool, self, shared_u32_load_relaxed(&pool->state)); /* joined before the queues end */
    if (self != NULL) {
        gate->before = shared_u32_load_relaxed(&self->submitting); /* single writer; 1: nested, let in already */
        shared_u32_store_relaxed(&self->submitting, 1);            /* ordered by fence @F pool.1 */
        /* @F pool.1: store the mark, then load the state. Without it close could see no mark and this thread no close,
         * and the task would be queued behind the last drain. */
        ordered_fence_light();
    } else {
        /* seq_cst: as the fence @F pool.1. */
        gate->before = shared_u32_add_seq_cst(&pool->private->outside, 1);
    }
    bool nested = self != NULL && gate->before != 0;
    if (nested || may_submit(pool, self, shared_u32_load_seq_cst(&pool->state)))
        return true;
    pool_leave(pool, self, gate);
    return false;
}

void pool_leave(struct pool *pool, struct worker *self, const struct pool_gate *gate)
{
    if (self != NULL && self->is_worker)
        return;
    if (self != NULL)
        shared_u32_store_release(&self->submitting, gate->before); /* @F pool.1: the queued task is before the mark's end */
    else
        shared_u32_add_release(&pool->private->outside, (uint32_t)-1); /* @F pool.1: as above */
}

/* Scheduler inline without an attached thread: a guest for the length of the submit. */
static int submit_as_stranger(struct pool *pool, struct pilfer_task *task, enum pilfer_placement placement)
{
    struct worker *stranger = worker_create(pool, UINT32_MAX, false, "stranger");
    if (stranger == NULL)
        return -ENOMEM;
    account_init(stranger->account, ACTIVITY_search, stranger->random);
    stranger->outer = platform_self();
    platform_self_set(stranger);
    int status = pool_submit(pool, stranger, task, placement);
    platform_self_set(stranger->outer);
    for (uint32_t i = 0; i < COUNTER_COUNT; i++)
        pool_count(pool, NULL, i, counter_read(&stranger->account->counters[i]));
    worker_destroy(stranger);
    return status;
}

static void accepted(struct pool *pool, struct worker *self, uint32_t tasks, uint32_t wakes)
{
    pool_count(pool, self, COUNTER_tasks_accepted, tasks);
    if (wakes > 0)
        pool->idle->submitted(pool, self, wakes);
    if ((pool->scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0)
        worker_run_inline(self);
}

int pool_submit(struct pool *pool, struct worker *self, struct pilfer_task *task, enum pilfer_placement placement)
{
    if (self == NULL && (pool->scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0)
        return submit_as_stranger(pool, task, placement);
    task_mark_queued(task);
    int wakes = pool->scheduler->submit(pool, self, task, placement);
    if (wakes < 0) {
        task_mark_refused(task);
        pool_count(pool, self, COUNTER_submits_refused, 1);
        return wakes;
    }
    if (self != NULL)
        trace_event(self->trace, TRACE_submit, TRACE_INSTANT, (uint64_t)(uintptr_t)task);
    accepted(pool, self, 1, (uint32_t)wakes);
    return 0;
}

/* One by one, for schedulers without a batch of their own. */
static int submit_each(struct pool *pool, struct worker *self, struct pilfer_task *first, uint32_t count,
                       enum pilfer_placement placement)
{
    int taken = 0;
    for (struct pilfer_task *task = first, *next; count > 0; task = next, count--, taken++) {
        next = task->next;
        int status = pool_submit(pool, self, task, placement);
        if (status != 0)
            return taken > 0 ? taken : status;
    }
    return taken;
}

int pool_submit_batch(struct pool *pool, struct worker *self, struct pilfer_task *first, uint32_t count,
                      enum pilfer_placement placement)
{
    bool runs_here = (pool->scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) != 0;
    if (pool->scheduler->submit_batch == NULL || runs_here)
        return submit_each(pool, self, first, count, placement);
    uint32_t wakes = 0;
    struct pilfer_task *rest = first;
    for (uint32_t i = 0; i < count; i++, rest = rest->next)
        task_mark_queued(rest);
    rest = first;
    int taken = pool->scheduler->submit_batch(pool, self, &rest, count, placement, &wakes);
    uint32_t refused = count - (uint32_t)(taken > 0 ? taken : 0);
    for (uint32_t i = 0; i < refused; i++, rest = rest->next)
        task_mark_refused(rest);
    if (refused > 0)
        pool_count(pool, self, COUNTER_submits_refused, refused);
    if (taken > 0)
        accepted(pool, self, (uint32_t)taken, wakes);
    return taken;
}

/* ---- guests ---- */

int pool_attach(struct pool *pool, const char *name)
{
    if (pool_self(pool) != NULL)
        return -EBUSY;
    struct worker *guest = worker_create(pool, UINT32_MAX, false, name);
    if (guest == NULL)
        return -ENOMEM;
    guest->thread = platform_thread_self();
    if (guest->thread == NULL) {
        worker_destroy(guest);
        return -ENOMEM;
    }
    account_init(guest->account, ACTIVITY_run, guest->random);
    lock_lock(&pool->private->add_lock);
    guest->next_guest = pool->private->guests;
    pool->private->guests = guest;
    lock_unlock(&pool->private->add_lock);
    guest->outer = platform_self();
    platform_self_set(guest);
    return 0;
}

void pool_detach(struct pool *pool)
{
    struct worker *guest = pool_self(pool);
    if (guest == NULL || guest->is_worker || platform_self() != guest)
        return;
    account_switch(guest->account, ACTIVITY_run);
    lock_lock(&pool->private->add_lock);
    platform_thread_schedule(guest->thread, &guest->ended);
    platform_thread_forget(guest->thread);
    guest->thread = NULL;
    lock_unlock(&pool->private->add_lock);
    platform_self_set(guest->outer);
}

static void guest_switch(enum activity activity)
{
    struct worker *self = platform_self();
    if (self != NULL && !self->is_worker)
        account_switch(self->account, activity);
}

void pilfer_guest_polls(void)
{
    guest_switch(ACTIVITY_poll);
}

void pilfer_guest_runs(void)
{
    guest_switch(ACTIVITY_run);
}

/* ---- waiting ---- */

void pilfer_latch_init(struct pilfer_latch *latch, uint32_t count)
{
    shared_u32_store_relaxed(&latch->remaining, count); /* before anybody else knows the latch */
}

void pilfer_latch_arrive(struct pilfer_latch *latch)
{
    /* @P pool.latch: publishes what was done before this arrival, and passes on what earlier arrivals published. */
    if (shared_u32_add_acq_rel(&latch->remaining, (uint32_t)-1) == 1)
        platform_wake(&latch->remaining, UINT32_MAX);
}

/* Parks until the latch is at zero. */
static void latch_park(struct pilfer_latch *latch)
{
    uint32_t remaining;
    /* @P pool.latch: relies on everything done before the arrivals. */
    while ((remaining = shared_u32_load_acquire(&latch->remaining)) != 0)
        platform_park(&latch->remaining, remaining, PLATFORM_FOREVER);
}

/* The worker counts as blocked instead of engaged, and somebody takes its place if there is work. */
static bool begin_block(struct worker *worker)
{
    struct pool *pool = worker->pool;
    uint32_t moved = pool->scheduler->surrender_local != NULL ? pool->scheduler->surrender_local(worker) : 0;
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS */
    struct pool_counts counts;
    do {
        counts = counts_unpack(word);
        if (counts.blocked >= PILFER_SUBSTITUTES_MAX)
            return false;
        counts.engaged--;
        counts.blocked++;
    } while (!shared_u64_cas_seq_cst(&pool->counts, &word, counts_pack(counts))); /* full order: before the look below */
    if (pool->sizing->blocked != NULL)
        pool->sizing->blocked(pool, 1);
    ordered_fence_seq_cst(); /* @F pool.2: leave engaged, then look for tasks; pairs with the idle policy's submit fence */
    if ((moved > 0 || pool->scheduler->pending(pool)) && pool_engage(pool, worker)) {
        worker_count(worker, COUNTER_substitutes, 1);
        pool->idle->release(pool, worker);
    }
    return true;
}

static void end_block(struct worker *worker)
{
    counts_change(worker->pool, 1, 0, -1);
    if (worker->pool->sizing->blocked != NULL)
        worker->pool->sizing->blocked(worker->pool, -1);
}

static bool help(struct worker *worker)
{
    struct pilfer_task *task;
    if (worker->help_depth >= PILFER_HELP_DEPTH_MAX)
        return false;
    enum next_result result;
    do
        result = worker->pool->scheduler->next(worker, &task);
    while (result == NEXT_MISSED);
    if (result == NEXT_EMPTY)
        return false;
    worker->help_depth++;
    worker_count(worker, COUNTER_helps, 1);
    worker_run(worker, task);
    worker->help_depth--;
    return true;
}

int pool_wait(struct pool *pool, struct pilfer_latch *latch)
{
    struct worker *worker = pool_self(pool);
    bool inside = worker != NULL && (worker->is_worker || worker->runs_inline);
    if (!inside) {
        latch_park(latch);
        return 0;
    }
    enum activity before = worker->account->current;
    account_switch(worker->account, ACTIVITY_search);
    int status = 0;
    /* @P pool.latch: relies on everything done before the arrivals. */
    while (status == 0 && shared_u32_load_acquire(&latch->remaining) != 0) {
        if (help(worker))
            continue;
        if (worker->is_worker && !begin_block(worker)) {
            status = -EDEADLK;
            break;
        }
        account_switch(worker->account, ACTIVITY_park);
        worker_count(worker, COUNTER_parks, 1);
        latch_park(latch);
        account_switch(worker->account, ACTIVITY_search);
        if (worker->is_worker)
            end_block(worker);
    }
    account_switch(worker->account, before);
    return status;
}

/* ---- reading ---- */

static void add_schedule(struct account_totals *totals, const struct platform_schedule *schedule)
{
    totals->thread_cpu_ns += schedule->cpu_ns;
    totals->run_delay_ns += schedule->run_delay_ns;
    totals->voluntary_switches += schedule->voluntary_switches;
    totals->involuntary_switches += schedule->involuntary_switches;
}

static void add_worker(struct account_totals *totals, const struct worker *worker)
{
    struct platform_schedule schedule = worker->ended;
    account_add(totals, worker->account);
    if (worker->thread != NULL)
        platform_thread_schedule(worker->thread, &schedule);
    add_schedule(totals, &schedule);
}

void pool_totals(struct pool *pool, struct account_totals *out)
{
    memset(out, 0, sizeof(*out));
    account_add(out, pool->private->outside_account);
    lock_lock(&pool->private->add_lock);
    uint32_t existing = pool_existing(pool);
    for (uint32_t i = 0; i < existing; i++)
        add_worker(out, pool_worker(pool, i));
    for (const struct worker *guest = pool->private->guests; guest != NULL; guest = guest->next_guest)
        add_worker(out, guest);
    lock_unlock(&pool->private->add_lock);
    out->workers_started = existing;
    out->workers_max = shared_u32_load_relaxed(&pool->workers_max); /* counter only */
}

/* ---- making and ending ---- */

static bool allocate(struct pool *pool)
{
    pool->workers = platform_alloc(pool->worker_slots * sizeof(struct shared_ptr));
    pool->queueing = platform_alloc(pool->scheduler->pool_state_size);
    pool->idle_state = platform_alloc(pool->idle->pool_state_size);
    pool->sizing_state = platform_alloc(pool->sizing->pool_state_size);
    pool->private = platform_alloc(sizeof(*pool->private));
    struct pilfer_setting *settings = platform_alloc(pool->setting_count * sizeof(*settings));
    if (settings != NULL && pool->setting_count > 0)
        memcpy(settings, pool->settings, pool->setting_count * sizeof(*settings));
    pool->settings = settings;
    if (pool->private != NULL)
        pool->private->outside_account = platform_alloc(sizeof(struct account));
    return pool->workers != NULL && pool->queueing != NULL && pool->idle_state != NULL && pool->sizing_state != NULL &&
           pool->private != NULL && pool->private->outside_account != NULL && settings != NULL;
}

static void release_memory(struct pool *pool)
{
    if (pool->private != NULL)
        platform_free(pool->private->outside_account);
    platform_free(pool->private);
    platform_free((void *)pool->settings);
    platform_free(pool->sizing_state);
    platform_free(pool->idle_state);
    platform_free(pool->queueing);
    platform_free(pool->workers);
    platform_free(pool);
}

/* The three tables' init hooks; undone on failure. */
static int init_tables(struct pool *pool)
{
    int status = pool->scheduler->init != NULL ? pool->scheduler->init(pool) : 0;
    if (status != 0)
        return status;
    status = pool->idle->init != NULL ? pool->idle->init(pool) : 0;
    if (status == 0) {
        status = pool->sizing->init != NULL ? pool->sizing->init(pool) : 0;
        if (status == 0)
            return 0;
        if (pool->idle->fini != NULL)
            pool->idle->fini(pool);
    }
    if (pool->scheduler->fini != NULL)
        pool->scheduler->fini(pool);
    return status;
}

static int start_workers(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->min_workers; i++) {
        counts_change(pool, 0, 1, 0);
        int status = worker_add(pool);
        if (status == 0)
            continue;
        counts_change(pool, 0, -1, 0);
        if (i == 0)
            return status;
        shared_u32_store_relaxed(&pool->thread_limit, i); /* counter only */
        pool_count(pool, NULL, COUNTER_thread_failures, 1);
        break;
    }
    return 0;
}

int pool_create(const struct pilfer_options *options, const struct scheduler *scheduler,
                const struct idle_policy *idle, const struct sizing_policy *sizing, struct pool **out)
{
    struct pool *pool = platform_alloc(sizeof(*pool));
    if (pool == NULL)
        return -ENOMEM;
    bool has_workers = (scheduler->caps & SCHEDULER_RUNS_IN_SUBMITTER) == 0;
    pool->scheduler = scheduler;
    pool->idle = idle;
    pool->sizing = sizing;
    pool->min_workers = has_workers ? options->min_workers : 0;
    pool->max_workers = has_workers ? options->max_workers : 0;
    pool->spin_limit = options->spin_limit;
    pool->worker_slots = has_workers ? options->max_workers + PILFER_SUBSTITUTES_MAX : 0;
    pool->processors = platform_usable_cpus();
    pool->seed = options->seed;
    pool->trace_events = options->trace_events;
    pool->settings = options->settings;
    pool->setting_count = options->setting_count;
    shared_u32_store_relaxed(&pool->thread_limit, pool->worker_slots); /* counter only */
    int status = allocate(pool) ? init_tables(pool) : -ENOMEM;
    if (status != 0) {
        release_memory(pool);
        return status;
    }
    status = start_workers(pool);
    if (status != 0) {
        pool_stop(pool, false);
        pool_destroy(pool);
        return status;
    }
    *out = pool;
    return 0;
}

/* Waits until no submit of a guest or an unattached thread is in progress. */
static void wait_for_submitters(struct pool *pool)
{
    /* @F pool.1: the state is written, then the marks are read; see pool_enter. */
    ordered_fence_heavy();
    for (;;) {
        /* acquire: @F pool.1, the tasks queued by those that have left are visible to the drain. */
        bool busy = shared_u32_load_acquire(&pool->private->outside) != 0;
        lock_lock(&pool->private->add_lock);
        for (struct worker *guest = pool->private->guests; guest != NULL; guest = guest->next_guest)
            busy = busy || shared_u32_load_acquire(&guest->submitting) != 0; /* @F pool.1: as above */
        lock_unlock(&pool->private->add_lock);
        if (!busy)
            return;
        platform_yield();
    }
}

static void wait_for_quiet(struct pool *pool)
{
    for (;;) {
        uint32_t seen = shared_u32_load_seq_cst(&pool->private->quiet);
        struct pool_counts counts = counts_unpack(shared_u64_load_seq_cst(&pool->counts));
        if (counts.engaged == 0 && counts.blocked == 0)
            return;
        platform_park(&pool->private->quiet, seen, PLATFORM_FOREVER);
    }
}

void pool_stop(struct pool *pool, bool run_queued)
{
    shared_u32_store_seq_cst(&pool->state, run_queued ? POOL_CLOSING : POOL_STOPPED); /* @F pool.1 */
    wait_for_submitters(pool);
    wait_for_quiet(pool);
    shared_u32_store_seq_cst(&pool->state, POOL_STOPPED); /* seq_cst: a plain step; nobody submits any more */
    if (pool->idle->stop != NULL)
        pool->idle->stop(pool);
    /* A substitute may be added by a running task until it ends: join by index, and look again. */
    for (uint32_t i = 0; i < pool_existing(pool); i++) {
        struct worker *worker = pool_worker(pool, i);
        platform_thread_join(worker->thread);
        worker->thread = NULL;
    }
}

void pool_drain(struct pool *pool, bool run, void (*give_back)(struct pilfer_task *task))
{
    struct pilfer_task *task;
    if (run && pool_attach(pool, "closer") == 0) {
        pool->private->closer = pool_self(pool);
        shared_u32_store_relaxed(&pool->state, POOL_DRAINING); /* no other thread submits any more */
        while ((task = pool->scheduler->drain(pool)) != NULL)
            worker_run(pool->private->closer, task);
        shared_u32_store_relaxed(&pool->state, POOL_STOPPED); /* as above */
        pool_detach(pool);
    }
    while ((task = pool->scheduler->drain(pool)) != NULL) {
        task_mark_taken(task);
        pool_count(pool, NULL, COUNTER_tasks_drained, 1);
        if (give_back != NULL)
            give_back(task);
    }
}

void pool_destroy(struct pool *pool)
{
    for (uint32_t i = 0; i < pool_existing(pool); i++)
        worker_destroy(pool_worker(pool, i));
    for (struct worker *guest = pool->private->guests, *next; guest != NULL; guest = next) {
        next = guest->next_guest;
        platform_thread_forget(guest->thread);
        worker_destroy(guest);
    }
    if (pool->sizing->fini != NULL)
        pool->sizing->fini(pool);
    if (pool->idle->fini != NULL)
        pool->idle->fini(pool);
    if (pool->scheduler->fini != NULL)
        pool->scheduler->fini(pool);
    release_memory(pool);
}
