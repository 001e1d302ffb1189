/* SPDX-License-Identifier: MIT
 *
 * Idle policy unfair-semaphore: a permit for each task, at most P of them; whoever is awake is preferred to who sleeps.
 *
 * How it works. `outstanding` counts permits that were given and not yet taken. Each submit raises it and gives one, if
 * it is below P (processors, not workers). A worker that finds the queue empty takes a permit or waits for one, lowers
 * `outstanding`, and only then looks into the queue again: so a submit that saw P of them can rely on one that is still
 * to look. Permits left over from tasks that were run long ago wake workers for nothing, at most P of them.
 *
 * The semaphore is one word {spinners, permits for spinners, waiters, permits for waiters}. A release gives its permit
 * to a spinner that has none, else to a waiter that has none, else to whoever comes next; only for a waiter does it
 * make a system call. A worker without a permit spins: it calls sched_yield L x P / spinners times (L = 50, the spin
 * limit), so that all spinners together have about the same budget; a lone one yields 50 P times before it sleeps.
 * Sleepers lie in a kernel semaphore, first in first out.
 *
 * More workers than processors. P submits in a row use up the permits, and further ones give none: the workers that
 * come take one task each, and if those tasks do not end, the others lie in the queue beside sleeping threads. That is
 * how the original is. Here, with more workers than P, a worker that has got its first task and sees another one gives
 * a permit as a submit does (tunable pass-on of scheduler dedicated-threads, 0: as published). With at most P workers
 * the permits suffice: each worker that sleeps takes at most one.
 *
 * Engaged workers. The original keeps no count of them. Here who gives a permit engages a worker for it, if the goal
 * allows it, and writes a promise; who takes a permit takes a promise, or engages itself. If the goal is reached by
 * others (there are more threads than the goal) the permit is put down as spare, and who leaves takes it.
 *
 * Good at   A steady stream: no system call while anybody spins.
 * Bad at    Sparse events: each costs hundreds of yields. No order among sleepers keeps caches warm.
 *
 * Differences to the source. Close does not flood the semaphore with 32767 permits but tells it to stop. The kernel's
 * semaphore is a list of futex words under a lock, whatever the scheduler's tunable park-on-conditions says.
 *
 * Labels
 *   @P unfair.1  release -> taker of the permit: what was published before the release
 *   @P unfair.2  spare -> who takes it, by its fence of @F unfair.1: outstanding was lowered. Else its look at the
 *                queue could miss a task whose submit still sees P permits outstanding, and nobody else looks
 *   @F unfair.1  publish the task, then read outstanding  |  lower outstanding, then read the queue
 *   @F unfair.2  write spare, then read the counts        |  leave the counts, then read spare
 *
 * Source. Helios DedicatedThreadPool (UnfairSemaphore, ThreadPoolWorkQueue), after the UnfairSemaphore of the CLR.
 */
#include "idle/count.h"
#include "idle/spin.h"
#include "lock.h"
#include "scheduler.h"

enum { SPIN_LIMIT = 50, COUNT_MAX = 32767 };

/* Bits of the word. */
enum { SPINNERS_SHIFT = 0, FOR_SPINNERS_SHIFT = 16, WAITERS_SHIFT = 32, FOR_WAITERS_SHIFT = 48 };

struct counts {
    uint16_t spinners, for_spinners, waiters, for_waiters;
};

/* A sleeping worker. */
struct sleeper {
    struct sleeper *next;   /* the one that came after it; under the lock */
    struct shared_u32 word; /* 1: sleeps; written under the lock, read by the sleeper */
};

struct unfair {
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 word;        /* struct counts; any thread, CAS; @P unfair.1 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 outstanding; /* submits raise it, takers lower it; @F unfair.1 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 promises;    /* engaged for a permit that is not taken; any thread */
    struct shared_u32 spare;                                 /* permits taken with the goal reached; @F unfair.2 */
    struct shared_u32 stopped;                               /* written once by stop, under the lock */
    bool passes_on;                                          /* constant */
    struct lock lock;                                        /* the kernel's semaphore: */
    struct sleeper *first, *last;                            /* under lock */
    uint32_t posted;                                         /* posts that found nobody; under lock */
};

static struct counts unpack(uint64_t word)
{
    return (struct counts){(uint16_t)(word >> SPINNERS_SHIFT), (uint16_t)(word >> FOR_SPINNERS_SHIFT),
                           (uint16_t)(word >> WAITERS_SHIFT), (uint16_t)(word >> FOR_WAITERS_SHIFT)};
}

static uint64_t pack(struct counts counts)
{
    return (uint64_t)counts.spinners << SPINNERS_SHIFT | (uint64_t)counts.for_spinners << FOR_SPINNERS_SHIFT |
           (uint64_t)counts.waiters << WAITERS_SHIFT | (uint64_t)counts.for_waiters << FOR_WAITERS_SHIFT;
}

/* ---- the kernel's semaphore ---- */

static void post(struct unfair *unfair, struct pool *pool, struct worker *self)
{
    lock_lock(&unfair->lock);
    struct sleeper *sleeper = unfair->first;
    if (sleeper != NULL) {
        unfair->first = sleeper->next;
        /* relaxed: the value is all that it wants to know; the rest is under the lock. */
        shared_u32_store_relaxed(&sleeper->word, 0);
    } else {
        unfair->posted++;
    }
    lock_unlock(&unfair->lock);
    if (sleeper != NULL)
        pool_wake(pool, self, &sleeper->word, 1); /* the word outlives the pool's workers */
}

static void sleep_until_posted(struct unfair *unfair, struct worker *worker)
{
    struct sleeper *own = worker->idle_state;
    lock_lock(&unfair->lock);
    bool sleeps = unfair->posted == 0 && shared_u32_load_relaxed(&unfair->stopped) == 0; /* under the lock */
    if (sleeps) {
        own->next = NULL;
        shared_u32_store_relaxed(&own->word, 1); /* under the lock */
        if (unfair->first == NULL)
            unfair->first = own;
        else
            unfair->last->next = own;
        unfair->last = own;
    } else {
        unfair->posted -= unfair->posted > 0;
    }
    lock_unlock(&unfair->lock);
    if (!sleeps)
        return;
    worker_parks(worker);
    while (shared_u32_load_relaxed(&own->word) != 0) /* the value is all that matters */
        platform_park(&own->word, 1, PLATFORM_FOREVER);
    worker_is_back(worker);
}

/* ---- the semaphore ---- */

static void semaphore_give(struct unfair *unfair, struct pool *pool, struct worker *self)
{
    uint64_t word = shared_u64_load_relaxed(&unfair->word); /* re-checked by CAS */
    bool posts;
    struct counts counts;
    do {
        counts = unpack(word);
        bool spins = counts.spinners > counts.for_spinners;
        posts = !spins && counts.waiters > counts.for_waiters;
        counts.for_waiters = (uint16_t)(counts.for_waiters + posts);
        if (!posts && counts.for_spinners < COUNT_MAX) /* a spinner, or whoever comes next */
            counts.for_spinners++;
        /* @P unfair.1: publishes everything before the release; what earlier releases published is passed on. */
    } while (!shared_u64_cas_release(&unfair->word, &word, pack(counts)));
    if (posts)
        post(unfair, pool, self);
}

/* Takes a permit for spinners with what is added to the spinners then; else adds to spinners and waiters. True: took.
 * */
static bool take_or(struct unfair *unfair, int spinners_taken, int spinners, int waiters)
{
    uint64_t word = shared_u64_load_relaxed(&unfair->word); /* re-checked by CAS */
    bool took;
    struct counts counts;
    do {
        counts = unpack(word);
        took = counts.for_spinners > 0;
        counts.for_spinners = (uint16_t)(counts.for_spinners - took);
        counts.spinners = (uint16_t)(counts.spinners + (took ? spinners_taken : spinners));
        counts.waiters = (uint16_t)(counts.waiters + (took ? 0 : waiters));
        /* @P unfair.1: relies on what was published before the release. */
    } while (!shared_u64_cas_acquire(&unfair->word, &word, pack(counts)));
    return took;
}

/* Turns that each of so many spinners has: L x P / spinners, rounded. */
static uint64_t turns_of_each(const struct pool *pool, uint32_t spinners)
{
    return (2 * (uint64_t)pool->spin_limit * pool->processors + spinners) / (2 * (uint64_t)spinners);
}

/* A registered spinner. True: took a permit. False: registered as a waiter instead. */
static bool spin(struct unfair *unfair, struct worker *worker)
{
    bool took = false;
    spin_begin(worker, 0);
    for (uint64_t turn = 0;; turn++) {
        struct counts counts = unpack(shared_u64_load_relaxed(&unfair->word)); /* re-checked by CAS */
        if (counts.for_spinners > 0)
            took = take_or(unfair, -1, 0, 0);
        if (took || turn >= turns_of_each(worker->pool, counts.spinners) ||
            shared_u32_load_relaxed(&unfair->stopped) != 0) /* a hint */
            break;
        worker_yields(worker);
    }
    took = took || take_or(unfair, -1, -1, 1);
    spin_end(worker, took);
    return took;
}

/* A posted waiter gives back its registration, with the permit that was for it. */
static void take_posted(struct unfair *unfair)
{
    uint64_t word = shared_u64_load_relaxed(&unfair->word); /* re-checked by CAS */
    struct counts counts;
    do {
        counts = unpack(word);
        counts.waiters--;
        counts.for_waiters--;
        /* @P unfair.1: relies on what was published before the release. */
    } while (!shared_u64_cas_acquire(&unfair->word, &word, pack(counts)));
}

/* False: the pool stops. */
static bool semaphore_take(struct unfair *unfair, struct worker *worker)
{
    if (take_or(unfair, 0, 1, 0) || spin(unfair, worker))
        return true;
    sleep_until_posted(unfair, worker);
    if (shared_u32_load_relaxed(&unfair->stopped) != 0) /* written before the wake, or seen under the lock */
        return false;
    take_posted(unfair);
    return true;
}

/* ---- the policy ---- */

/* Gives a permit and engages a worker for it, if the goal allows it. */
static void give_permit(struct pool *pool, struct worker *self)
{
    struct unfair *unfair = pool->idle_state;
    enum pool_engaged engaged = pool_engage_first(pool);
    if (engaged != POOL_FULL)
        shared_u32_add_relaxed(&unfair->promises, 1); /* exposed by the permit, @P unfair.1 */
    pool_count(pool, self, COUNTER_releases, 1);
    semaphore_give(unfair, pool, self);
    if (engaged == POOL_NEEDS_THREAD)
        pool_start_thread(pool, self);
}

/* Gives permits for so many tasks, as long as fewer than P are outstanding. */
static void give_permits(struct pool *pool, struct worker *self, uint32_t wanted)
{
    struct unfair *unfair = pool->idle_state;
    /* relaxed: ordered by fence @F unfair.1, which the callers have before it. */
    uint32_t outstanding = shared_u32_load_relaxed(&unfair->outstanding);
    for (uint32_t given = 0; given < wanted && outstanding < pool->processors;) {
        if (!shared_u32_cas_relaxed(&unfair->outstanding, &outstanding, outstanding + 1)) /* as the load */
            continue;
        give_permit(pool, self);
        outstanding++;
        given++;
    }
}

static void unfair_submitted(struct pool *pool, struct worker *self, uint32_t wakes)
{
    /* Partner of @F pool.2 as well (a worker that blocks). @F unfair.1: the tasks are published, then outstanding is
     * read: else P permits could be seen whose last taker has looked already. */
    ordered_fence_seq_cst();
    give_permits(pool, self, wakes);
}

static int unfair_init(struct pool *pool)
{
    struct unfair *unfair = pool->idle_state;
    unfair->passes_on = pool->max_workers > pool->processors && pool_setting_or(pool, "pass-on", 1) != 0;
    return 0;
}

static void unfair_dispatch_begin(struct worker *worker)
{
    (void)worker;
    /* @F unfair.1: outstanding was lowered, then the queue is read. */
    ordered_fence_seq_cst();
}

static void unfair_got_first(struct worker *worker)
{
    struct pool *pool = worker->pool;
    const struct unfair *unfair = pool->idle_state;
    /* The look is after the fence of dispatch_begin, as the one for the first task was. */
    if (unfair->passes_on && pool->scheduler->pending(pool))
        give_permits(pool, worker, 1);
}

static bool unfair_found_nothing(struct worker *worker, bool missed)
{
    struct unfair *unfair = worker->pool->idle_state;
    if (missed) {
        spin_after_miss();
        return true;
    }
    pool_disengage(worker);
    /* @F unfair.2: the counts were left (a full read-modify-write), then spare is read. */
    ordered_fence_seq_cst();
    /* relaxed: ordered by fence @F unfair.2; @P unfair.2 ends at the fence of dispatch_begin. */
    if (shared_u32_load_relaxed(&unfair->spare) == 0 || !pool_engage_self(worker))
        return false;
    count_take(&unfair->spare);
    return true;
}

static bool unfair_wait(struct worker *worker)
{
    struct unfair *unfair = worker->pool->idle_state;
    while (semaphore_take(unfair, worker)) {
        count_take(&unfair->outstanding);
        if (count_take(&unfair->promises) || pool_engage_self(worker))
            return true;
        /* @P unfair.2: outstanding was lowered before. */
        shared_u32_add_release(&unfair->spare, 1);
        /* @F unfair.2: spare is written, then the counts are read: else the last one could leave in between. */
        ordered_fence_seq_cst();
        if (pool_engage_self(worker)) {
            count_take(&unfair->spare);
            return true;
        }
    }
    return false;
}

static void unfair_release(struct pool *pool, struct worker *self)
{
    struct unfair *unfair = pool->idle_state;
    shared_u32_add_relaxed(&unfair->promises, 1); /* exposed by the permit, @P unfair.1 */
    pool_count(pool, self, COUNTER_releases, 1);
    semaphore_give(unfair, pool, self);
}

static void unfair_stop(struct pool *pool)
{
    struct unfair *unfair = pool->idle_state;
    lock_lock(&unfair->lock);
    shared_u32_store_relaxed(&unfair->stopped, 1); /* under the lock: who lies down later sees it */
    struct sleeper *sleeper = unfair->first;
    unfair->first = NULL;
    lock_unlock(&unfair->lock);
    while (sleeper != NULL) {
        struct sleeper *next = sleeper->next;        /* read before it goes on */
        shared_u32_store_relaxed(&sleeper->word, 0); /* as in post */
        platform_wake(&sleeper->word, 1);
        sleeper = next;
    }
}

const struct idle_policy idle_unfair_semaphore = {
    .name = "unfair-semaphore",
    .summary = "a permit per submit, at most P; prefers who is awake, yields much",
    .spins = true,
    .spin_limit = SPIN_LIMIT,
    .pool_state_size = sizeof(struct unfair),
    .worker_state_size = sizeof(struct sleeper),
    .init = unfair_init,
    .submitted = unfair_submitted,
    .dispatch_begin = unfair_dispatch_begin,
    .got_first = unfair_got_first,
    .found_nothing = unfair_found_nothing,
    .wait = unfair_wait,
    .release = unfair_release,
    .stop = unfair_stop,
};
