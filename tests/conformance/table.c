/* SPDX-License-Identifier: MIT
 *
 * S5 bounded next, S7 owner discipline: the table driven by one thread.
 *
 * S5. next must end within a number of steps that depends on the number of workers only. A step is one memory access of
 * the scheduler's own code, counted by the instrumentation. 0, 1, 100 and 50,000 tasks lie in the shared queue, in the
 * worker's own or in the one that it looks at last; no call may take more than STEPS + STEPS_PER_WORKER x workers. A
 * next that blocks or never ends stands still, and the watch ends it.
 *
 * S7. A worker's state is written by its owner alone, but for ordered shared types. A random sequence of submit, next,
 * surrender_local by random workers; after each call the instrumentation tells whether a plain write went into the
 * state of another worker. The same sequence checks conservation and hand-out, task by task.
 */
#include "invariants.h"

#include <stdlib.h>

#include "inside.h"
#include "still.h"

#define STEPS            2000
#define STEPS_PER_WORKER 200
#define NOBODY           UINT32_MAX

static const uint32_t worker_counts[] = {1, 2, 3, 8, 64};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void skip_without_table(const struct subject *subject)
{
    if (inside_runs_in_submitter(subject))
        check_skip("tasks run in the submitter: there is no worker to hand them to");
}

/* ---- S5 ---- */

struct place {
    const char *name;
    bool by_guest, by_last;
    enum pilfer_placement placement;
};

static const struct place places[] = {
    {"submitted by a guest", true, false, PILFER_PLACEMENT_DEFAULT},
    {"in the shared queue", false, false, PILFER_PLACEMENT_GLOBAL},
    {"in its own queue", false, false, PILFER_PLACEMENT_LOCAL},
    {"in the last worker's queue", false, true, PILFER_PLACEMENT_LOCAL},
};

static void count_steps(const struct subject *subject, uint32_t workers, const struct place *place, uint32_t tasks)
{
    enum { CALLS = 200 };
    const uint64_t limit = STEPS + (uint64_t)STEPS_PER_WORKER * workers;
    struct still still;
    struct still_task *items = calloc(tasks + 1, sizeof(*items));
    check_setup(items != NULL);
    still_open(&still, subject, workers, NULL, 0);
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < tasks; i++) {
        items[i].id = i;
        const uint32_t submitter = place->by_guest ? NOBODY : place->by_last ? workers - 1 : 0;
        accepted += still_submit(&still, submitter, &items[i], place->placement) >= 0;
    }
    check_trying("next of worker 0 of %u with %u tasks %s", workers, tasks, place->name);
    uint32_t taken = 0;
    for (uint32_t call = 0; call < CALLS && call <= tasks; call++) {
        taken += still_next(&still, 0) != NULL;
        if (still.trace.accesses > limit)
            check_broken("next of worker 0 of %u took %llu steps with %u tasks %s; the limit is %llu", workers,
                         (unsigned long long)still.trace.accesses, accepted, place->name, (unsigned long long)limit);
    }
    still_drain_all(&still, accepted - taken);
    still_close(&still);
    free(items);
}

void check_bounded_next(const struct subject *subject)
{
    static const uint32_t tasks[] = {0, 1, 100, 50000};
    skip_without_table(subject);
    for (uint32_t i = 0; i < COUNT_OF(worker_counts); i++)
        for (uint32_t j = 0; j < COUNT_OF(tasks); j++)
            for (uint32_t k = 0; k < COUNT_OF(places); k++)
                count_steps(subject, worker_counts[i], &places[k], tasks[j]);
    if (!instrument_is_available())
        check_skip("every call ended, but this build cannot count its steps");
}

/* ---- S7 ---- */

#define ITEMS        300
#define STEPS_RANDOM 20000

static void forbid_foreign_write(const struct still *still, uint32_t self, uint32_t step)
{
    if (still->trace.foreign)
        check_broken("%s by %s %d wrote plainly into the state of worker %u, at byte %zu (step %u)", still->callback,
                     self == NOBODY ? "guest" : "worker", self == NOBODY ? 0 : (int)self, still->trace.owner,
                     still->trace.offset, step);
}

static void walk(const struct subject *subject, uint32_t workers)
{
    struct still still;
    struct still_task items[ITEMS] = {0};
    struct still_task *free_items[ITEMS];
    uint32_t free_count = ITEMS;
    uint64_t random = subject->seed + workers;
    still_open(&still, subject, workers, NULL, 0);
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i].id = i;
        free_items[i] = &items[i];
    }
    check_trying("%d random calls of %u workers and a guest", STEPS_RANDOM, workers);
    for (uint32_t step = 0; step < STEPS_RANDOM; step++) {
        uint32_t self = (uint32_t)(check_random(&random) % (workers + 1));
        const uint32_t choice = (uint32_t)(check_random(&random) % 64);
        /* Long phases of mostly submitting and mostly taking, so that queues are empty and long in turn. */
        const bool submits = choice % 8 < (step / 500 % 2 == 0 ? 5 : 2);
        if (self == workers && !submits)
            self = 0;
        if (self == workers)
            self = NOBODY;
        if (submits && free_count > 0) {
            const enum pilfer_placement placement = (enum pilfer_placement)(check_random(&random) % 3);
            if (still_submit(&still, self, free_items[free_count - 1], placement) >= 0)
                free_count--;
        } else if (self != NOBODY && choice == 63) {
            still_surrender(&still, self);
        } else if (self != NOBODY) {
            struct still_task *task = still_next(&still, self);
            if (task == NULL && workers == 1 && free_count < ITEMS)
                check_broken("next of the only worker gave none, and %u tasks are queued (step %u)", ITEMS - free_count,
                             step);
            if (task != NULL) {
                task->state = STILL_FREE;
                free_items[free_count++] = task;
            }
        }
        forbid_foreign_write(&still, self, step);
    }
    still_drain_all(&still, ITEMS - free_count);
    still_close(&still);
}

void check_owner(const struct subject *subject)
{
    skip_without_table(subject);
    if (!instrument_is_available())
        check_skip("this build cannot see plain writes (the thread sanitizer build sees their races)");
    walk(subject, 1);
    walk(subject, 2);
    walk(subject, 3);
    walk(subject, 8);
}
