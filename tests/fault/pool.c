/* SPDX-License-Identifier: MIT
 *
 * Promises R12 (a thread that cannot be started is survivable) and R13 (so is an allocation that fails), for executors.
 *
 * Method. With preload.c in front of the C library, each step is repeated with the n-th allocation failing, for every n
 * until a run in which none did; once alone, once with all later ones. Each run is a child under a watch. Open either
 * works, or fails with a message and leaves nothing behind; a refused submit is tried again; what was accepted runs.
 * For threads, the k-th start fails: an executor works with k - 1 workers and says so, or fails cleanly if k = 1. And
 * the same by the system's own limit (RLIMIT_NPROC), when the test may become an unprivileged user.
 *
 * Usage: LD_PRELOAD=libfault.so fault-pool NAME. Status 0, 1, or 77 when it is not preloaded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"
#include "inside.h"
#include "load.h"
#include "preload.h"

#pragma weak fault_arm
#pragma weak fault_hits
#pragma weak fault_live

#define PATIENCE_S   30
#define THREADS      64
#define TASKS        600
#define NUMBERS_MAX  2000 /* more allocations than any step makes */
#define UNPRIVILEGED 65534

static struct fault_plan plan;     /* of the run in a child; written by main before it is made */
static struct shared_u64 *any_hit; /* in memory shared with the children: 1 if the last run's fault came about */

static const struct fault_plan no_fault = {0};

static struct pilfer_options options_of(const struct subject *subject, uint32_t min_workers, uint32_t max_workers)
{
    const bool has_workers = !inside_runs_in_submitter(subject);
    return (struct pilfer_options){.scheduler = subject->name,
                                   .min_workers = has_workers ? min_workers : 0,
                                   .max_workers = has_workers ? max_workers : 0,
                                   .spin_limit = 5,
                                   .parallelism = 3,
                                   .trace_events = 64,
                                   .seed = subject->seed};
}

/* Disarms, and notes whether the fault came about. */
static void disarm(void)
{
    if (fault_hits() > 0)
        shared_u64_store_relaxed(any_hit, 1);
    fault_arm(&no_fault);
}

static void verify_no_leak(int64_t before, const char *what)
{
    if (fault_live() != before)
        check_broken("%s left %" PRId64 " blocks behind", what, fault_live() - before);
}

/* ---- allocations ---- */

static void fail_open(const struct subject *subject)
{
    const struct pilfer_options options = options_of(subject, 2, 4);
    const int64_t before = fault_live();
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE] = "";
    check_trying("opening while allocation %" PRIu64 "%s fails", plan.allocation,
                 plan.following ? " and all later" : "");
    fault_arm(&plan);
    const int status = pilfer_open(&options, &executor, message);
    disarm();
    if (status != 0 && status != -ENOMEM && status != -EAGAIN)
        check_broken("open answered %d: %s", status, message);
    if (status != 0 && message[0] == '\0')
        check_broken("open answered %d and no message", status);
    if (status != 0 && shared_u64_load_relaxed(any_hit) == 0)
        check_broken("open answered %d without a fault: %s", status, message);
    if (status == 0) {
        for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++)
            load_run(executor, shape, TASKS, subject->seed);
        pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    }
    verify_no_leak(before, "open");
}

static bool enough_has_failed(void *context)
{
    const struct load *load = context;
    return fault_hits() >= (plan.following ? 10 : 1) || shared_u32_load_relaxed(&load->latch.remaining) == 0;
}

/* The fault falls into a load: submits, growth of queues and of the pool. */
static void fail_load(const struct subject *subject)
{
    const struct pilfer_options options = options_of(subject, 1, 8);
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    const int64_t before = fault_live();
    check_setup(pilfer_open(&options, &executor, message) == 0);
    check_setup(pilfer_attach(executor, "tester") == 0);
    for (uint32_t shape = 0; shape < LOAD_OUTSIDE; shape++) { /* its submitters are threads too */
        struct load load;
        check_trying("%s while allocation %" PRIu64 "%s fails", load_shape_name(shape), plan.allocation,
                     plan.following ? " and all later" : "");
        load_init(&load, executor, shape, TASKS, subject->seed);
        load.memory_may_fail = true;
        fault_arm(&plan);
        load_start(&load);
        check_until(enough_has_failed, &load); /* refused tasks are tried again: let them through at last */
        disarm();
        load_wait(&load);
        load_verify(&load);
        load_free(&load);
    }
    pilfer_detach(executor);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    verify_no_leak(before, "a load");
}

static void run_nothing(struct pilfer_task *task)
{
    check_progress();
}

static void fail_close_how(const struct subject *subject, enum pilfer_close how)
{
    struct pilfer_options options = options_of(subject, 1, 2);
    struct pilfer_task tasks[64] = {0};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    const int64_t before = fault_live();
    check_setup(pilfer_open(&options, &executor, message) == 0);
    for (uint32_t i = 0; i < 64; i++) {
        tasks[i].run = run_nothing;
        check_setup(pilfer_submit(executor, &tasks[i], PILFER_PLACEMENT_DEFAULT) == 0);
    }
    check_trying("closing while allocation %" PRIu64 "%s fails", plan.allocation,
                 plan.following ? " and all later" : "");
    fault_arm(&plan);
    pilfer_close(executor, how, NULL);
    disarm();
    verify_no_leak(before, "close");
}

static void fail_close_run(const struct subject *subject)
{
    fail_close_how(subject, PILFER_CLOSE_RUN);
}

static void fail_close_drop(const struct subject *subject)
{
    fail_close_how(subject, PILFER_CLOSE_DROP);
}

/* ---- threads ---- */

/* All workers at once: as many as start, work. */
static void fail_threads(const struct subject *subject)
{
    const struct pilfer_options options = options_of(subject, THREADS, THREADS);
    const int64_t before = fault_live();
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE] = "";
    check_trying("opening %d workers while the start of thread %" PRIu64 " fails", THREADS, plan.thread);
    fault_arm(&plan);
    const int status = pilfer_open(&options, &executor, message);
    disarm();
    const bool hit = shared_u64_load_relaxed(any_hit) != 0;
    if (hit && plan.thread == 1) {
        if (status != -EAGAIN && status != -ENOMEM)
            check_broken("no thread could be started, and open answered %d", status);
        if (message[0] == '\0')
            check_broken("no thread could be started, and open gave no message");
        verify_no_leak(before, "open without a thread");
        return;
    }
    if (status != 0)
        check_broken("%" PRIu64 " workers could be started, and open answered %d: %s", plan.thread - 1, status,
                     message);
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    if (hit && (totals.workers_started != plan.thread - 1 || totals.counters[COUNTER_thread_failures] == 0))
        check_broken("%" PRIu64 " workers could be started; the counters say %u started, %" PRIu64 " failures",
                     plan.thread - 1, totals.workers_started, totals.counters[COUNTER_thread_failures]);
    for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
        check_trying("%s with %u of %d workers", load_shape_name(shape), totals.workers_started, THREADS);
        load_run(executor, shape, TASKS, subject->seed);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    verify_no_leak(before, "a pool with fewer workers");
}

/* One worker at first, more when they are wanted: the pool goes on with those that it has. */
static void fail_growth(const struct subject *subject)
{
    const struct pilfer_options options = options_of(subject, 1, THREADS);
    const int64_t before = fault_live();
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE] = "";
    check_setup(pilfer_open(&options, &executor, message) == 0);
    for (uint32_t shape = 0; shape < LOAD_OUTSIDE; shape++) { /* its submitters are threads too */
        struct load load;
        check_trying("%s while the start of thread %" PRIu64 " fails", load_shape_name(shape), plan.thread);
        load_init(&load, executor, shape, TASKS, subject->seed);
        fault_arm(&plan);
        load_start(&load);
        load_wait(&load);
        disarm();
        load_verify(&load);
        load_free(&load);
    }
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    verify_no_leak(before, "a pool that could not grow");
}

struct nested {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct pilfer_latch latch;
    uint32_t depth;
    struct nested *below; /* submitted and waited for; NULL: none */
    int status;           /* of the wait; written by the task, read after the outermost latch */
};

static void submit_below_and_wait(struct pilfer_task *task)
{
    struct nested *self = (struct nested *)task;
    check_progress();
    if (self->below != NULL) {
        if (pilfer_submit(self->executor, &self->below->task, PILFER_PLACEMENT_DEFAULT) != 0)
            check_broken("a nested submit was refused at depth %u", self->depth);
        self->status = pilfer_wait(self->executor, &self->below->latch);
    }
    pilfer_latch_arrive(&self->latch);
}

/* Tasks that wait for tasks, deeper than one thread helps, while no substitute can be started. A refused wait
 * (-EDEADLK) is an answer; standing still is not. */
static void fail_substitutes(const struct subject *subject)
{
    enum { DEPTH = 3 * PILFER_HELP_DEPTH_MAX };
    static struct nested nest[DEPTH];
    const struct pilfer_options options = options_of(subject, 1, 1);
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE];
    check_setup(pilfer_open(&options, &executor, message) == 0);
    for (uint32_t i = 0; i < DEPTH; i++) {
        nest[i] = (struct nested){.task.run = submit_below_and_wait, .executor = executor, .depth = i};
        nest[i].below = i + 1 < DEPTH ? &nest[i + 1] : NULL;
        pilfer_latch_init(&nest[i].latch, 1);
    }
    check_trying("waits nested to depth %d while the start of thread %" PRIu64 " fails", DEPTH, plan.thread);
    fault_arm(&plan);
    check_setup(pilfer_submit(executor, &nest[0].task, PILFER_PLACEMENT_DEFAULT) == 0);
    pilfer_wait(executor, &nest[0].latch);
    disarm();
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    for (uint32_t i = 0; i < DEPTH; i++)
        if (shared_u32_load_relaxed(&nest[i].latch.remaining) != 0)
            check_broken("the task at depth %u did not run", i);
        else if (nest[i].status != 0 && nest[i].status != -EDEADLK)
            check_broken("the wait at depth %u answered %d", i, nest[i].status);
}

/* The system's own limit: as many workers as it allows, or a clean failure. */
static void limit_processes(const struct subject *subject)
{
    if (geteuid() != 0 || setgid(UNPRIVILEGED) != 0 || setuid(UNPRIVILEGED) != 0)
        check_skip("the test cannot become a user without privileges");
    const struct rlimit limit = {.rlim_cur = plan.thread, .rlim_max = plan.thread};
    const struct pilfer_options options = options_of(subject, THREADS, THREADS);
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE] = "";
    check_setup(setrlimit(RLIMIT_NPROC, &limit) == 0);
    check_trying("opening %d workers with at most %" PRIu64 " processes", THREADS, plan.thread);
    const int status = pilfer_open(&options, &executor, message);
    if (status == -EAGAIN || status == -ENOMEM)
        return; /* the limit counts the user's other processes too: it may allow none */
    if (status != 0)
        check_broken("open answered %d: %s", status, message);
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    if (!inside_runs_in_submitter(subject) && totals.workers_started >= THREADS)
        check_skip("the system does not enforce the limit");
    load_run(executor, LOAD_FAN_OUT, TASKS, subject->seed);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

/* ---- repeating ---- */

static uint32_t failures;

/* Runs a step in a child; false when it was broken or skipped. */
static bool run(const char *name, void (*step)(const struct subject *subject), const struct subject *subject)
{
    struct verdict verdict;
    shared_u64_store_relaxed(any_hit, 0);
    if (harness_run(step, subject, PATIENCE_S, &verdict) != 0) {
        fprintf(stderr, "fault-pool: no child could be made\n");
        exit(3);
    }
    if (verdict.outcome == OUTCOME_BROKEN) {
        printf("%-12s broken: %s\n", name, verdict.text);
        failures++;
    } else if (verdict.outcome == OUTCOME_SKIPPED) {
        printf("%-12s skipped: %s\n", name, verdict.text);
    }
    return verdict.outcome == OUTCOME_HELD;
}

/* The n-th allocation fails, for every n until none does. */
static void repeat_allocations(const char *name, void (*step)(const struct subject *subject),
                               const struct subject *subject)
{
    for (uint32_t following = 0; following <= 1; following++) {
        uint64_t n = 1;
        do
            plan = (struct fault_plan){.allocation = n++, .following = following != 0};
        while (run(name, step, subject) && shared_u64_load_relaxed(any_hit) != 0 && n < NUMBERS_MAX);
        printf("%-12s %" PRIu64 " runs, allocation n%s failing\n", name, n - 1, following ? " and all later" : "");
    }
}

/* The k-th thread cannot be started, for k in a range, each error, alone and with all later ones. */
static void repeat_threads(const char *name, void (*step)(const struct subject *subject), uint64_t first, uint64_t last,
                           const struct subject *subject)
{
    static const int errors[] = {EAGAIN, ENOMEM};
    uint64_t runs = 0;
    for (uint64_t k = first; k <= last; k++)
        for (uint32_t i = 0; i < 4; i++) {
            plan = (struct fault_plan){.thread = k, .following = i % 2 != 0, .error = errors[i / 2]};
            if (!run(name, step, subject))
                return;
            runs++;
        }
    printf("%-12s %" PRIu64 " runs, thread %" PRIu64 " to %" PRIu64 " failing\n", name, runs, first, last);
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2) {
        fprintf(stderr, "usage: fault-pool NAME\n");
        return 2;
    }
    if (fault_arm == NULL) {
        printf("the library of preload.c is not preloaded\n");
        return 77;
    }
    const struct subject subject = {.name = arguments[1], .seed = 1};
    any_hit = harness_shared(sizeof(*any_hit));
    if (platform_init() != 0 || any_hit == NULL)
        return 3;
    repeat_allocations("open", fail_open, &subject);
    repeat_allocations("load", fail_load, &subject);
    repeat_allocations("close", fail_close_run, &subject);
    repeat_allocations("close, drop", fail_close_drop, &subject);
    /* A bound stands on the same threads; and its items may not wait for each other beyond its limit. */
    if (inside_scheduler(&subject) != NULL && !inside_runs_in_submitter(&subject)) {
        repeat_threads("threads", fail_threads, 1, THREADS, &subject);
        repeat_threads("growth", fail_growth, 1, THREADS, &subject);
        repeat_threads("substitutes", fail_substitutes, 1, 4, &subject);
        repeat_threads("processes", limit_processes, 1, 8, &subject);
    }
    return failures > 0;
}
