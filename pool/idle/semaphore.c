/* SPDX-License-Identifier: MIT
 *
 * The LIFO semaphore of semaphore.h.
 */
#include "idle/semaphore.h"

#include <errno.h>

#include "idle/spin.h"

/* Bits of the word. */
enum { SIGNALS_SHIFT = 0, WAITERS_SHIFT = 16, SPINNERS_SHIFT = 32, PROMISED_SHIFT = 48 };
enum { COUNT_MAX = 32767, SPINNERS_MAX = 255 };

struct counts {
    uint16_t signals, waiters, spinners, promised;
};

static struct counts unpack(uint64_t word)
{
    return (struct counts){(uint16_t)(word >> SIGNALS_SHIFT), (uint16_t)(word >> WAITERS_SHIFT),
                           (uint16_t)(word >> SPINNERS_SHIFT), (uint16_t)(word >> PROMISED_SHIFT)};
}

static uint64_t pack(struct counts counts)
{
    return (uint64_t)counts.signals << SIGNALS_SHIFT | (uint64_t)counts.waiters << WAITERS_SHIFT |
           (uint64_t)counts.spinners << SPINNERS_SHIFT | (uint64_t)counts.promised << PROMISED_SHIFT;
}

void semaphore_configure(struct semaphore *semaphore, const struct pool *pool, bool parks_on_conditions)
{
    semaphore->pauses_only = pool_setting_or(pool, "spin-yields", 1) == 0;
    semaphore->parks_on_conditions = pool_setting_or(pool, "park-on-conditions", parks_on_conditions) != 0;
}

/* Signals the condition variable of a waiter that was popped; the mutex is held meanwhile, as in the original. */
static void signal_condition(struct semaphore_waiter *waiter)
{
    lock_lock(&waiter->mutex);
    shared_u32_store_relaxed(&waiter->word, 0);   /* under the mutex */
    shared_u32_add_relaxed(&waiter->sequence, 1); /* under the mutex; parked on without it, compared by value */
    platform_wake(&waiter->sequence, 1);
    lock_unlock(&waiter->mutex);
}

/* Wakes the worker on top of the stack, or leaves a permit for the next that lies down. */
static void wake_one(struct semaphore *semaphore, struct pool *pool, struct worker *self)
{
    lock_lock(&semaphore->lock);
    struct semaphore_waiter *waiter = semaphore->top;
    if (waiter != NULL)
        semaphore->top = waiter->below;
    else
        semaphore->permits++;
    bool signals = waiter != NULL && semaphore->parks_on_conditions;
    if (waiter != NULL && !signals)
        /* relaxed: the value is all that the waiter wants to know; the rest of it is under the lock. The word stays
         * valid after this: a waiter outlives the pool's workers, and waking a word that is parked on again is only a
         * spurious return. */
        shared_u32_store_relaxed(&waiter->word, 0);
    lock_unlock(&semaphore->lock);
    if (waiter == NULL)
        return;
    enum activity before = pool_wake_begins(pool, self, 1);
    if (signals)
        signal_condition(waiter);
    else
        platform_wake(&waiter->word, 1);
    pool_wake_ends(self, before);
}

void semaphore_release(struct semaphore *semaphore, struct pool *pool, struct worker *self)
{
    uint64_t word = shared_u64_load_relaxed(&semaphore->word); /* re-checked by CAS */
    bool wake;
    struct counts counts;
    do {
        counts = unpack(word);
        int wanted = counts.signals + 1 < counts.waiters + counts.spinners ? counts.signals + 1
                                                                           : counts.waiters + counts.spinners;
        wake = wanted - counts.spinners - counts.promised > 0;
        if (counts.signals < COUNT_MAX)
            counts.signals++;
        counts.promised = (uint16_t)(counts.promised + wake);
        /* @P semaphore.1: publishes everything before the release; what earlier releases published is passed on. */
    } while (!shared_u64_cas_release(&semaphore->word, &word, pack(counts)));
    if (wake)
        wake_one(semaphore, pool, self);
}

enum registered { TOOK, SPINS, WAITS };

/* Changes the counts: takes a signal if there is one, else adds to spinners and waiters. A spinner more than can be
 * counted becomes a waiter: the original has eight bits for them. */
static enum registered take_or(struct semaphore *semaphore, int spinners_taken, int spinners, int waiters)
{
    uint64_t word = shared_u64_load_relaxed(&semaphore->word); /* re-checked by CAS */
    bool took, full;
    struct counts counts;
    do {
        counts = unpack(word);
        took = counts.signals > 0;
        full = spinners > 0 && counts.spinners >= SPINNERS_MAX;
        counts.signals = (uint16_t)(counts.signals - took);
        counts.spinners = (uint16_t)(counts.spinners + (took ? spinners_taken : full ? 0 : spinners));
        counts.waiters = (uint16_t)(counts.waiters + (took ? 0 : full ? 1 : waiters));
        /* @P semaphore.1: relies on what was published before the release. */
    } while (!shared_u64_cas_acquire(&semaphore->word, &word, pack(counts)));
    return took ? TOOK : spinners > 0 && !full ? SPINS : WAITS;
}

static bool has_signal(const struct semaphore *semaphore)
{
    return unpack(shared_u64_load_relaxed(&semaphore->word)).signals > 0; /* re-checked by CAS */
}

static bool is_stopped(const struct semaphore *semaphore)
{
    return shared_u32_load_relaxed(&semaphore->stopped) != 0; /* a hint, but in lie_down: there under the lock */
}

/* A registered spinner runs through its steps. True: took a signal. False: registered as a waiter instead. */
static bool spin(struct semaphore *semaphore, struct worker *worker, uint32_t steps)
{
    bool took = false;
    spin_begin(worker, steps);
    for (uint32_t step = spin_first_step(worker->pool); step < steps && !took; step++) {
        spin_step(worker, step, semaphore->pauses_only);
        if (is_stopped(semaphore))
            break;
        if (has_signal(semaphore))
            took = take_or(semaphore, -1, 0, 0) == TOOK;
    }
    took = took || take_or(semaphore, -1, -1, 1) == TOOK;
    spin_end(worker, took);
    return took;
}

/* Takes a waiter whose time is over off the stack. False: somebody has popped it, and so it is woken after all. */
static bool remove_waiter(struct semaphore *semaphore, struct semaphore_waiter *waiter)
{
    lock_lock(&semaphore->lock);
    struct semaphore_waiter **link = &semaphore->top;
    while (*link != NULL && *link != waiter)
        link = &(*link)->below;
    bool lies = *link == waiter;
    if (lies) {
        *link = waiter->below;
        shared_u32_store_relaxed(&waiter->word, 0); /* under the lock; nobody else can reach it */
    }
    lock_unlock(&semaphore->lock);
    return lies;
}

/* Until the word is cleared. False: the deadline came first, and nobody had popped the waiter. */
static bool park_on_word(struct semaphore *semaphore, struct semaphore_waiter *waiter, uint64_t deadline_ns)
{
    /* relaxed: the value is all that matters. */
    while (shared_u32_load_relaxed(&waiter->word) != 0) {
        if (platform_park(&waiter->word, 1, deadline_ns) != -ETIMEDOUT)
            continue;
        if (remove_waiter(semaphore, waiter))
            return false;
        deadline_ns = PLATFORM_FOREVER; /* popped: the wake is on its way */
    }
    return true;
}

/* The same with a mutex and a condition variable. */
static bool park_on_condition(struct semaphore *semaphore, struct semaphore_waiter *waiter, uint64_t deadline_ns)
{
    lock_lock(&waiter->mutex);
    while (shared_u32_load_relaxed(&waiter->word) != 0) { /* under the mutex */
        uint32_t sequence = shared_u32_load_relaxed(&waiter->sequence); /* under the mutex */
        lock_unlock(&waiter->mutex);
        bool late = platform_park(&waiter->sequence, sequence, deadline_ns) == -ETIMEDOUT;
        if (late && remove_waiter(semaphore, waiter))
            return false;
        if (late)
            deadline_ns = PLATFORM_FOREVER; /* popped: the signal is on its way */
        lock_lock(&waiter->mutex);
    }
    lock_unlock(&waiter->mutex);
    return true;
}

/* Until somebody pops this waiter. False: the deadline came first. */
static bool park(struct semaphore *semaphore, struct worker *worker, struct semaphore_waiter *waiter,
                 uint64_t deadline_ns)
{
    worker_parks(worker);
    bool woken = semaphore->parks_on_conditions ? park_on_condition(semaphore, waiter, deadline_ns)
                                                : park_on_word(semaphore, waiter, deadline_ns);
    worker_is_back(worker);
    return woken;
}

/* Parks once, or not at all if a permit was left. False: the deadline came first. */
static bool lie_down(struct semaphore *semaphore, struct worker *worker, struct semaphore_waiter *waiter,
                     uint64_t deadline_ns)
{
    lock_lock(&semaphore->lock);
    bool may_pass = semaphore->permits > 0 || is_stopped(semaphore);
    if (may_pass) {
        semaphore->permits -= semaphore->permits > 0;
    } else {
        shared_u32_store_relaxed(&waiter->word, 1); /* under the lock; only its holder clears it */
        waiter->below = semaphore->top;
        semaphore->top = waiter;
    }
    lock_unlock(&semaphore->lock);
    return may_pass || park(semaphore, worker, waiter, deadline_ns);
}

/* Up again: gives the promise back and takes a signal if there still is one, with the registration as a waiter. */
static bool rise(struct semaphore *semaphore)
{
    uint64_t word = shared_u64_load_relaxed(&semaphore->word); /* re-checked by CAS */
    bool took;
    struct counts counts;
    do {
        counts = unpack(word);
        took = counts.signals > 0;
        counts.signals = (uint16_t)(counts.signals - took);
        counts.waiters = (uint16_t)(counts.waiters - took);
        counts.promised = (uint16_t)(counts.promised - (counts.promised > 0));
        /* @P semaphore.1: relies on what was published before the release. */
    } while (!shared_u64_cas_acquire(&semaphore->word, &word, pack(counts)));
    return took;
}

static void register_waiter_gone(struct semaphore *semaphore)
{
    /* A wake that was promised to this waiter stays as a permit, for whoever lies down next. */
    shared_u64_add_relaxed(&semaphore->word, -(UINT64_C(1) << WAITERS_SHIFT)); /* a count; re-checked by CAS */
}

enum semaphore_result semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                     struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns)
{
    enum registered registered = take_or(semaphore, 0, steps > 0, steps == 0);
    bool took = registered == TOOK || (registered == SPINS && spin(semaphore, worker, steps));
    while (!took && !is_stopped(semaphore)) {
        if (!lie_down(semaphore, worker, waiter, deadline_ns)) {
            register_waiter_gone(semaphore);
            return SEMAPHORE_TIMED_OUT;
        }
        took = rise(semaphore);
        if (!took)
            worker_count(worker, COUNTER_wakes_lost, 1);
    }
    return is_stopped(semaphore) ? SEMAPHORE_STOPPED : SEMAPHORE_TOOK;
}

void semaphore_stop(struct semaphore *semaphore)
{
    /* relaxed: before the lock is taken, so who lies down later sees it, and who lay down before is popped here. */
    shared_u32_store_relaxed(&semaphore->stopped, 1);
    lock_lock(&semaphore->lock);
    struct semaphore_waiter *waiter = semaphore->top;
    semaphore->top = NULL;
    lock_unlock(&semaphore->lock);
    while (waiter != NULL) {
        struct semaphore_waiter *below = waiter->below; /* nobody else has them any more; read before it goes on */
        if (semaphore->parks_on_conditions) {
            signal_condition(waiter);
        } else {
            shared_u32_store_relaxed(&waiter->word, 0); /* as in wake_one */
            platform_wake(&waiter->word, 1);
        }
        waiter = below;
    }
}
