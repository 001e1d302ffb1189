/* SPDX-License-Identifier: MIT
 *
 * Scenarios of bounds: submits, readers that start and end, refusals, closes.
 *
 * How it works. Main is the first submitter; the others are threads. Each scenario comes to rest before it closes, or
 * closes on purpose before that; bound_course.h has the judgement. How many items there are and how many may run at
 * once is often a choice of the run, the small number first, so that what is found shrinks to it. The scenarios run for
 * the safe bounds and for the published ones alike. Of the published races (pool/bound/README.md), reader-ends has the
 * shape of R1 and R2, two-submitters that of R3 and R4.
 */
#include <string.h>

#include "bound_course.h"

enum { SUBMITTERS_MAX = 3 };

/* ---- submitters ---- */

struct submitter {
    struct course *course;
    uint32_t first, count;        /* its items */
    struct pilfer_latch *waits;   /* it begins when this is at zero; may be NULL */
    struct pilfer_latch *arrives; /* it arrives here when its submits have returned; may be NULL */
    struct platform_thread *thread;
};

static void submit_items(void *argument)
{
    struct submitter *self = argument;
    if (self->waits != NULL)
        latch_wait(self->waits);
    for (uint32_t i = 0; i < self->count; i++)
        course_submit(self->course, self->first + i);
    if (self->arrives != NULL)
        pilfer_latch_arrive(self->arrives);
}

/* Main is the first submitter. */
static void start(struct submitter *submitter, uint32_t number)
{
    static const char *const names[SUBMITTERS_MAX] = {"submitter A", "submitter B", "submitter C"};
    if (platform_thread_start(&submitter->thread, names[number], submit_items, submitter) != 0)
        explored_fail("B1", "a submitter could not be started");
}

/* Once the others are started, so many allocations may fail. */
static void submit_from(struct course *course, uint32_t submitters, uint32_t items_each, uint32_t failures)
{
    struct submitter all[SUBMITTERS_MAX];
    for (uint32_t i = 0; i < submitters; i++)
        all[i] = (struct submitter){.course = course, .first = i * items_each, .count = items_each};
    for (uint32_t i = 1; i < submitters; i++)
        start(&all[i], i);
    explored_allocations_may_fail(failures);
    submit_items(&all[0]);
    for (uint32_t i = 1; i < submitters; i++)
        platform_thread_join(all[i].thread);
    explored_allocations_may_fail(0);
}

static void end(struct course *course)
{
    course_close(course, PILFER_CLOSE_RUN);
    course_judge_ends(course, PILFER_CLOSE_RUN);
}

static void run_submitters(const struct configuration *configuration, uint32_t workers, uint32_t limit,
                           uint32_t submitters, uint32_t items_each)
{
    struct course course;
    course_open(&course, configuration, workers, limit, submitters * items_each);
    submit_from(&course, submitters, items_each, 0);
    course_rest(&course);
    end(&course);
}

/* ---- several submitters ---- */

static void one_item(const struct configuration *configuration)
{
    run_submitters(configuration, 1, 1, 1, 1);
}

static void two_submitters(const struct configuration *configuration)
{
    const uint32_t limit = 1 + explored_choose(2), items_each = 1 + explored_choose(2);
    run_submitters(configuration, 2, limit, 2, items_each);
}

static void three_submitters(const struct configuration *configuration)
{
    run_submitters(configuration, 2, 2, 3, 1);
}

static void several_workers(const struct configuration *configuration)
{
    run_submitters(configuration, 3, 2 + explored_choose(2), 2, 2);
}

/* ---- one reader and one item ---- */

/* The late items come when the first one is about to end. */
static void run_late_items(const struct configuration *configuration, uint32_t limit, uint32_t late_items,
                           uint32_t work_steps)
{
    struct course course;
    struct submitter late[SUBMITTERS_MAX];
    course_open(&course, configuration, 1, limit, 1 + late_items);
    struct pilfer_latch *first_runs = platform_alloc(sizeof *first_runs);
    pilfer_latch_init(first_runs, 1);
    course.records[0].arrives = first_runs;
    course.records[0].work_steps = work_steps;
    for (uint32_t i = 0; i < late_items; i++) {
        late[i] = (struct submitter){.course = &course, .first = 1 + i, .count = 1, .waits = first_runs};
        start(&late[i], 1 + i);
    }
    course_submit(&course, 0);
    for (uint32_t i = 0; i < late_items; i++)
        platform_thread_join(late[i].thread);
    course_rest(&course);
    end(&course);
    platform_free(first_runs);
}

static void reader_ends(const struct configuration *configuration)
{
    run_late_items(configuration, 1 + explored_choose(2), 1, 0);
}

/* A submit takes about twelve steps to come to the count; the reader is to be there at the same time. */
static void reader_ends_between(const struct configuration *configuration)
{
    run_late_items(configuration, 2, 2, 4 * explored_choose(3));
}

static void items_inside(const struct configuration *configuration)
{
    struct course course;
    course_open(&course, configuration, 2, 1 + explored_choose(2), 3);
    course.records[0].children = 1;
    course.records[1].children = 1;
    course_submit(&course, 0);
    course_rest(&course);
    end(&course);
}

static void memory_reused(const struct configuration *configuration)
{
    struct course course;
    course_open(&course, configuration, 2, 1 + explored_choose(2), 4);
    for (uint32_t i = 0; i < course.count; i++)
        course.records[i].frees = true;
    submit_from(&course, 2, 2, 0);
    course_rest(&course);
    end(&course);
}

/* Two items of which neither ends before both have begun. A submit that lost its swap to another one must try again. */
static void items_meet(const struct configuration *configuration)
{
    struct course course;
    course_open(&course, configuration, 2, 2, 2);
    struct pilfer_latch *meeting = platform_alloc(sizeof *meeting);
    pilfer_latch_init(meeting, course.count);
    for (uint32_t i = 0; i < course.count; i++)
        course.records[i].arrives = course.records[i].waits = meeting;
    submit_from(&course, 2, 1, 0);
    course_rest(&course);
    end(&course);
    platform_free(meeting);
}

/* ---- refusals ---- */

/* Over inline a reader may be refused, since a stranger's submit needs memory; elsewhere the channel's growth is. */
static void start_refused(const struct configuration *configuration)
{
    struct course course;
    const uint32_t limit = 1 + explored_choose(2), items_each = 1 + explored_choose(3);
    const uint32_t failures = 1 + explored_choose(2);
    course_open(&course, configuration, 2, limit, 2 * items_each);
    course_make_items(&course);
    course.may_refuse = true;
    submit_from(&course, 2, items_each, failures);
    course_rest_after_refusals(&course);
    end(&course);
}

/* ---- close ---- */

/* At once: items are queued or running, readers come and go, and one item submits another. */
static void close_at_once(const struct configuration *configuration)
{
    struct course course;
    course_open(&course, configuration, 2, 1 + explored_choose(2), 3);
    const enum pilfer_close how = explored_choose(2) == 0 ? PILFER_CLOSE_RUN : PILFER_CLOSE_DROP;
    course.may_refuse = true;
    course.records[0].children = 1;
    course_submit(&course, 0);
    course_submit(&course, 2);
    course_close(&course, how);
    course_judge_ends(&course, how);
}

/* While another thread submits. The first item ends after that thread's last submit has returned, so that the memory is
 * there until then. */
static void close_beside_submits(const struct configuration *configuration)
{
    struct course course;
    course_open(&course, configuration, 2, 1 + explored_choose(2), 3);
    const enum pilfer_close how = explored_choose(2) == 0 ? PILFER_CLOSE_RUN : PILFER_CLOSE_DROP;
    struct pilfer_latch *latches = platform_alloc(2 * sizeof *latches);
    struct pilfer_latch *first_runs = &latches[0], *submitted = &latches[1];
    pilfer_latch_init(first_runs, 1);
    pilfer_latch_init(submitted, 1);
    course.may_refuse = true;
    course.records[0].arrives = first_runs;
    course.records[0].waits = submitted;
    struct submitter other = {.course = &course, .first = 1, .count = 2, .waits = first_runs, .arrives = submitted};
    start(&other, 1);
    course_submit(&course, 0);
    latch_wait(first_runs);
    course_close(&course, how);
    platform_thread_join(other.thread);
    course_judge_ends(&course, how);
    platform_free(latches);
}

static bool has_workers(const struct configuration *configuration)
{
    return strcmp(configuration->over, "inline") != 0;
}

/* The published protocol does not try again: its items may wait for one another, and that is none of R1 to R4. */
static bool tries_again(const struct configuration *configuration)
{
    return !configuration->specimen;
}

#define BOUND(NAME, PROMISE, APPLIES, BODY, EXHAUSTIVE)          \
    {                                                            \
        NAME, PROMISE, SCENARIO_BOUND, APPLIES, BODY, EXHAUSTIVE \
    }
const struct scenario bound_scenarios[] = {
    BOUND("one-item", "one item, then silence: it runs", NULL, one_item, true),
    BOUND("reader-ends", "an item that comes while the reader leaves is run", NULL, reader_ends, true),
    BOUND("reader-ends-between", "two items that come while a reader leaves are run", NULL, reader_ends_between, false),
    BOUND("two-submitters", "items from two threads: all run, not too many at once", NULL, two_submitters, true),
    BOUND("three-submitters", "items from three threads: all run, not too many at once", NULL, three_submitters, true),
    BOUND("several-workers", "three workers for two or three items at once", NULL, several_workers, false),
    BOUND("items-inside", "items that are submitted inside an item are run", NULL, items_inside, false),
    BOUND("items-meet", "two items that may run at once do", tries_again, items_meet, false),
    BOUND("memory-reused", "an item's memory is the item's own when it runs", NULL, memory_reused, false),
    BOUND("start-refused", "a refused item is the submitter's, an accepted one is run", NULL, start_refused, false),
    BOUND("close-at-once", "each accepted item is run or given back, once", NULL, close_at_once, false),
    BOUND("close-beside-submits", "a submit beside a close is refused, run or given back", has_workers,
          close_beside_submits, false),
};
const uint32_t bound_scenario_count = sizeof bound_scenarios / sizeof bound_scenarios[0];
