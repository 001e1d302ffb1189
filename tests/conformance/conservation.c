/* SPDX-License-Identifier: MIT
 *
 * S1 conservation, S2 exactly once, S9 any worker count.
 *
 * S1. On the table alone: a random sequence of submits and hand-outs, then a drain; accepted = handed out + drained. On
 * real threads: every shape of load on 1, 2, 3, 8 and 64 workers; at the rest point after each, accepted = run, by the
 * executor's own counters and by the items. At a second kind of rest point every worker is held in a task while more
 * are queued: then accepted - run must be exactly the tasks held and queued. S2. Workers that fight for few tasks:
 * chains and re-used task memory on as many threads as make them race. An item that is entered more often than it was
 * submitted ends the test; so does the state that checking builds keep in each task. S9. On the table alone: with as
 * many tasks in the pool as there are workers, every worker's next finds one. On real threads: one task, then fewer
 * tasks than workers, then many, for worker counts from 1 to 64.
 */
#include "invariants.h"

#include <stdlib.h>

#include "inside.h"
#include "load.h"
#include "still.h"

#define SPIN_LIMIT 10

static const uint32_t worker_counts[] = {1, 2, 3, 8, 64};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the table alone ---- */

static void conserve_in_table(const struct subject *subject, uint32_t workers)
{
    enum { TASKS = 5000 };
    struct still still;
    struct still_task *items = calloc(TASKS, sizeof(*items));
    uint64_t random = subject->seed + workers;
    uint32_t queued = 0;
    check_setup(items != NULL);
    still_open(&still, subject, workers, NULL, 0);
    check_trying("%d random submits and hand-outs, %u workers, one thread", TASKS, workers);
    for (uint32_t i = 0; i < TASKS; i++) {
        const uint32_t self = (uint32_t)(check_random(&random) % (workers + 1));
        items[i].id = i;
        queued += still_submit(&still, self == workers ? UINT32_MAX : self, &items[i],
                               (enum pilfer_placement)(check_random(&random) % 3)) >= 0;
        if (check_random(&random) % 2 == 0)
            queued -= still_next(&still, (uint32_t)(check_random(&random) % workers)) != NULL;
    }
    still_drain_all(&still, queued);
    still_close(&still);
    free(items);
}

static void find_in_table(const struct subject *subject, uint32_t workers)
{
    struct still still;
    struct still_task items[STILL_WORKERS_MAX] = {0};
    still_open(&still, subject, workers, NULL, 0);
    check_trying("one task for each of %u workers, one thread", workers);
    for (uint32_t i = 0; i < workers; i++) {
        items[i].id = i;
        if (still_submit(&still, UINT32_MAX, &items[i], PILFER_PLACEMENT_DEFAULT) < 0)
            check_broken("a submit to an empty scheduler was refused");
    }
    for (uint32_t i = workers; i-- > 0;)
        if (still_next(&still, i) == NULL)
            check_broken("next of worker %u of %u found none of %u tasks", i, workers, i + 1);
    still_drain_all(&still, 0);
    still_close(&still);
}

/* ---- a rest point with queued tasks ---- */

struct hold {
    struct pilfer_task task;
    struct held *held;
};

struct held {
    struct shared_u32 entered; /* tasks that hold a worker now; written by them, read by the test; counter only */
    struct shared_u32 open;    /* 1: they may end; written by the test; @P conservation.1 */
    struct pilfer_latch latch;
    uint32_t expected;
};

static void hold_worker(struct pilfer_task *task)
{
    struct held *held = ((struct hold *)task)->held;
    shared_u32_add_relaxed(&held->entered, 1);
    check_progress();
    while (shared_u32_load_acquire(&held->open) == 0) /* @P conservation.1: nothing but the word itself */
        platform_yield();
    pilfer_latch_arrive(&held->latch);
}

static bool all_held(void *context)
{
    struct held *held = context;
    return shared_u32_load_relaxed(&held->entered) == held->expected;
}

static void check_queued(const struct subject *subject, uint32_t workers)
{
    enum { QUEUED = 64 };
    struct pilfer_executor *executor = load_open(subject, workers, SPIN_LIMIT, 0);
    struct held held = {.expected = workers};
    struct hold holds[64];
    load_may_engage(executor, workers);
    check_trying("holding all of %u workers in tasks", workers);
    pilfer_latch_init(&held.latch, workers);
    for (uint32_t i = 0; i < workers; i++) {
        holds[i] = (struct hold){.task.run = hold_worker, .held = &held};
        if (pilfer_submit(executor, &holds[i].task, PILFER_PLACEMENT_DEFAULT) != 0)
            check_broken("a submit to an idle executor was refused");
    }
    check_until(all_held, &held);
    check_trying("queueing %d tasks while all of %u workers are held", QUEUED, workers);
    struct load load;
    load_init(&load, executor, LOAD_RESUBMIT, QUEUED, subject->seed);
    load_start(&load);
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    const uint64_t accepted = totals.counters[COUNTER_tasks_accepted], run = totals.counters[COUNTER_tasks_run];
    if (accepted - run != workers + QUEUED)
        check_broken("%u tasks hold the workers and %d are queued, but accepted - run is %llu - %llu", workers, QUEUED,
                     (unsigned long long)accepted, (unsigned long long)run);
    shared_u32_store_release(&held.open, 1); /* @P conservation.1 */
    check_trying("letting %u held workers go on with queued tasks", workers);
    pilfer_wait(executor, &held.latch);
    load_wait(&load);
    load_verify(&load);
    load_verify_counters(executor, workers + QUEUED);
    load_free(&load);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

/* ---- S1 ---- */

void check_conservation(const struct subject *subject)
{
    enum { TASKS = 4000 };
    for (uint32_t i = 0; i < COUNT_OF(worker_counts); i++) {
        const uint32_t workers = worker_counts[i];
        if (!inside_runs_in_submitter(subject))
            conserve_in_table(subject, workers);
        struct pilfer_executor *executor = load_open(subject, inside_workers(subject, workers), SPIN_LIMIT, 0);
        uint64_t expected = 0;
        for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
            check_trying("%s of %d tasks on %u workers", load_shape_name(shape), TASKS, workers);
            expected += load_run(executor, shape, TASKS, subject->seed + workers);
            load_verify_counters(executor, expected);
            inside_verify_structure(executor);
        }
        check_trying("closing %u workers", workers);
        pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
        if (!inside_runs_in_submitter(subject))
            check_queued(subject, workers);
    }
}

/* ---- S2 ---- */

void check_once(const struct subject *subject)
{
    enum { TASKS = 30000 };
    static const uint32_t counts[] = {2, 3, 8};
    for (uint32_t i = 0; i < COUNT_OF(counts); i++)
        for (uint32_t spin_limit = 0; spin_limit <= SPIN_LIMIT; spin_limit += SPIN_LIMIT) {
            struct pilfer_executor *executor = load_open(subject, inside_workers(subject, counts[i]), spin_limit, 0);
            for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
                check_trying("%s of %d tasks on %u workers, spin limit %u", load_shape_name(shape), TASKS, counts[i],
                             spin_limit);
                load_run(executor, shape, TASKS, subject->seed + counts[i]);
            }
            pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
        }
}

/* ---- S9 ---- */

void check_worker_counts(const struct subject *subject)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 7, 8, 16, 33, 64};
    static const uint32_t tasks[] = {1, 2, 5, 500};
    for (uint32_t i = 0; i < COUNT_OF(counts); i++) {
        if (!inside_runs_in_submitter(subject))
            find_in_table(subject, counts[i]);
        struct pilfer_executor *executor = load_open(subject, inside_workers(subject, counts[i]), 0, 0);
        for (uint32_t j = 0; j < COUNT_OF(tasks); j++)
            for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
                check_trying("%s of %u tasks on %u workers", load_shape_name(shape), tasks[j], counts[i]);
                load_run(executor, shape, tasks[j], subject->seed + tasks[j]);
            }
        check_trying("closing %u workers", counts[i]);
        pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    }
}
