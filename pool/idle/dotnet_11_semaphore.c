/* SPDX-License-Identifier: MIT
 *
 * The semaphore of dotnet_11_semaphore.h.
 */
#include "idle/dotnet_11_semaphore.h"

#include <errno.h>

#include "idle/spin.h"

/* Bits of the word. */
enum { SIGNALS_SHIFT = 0, WAITERS_SHIFT = 16, WAKING_SHIFT = 32 };
#define ONE_SIGNAL (UINT64_C(1) << SIGNALS_SHIFT)
#define ONE_WAITER (UINT64_C(1) << WAITERS_SHIFT)
#define ONE_WAKING (UINT64_C(1) << WAKING_SHIFT)

/* Back-off: the wait before look i is between 2^(i-1) and 2^i - 1 pauses, i at most this. */
enum { BACK_OFF_BITS_MAX = 14 };

/* From registering as a waiter to coming back, at least; the explorer, whose time are steps, builds with 1. */
#ifndef DOTNET_11_COOL_DOWN_NS
#define DOTNET_11_COOL_DOWN_NS 4000
#endif

static uint32_t signals(uint64_t word)
{
    return (uint16_t)(word >> SIGNALS_SHIFT);
}

static uint32_t waiters(uint64_t word)
{
    return (uint16_t)(word >> WAITERS_SHIFT);
}

static uint32_t waking(uint64_t word)
{
    return (uint16_t)(word >> WAKING_SHIFT);
}

/* ---- waking ---- */

/* Does the wakes that were asked for, unless somebody holds the lock: that one does them. */
static void wake_asked(struct dotnet_11_semaphore *semaphore, struct pool *pool, struct worker *self)
{
    /* relaxed: ordered by fence, the callers' or the one below. */
    while (shared_u32_load_relaxed(&semaphore->wakes) > 0 && lock_try(&semaphore->lock)) {
        struct dotnet_11_waiter *waiter = NULL;
        if (shared_u32_load_relaxed(&semaphore->wakes) > 0) { /* lowered under the lock only */
            shared_u32_add_relaxed(&semaphore->wakes, (uint32_t)-1); /* under the lock */
            waiter = semaphore->top;
            if (waiter != NULL)
                semaphore->top = waiter->below;
            else
                semaphore->permits++;
        }
        lock_unlock(&semaphore->lock);
        if (waiter != NULL) {
            /* relaxed: the value is all that the waiter wants to know; the rest of it is under the lock. */
            shared_u32_store_relaxed(&waiter->word, 0);
            pool_wake(pool, self, &waiter->word, 1);
        }
        /* @F dotnet_11_semaphore.1: the lock was let go, then wakes are read; else a waker that found the lock held and
         * this holder that found none could both do nothing. */
        ordered_fence_seq_cst();
    }
}

/* Wakes a waiter if there is a signal for it and no other one is on its way. */
static void wake_if_wanted(struct dotnet_11_semaphore *semaphore, struct pool *pool, struct worker *self)
{
    uint64_t word = shared_u64_load_relaxed(&semaphore->word); /* re-checked by CAS; own change is seen */
    do {
        if (signals(word) == 0 || waiters(word) == 0 || waking(word) > 0)
            return;
        /* relaxed: passes on what was published before. */
    } while (!shared_u64_cas_relaxed(&semaphore->word, &word, word + ONE_WAKING));
    shared_u32_add_relaxed(&semaphore->wakes, 1); /* ordered by fence */
    /* @F dotnet_11_semaphore.1: a wake is asked for, then the lock is tried. */
    ordered_fence_seq_cst();
    wake_asked(semaphore, pool, self);
}

void dotnet_11_semaphore_release(struct dotnet_11_semaphore *semaphore, struct pool *pool, struct worker *self)
{
    /* @P dotnet_11_semaphore.1: publishes everything before the release, passes on what earlier ones published. */
    shared_u64_add_release(&semaphore->word, ONE_SIGNAL);
    wake_if_wanted(semaphore, pool, self);
}

/* ---- waiting ---- */

static bool is_stopped(const struct dotnet_11_semaphore *semaphore)
{
    return shared_u32_load_relaxed(&semaphore->stopped) != 0; /* a hint, but in lie_down: there under the lock */
}

/* One try: a lost race is a signal that another one has. */
static bool try_take(struct dotnet_11_semaphore *semaphore)
{
    uint64_t word = shared_u64_load_relaxed(&semaphore->word); /* re-checked by CAS */
    /* @P dotnet_11_semaphore.1: relies on what was published before the release. */
    return signals(word) > 0 && shared_u64_cas_acquire(&semaphore->word, &word, word - ONE_SIGNAL);
}

static bool spin(struct dotnet_11_semaphore *semaphore, struct worker *worker, uint32_t budget)
{
    bool took = false;
    spin_begin(worker, budget);
    for (uint32_t look = 0, used = 0; used < budget && !took && !is_stopped(semaphore); look++) {
        uint32_t least = look == 0 ? 0 : 1u << ((look < BACK_OFF_BITS_MAX ? look : BACK_OFF_BITS_MAX) - 1);
        uint32_t pauses = least + (least > 1 ? worker_random(worker, least) : 0);
        if (pauses > 0) {
            worker_count(worker, COUNTER_spins, 1);
            platform_pause(pauses);
        }
        used += pauses;
        took = try_take(semaphore);
    }
    spin_end(worker, took);
    return took;
}

/* Takes a waiter whose time is over off the stack. False: somebody has popped it, and so it is woken after all. */
static bool remove_waiter(struct dotnet_11_semaphore *semaphore, struct worker *worker, struct dotnet_11_waiter *waiter)
{
    lock_lock(&semaphore->lock);
    struct dotnet_11_waiter **link = &semaphore->top;
    while (*link != NULL && *link != waiter)
        link = &(*link)->below;
    bool lies = *link == waiter;
    if (lies)
        *link = waiter->below;
    lock_unlock(&semaphore->lock);
    /* @F dotnet_11_semaphore.1: the lock was let go, then wakes are read. */
    ordered_fence_seq_cst();
    wake_asked(semaphore, worker->pool, worker);
    return lies;
}

/* Until somebody pops this waiter. False: the deadline came first. */
static bool park(struct dotnet_11_semaphore *semaphore, struct worker *worker, struct dotnet_11_waiter *waiter,
                 uint64_t deadline_ns)
{
    bool woken = true;
    worker_parks(worker);
    while (woken && shared_u32_load_relaxed(&waiter->word) != 0) { /* the value is all that matters */
        if (platform_park(&waiter->word, 1, deadline_ns) != -ETIMEDOUT)
            continue;
        woken = !remove_waiter(semaphore, worker, waiter);
        deadline_ns = PLATFORM_FOREVER; /* popped: the wake is on its way */
    }
    worker_is_back(worker);
    return woken;
}

/* Parks once, or not at all if a permit was left. False: the deadline came first. */
static bool lie_down(struct dotnet_11_semaphore *semaphore, struct worker *worker, struct dotnet_11_waiter *waiter,
                     uint64_t deadline_ns)
{
    lock_lock(&semaphore->lock);
    bool may_pass = semaphore->permits > 0 || is_stopped(semaphore);
    if (may_pass) {
        semaphore->permits -= semaphore->permits > 0;
    } else {
        shared_u32_store_relaxed(&waiter->word, 1); /* before anybody can reach it */
        waiter->below = semaphore->top;
        semaphore->top = waiter;
    }
    lock_unlock(&semaphore->lock);
    /* @F dotnet_11_semaphore.1: the lock was let go, then wakes are read. */
    ordered_fence_seq_cst();
    wake_asked(semaphore, worker->pool, worker);
    return may_pass || park(semaphore, worker, waiter, deadline_ns);
}

/* Up again: the wake has arrived; takes a signal if there still is one, with the registration as a waiter. */
static bool rise(struct dotnet_11_semaphore *semaphore, struct worker *worker)
{
    uint64_t word = shared_u64_load_relaxed(&semaphore->word); /* re-checked by CAS */
    uint64_t next;
    bool took;
    do {
        took = signals(word) > 0;
        next = word - ONE_WAKING - (took ? ONE_SIGNAL + ONE_WAITER : 0);
        /* @P dotnet_11_semaphore.1: relies on what was published before the release. */
    } while (!shared_u64_cas_acquire(&semaphore->word, &word, next));
    if (took)
        wake_if_wanted(semaphore, worker->pool, worker);
    else
        worker_count(worker, COUNTER_wakes_lost, 1);
    return took;
}

static enum semaphore_result wait_as_waiter(struct dotnet_11_semaphore *semaphore, struct worker *worker,
                                            struct dotnet_11_waiter *waiter, uint64_t deadline_ns)
{
    bool took = false;
    /* relaxed: of this and a release one comes second, and sees the other's in the word. */
    shared_u64_add_relaxed(&semaphore->word, ONE_WAITER);
    wake_if_wanted(semaphore, worker->pool, worker);
    while (!took && !is_stopped(semaphore)) {
        uint64_t begin_ns = platform_now_ns();
        worker_yields(worker);
        if (!lie_down(semaphore, worker, waiter, deadline_ns)) {
            shared_u64_add_relaxed(&semaphore->word, -ONE_WAITER); /* a count */
            return SEMAPHORE_TIMED_OUT;
        }
        while (platform_now_ns() - begin_ns < DOTNET_11_COOL_DOWN_NS && !is_stopped(semaphore)) {
            worker_yields(worker);
            platform_pause(1);
        }
        if (!is_stopped(semaphore))
            took = rise(semaphore, worker);
    }
    return is_stopped(semaphore) ? SEMAPHORE_STOPPED : SEMAPHORE_TOOK;
}

enum semaphore_result dotnet_11_semaphore_wait(struct dotnet_11_semaphore *semaphore, struct worker *worker,
                                               struct dotnet_11_waiter *waiter, uint32_t budget, uint64_t deadline_ns)
{
    if (is_stopped(semaphore))
        return SEMAPHORE_STOPPED;
    bool spins = budget > 0 && worker->pool->processors > 1;
    /* Who wants to park at once does not even try: a signal that is there goes through the stack. */
    if (spins && (try_take(semaphore) || spin(semaphore, worker, budget)))
        return SEMAPHORE_TOOK;
    return wait_as_waiter(semaphore, worker, waiter, deadline_ns);
}

void dotnet_11_semaphore_stop(struct dotnet_11_semaphore *semaphore)
{
    /* relaxed: before the lock is taken, so who lies down later sees it, and who lay down before is popped here. */
    shared_u32_store_relaxed(&semaphore->stopped, 1);
    lock_lock(&semaphore->lock);
    struct dotnet_11_waiter *waiter = semaphore->top;
    semaphore->top = NULL;
    lock_unlock(&semaphore->lock);
    while (waiter != NULL) {
        struct dotnet_11_waiter *below = waiter->below; /* read before it goes on */
        shared_u32_store_relaxed(&waiter->word, 0);     /* as in wake_asked */
        platform_wake(&waiter->word, 1);
        waiter = below;
    }
}
