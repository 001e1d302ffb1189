/* SPDX-License-Identifier: MIT
 *
 * B1 items conserved, B2 active <= D, B3 nothing stranded, B4 reader counters add up.
 *
 * B1. Every shape of load over pools of several sizes, at several bounds; every item runs once. Around close: run or
 * given back, once (the method of S8). B2. Every item counts itself in and out and lingers a little, on pools with more
 * workers than the bound; never more than D at once, by the items' own count and by the bound's. B3. Producers submit a
 * handful of items and then nothing, so that no later submit repairs what an earlier one lost, and again. What is
 * stranded stands still and is ended by the watch. B4. At rest: readers that found nothing and that ran exactly one are
 * among all readers, and the items they ran are those that were submitted.
 */
#include "invariants.h"

#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "load.h"

static const uint32_t limits[] = {1, 2, 3, 8};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define TASKS           3000

/* ---- B1 ---- */

void check_items_conserved(const struct subject *subject)
{
    static const uint32_t workers[] = {1, 2, 8};
    for (uint32_t i = 0; i < COUNT_OF(limits); i++)
        for (uint32_t j = 0; j < COUNT_OF(workers); j++) {
            struct pilfer_executor *executor = load_open(subject, workers[j], 5, limits[i]);
            for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
                check_trying("%s of %d items, at most %u at once, on %u workers", load_shape_name(shape), TASKS,
                             limits[i], workers[j]);
                load_run(executor, shape, TASKS, subject->seed + limits[i]);
            }
            check_trying("closing a bound of %u on %u workers", limits[i], workers[j]);
            pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
        }
    check_quiet_end(subject);
}

/* ---- B2 ---- */

struct crowd {
    uint32_t limit;
    struct shared_u32 active; /* items between their first and last step; written by items; counter only */
    struct pilfer_latch latch;
};

struct member {
    struct pilfer_task task;
    struct crowd *crowd;
};

static void linger(struct pilfer_task *task)
{
    struct crowd *crowd = ((struct member *)task)->crowd;
    const uint32_t active = shared_u32_add_seq_cst(&crowd->active, 1) + 1;
    if (active > crowd->limit)
        check_broken("%u items ran at once; the bound is %u", active, crowd->limit);
    platform_yield(); /* lets another worker come */
    shared_u32_add_seq_cst(&crowd->active, UINT32_MAX);
    check_progress();
    pilfer_latch_arrive(&crowd->latch);
}

struct crowd_submitter {
    struct pilfer_executor *executor;
    struct member *first;
    uint32_t count;
};

static void submit_members(void *argument)
{
    const struct crowd_submitter *self = argument;
    for (uint32_t i = 0; i < self->count; i++)
        if (pilfer_submit(self->executor, &self->first[i].task, PILFER_PLACEMENT_DEFAULT) != 0)
            check_broken("a submit was refused");
}

static double extra_wanted(struct pilfer_executor *executor, const char *name);

static void crowd_bound(const struct subject *subject, uint32_t limit)
{
    enum { SUBMITTERS = 3 };
    struct crowd crowd = {.limit = limit};
    struct member *members = calloc(TASKS, sizeof(*members));
    struct crowd_submitter submitters[SUBMITTERS];
    struct platform_thread *threads[SUBMITTERS];
    struct pilfer_executor *executor = load_open(subject, limit + 4, 5, limit);
    check_setup(members != NULL);
    check_trying("%d items from %d threads on %u workers, at most %u at once", TASKS, SUBMITTERS, limit + 4, limit);
    pilfer_latch_init(&crowd.latch, TASKS);
    for (uint32_t i = 0; i < TASKS; i++)
        members[i] = (struct member){.task.run = linger, .crowd = &crowd};
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (struct crowd_submitter){executor, members + i * (TASKS / SUBMITTERS), TASKS / SUBMITTERS};
        check_setup(platform_thread_start(&threads[i], "submitter", submit_members, &submitters[i]) == 0);
    }
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        platform_thread_join(threads[i]);
    pilfer_wait(executor, &crowd.latch);
    const double active_max = extra_wanted(executor, "readers_active_max");
    if (active_max > limit)
        check_broken("%.0f readers were active at once; the bound is %u", active_max, limit);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    free(members);
}

void check_limit(const struct subject *subject)
{
    for (uint32_t i = 0; i < COUNT_OF(limits); i++)
        crowd_bound(subject, limits[i]);
}

/* ---- B3 ---- */

void check_stranded(const struct subject *subject)
{
    enum { ROUNDS = 2000 };
    for (uint32_t i = 0; i < COUNT_OF(limits); i++) {
        struct pilfer_executor *executor = load_open(subject, 2, 0, limits[i]);
        uint64_t random = subject->seed;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            const uint32_t items = 1 + (uint32_t)(check_random(&random) % 6);
            check_trying("round %u: %u items and then nothing, at most %u at once", round, items, limits[i]);
            load_run(executor, round % 64 == 0 ? LOAD_OUTSIDE : LOAD_RESUBMIT, items, subject->seed + round);
        }
        pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    }
}

/* ---- B4 ---- */

struct wanted {
    const char *name;
    double value;
    bool found;
};

static void look_for(void *context, const char *name, double value)
{
    struct wanted *wanted = context;
    if (strcmp(name, wanted->name) != 0)
        return;
    wanted->value = value;
    wanted->found = true;
}

static double extra_wanted(struct pilfer_executor *executor, const char *name)
{
    struct wanted wanted = {.name = name};
    pilfer_extras(executor, look_for, &wanted);
    if (!wanted.found)
        check_broken("it declares no number %s", name);
    return wanted.value;
}

struct reader_counts {
    struct pilfer_executor *executor;
    double items_run, items, total;
};

static bool readers_are_at_rest(void *context)
{
    struct reader_counts *counts = context;
    counts->items_run = extra_wanted(counts->executor, "items_run"); /* added to at the end of a reader */
    return counts->items_run >= counts->items;
}

void check_readers(const struct subject *subject)
{
    for (uint32_t i = 0; i < COUNT_OF(limits); i++) {
        struct pilfer_executor *executor = load_open(subject, 3, 5, limits[i]);
        struct reader_counts counts = {.executor = executor};
        for (uint32_t shape = 0; shape < LOAD_SHAPES; shape++) {
            check_trying("%s of %d items, at most %u at once", load_shape_name(shape), TASKS, limits[i]);
            counts.items += (double)load_run(executor, shape, TASKS, subject->seed);
        }
        check_trying("the reader counters at rest, at most %u at once", limits[i]);
        check_until(readers_are_at_rest, &counts);
        const double total = extra_wanted(executor, "readers_total"), zero = extra_wanted(executor, "readers_zero"),
                     single = extra_wanted(executor, "readers_single");
        if (counts.items_run != counts.items)
            check_broken("%.0f items were submitted, and readers ran %.0f", counts.items, counts.items_run);
        if (zero + single > total)
            check_broken("%.0f readers found nothing and %.0f ran one item, of %.0f in all", zero, single, total);
        if (counts.items < single || (total == zero + single && counts.items != single))
            check_broken("%.0f items by %.0f readers, of which %.0f ran one and %.0f none", counts.items, total, single,
                         zero);
        if (extra_wanted(executor, "readers_active_max") > limits[i])
            check_broken("%.0f readers were active at once; the bound is %u",
                         extra_wanted(executor, "readers_active_max"), limits[i]);
        pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    }
}
