/* SPDX-License-Identifier: MIT
 *
 * Scenarios of what threads wait on: the lock, the latch, the semaphore of idle workers, parked on either.
 *
 * How it works. What they protect or publish is plain memory, so a missing order is a data race; a wake that is lost
 * leaves the run standing still (S3). Books that are no part of the program lie on the stack of thread main.
 */
#include "idle/semaphore.h"
#include "lock.h"
#include "pool.h"
#include "structures/structures.h"

enum { OTHERS_MAX = 3 };
static const char *const thread_names[OTHERS_MAX] = {"second", "third", "fourth"};

/* ---- lock ---- */

struct guarded {
    struct lock lock;
    struct shared_u32 inside; /* 1: somebody holds the lock; written and read by the holder */
    uint32_t sum, users;      /* plain: under the lock */
};

struct lock_user {
    struct guarded *guarded;
    uint32_t rounds;
    bool frees; /* the last one to leave gives the memory back */
};

static void use_lock(void *argument)
{
    struct lock_user *user = argument;
    struct guarded *guarded = user->guarded;
    for (uint32_t round = 0; round < user->rounds; round++) {
        lock_lock(&guarded->lock);
        if (shared_u32_load_relaxed(&guarded->inside) != 0) /* ordered by the lock */
            explored_fail("mutual exclusion", "two threads hold the lock");
        shared_u32_store_relaxed(&guarded->inside, 1); /* ordered by the lock */
        guarded->sum++;
        shared_u32_store_relaxed(&guarded->inside, 0); /* ordered by the lock */
        bool is_last = round + 1 == user->rounds && --guarded->users == 0;
        lock_unlock(&guarded->lock);
        if (is_last && user->frees)
            platform_free(guarded);
    }
}

static void run_lock(uint32_t others, uint32_t rounds, bool frees)
{
    struct guarded *guarded = platform_alloc(sizeof *guarded);
    struct platform_thread *threads[OTHERS_MAX];
    struct lock_user user = {guarded, rounds, frees};
    guarded->users = others + 1;
    for (uint32_t i = 0; i < others; i++)
        platform_thread_start(&threads[i], thread_names[i], use_lock, &user);
    use_lock(&user);
    for (uint32_t i = 0; i < others; i++)
        platform_thread_join(threads[i]);
    if (!frees && guarded->sum != (others + 1) * rounds)
        explored_fail("mutual exclusion", "%u rounds were counted as %u", (others + 1) * rounds, guarded->sum);
}

static void lock_two_threads(const struct configuration *configuration)
{
    (void)configuration;
    run_lock(1, 1, false);
}

static void lock_three_threads(const struct configuration *configuration)
{
    (void)configuration;
    run_lock(2, 1, false);
}

static void lock_two_rounds(const struct configuration *configuration)
{
    (void)configuration;
    run_lock(1, 2, false);
}

static void lock_freed(const struct configuration *configuration)
{
    (void)configuration;
    run_lock(1, 1, true);
}

const struct scenario lock_scenarios[] = {
    {"two-threads", "one holder at a time, and the next one sees what it wrote", SCENARIO_CODE, NULL, lock_two_threads,
     true},
    {"three-threads", "each unlock that leaves somebody parked wakes one", SCENARIO_CODE, NULL, lock_three_threads,
     true},
    {"two-rounds", "the one that has just unlocked comes back", SCENARIO_CODE, NULL, lock_two_rounds, true},
    {"freed-by-the-last", "unlock does not touch the lock once it is free", SCENARIO_CODE, NULL, lock_freed, true},
};

/* ---- latch ---- */

struct latched {
    struct pilfer_latch *latch; /* freed by the waiter at once */
    uint32_t written[OTHERS_MAX];
};

struct latch_user {
    struct latched *latched;
    uint32_t number;
};

static void arrive(void *argument)
{
    struct latch_user *user = argument;
    struct latched *latched = user->latched;
    struct pilfer_latch *latch = latched->latch;
    latched->written[user->number] = user->number + 1;
    pilfer_latch_arrive(latch);
}

/* Outside of any pool. */
static void wait_outside(struct latched *latched, uint32_t arrivals)
{
    pool_wait(NULL, latched->latch);
    for (uint32_t i = 0; i < arrivals; i++)
        if (latched->written[i] != i + 1)
            explored_fail("latch", "the wait returned before arrival %u", i + 1);
}

static void wait_as_other(void *argument)
{
    struct latch_user *user = argument;
    wait_outside(user->latched, user->number);
}

/* waiters: of the others; main waits too, and frees the latch unless others wait on it. */
static void run_latch(uint32_t arrivals, uint32_t waiters)
{
    struct latched *latched = platform_alloc(sizeof *latched);
    struct latch_user users[OTHERS_MAX];
    struct platform_thread *threads[OTHERS_MAX];
    latched->latch = platform_alloc(sizeof *latched->latch);
    pilfer_latch_init(latched->latch, arrivals);
    for (uint32_t i = 0; i < arrivals + waiters; i++) {
        bool arrives = i < arrivals;
        users[i] = (struct latch_user){latched, arrives ? i : arrivals};
        platform_thread_start(&threads[i], thread_names[i], arrives ? arrive : wait_as_other, &users[i]);
    }
    wait_outside(latched, arrivals);
    if (waiters == 0)
        platform_free(latched->latch);
    for (uint32_t i = 0; i < arrivals + waiters; i++)
        platform_thread_join(threads[i]);
}

static void latch_one_arrival(const struct configuration *configuration)
{
    (void)configuration;
    run_latch(1, 0);
}

static void latch_two_arrivals(const struct configuration *configuration)
{
    (void)configuration;
    run_latch(2, 0);
}

static void latch_three_arrivals(const struct configuration *configuration)
{
    (void)configuration;
    run_latch(3, 0);
}

static void latch_two_waiters(const struct configuration *configuration)
{
    (void)configuration;
    run_latch(1, 1);
}

const struct scenario latch_scenarios[] = {
    {"one-arrival", "the waiter goes on after the arrival, and frees the latch at once", SCENARIO_CODE, NULL,
     latch_one_arrival, true},
    {"two-arrivals", "what was done before each arrival is visible", SCENARIO_CODE, NULL, latch_two_arrivals, true},
    {"three-arrivals", "the same with three", SCENARIO_CODE, NULL, latch_three_arrivals, true},
    {"two-waiters", "all who wait are woken", SCENARIO_CODE, NULL, latch_two_waiters, true},
};

/* ---- semaphore ---- */

/* A worker as far as the semaphore knows one. */
struct sleeper {
    struct semaphore_trial *trial;
    struct worker worker;
    struct account account;
    uint32_t steps, rounds, taken;
    uint32_t releasers_seen; /* mask */
};

struct semaphore_shared {
    struct semaphore semaphore;
    struct semaphore_waiter waiters[OTHERS_MAX + 1];
    uint32_t published;                         /* plain: written before the releases */
    struct shared_u32 released[OTHERS_MAX + 1]; /* set by a thread before it releases; read by who took a signal */
};

/* On the stack of main, but for what is shared. */
struct semaphore_trial {
    struct semaphore_shared *shared;
    struct pool pool;
    struct sleeper sleepers[OTHERS_MAX + 1]; /* 0: main */
    struct platform_thread *threads[OTHERS_MAX];
    bool releases[OTHERS_MAX + 1], stops;
};

static void sleep_on_semaphore(void *argument)
{
    struct sleeper *sleeper = argument;
    struct semaphore_shared *shared = sleeper->trial->shared;
    struct semaphore_waiter *waiter = &shared->waiters[sleeper - sleeper->trial->sleepers];
    for (uint32_t round = 0; round < sleeper->rounds; round++) {
        if (semaphore_wait(&shared->semaphore, &sleeper->worker, waiter, sleeper->steps, PLATFORM_FOREVER) !=
            SEMAPHORE_TOOK) {
            if (!sleeper->trial->stops)
                explored_fail("semaphore", "a wait ended as if stopped");
            return;
        }
        if (shared->published != 1)
            explored_fail("semaphore", "a signal came before the release");
        for (uint32_t i = 0; i <= OTHERS_MAX; i++)
            if (sleeper->trial->releases[i] && shared_u32_load_relaxed(&shared->released[i]) != 0)
                sleeper->releasers_seen |= 1u << i;
        sleeper->taken++;
    }
}

static void release(void *argument)
{
    struct sleeper *sleeper = argument;
    struct semaphore_trial *trial = sleeper->trial;
    shared_u32_store_relaxed(&trial->shared->released[sleeper - trial->sleepers], 1); /* ordered by the semaphore */
    for (uint32_t round = 0; round < sleeper->rounds; round++)
        semaphore_release(&trial->shared->semaphore, &trial->pool, &sleeper->worker);
}

static struct sleeper *add_sleeper(struct semaphore_trial *trial, uint32_t number, uint32_t steps, uint32_t rounds)
{
    struct sleeper *sleeper = &trial->sleepers[number];
    *sleeper = (struct sleeper){.trial = trial, .steps = steps, .rounds = rounds};
    sleeper->worker = (struct worker){.pool = &trial->pool, .is_worker = true, .account = &sleeper->account};
    account_init(&sleeper->account, ACTIVITY_search, number + 1);
    return sleeper;
}

/* Threads that wait, rounds times each, parked on futexes or on condition variables; releases by main, and by another
 * thread if there are any; main stops. */
struct semaphore_program {
    uint32_t sleepers, steps[2], rounds, releases, other_releases;
    bool stops, on_conditions;
};

static void check_rest(struct semaphore_trial *trial, const struct semaphore_program *program)
{
    struct semaphore *semaphore = &trial->shared->semaphore;
    uint32_t taken = 0, seen = 0, signals = program->releases + program->other_releases;
    for (uint32_t i = 0; i < program->sleepers; i++) {
        taken += trial->sleepers[i + 1].taken;
        seen |= trial->sleepers[i + 1].releasers_seen;
    }
    if (taken > signals || (!program->stops && taken < signals))
        explored_fail("semaphore", "%u signals let %u waits end", signals, taken);
    /* The last one that took a signal comes after all releases. */
    for (uint32_t i = 0; i <= OTHERS_MAX; i++)
        if (trial->releases[i] && !program->stops && (seen & 1u << i) == 0)
            explored_fail("semaphore", "nobody knows what was done before a release");
    if (!program->stops && (shared_u64_load_relaxed(&semaphore->word) != 0 || semaphore->permits != 0))
        explored_fail("semaphore", "at rest the word is %llx with %u permits",
                      (unsigned long long)shared_u64_load_relaxed(&semaphore->word), semaphore->permits);
}

static void run_semaphore(const struct semaphore_program *program)
{
    struct semaphore_trial trial = {.pool = {.processors = 2}, .stops = program->stops};
    uint32_t others = 0;
    trial.releases[0] = true;
    trial.releases[program->sleepers + 1] = program->other_releases > 0;
    trial.shared = platform_alloc(sizeof *trial.shared);
    trial.shared->semaphore.parks_on_conditions = program->on_conditions;
    trial.shared->published = program->other_releases > 0; /* two releasers have it from before they were started */
    for (; others < program->sleepers; others++)
        platform_thread_start(&trial.threads[others], thread_names[others], sleep_on_semaphore,
                              add_sleeper(&trial, others + 1, program->steps[others], program->rounds));
    if (program->other_releases > 0) {
        platform_thread_start(&trial.threads[others], thread_names[others], release,
                              add_sleeper(&trial, others + 1, 0, program->other_releases));
        others++;
    } else {
        trial.shared->published = 1;
    }
    release(add_sleeper(&trial, 0, 0, program->releases));
    if (program->stops)
        semaphore_stop(&trial.shared->semaphore);
    for (uint32_t i = 0; i < others; i++)
        platform_thread_join(trial.threads[i]);
    check_rest(&trial, program);
}

#define SEMAPHORE_PROGRAMS(X)                                                                                     \
    X(park, "park", "a release reaches a worker that parks", .sleepers = 1, .rounds = 1, .releases = 1)           \
    X(spin, "spin", "a release reaches a worker that spins, then parks", .sleepers = 1, .steps = {2}, .rounds = 1, \
      .releases = 1)                                                                                              \
    X(two_rounds, "two-rounds", "two releases let one worker go on twice", .sleepers = 1, .rounds = 2,            \
      .releases = 1, .other_releases = 1)                                                                         \
    X(two_sleepers, "two-sleepers", "two releases let two workers go on", .sleepers = 2, .rounds = 1,             \
      .releases = 1, .other_releases = 1)                                                                         \
    X(spinner_and_sleeper, "spinner-and-sleeper", "a spinner takes the signal for which a parked one was woken",  \
      .sleepers = 2, .steps = {0, 1}, .rounds = 1, .releases = 2)                                                 \
    X(stop, "stop", "a stop beside a release lets all workers leave", .sleepers = 2, .steps = {0, 1}, .rounds = 1, \
      .releases = 1, .stops = true)

#define DEFINE_BODY(NAME, TITLE, PROMISE, ...)                                         \
    static void semaphore_case_##NAME(const struct configuration *configuration)       \
    {                                                                                  \
        (void)configuration;                                                           \
        run_semaphore(&(struct semaphore_program){__VA_ARGS__});                       \
    }                                                                                  \
    static void condition_case_##NAME(const struct configuration *configuration)       \
    {                                                                                  \
        (void)configuration;                                                           \
        run_semaphore(&(struct semaphore_program){__VA_ARGS__, .on_conditions = true}); \
    }
SEMAPHORE_PROGRAMS(DEFINE_BODY)

#define DEFINE_SCENARIO(NAME, TITLE, PROMISE, ...) {TITLE, PROMISE, SCENARIO_CODE, NULL, semaphore_case_##NAME, true},
const struct scenario semaphore_scenarios[] = {SEMAPHORE_PROGRAMS(DEFINE_SCENARIO)};

#define DEFINE_CONDITION_SCENARIO(NAME, TITLE, PROMISE, ...) \
    {TITLE, PROMISE, SCENARIO_CODE, NULL, condition_case_##NAME, true},
const struct scenario semaphore_on_conditions_scenarios[] = {SEMAPHORE_PROGRAMS(DEFINE_CONDITION_SCENARIO)};
