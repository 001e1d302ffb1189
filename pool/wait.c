/* SPDX-License-Identifier: MIT
 *
 * Waiting for a latch: from outside, and from inside a task.
 *
 * How it works. Inside a task the worker first helps: it runs other tasks, nested. With none to run it counts as
 * blocked instead of engaged, engages a substitute for its turn, and parks on the latch's word.
 *
 * Looks in between. Where no substitute can be started (a thread could not be), a waiting task looks for something to
 * help with every HELP_AGAIN_NS. A start may also fail after the task has parked, and what relied on it then lies: so a
 * parked one looks in any case, every LOOK_AGAIN_NS. A look asks pending() and changes no counts. Counted as engaged,
 * the worker could be what a submit relies on, or a request that found the goal reached, whose flag only a turn takes
 * back: it would have to engage another substitute after a look that finds nothing, to wake it for nothing, again and
 * again, and the last to sleep would never get old enough to retire. As it is nobody relies on a blocked worker: what
 * was promised when it left was handed to its substitute. One that has seen a task is engaged again and helps; when
 * there is no more it blocks as the first time, with a substitute.
 *
 * Worst case. Each blocked task holds a thread; PILFER_SUBSTITUTES_MAX of them is the limit. One that is nested too
 * deep to help is refused when nobody else is left to run what is queued.
 *
 * Labels
 *   @P pool.latch  the last arrival -> the waiter: everything done before the arrivals
 *   @F pool.2      leave the engaged ones, then look for tasks; pairs with @F announce.1 and the like of the submitter
 *
 * Sources. Helping: Wagner & Calder 1993 (leapfrogging), without its restriction; the substitute: Java's
 * ForkJoinPool.managedBlock.
 */
#include <errno.h>

#include "pool.h"

enum { HELP_AGAIN_NS = 1000000, LOOK_AGAIN_NS = 100000000 };

void pilfer_latch_init(struct pilfer_latch *latch, uint32_t count)
{
    shared_u32_store_relaxed(&latch->remaining, count); /* before anybody else knows the latch */
}

void pilfer_latch_arrive(struct pilfer_latch *latch)
{
    /* @P pool.latch: publishes what was done before this arrival; what earlier arrivals published is passed on. */
    if (shared_u32_add_release(&latch->remaining, (uint32_t)-1) == 1)
        platform_wake(&latch->remaining, UINT32_MAX);
}

/* Parks until the latch is at zero. False: the deadline came first. */
static bool latch_park(struct pilfer_latch *latch, uint64_t deadline_ns)
{
    uint32_t remaining;
    /* @P pool.latch: relies on everything done before the arrivals. */
    while ((remaining = shared_u32_load_acquire(&latch->remaining)) != 0)
        if (platform_park(&latch->remaining, remaining, deadline_ns) == -ETIMEDOUT)
            return false;
    return true;
}

/* No thread can be started any more, so that a task submitted while all workers are blocked would find nobody. */
static bool lacks_substitutes(const struct pool *pool)
{
    return pool_published(pool) >= shared_u32_load_relaxed(&pool->thread_limit); /* counter only */
}

static void end_block(struct worker *worker)
{
    pool_counts_change(worker->pool, 1, 0, -1);
    if (worker->pool->sizing->blocked != NULL)
        worker->pool->sizing->blocked(worker->pool, -1);
}

/* False: too many are. */
static bool count_blocked(struct pool *pool)
{
    uint64_t word = shared_u64_load_relaxed(&pool->counts); /* re-checked by CAS */
    struct pool_counts counts;
    do {
        counts = counts_unpack(word);
        if (counts.blocked >= PILFER_SUBSTITUTES_MAX)
            return false;
        counts.engaged--;
        counts.blocked++;
        /* relaxed: ordered by fence @F pool.2 where no other worker is engaged in its place. */
    } while (!shared_u64_cas_relaxed(&pool->counts, &word, counts_pack(counts)));
    return true;
}

/* The worker counts as blocked instead of engaged, and a substitute takes its turn. Also when nothing is queued: a
 * submit may have relied on this worker to look again before it leaves, and an idle policy may hold a request that only
 * a turn takes back. False: it must not block, since too many do, or since nobody would be left to run what is queued.
 */
static bool begin_block(struct worker *worker)
{
    struct pool *pool = worker->pool;
    const struct scheduler *scheduler = pool->scheduler;
    uint32_t moved = scheduler->surrender_local != NULL ? scheduler->surrender_local(worker) : 0;
    bool blocks = count_blocked(pool);
    if (blocks && pool->sizing->blocked != NULL)
        pool->sizing->blocked(pool, 1);
    if (blocks && pool_engage(pool, worker)) {
        worker_count(worker, COUNTER_substitutes, 1);
        pool->idle->release(pool, worker);
        return true;
    }
    /* While the tasks were being moved nobody could see them, and no substitute looks for them: as new ones. */
    if (moved > 0)
        pool->idle->submitted(pool, worker, moved);
    if (!blocks)
        return false;
    ordered_fence_seq_cst(); /* @F pool.2: leave the engaged ones, then look for tasks */
    uint16_t engaged = counts_unpack(shared_u64_load_relaxed(&pool->counts)).engaged; /* ordered by fence @F pool.2 */
    if (worker->help_depth < PILFER_HELP_DEPTH_MAX || !lacks_substitutes(pool) || engaged > 0 ||
        !pool->scheduler->pending(pool))
        return true;
    end_block(worker);
    return false;
}

static bool help(struct worker *worker)
{
    struct pool *pool = worker->pool;
    struct pilfer_task *task;
    if (worker->help_depth >= PILFER_HELP_DEPTH_MAX)
        return false;
    /* Or a worker that does nothing but help would pass for one that is stuck. */
    if (worker->is_worker && pool->sizing->turn_began != NULL)
        pool->sizing->turn_began(worker);
    enum next_result result;
    do
        result = pool->scheduler->next(worker, &task);
    while (result == NEXT_MISSED);
    if (result == NEXT_EMPTY)
        return false;
    worker->help_depth++;
    worker_count(worker, COUNTER_helps, 1);
    worker_run(worker, task);
    worker->help_depth--;
    return true;
}

/* Parks until the latch is at zero, or a look in between has seen a task. Who has no worker's counts just looks. */
static void park_blocked(struct worker *worker, struct pilfer_latch *latch)
{
    struct pool *pool = worker->pool;
    for (bool ends = false; !ends;) {
        account_switch(worker->account, ACTIVITY_park);
        worker_count(worker, COUNTER_parks, 1);
        ends = latch_park(latch, platform_now_ns() + (lacks_substitutes(pool) ? HELP_AGAIN_NS : LOOK_AGAIN_NS));
        account_switch(worker->account, ACTIVITY_search);
        if (ends || !worker->is_worker)
            return;
        ordered_fence_seq_cst(); /* @F pool.2: the engaged ones were left, then tasks are looked for */
        ends = pool->scheduler->pending(pool);
    }
}

int pool_wait(struct pool *pool, struct pilfer_latch *latch)
{
    struct worker *worker = pool_self(pool);
    bool inside = worker != NULL && (worker->is_worker || worker->runs_inline);
    if (!inside) {
        latch_park(latch, PLATFORM_FOREVER);
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
        park_blocked(worker, latch);
        if (worker->is_worker)
            end_block(worker);
    }
    account_switch(worker->account, before);
    return status;
}
