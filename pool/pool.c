/* SPDX-License-Identifier: MIT
 *
 * The core: the counts word, submitting, guests and counters. Waiting is in wait.c, making and ending in lifecycle.c.
 *
 * How it works. The counts word {engaged, existing, goal, blocked} is changed by CAS. Who wants a task run engages a
 * worker if the goal allows it; a worker that found nothing disengages and only then takes its last look, so that
 * either the submitter sees the lower count or the worker sees the task (@F of each idle policy). A task that waits
 * inside the pool counts as blocked, not as engaged, so that a substitute can be engaged for it.
 *
 * Closing. Submits and close are kept apart by a gate: a submitter marks itself, then reads the state; close writes the
 * state, then waits for the marks to go. Workers need no mark, since they are joined.
 *
 * Labels
 *   @P pool.1      a published worker: its queues are initialised
 *   @P pool.2      the state while what is left is run: who may still submit
 *   @P pool.4      quiet: the counts that the last worker to leave has left
 *   @F pool.1      the gate: between the submitter's mark and its read of the state, and between close's write of the
 *                  state and its read of the marks
 *   @F pool.3      a worker is engaged, then takes a task  |  close reads the queues, then the counts
 *
 * Sources. The counts word and engage/disengage: dotnet/runtime 8.0, PortableThreadPool (ThreadCounts).
 */
#include <errno.h>
#include <string.h>

#include "pool.h"

/* ---- the counts word ---- */

/* Adds to the fields of the counts word. */
struct pool_counts pool_counts_change(struct pool *pool, int engaged, int existing, int blocked)
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
    counter_raise(&pool->workers_max, counts.engaged);
    return counts;
}

/* No thread could be started: those that exist do the work. Another start is tried only after one of them has retired,
 * or if two fail at once and the limit of the first one stays. engaged: how the counts of engaged workers change. */
static void thread_failed(struct pool *pool, struct worker *self, int engaged)
{
    struct pool_counts counts = pool_counts_change(pool, engaged, -1, 0);
    shared_u32_store_relaxed(&pool->thread_limit, counts.existing); /* counter only */
    pool_count(pool, self, COUNTER_thread_failures, 1);
}

enum pool_engaged pool_engage_first(struct pool *pool)
{
    /* seq_cst: a caller that has only done a read-modify-write before (@F lifo.2) still reads after it; where the goal
     * is reached there is no CAS that would see to it. */
    uint64_t word = shared_u64_load_seq_cst(&pool->counts);
    for (;;) {
        struct pool_counts counts = counts_unpack(word);
        if (counts.engaged >= counts.goal)
            return POOL_FULL;
        bool grow = counts.engaged + counts.blocked >= counts.existing;
        if (grow && counts.existing >= shared_u32_load_relaxed(&pool->thread_limit)) /* counter only */
            return POOL_FULL;
        counts.engaged++;
        counts.existing = (uint16_t)(counts.existing + grow);
        /* Full order: competes with pool_disengage. On failure relaxed: whoever leaves after the load above (seq_cst)
         * sees what this thread did before it. */
        if (!shared_u64_cas_seq_cst(&pool->counts, &word, counts_pack(counts)))
            continue;
        counter_raise(&pool->workers_max, counts.engaged);
        return grow ? POOL_NEEDS_THREAD : POOL_WAITING;
    }
}

bool pool_engage(struct pool *pool, struct worker *self)
{
    for (;;) {
        enum pool_engaged engaged = pool_engage_first(pool);
        if (engaged != POOL_NEEDS_THREAD || worker_add(pool) == 0)
            return engaged != POOL_FULL;
        /* While the thread was being started, the goal looked reached to others: look once more for an existing one. */
        thread_failed(pool, self, -1);
    }
}

void pool_start_thread(struct pool *pool, struct worker *self)
{
    /* The signal was given before: if no thread can be started, an existing worker takes it, or it is left over and
     * some worker finds nothing for it. Counted as engaged it stays: whoever takes the signal gives that back. */
    if (worker_add(pool) != 0)
        thread_failed(pool, self, 0);
}

bool pool_has_room(const struct pool *pool)
{
    struct pool_counts counts =
        counts_unpack(shared_u64_load_relaxed(&pool->counts)); /* ordered by the caller's fence */
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
        /* As many are engaged as exist, and this one is not: somebody has counted it already, and its wake-up is on its
         * way. To count it twice would leave that wake-up to nobody, and the goal would look reached. */
        if (counts.engaged >= counts.goal || counts.engaged + counts.blocked >= counts.existing)
            return false;
        counts.engaged++;
        if (!shared_u64_cas_relaxed(&pool->counts, &word, counts_pack(counts))) /* ordered by fence @F pool.3 */
            continue;
        /* @F pool.3: engaged, then a task is taken. Without it close could see the task gone and this worker idle. */
        ordered_fence_seq_cst();
        counter_raise(&pool->workers_max, counts.engaged);
        return true;
    }
}

/* While the pool closes, the closing thread waits for the last worker to disengage. */
static void tell_closer(struct pool *pool)
{
    /* seq_cst, as the change of counts before it: @F pool.1, close writes the state, fences, and reads the counts. */
    if (shared_u32_load_seq_cst(&pool->state) == POOL_RUNNING)
        return;
    /* @P pool.4: the counts were changed before; a closer that knows this change does not park on older ones. */
    shared_u32_add_release(&pool->private->quiet, 1);
    platform_wake(&pool->private->quiet, 1);
}

void pool_disengage(struct worker *worker)
{
    pool_counts_change(worker->pool, -1, 0, 0);
    tell_closer(worker->pool);
}

bool pool_disengage_over(struct worker *worker)
{
    struct pool *pool = worker->pool;
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS */
    struct pool_counts counts;
    do {
        counts = counts_unpack(word);
        if (counts.engaged <= counts.goal)
            return false;
        counts.engaged--;
        counts.blocked++;
        /* relaxed: as many as the goal stay engaged, and who relied on the count relies on their last looks. */
    } while (!shared_u64_cas_relaxed(&pool->counts, &word, counts_pack(counts)));
    return true;
}

void pool_handed_over(struct worker *worker)
{
    pool_counts_change(worker->pool, 0, 0, -1);
    tell_closer(worker->pool);
}

struct pool_numbers pool_numbers(const struct pool *pool)
{
    struct pool_counts counts = counts_unpack(shared_u64_load_relaxed(&pool->counts)); /* one moment's; a hint */
    return (struct pool_numbers){counts.engaged, counts.existing, counts.goal, counts.blocked};
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
    if (index >= shared_u32_load_acquire(&pool->published))
        return NULL;
    return shared_ptr_load_relaxed(&pool->workers[index]); /* exposed by @P pool.1 */
}

uint32_t pool_published(const struct pool *pool)
{
    return shared_u32_load_relaxed(&pool->published); /* a number; pool_worker is what relies on @P pool.1 */
}

uint64_t pool_setting_or(const struct pool *pool, const char *name, uint64_t otherwise)
{
    for (uint32_t i = 0; i < pool->setting_count; i++)
        if (strcmp(pool->settings[i].name, name) == 0)
            return pool->settings[i].value;
    for (const struct scheduler_parameter *p = pool->scheduler->parameters; p != NULL && p->name != NULL; p++)
        if (strcmp(p->name, name) == 0)
            return p->initial;
    return otherwise;
}

uint64_t pool_setting(const struct pool *pool, const char *name)
{
    return pool_setting_or(pool, name, 0);
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
        counter_add_shared(&pool->private->outside_account->counters[counter], amount);
}

enum activity pool_wake_begins(struct pool *pool, struct worker *self, uint32_t count)
{
    pool_count(pool, self, COUNTER_wakes_sent, 1);
    if (self == NULL)
        return ACTIVITY_wake; /* nobody's */
    enum activity before = self->account->current;
    trace_event(self->trace, TRACE_wake, TRACE_INSTANT, count);
    account_switch(self->account, ACTIVITY_wake);
    return before;
}

void pool_wake_ends(struct worker *self, enum activity before)
{
    if (self != NULL)
        account_switch(self->account, before);
}

void pool_wake(struct pool *pool, struct worker *self, struct shared_u32 *word, uint32_t count)
{
    enum activity before = pool_wake_begins(pool, self, count);
    platform_wake(word, count);
    pool_wake_ends(self, before);
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
    case POOL_DRAINING: /* @P pool.2: relies on closer, through the caller's load of the state */
        return self != NULL && self == pool->private->closer;
    default:
        return false;
    }
}

bool pool_enter(struct pool *pool, struct worker *self, uint32_t tasks, struct pool_gate *gate)
{
    if (self != NULL && self->is_worker) {
        if (may_submit(pool, self, shared_u32_load_relaxed(&pool->state))) /* joined before the queues end */
            return true;
        pool_count(pool, self, COUNTER_submits_refused, tasks);
        return false;
    }
    if (self != NULL) {
        gate->before = shared_u32_load_relaxed(&self->submitting); /* single writer; 1: nested, let in already */
        shared_u32_store_relaxed(&self->submitting, 1);            /* ordered by fence @F pool.1 */
    } else {
        gate->before = shared_u32_add_relaxed(&pool->private->outside, 1); /* ordered by fence @F pool.1 */
    }
    /* @F pool.1: the mark is set, then the state is read. Without it close could see no mark and this thread no close,
     * and the task would be queued behind the last drain. */
    ordered_fence_light();
    bool nested = self != NULL && gate->before != 0;
    /* acquire: @P pool.2, may_submit relies on closer. */
    if (nested || may_submit(pool, self, shared_u32_load_acquire(&pool->state)))
        return true;
    pool_count(pool, self, COUNTER_submits_refused, tasks); /* before the leave: the pool may end after it */
    pool_leave(pool, self, gate);
    return false;
}

void pool_leave(struct pool *pool, struct worker *self, const struct pool_gate *gate)
{
    if (self != NULL && self->is_worker)
        return;
    if (self != NULL)
        shared_u32_store_release(&self->submitting,
                                 gate->before); /* @F pool.1: the queued task is before the mark's end */
    else
        shared_u32_add_release(&pool->private->outside, (uint32_t)-1); /* @F pool.1: as above */
}

/* Scheduler inline without an attached thread: a guest for the length of the submit. */
static int submit_as_stranger(struct pool *pool, struct pilfer_task *task, enum pilfer_placement placement)
{
    struct worker *stranger = worker_create(pool, UINT32_MAX, false, "stranger");
    if (stranger == NULL) {
        pool_count(pool, NULL, COUNTER_submits_refused, 1);
        return -ENOMEM;
    }
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

void pool_accepted(struct pool *pool, struct worker *self, uint32_t tasks, uint32_t wakes)
{
    pool_count(pool, self, COUNTER_tasks_accepted, tasks);
    if (wakes > 0)
        pool->idle->submitted(pool, self, wakes);
    if (wakes > 0 && pool->idle->requests == NULL && pool->sizing->requested != NULL)
        pool->sizing->requested(pool, self);
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
    pool_accepted(pool, self, 1, (uint32_t)wakes);
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
        pool_accepted(pool, self, (uint32_t)taken, wakes);
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
    struct platform_schedule schedule;
    account_add(totals, worker->account);
    add_schedule(totals, &worker->ended);
    if (worker->thread != NULL && !worker->retired && platform_thread_schedule(worker->thread, &schedule) == 0)
        add_schedule(totals, &schedule);
}

void pool_totals(struct pool *pool, struct account_totals *out)
{
    memset(out, 0, sizeof(*out));
    account_add(out, pool->private->outside_account);
    lock_lock(&pool->private->add_lock);
    uint32_t existing = pool_published(pool);
    for (uint32_t i = 0; i < existing; i++)
        add_worker(out, pool_worker(pool, i));
    for (const struct worker *guest = pool->private->guests; guest != NULL; guest = guest->next_guest)
        add_worker(out, guest);
    lock_unlock(&pool->private->add_lock);
    out->workers_started = existing;
    out->workers_max = (uint32_t)counter_read(&pool->workers_max);
}
