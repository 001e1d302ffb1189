/* SPDX-License-Identifier: MIT
 *
 * S8: quiet end. After stop, next gives none for ever and drain yields the rest.
 *
 * Method. On real threads: submitters submit without pause while the executor is closed, and go on until each is
 * refused; a task that they wait for keeps the pool from ending before that, so that nobody touches an executor that is
 * gone. Then every item accepted has run (PILFER_CLOSE_RUN) or has run or been given back (PILFER_CLOSE_DROP), once.
 * Those refused are still the caller's: they run on a second executor. On the table alone: some tasks are handed out,
 * drain gives all others, and after that neither drain nor any worker's next gives anything.
 */
#include "invariants.h"

#include <errno.h>
#include <stdlib.h>

#include "inside.h"
#include "load.h"
#include "still.h"

#define SUBMITTERS 3
#define HEAD_START 20 /* items that each submitter has submitted before close begins */
#define CYCLES     20 /* for each number of workers */

struct ending_item {
    struct pilfer_task task;
    struct ending_item *previous;      /* of the same submitter */
    struct shared_u32 runs, cancelled; /* written by workers or close; read after close */
    bool accepted;
    struct pilfer_latch *latch; /* NULL on the first executor */
};

struct ending {
    struct pilfer_executor *executor;
    struct pilfer_task keeper;            /* runs until all submitters have been refused */
    struct shared_u32 keeping;            /* 1: the keeper runs; counter only */
    struct shared_u32 begun;              /* submitters past their head start; counter only */
    struct shared_u32 refused;            /* submitters that have been refused; @P quiet_end.1 */
    struct ending_item *last[SUBMITTERS]; /* each submitter's newest item, the refused one */
};

struct ending_submitter {
    struct ending *ending;
    uint32_t index;
};

static void run_ending_item(struct pilfer_task *task)
{
    struct ending_item *item = (struct ending_item *)task;
    if (shared_u32_add_relaxed(&item->runs, 1) > 0)
        check_broken("a task ran twice around the end");
    check_progress();
    if (item->latch != NULL)
        pilfer_latch_arrive(item->latch);
}

static void cancel_ending_item(struct pilfer_task *task)
{
    struct ending_item *item = (struct ending_item *)task;
    if (shared_u32_add_relaxed(&item->cancelled, 1) > 0)
        check_broken("a task was given back twice");
}

static bool all_refused(void *context)
{
    struct ending *ending = context;
    return shared_u32_load_acquire(&ending->refused) == SUBMITTERS; /* @P quiet_end.1: no submit is under way */
}

static bool all_begun(void *context)
{
    struct ending *ending = context;
    return shared_u32_load_relaxed(&ending->begun) == SUBMITTERS && shared_u32_load_relaxed(&ending->keeping) == 1;
}

static void keep_until_refused(struct pilfer_task *task)
{
    struct ending *ending = (struct ending *)((char *)task - offsetof(struct ending, keeper));
    shared_u32_store_relaxed(&ending->keeping, 1);
    check_until(all_refused, ending);
}

static void submit_until_refused(void *argument)
{
    const struct ending_submitter *self = argument;
    struct ending *ending = self->ending;
    uint32_t submitted = 0;
    int status = 0;
    while (status != -ESHUTDOWN) {
        struct ending_item *item = calloc(1, sizeof(*item));
        check_setup(item != NULL);
        item->task.run = run_ending_item;
        item->previous = ending->last[self->index];
        ending->last[self->index] = item;
        do
            status = pilfer_submit(ending->executor, &item->task, (enum pilfer_placement)(submitted % 3));
        while (status == -EAGAIN);
        if (status != 0 && status != -ESHUTDOWN)
            check_broken("a submit that races with close answered %d", status);
        item->accepted = status == 0;
        if (++submitted == HEAD_START)
            shared_u32_add_relaxed(&ending->begun, 1);
        platform_yield();
    }
    shared_u32_add_release(&ending->refused, 1); /* @P quiet_end.1: this thread's last submit has returned */
}

/* The refused items belong to the caller: they run elsewhere. */
static void reuse_refused(const struct subject *subject, struct ending *ending)
{
    struct pilfer_executor *executor = load_open(subject, 1, 0, 0);
    struct pilfer_latch latch;
    pilfer_latch_init(&latch, SUBMITTERS);
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        ending->last[i]->latch = &latch;
        if (pilfer_submit(executor, &ending->last[i]->task, PILFER_PLACEMENT_DEFAULT) != 0)
            check_broken("a task refused by one executor was refused by the next");
        ending->last[i]->accepted = true;
    }
    pilfer_wait(executor, &latch);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
}

static void verify_and_free(struct ending *ending, enum pilfer_close how)
{
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        for (struct ending_item *item = ending->last[i], *previous; item != NULL; item = previous) {
            const uint32_t runs = shared_u32_load_relaxed(&item->runs),
                           cancelled = shared_u32_load_relaxed(&item->cancelled);
            previous = item->previous;
            if (runs + cancelled != item->accepted || (how == PILFER_CLOSE_RUN && cancelled > 0))
                check_broken("around close a task was accepted %d times, ran %u times and was given back %u times",
                             item->accepted, runs, cancelled);
            free(item);
        }
}

static void race_close(const struct subject *subject, uint32_t workers, enum pilfer_close how)
{
    struct ending ending = {.keeper.run = keep_until_refused};
    struct ending_submitter submitters[SUBMITTERS];
    struct platform_thread *threads[SUBMITTERS];
    ending.executor = load_open(subject, workers, 0, 0);
    if (pilfer_submit(ending.executor, &ending.keeper, PILFER_PLACEMENT_DEFAULT) != 0)
        check_broken("a submit to an idle executor was refused");
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (struct ending_submitter){&ending, i};
        check_setup(platform_thread_start(&threads[i], "submitter", submit_until_refused, &submitters[i]) == 0);
    }
    check_until(all_begun, &ending);
    pilfer_close(ending.executor, how, cancel_ending_item);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        platform_thread_join(threads[i]);
    reuse_refused(subject, &ending);
    verify_and_free(&ending, how);
}

/* No submitter: everything that is queued when close begins, from inside and outside. */
static void close_full(const struct subject *subject, uint32_t workers, enum pilfer_close how)
{
    enum { ITEMS = 500 };
    struct ending_item *items = calloc(ITEMS, sizeof(*items));
    struct pilfer_executor *executor = load_open(subject, inside_workers(subject, workers), 0, 0);
    check_setup(items != NULL);
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i].task.run = run_ending_item;
        if (pilfer_submit(executor, &items[i].task, (enum pilfer_placement)(i % 3)) != 0)
            check_broken("a submit before close was refused");
    }
    pilfer_close(executor, how, cancel_ending_item);
    for (uint32_t i = 0; i < ITEMS; i++)
        if (shared_u32_load_relaxed(&items[i].runs) + shared_u32_load_relaxed(&items[i].cancelled) != 1)
            check_broken("task %u, queued when close began, ran %u times and was given back %u times", i,
                         shared_u32_load_relaxed(&items[i].runs), shared_u32_load_relaxed(&items[i].cancelled));
    free(items);
}

static void drain_table(const struct subject *subject, uint32_t workers)
{
    enum { TASKS = 1000 };
    static struct still_task items[TASKS];
    struct still still;
    uint64_t random = subject->seed;
    still_open(&still, subject, workers, NULL, 0);
    check_trying("draining %d tasks of %u workers that have stopped", TASKS, workers);
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        items[i] = (struct still_task){.id = i};
        const uint32_t self = (uint32_t)(check_random(&random) % (workers + 1));
        accepted += still_submit(&still, self == workers ? UINT32_MAX : self, &items[i],
                                 (enum pilfer_placement)(check_random(&random) % 3)) >= 0;
        if (check_random(&random) % 3 == 0)
            accepted -= still_next(&still, (uint32_t)(check_random(&random) % workers)) != NULL;
    }
    still_drain_all(&still, accepted);
    still_close(&still);
}

void check_close_races(const struct subject *subject, uint32_t workers, uint32_t cycles)
{
    static const char *const names[] = {"running", "giving back"};
    for (uint32_t cycle = 0; cycle < cycles; cycle++) {
        const enum pilfer_close how = cycle % 2 == 0 ? PILFER_CLOSE_RUN : PILFER_CLOSE_DROP;
        check_trying("closing %u workers, %s what is queued (cycle %u)", workers, names[how], cycle);
        close_full(subject, workers, how);
        if (inside_runs_in_submitter(subject))
            continue;
        check_trying("closing %u workers while %d threads submit, %s what is queued (cycle %u)", workers, SUBMITTERS,
                     names[how], cycle);
        race_close(subject, workers, how);
    }
}

void check_quiet_end(const struct subject *subject)
{
    static const uint32_t counts[] = {1, 2, 8};
    const bool has_table = inside_scheduler(subject) != NULL && !inside_runs_in_submitter(subject);
    for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (has_table)
            drain_table(subject, counts[i]);
        check_close_races(subject, counts[i], CYCLES);
    }
}
