/* SPDX-License-Identifier: MIT
 *
 * Idle policy single-waker: at most one worker searches; a submit wakes nobody while one does.
 *
 * How it works. The word searching is 1 while a worker is on its way to a task or spins for one. A submit that finds it
 * 0 sets it and engages a worker, which thereby is the searcher. When the searcher gets a task it clears the word and,
 * if there is more work, hands the search on (the rule of the Go runtime: the last searcher wakes one more). A worker
 * that ran out of tasks becomes the searcher if there is none, and spins up to the limit looking at pending(); else it
 * leaves. Whoever finds a task in a last look takes the search up again. Workers park on a futex, unless the scheduler
 * has the tunable park-on-conditions: then as that says (semaphore.h).
 *
 * Worst case. A burst of n long tasks wakes workers one after another, each by the one before.
 *
 * Labels
 *   @F single.1  publish the task, then read searching  |  clear searching, then read the queues
 *
 * Sources. Go runtime proc.go (nmspinning, wakep); Tokio's idle.rs (num_searching).
 */
#include "idle/announce.h"
#include "idle/semaphore.h"
#include "idle/spin.h"

struct single {
    struct semaphore semaphore;
    _Alignas(
        CACHE_LINE_SIZE) struct shared_u32 searching; /* 0 or 1; written by any thread with CAS, cleared by its owner */
};

struct single_worker {
    struct semaphore_waiter waiter;
    bool searches; /* this worker owns the word */
};

static int single_init(struct pool *pool)
{
    struct single *single = pool->idle_state;
    semaphore_configure(&single->semaphore, pool, false);
    return 0;
}

static bool become_searcher(struct single *single)
{
    uint32_t expected = 0;
    /* relaxed, both: ordered by fence @F single.1; the load is re-checked by CAS. */
    return shared_u32_load_relaxed(&single->searching) == 0 && shared_u32_cas_relaxed(&single->searching, &expected, 1);
}

/* Wakes a searcher if there is none. When no worker can be engaged the word is given back, and then the queues are read
 * again: a submit that relied on the word meanwhile must not be forgotten. */
static void wake_searcher(struct pool *pool, struct worker *self)
{
    struct single *single = pool->idle_state;
    do {
        if (!become_searcher(single)) {
            pool_count(pool, self, COUNTER_requests_merged, 1);
            return;
        }
        if (pool_engage(pool, self)) {
            semaphore_release(&single->semaphore, pool, self);
            return;
        }
        shared_u32_store_relaxed(&single->searching, 0); /* ordered by fence @F single.1 */
        /* @F single.1: the word is cleared, then queues and counts are read. */
        ordered_fence_seq_cst();
    } while (pool->scheduler->pending(pool) && pool_has_room(pool));
}

static void single_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    (void)wakes; /* one searcher at a time; it asks for the next */
    /* Partner of @F pool.2 as well (a worker that blocks). @F single.1: the task is published, then the word is read.
     * Without it the submitter could rely on a searcher that has just given up, and whose last look missed the task. */
    ordered_fence_seq_cst();
    wake_searcher(pool, self);
}

static void stop_searching(struct worker *worker)
{
    struct single *single = worker->pool->idle_state;
    struct single_worker *own = worker->idle_state;
    own->searches = false;
    shared_u32_store_relaxed(&single->searching, 0); /* ordered by fence @F single.1 */
    /* @F single.1: the word is cleared, then the queues are read. See single_submitted. */
    ordered_fence_seq_cst();
}

static void single_dispatch_begin(struct worker *worker)
{
    (void)worker; /* the word was set by whoever engaged this worker */
}

static void single_got_first(struct worker *worker)
{
    struct single_worker *own = worker->idle_state;
    if (!own->searches)
        return;
    stop_searching(worker);
    if (worker->pool->scheduler->pending(worker->pool))
        wake_searcher(worker->pool, worker);
}

/* The searcher spins while there is nothing. True: something may be there. */
static bool search(struct worker *worker)
{
    struct pool *pool = worker->pool;
    const struct single *single = pool->idle_state;
    uint32_t steps = spin_steps(pool);
    bool found = false;
    if (steps == 0)
        return false;
    spin_begin(worker, steps);
    for (uint32_t step = spin_first_step(pool); step < steps && !found && !pool_is_stopping(pool); step++) {
        spin_step(worker, step, single->semaphore.pauses_only);
        found = pool->scheduler->pending(pool);
    }
    spin_end(worker, found);
    return found;
}

static bool single_found_nothing(struct worker *worker, bool missed)
{
    struct pool *pool = worker->pool;
    struct single_worker *own = worker->idle_state;
    bool again = false;
    if (missed) {
        spin_after_miss();
        return true;
    }
    if (!own->searches)
        own->searches = become_searcher(pool->idle_state);
    if (own->searches) {
        if (search(worker))
            return true;
        stop_searching(worker);
        again = pool->scheduler->pending(pool);
    }
    again = again || announce_idle(worker) == ANNOUNCED_ENGAGED;
    /* Submits may have relied on the search that ended: it is taken up again, so that the first task hands it on. If
     * another one searches by now, that one does. */
    own->searches = again && become_searcher(pool->idle_state);
    return again;
}

static bool single_wait(struct worker *worker)
{
    struct single *single = worker->pool->idle_state;
    struct single_worker *own = worker->idle_state;
    bool engaged =
        semaphore_wait(&single->semaphore, worker, &own->waiter, 0, PLATFORM_FOREVER) == SEMAPHORE_TOOK;
    own->searches = engaged;
    return engaged;
}

static void single_release(struct pool *pool, struct worker *self)
{
    struct single *single = pool->idle_state;
    /* The released worker will take itself for the searcher and clear the word. If another one is searching, two search
     * for a while: more work than wanted, nothing lost. relaxed: the worker sees it, @P semaphore.1. */
    shared_u32_store_relaxed(&single->searching, 1);
    semaphore_release(&single->semaphore, pool, self);
}

static void single_stop(struct pool *pool)
{
    struct single *single = pool->idle_state;
    semaphore_stop(&single->semaphore);
}

const struct idle_policy idle_single_waker = {
    .name = "single-waker",
    .summary = "no wake while a worker searches; it spins, then hands the search on",
    .spins = true,
    .pool_state_size = sizeof(struct single),
    .worker_state_size = sizeof(struct single_worker),
    .init = single_init,
    .submitted = single_submitted,
    .dispatch_begin = single_dispatch_begin,
    .got_first = single_got_first,
    .found_nothing = single_found_nothing,
    .wait = single_wait,
    .release = single_release,
    .stop = single_stop,
};
