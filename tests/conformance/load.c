/* SPDX-License-Identifier: MIT
 *
 * Loads for real pools (see load.h).
 */
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define FAN_OUT    8
#define CHAINS     8
#define RESUBMIT   64
#define SUBMITTERS 4
#define BATCH_MAX  16

const char *load_shape_name(enum load_shape shape)
{
    static const char *const names[LOAD_SHAPES] = {"fan-out", "chains", "resubmit", "outside submitters"};
    return names[shape];
}

static struct item *item_of(struct pilfer_task *task)
{
    return (struct item *)task; /* the task is the first field */
}

static enum pilfer_placement placement_of(const struct load *load, uint32_t index)
{
    uint64_t state = load->seed ^ ((uint64_t)index << 20);
    return (enum pilfer_placement)(check_random(&state) % 3);
}

/* Submits one item; true when it was accepted. The item may have run and be gone when this returns. */
static bool submit(struct load *load, struct item *item)
{
    const enum pilfer_placement placement = placement_of(load, (uint32_t)(item - load->items));
    shared_u32_add_relaxed(&item->accepted, 1); /* counter only; taken back below: the run may come before the return */
    int status;
    while ((status = pilfer_submit(load->executor, &item->task, placement)) == -EAGAIN ||
           (status == -ENOMEM && load->memory_may_fail))
        platform_yield();
    if (status == 0)
        return true;
    shared_u32_add_relaxed(&item->accepted, UINT32_MAX);
    if (status != -ESHUTDOWN)
        check_broken("submit answered %d (%s)", status, strerror(-status));
    shared_u32_add_relaxed(&load->refused, 1);
    return false;
}

/* Submits items first to first + count - 1 in one call; what is refused is submitted one by one. */
static void submit_batch(struct load *load, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        load->items[first + i].task.next = i + 1 < count ? &load->items[first + i + 1].task : NULL;
        shared_u32_add_relaxed(&load->items[first + i].accepted, 1);
    }
    int taken = pilfer_submit_batch(load->executor, &load->items[first].task, count, placement_of(load, first));
    if (taken < 0 && taken != -EAGAIN && taken != -ESHUTDOWN)
        check_broken("a batch of %u answered %d (%s)", count, taken, strerror(-taken));
    if (taken > (int)count)
        check_broken("a batch of %u answered that it took %d", count, taken);
    for (uint32_t i = taken < 0 ? 0 : (uint32_t)taken; i < count; i++) {
        shared_u32_add_relaxed(&load->items[first + i].accepted, UINT32_MAX);
        submit(load, &load->items[first + i]);
    }
}

static void run_item(struct pilfer_task *task)
{
    struct item *item = item_of(task);
    struct load *load = item->load;
    const uint32_t index = (uint32_t)(item - load->items);
    const uint32_t runs = shared_u32_add_relaxed(&item->runs, 1) + 1; /* published by the latch */
    check_progress();
    if (runs > shared_u32_load_relaxed(&item->accepted)) /* accepted is raised before the submit */
        check_broken("%s: task %u of %u was submitted %u times and handed out %u times", load_shape_name(load->shape),
                     index, load->count, runs - 1, runs);
    if (load->shape == LOAD_FAN_OUT) {
        const uint64_t first = (uint64_t)index * FAN_OUT + 1;
        for (uint64_t child = first; child < first + FAN_OUT && child < load->count; child++)
            submit(load, &load->items[child]);
    } else if (load->shape == LOAD_CHAINS) {
        if (index + CHAINS < load->count)
            submit(load, &load->items[index + CHAINS]);
    }
    const bool again = load->shape == LOAD_RESUBMIT && runs < load->repeat;
    pilfer_latch_arrive(&load->latch);
    if (again) /* the latch is not at zero: this item's last run is still to come */
        submit(load, item);
}

void load_init(struct load *load, struct pilfer_executor *executor, enum load_shape shape, uint32_t tasks,
               uint64_t seed)
{
    *load = (struct load){.executor = executor, .shape = shape, .count = tasks, .repeat = 1, .seed = seed};
    if (shape == LOAD_RESUBMIT) {
        load->count = RESUBMIT < tasks ? RESUBMIT : tasks;
        load->repeat = tasks / load->count;
    }
    load->items = calloc(load->count, sizeof(*load->items));
    check_setup(load->items != NULL);
    for (uint32_t i = 0; i < load->count; i++) {
        load->items[i].task.run = run_item;
        load->items[i].load = load;
    }
    pilfer_latch_init(&load->latch, load->count * load->repeat);
}

void load_free(struct load *load)
{
    free(load->items);
    load->items = NULL;
}

struct submitter {
    struct load *load;
    uint32_t first, end;
    bool attached;
};

static void submit_range(void *argument)
{
    struct submitter *self = argument;
    struct load *load = self->load;
    if (self->attached && pilfer_attach(load->executor, "submitter") != 0)
        check_broken("a submitter could not attach");
    uint64_t state = load->seed + self->first;
    for (uint32_t i = self->first; i < self->end;) {
        uint32_t batch = (uint32_t)(check_random(&state) % BATCH_MAX);
        if (batch < 2 || i + batch > self->end) {
            submit(load, &load->items[i]);
            i++;
        } else {
            submit_batch(load, i, batch);
            i += batch;
        }
        check_progress();
    }
    if (self->attached)
        pilfer_detach(load->executor);
}

static void start_outside(struct load *load)
{
    struct submitter submitters[SUBMITTERS];
    struct platform_thread *threads[SUBMITTERS];
    const uint32_t share = load->count / SUBMITTERS;
    for (uint32_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] =
            (struct submitter){load, i * share, i + 1 < SUBMITTERS ? (i + 1) * share : load->count, i % 2 == 0};
        check_setup(platform_thread_start(&threads[i], "submitter", submit_range, &submitters[i]) == 0);
    }
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        platform_thread_join(threads[i]);
}

void load_start(struct load *load)
{
    const uint32_t roots = load->shape == LOAD_FAN_OUT ? 1 : load->shape == LOAD_CHAINS ? CHAINS : load->count;
    if (load->shape == LOAD_OUTSIDE) {
        start_outside(load);
        return;
    }
    for (uint32_t i = 0; i < roots && i < load->count; i++)
        submit(load, &load->items[i]);
}

void load_wait(struct load *load)
{
    const int status = pilfer_wait(load->executor, &load->latch);
    if (status != 0)
        check_broken("waiting from outside answered %d (%s)", status, strerror(-status));
    check_progress();
}

void load_verify(const struct load *load)
{
    for (uint32_t i = 0; i < load->count; i++) {
        const struct item *item = &load->items[i];
        const uint32_t runs = shared_u32_load_relaxed(&item->runs); /* after load_wait; @P pool.latch */
        const uint32_t accepted = shared_u32_load_relaxed(&item->accepted);
        if (runs + shared_u32_load_relaxed(&item->cancelled) != accepted)
            check_broken("%s: task %u of %u was accepted %u times and ran %u times", load_shape_name(load->shape), i,
                         load->count, accepted, runs);
    }
}

struct counters {
    struct pilfer_executor *executor;
    uint64_t run, accepted, expected;
};

/* Both are counted after the fact: a run after its last arrival, a submit after its task may have run. */
static bool all_counted(void *context)
{
    struct counters *counters = context;
    struct account_totals totals;
    pilfer_totals(counters->executor, &totals);
    counters->run = totals.counters[COUNTER_tasks_run];
    counters->accepted = totals.counters[COUNTER_tasks_accepted];
    return counters->run >= counters->expected && counters->accepted >= counters->expected;
}

void load_verify_counters(struct pilfer_executor *executor, uint64_t expected)
{
    struct counters counters = {.executor = executor, .expected = expected};
    check_trying("to see %llu tasks in the counters, at rest", (unsigned long long)expected);
    check_until(all_counted, &counters);
    if (counters.run != expected || counters.accepted != expected)
        check_broken("at rest %llu tasks were submitted, %llu accepted and %llu run", (unsigned long long)expected,
                     (unsigned long long)counters.accepted, (unsigned long long)counters.run);
}

uint64_t load_run(struct pilfer_executor *executor, enum load_shape shape, uint32_t tasks, uint64_t seed)
{
    struct load load;
    load_init(&load, executor, shape, tasks, seed);
    load_start(&load);
    load_wait(&load);
    load_verify(&load);
    const uint64_t ran = (uint64_t)load.count * load.repeat;
    load_free(&load);
    return ran;
}

struct pilfer_executor *load_open(const struct subject *subject, uint32_t workers, uint32_t spin_limit,
                                  uint32_t parallelism)
{
    const struct pilfer_options options = {.scheduler = subject->name,
                                           .over = subject->over,
                                           .idle = subject->idle,
                                           .sizing = subject->sizing,
                                           .max_workers = workers,
                                           .spin_limit = spin_limit,
                                           .parallelism = parallelism,
                                           .seed = subject->seed};
    struct pilfer_executor *executor;
    char message[PILFER_MESSAGE_SIZE] = "";
    const int status = pilfer_open(&options, &executor, message);
    if (status != 0)
        check_broken("opening it with %u workers answered %d: %s", workers, status, message);
    return executor;
}

void load_may_engage(struct pilfer_executor *executor, uint32_t workers)
{
    const struct pilfer_limits minimum = {(int32_t)workers, 1};
    const int status = pilfer_set_min_workers(executor, minimum);
    if (status != 0 && status != -ENOTSUP)
        check_broken("raising min-workers to max-workers, which is %u, answered %d", workers, status);
}
