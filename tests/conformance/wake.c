/* SPDX-License-Identifier: MIT
 *
 * S3: no lost wake-up. There is never a rest state with a claimable task and all workers parked.
 *
 * Method. One task goes into an executor that has nothing else to do, the test waits until it has run, and again, so
 * that no later submit can repair what the first one lost. Three phases, since the window lies in a different place in
 * each:
 *
 *     parked      all workers have parked before the submit
 *     announcing  the submit comes when workers look for the last time and announce themselves: the last task says at
 *                 what time it will return, and the test aims at a random short time after that
 *     spinning    the submit follows the last task at once
 *
 * on 1, 2 and 8 workers, at spin limit 0 and more, from a thread that is attached and from one that is not. Also from
 * inside a task that runs on until another worker has come; and with every worker blocked in a wait, inside a task, for
 * the one that is submitted.
 *
 * Conviction. While the task has not run, the test looks: no worker is engaged and the scheduler says that a task is
 * pending, REST_LOOKS times in a row with a pause between them: nobody will ever come. What cannot be seen that way (no
 * worker engaged and nothing pending; a worker that is engaged and sleeps) stands still and is ended by the watch.
 */
#include "invariants.h"

#include <time.h>

#include "inside.h"
#include "load.h"

#define ROUNDS        2000 /* of phase parked; the others are shorter and have more */
#define QUICK_ROUNDS  20000
#define REST_LOOKS    4000
#define ANNOUNCE_NS   1500 /* a task of phase announcing ends so long after it has said when */
#define AIM_BITS_MIN  5    /* the test aims at 0 to 2^5 ns after that end, or 0 to 2^6, ... 0 to 2^11 */
#define AIM_BITS_MAX  11
#define LOOK_PAUSE_NS 500000

enum phase { PHASE_PARKED, PHASE_ANNOUNCING, PHASE_SPINNING, PHASES };
static const char *const phase_names[PHASES] = {"parked", "announcing", "spinning"};

struct probe {
    struct pilfer_task task;
    struct shared_u32 runs; /* written by the worker, read by the test; @P wake.1 */
    struct pilfer_executor *executor;
    enum pilfer_placement placement;
    struct probe *child; /* submitted by this one's run, which waits for it; NULL: none */
    uint64_t ends_ns;    /* phase announcing: when the last run returns; written before runs */
};

static void run_probe(struct pilfer_task *task)
{
    struct probe *probe = (struct probe *)task;
    shared_u32_add_release(&probe->runs, 1); /* @P wake.1: the task is over, but for its return */
}

static void wait_until_ns(uint64_t end_ns)
{
    while (platform_now_ns() < end_ns)
        ;
}

/* Says when it will return, and returns then. */
static void run_announced(struct pilfer_task *task)
{
    struct probe *probe = (struct probe *)task;
    const uint64_t ends_ns = platform_now_ns() + ANNOUNCE_NS;
    probe->ends_ns = ends_ns;
    shared_u32_add_release(&probe->runs, 1); /* @P wake.1: when this task ends */
    wait_until_ns(ends_ns);
}

/* True when a rest state with a claimable task has been seen; only while nobody submits. */
static bool is_lost(struct pilfer_executor *executor, const struct shared_u32 *runs, uint32_t expected)
{
    struct pool *pool = inside_pool(executor);
    for (uint32_t look = 0; look < REST_LOOKS; look++) {
        if (shared_u32_load_acquire(runs) >= expected || inside_engaged(executor) != 0 ||
            !pool->scheduler->pending(pool))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_PAUSE_NS}, NULL); /* between two looks */
    }
    return true;
}

/* Waits until *runs has come to expected (@P wake.1), or convicts. */
static void await_run(struct pilfer_executor *executor, const struct shared_u32 *runs, uint32_t expected,
                      const char *phase, uint32_t round)
{
    for (uint32_t look = 0; shared_u32_load_acquire(runs) < expected; look++) {
        if (look < 2000)
            platform_pause(1);
        else
            platform_yield();
        if (look % 4096 == 4095 && is_lost(executor, runs, expected))
            check_broken("a task is pending and every worker is parked (phase %s, round %u)", phase, round);
    }
}

/* No worker is engaged. One that is about to block has announced itself already: later than that is not observable. */
static bool is_parked(void *context)
{
    return inside_engaged(context) == 0;
}

/* Waits for the moment at which the next submit is wanted. last: the probe whose run has begun. */
static void delay(enum phase phase, struct pilfer_executor *executor, const struct probe *last, uint64_t *random)
{
    if (phase == PHASE_PARKED) {
        check_until(is_parked, executor);
        platform_pause((uint32_t)(check_random(random) % 256)); /* on its way into the kernel, or there */
    } else if (phase == PHASE_ANNOUNCING) {
        const uint64_t bits = AIM_BITS_MIN + check_random(random) % (AIM_BITS_MAX - AIM_BITS_MIN + 1);
        wait_until_ns(last->ends_ns + check_random(random) % (1ull << bits));
    }
}

static void probe_from_outside(const struct subject *subject, uint32_t workers, uint32_t spin_limit, enum phase phase)
{
    struct pilfer_executor *executor = load_open(subject, inside_workers(subject, workers), spin_limit, 0);
    /* Two by turns: in phase announcing one is still running when the other is submitted. */
    struct probe probes[2] = {0};
    uint64_t random = subject->seed + workers + phase;
    const bool attached = spin_limit == 0;
    if (attached && pilfer_attach(executor, "prober") != 0)
        check_broken("the prober could not attach");
    check_trying("one task into %u workers (spin limit %u), phase %s", workers, spin_limit, phase_names[phase]);
    const uint32_t rounds = phase == PHASE_PARKED ? ROUNDS : QUICK_ROUNDS;
    for (uint32_t round = 0; round < rounds; round++) {
        struct probe *probe = &probes[round % 2];
        delay(phase, executor, &probes[(round + 1) % 2], &random);
        *probe = (struct probe){.task.run = phase == PHASE_ANNOUNCING ? run_announced : run_probe};
        const enum pilfer_placement placement = (enum pilfer_placement)(check_random(&random) % 3);
        if (pilfer_submit(executor, &probe->task, placement) != 0)
            check_broken("a submit to an idle executor was refused (phase %s, round %u)", phase_names[phase], round);
        await_run(executor, &probe->runs, 1, phase_names[phase], round);
        check_progress();
    }
    if (attached)
        pilfer_detach(executor);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

/* A task submits another one and runs on until that has run: the other worker must come, though nobody is idle by
 * choice. Only for tasks that other workers can reach. */
static void run_parent(struct pilfer_task *task)
{
    struct probe *parent = (struct probe *)task;
    const uint32_t expected = shared_u32_load_relaxed(&parent->child->runs) + 1; /* single writer at a time */
    if (pilfer_submit(parent->executor, &parent->child->task, parent->placement) != 0)
        check_broken("a submit from inside a task was refused");
    await_run(parent->executor, &parent->child->runs, expected, "from inside a task", expected);
    run_probe(task);
}

static void probe_from_inside(const struct subject *subject, uint32_t workers, enum pilfer_placement placement)
{
    struct pilfer_executor *executor = load_open(subject, workers, 0, 0);
    load_may_engage(executor, workers);
    struct probe child = {.task.run = run_probe};
    struct probe parent = {.task.run = run_parent, .executor = executor, .placement = placement, .child = &child};
    check_trying("one task submitted by a task that runs on, %u workers, placement %d", workers, placement);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (round % 2 == 0)
            check_until(is_parked, executor);
        if (pilfer_submit(executor, &parent.task, PILFER_PLACEMENT_DEFAULT) != 0)
            check_broken("a submit to an idle executor was refused");
        await_run(executor, &parent.runs, round, "from inside a task", round);
        check_progress();
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

/* Every worker runs a task that waits, inside the pool, for one that is submitted from outside when all do. */
struct waiting {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct pilfer_latch *awaited, *done;
    struct shared_u32 *waits; /* tasks about to wait; counter only */
};

static void wait_inside(struct pilfer_task *task)
{
    const struct waiting *waiting = (const struct waiting *)task;
    shared_u32_add_relaxed(waiting->waits, 1);
    if (pilfer_wait(waiting->executor, waiting->awaited) != 0)
        check_broken("a wait from inside a task was refused");
    pilfer_latch_arrive(waiting->done);
}

struct awaited {
    struct pilfer_task task;
    struct pilfer_latch *latch;
};

static void run_awaited(struct pilfer_task *task)
{
    pilfer_latch_arrive(((struct awaited *)task)->latch);
}

struct waits {
    const struct shared_u32 *count;
    uint32_t expected;
};

static bool all_wait(void *context)
{
    const struct waits *waits = context;
    return shared_u32_load_relaxed(waits->count) == waits->expected;
}

static void probe_blocked(const struct subject *subject, uint32_t workers)
{
    enum { BLOCKED_ROUNDS = 300, WORKERS_MAX = 8 };
    struct pilfer_executor *executor = load_open(subject, workers, 0, 0);
    uint64_t random = subject->seed + workers;
    for (uint32_t round = 0; round < BLOCKED_ROUNDS; round++) {
        struct pilfer_latch latch, done;
        struct shared_u32 count = {0};
        struct waiting waiting[WORKERS_MAX];
        struct awaited awaited = {.task.run = run_awaited, .latch = &latch};
        struct waits waits = {&count, workers};
        check_trying("one task into %u workers that all wait for it inside a task (round %u)", workers, round);
        pilfer_latch_init(&latch, 1);
        pilfer_latch_init(&done, workers);
        for (uint32_t i = 0; i < workers; i++) {
            waiting[i] = (struct waiting){
                .task.run = wait_inside, .executor = executor, .awaited = &latch, .done = &done, .waits = &count};
            if (pilfer_submit(executor, &waiting[i].task, PILFER_PLACEMENT_DEFAULT) != 0)
                check_broken("a submit to an idle executor was refused");
        }
        check_until(all_wait, &waits);
        platform_pause((uint32_t)(check_random(&random) % 256)); /* on their way into the kernel, or there */
        if (pilfer_submit(executor, &awaited.task, (enum pilfer_placement)(check_random(&random) % 3)) != 0)
            check_broken("a submit to blocked workers was refused");
        pilfer_wait(executor, &done);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

void check_wake(const struct subject *subject)
{
    static const uint32_t counts[] = {1, 2, 8};
    for (uint32_t phase = 0; phase < PHASES; phase++)
        for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
            for (uint32_t spin_limit = 0; spin_limit <= 5; spin_limit += 5)
                probe_from_outside(subject, counts[i], spin_limit, phase);
    if (inside_runs_in_submitter(subject))
        return;
    probe_blocked(subject, 1);
    for (uint32_t workers = 2; workers <= 8; workers += 6) {
        probe_from_inside(subject, workers, PILFER_PLACEMENT_GLOBAL);
        probe_blocked(subject, workers);
        if (!inside_has_private_slot(subject))
            probe_from_inside(subject, workers, PILFER_PLACEMENT_LOCAL);
    }
}
