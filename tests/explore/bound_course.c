/* SPDX-License-Identifier: MIT
 *
 * Items, their submits, and the judgement of bound_course.h.
 */
#include "bound_course.h"

#include <errno.h>
#include <string.h>

#include "pool.h"

static const char *const item_names[ITEMS_MAX] = {"item 1", "item 2", "item 3", "item 4",  "item 5",  "item 6",
                                                  "item 7", "item 8", "item 9", "item 10", "item 11", "item 12"};

/* ---- items ---- */

static uint32_t load_of(uint32_t number)
{
    return 1000 + number;
}

void latch_wait(struct pilfer_latch *latch)
{
    uint32_t remaining;
    /* Acquire @P pool.latch. */
    while ((remaining = shared_u32_load_acquire(&latch->remaining)) != 0)
        platform_park(&latch->remaining, remaining, PLATFORM_FOREVER);
}

static void submit_children(struct course *course, struct record *record)
{
    uint32_t first = 1;
    for (const struct record *before = course->records; before < record; before++)
        first += before->children;
    for (uint32_t i = 0; i < record->children; i++)
        course_submit(course, first + i);
}

static void item_run(struct pilfer_task *task)
{
    struct item *item = (struct item *)task;
    struct course *course = item->course;
    const uint32_t number = item->number;
    struct record *record = &course->records[number];
    explored_note("%s runs", item_names[number]);
    if (++record->runs > 1)
        explored_fail("B1", "%s runs a second time", item_names[number]);
    if (item->load != load_of(number))
        explored_fail("B1", "%s runs with the fields of another one", item_names[number]);
    if (++course->active > course->limit)
        explored_fail("B2", "%lld items run at once; the bound is %lld", (long long)course->active,
                      (long long)course->limit);
    if (explored_locks_held() != 0)
        explored_fail("S10", "%s runs under a lock", item_names[number]);
    item->done = item->load;
    if (record->frees)
        platform_free(item);
    submit_children(course, record);
    if (record->arrives != NULL)
        pilfer_latch_arrive(record->arrives);
    if (record->waits != NULL)
        latch_wait(record->waits);
    for (uint32_t i = 0; i < record->work_steps; i++)
        shared_u32_load_relaxed(&course->latch->remaining); /* counter only: a step like any other */
    pilfer_latch_arrive(course->latch);
    course->active--;
}

static void item_given_back(struct pilfer_task *task)
{
    struct item *item = (struct item *)task;
    struct record *record = &item->course->records[item->number];
    explored_note("%s is given back", item_names[item->number]);
    record->given_back++;
    pilfer_latch_arrive(item->course->latch);
}

static struct item *make_item(struct course *course, uint32_t number)
{
    struct item *item = platform_alloc(sizeof *item);
    if (item == NULL)
        explored_fail("limit", "no memory for %s", item_names[number]);
    *item = (struct item){.task.run = item_run, .course = course, .number = number, .load = load_of(number)};
    explored_name(item, item_names[number]);
    return item;
}

void course_make_items(struct course *course)
{
    for (uint32_t i = 0; i < course->count; i++)
        course->records[i].item = make_item(course, i);
}

bool course_submit(struct course *course, uint32_t number)
{
    struct record *record = &course->records[number];
    uint32_t *submitting = &course->submitting[explored_thread_self()], outer = *submitting;
    if (record->item == NULL)
        record->item = make_item(course, number);
    explored_note("submits %s", item_names[number]);
    *submitting = number + 1;
    int status = pilfer_submit(course->executor, &record->item->task, PILFER_PLACEMENT_DEFAULT);
    *submitting = outer;
    record->accepted = status == 0;
    if (record->accepted)
        return true;
    explored_note("%s is refused: %s", item_names[number], strerror(-status));
    if (!course->may_refuse)
        explored_fail("B1", "%s was refused without a reason: %s", item_names[number], strerror(-status));
    if (record->runs > 0)
        explored_fail("B1", "%s was refused and has run", item_names[number]);
    pilfer_latch_arrive(course->latch);
    return false;
}

/* ---- the judgement ---- */

struct counters {
    double total, zero, single, items_run, active_max, stranded, refused;
};

static void read_counter(void *context, const char *name, double value)
{
    struct counters *counters = context;
    const struct {
        const char *name;
        double *value;
    } known[] = {{"readers_total", &counters->total},           {"readers_zero", &counters->zero},
                 {"readers_single", &counters->single},         {"items_run", &counters->items_run},
                 {"readers_active_max", &counters->active_max}, {"stranded", &counters->stranded},
                 {"reader_starts_refused", &counters->refused}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            *known[i].value = value;
}

static void judge_counters(const struct course *course)
{
    struct counters counters = {0};
    double ran = 0;
    for (uint32_t i = 0; i < course->count; i++)
        ran += course->records[i].runs;
    pilfer_extras(course->executor, read_counter, &counters);
    if (counters.items_run != ran)
        explored_fail("B4", "%.0f items ran, and the readers say %.0f", ran, counters.items_run);
    if (counters.zero + counters.single > counters.total)
        explored_fail("B4", "%.0f readers found nothing and %.0f ran one item, of %.0f", counters.zero, counters.single,
                      counters.total);
    double rest = counters.total - counters.zero - counters.single;
    if (rest > 0 ? ran < counters.single + 2 * rest : ran != counters.single)
        explored_fail("B4", "%.0f items by %.0f readers, of which %.0f ran one and %.0f none", ran, counters.total,
                      counters.single, counters.zero);
    if (counters.active_max > (double)course->limit)
        explored_fail("B2", "%.0f readers were active at once; the bound is %lld", counters.active_max,
                      (long long)course->limit);
    if (counters.refused != 0 && !course->may_refuse)
        explored_fail("B4", "%.0f readers were refused without a reason", counters.refused);
    if (counters.stranded != 0 && !course->may_wait)
        explored_fail("B4", "%.0f items are counted as stranded, and none is", counters.stranded);
}

/* The first accepted item that has not run; NULL: there is none. */
static const struct record *first_waiting(const struct course *course)
{
    for (uint32_t i = 0; i < course->count; i++)
        if (course->records[i].accepted && course->records[i].runs == 0)
            return &course->records[i];
    return NULL;
}

/* Nobody submits, no reader exists, or all stand still. The two counts are read as the engine keeps them: how new a
 * value main may see is not the question. */
static void judge(const struct course *course)
{
    const struct bound_state *state = course->state;
    const uint64_t present = counter_read(&state->present);
    const int64_t readers = course->changes > 0 ? course->values[course->changes - 1] : 0;
    const uint64_t depth = state->queue->depth(state);
    const struct record *waiting = first_waiting(course);
    if (present != 0 && depth != 0 && readers < course->limit)
        explored_fail("B3", "%llu items wait although there are only %lld readers; the bound is %lld",
                      (unsigned long long)depth, (long long)readers, (long long)course->limit);
    if (present != 0)
        explored_fail("B3", "%llu readers exist that do not come to their end", (unsigned long long)present);
    if (readers != 0)
        course_miscounted(course, readers);
    if (waiting != NULL && depth == 0)
        explored_fail("B1", "%s was accepted, did not run and is gone", item_names[waiting - course->records]);
    if (waiting != NULL && !course->may_wait)
        course_stranded(course);
    judge_counters(course);
}

static void judge_standing(void *context)
{
    judge(context);
}

/* ---- opening ---- */

void course_open(struct course *course, const struct configuration *configuration, uint32_t workers, uint32_t limit,
                 uint32_t items)
{
    struct pilfer_options options = {.scheduler = configuration->scheduler,
                                     .over = configuration->over,
                                     .idle = configuration->idle,
                                     .sizing = configuration->sizing,
                                     .max_workers = workers,
                                     .parallelism = limit};
    char message[PILFER_MESSAGE_SIZE];
    memset(course, 0, sizeof *course);
    if (pilfer_open(&options, &course->executor, message) != 0)
        explored_fail("B1", "cannot be opened: %s", message);
    course->state = course->executor->bound->state;
    course->specimen = configuration->specimen;
    course->limit = limit;
    course->count = items;
    course->latch = platform_alloc(sizeof *course->latch);
    pilfer_latch_init(course->latch, items);
    for (uint32_t i = 0; i < limit; i++)
        explored_name(&course->state->readers_memory[i], i == 0 ? "a reader" : "another reader");
    explored_watch(&course->state->readers, course_sees_readers, course);
    explored_at_rest(judge_standing, course);
    explored_note("parallelism is %u", limit);
}

/* ---- the end ---- */

static void wait_for_readers(const struct course *course)
{
    /* Acquire: what the readers did before they gave their slots back, at @F safe.1, is visible. */
    while (shared_u64_load_acquire(&course->state->present) != 0)
        platform_yield();
}

void course_rest(struct course *course)
{
    pilfer_wait(course->executor, course->latch);
    wait_for_readers(course);
    judge(course);
}

void course_rest_after_refusals(struct course *course)
{
    wait_for_readers(course);
    /* After one refusal another start is tried for what is left; only if that is refused too may items wait. */
    course->may_wait = counter_read(&course->state->counters[BOUND_reader_starts_refused]) > 1;
    judge(course);
}

void course_close(struct course *course, enum pilfer_close how)
{
    explored_note(how == PILFER_CLOSE_RUN ? "closes: what is queued is run" : "closes: what is queued is given back");
    explored_at_rest(NULL, NULL);
    pilfer_close(course->executor, how, item_given_back);
}

void course_judge_ends(struct course *course, enum pilfer_close how)
{
    for (uint32_t i = 0; i < course->count; i++) {
        const struct record *record = &course->records[i];
        const uint32_t ends = record->runs + record->given_back;
        if (ends != (record->accepted ? 1 : 0))
            explored_fail("B1", "%s was %s, ran %u times and was given back %u times", item_names[i],
                          record->accepted ? "accepted" : "not accepted", record->runs, record->given_back);
        if (record->given_back > 0 && how == PILFER_CLOSE_RUN)
            explored_fail("B1", "%s was given back by a close that runs what is queued", item_names[i]);
        if (record->runs > 0 && !record->frees && record->item->done != record->item->load)
            explored_fail("B1", "%s has lost what it wrote", item_names[i]);
        if (!record->frees || record->runs == 0)
            platform_free(record->item);
    }
    platform_free(course->latch);
}
