/* SPDX-License-Identifier: MIT
 *
 * The load of pool_load.h.
 */
#include "pool_load.h"

#include <errno.h>
#include <string.h>

#include "dotnet.h"
#include "pool.h"

enum { PAYLOAD = 1000, RESULT = 2000 };

bool load_caps(const struct configuration *configuration, uint32_t caps)
{
    return (registry_scheduler(configuration->scheduler)->caps & caps) == caps;
}

bool load_has_workers(const struct configuration *configuration)
{
    return !load_caps(configuration, SCHEDULER_RUNS_IN_SUBMITTER);
}

/* ---- opening ---- */

/* An accepted task that is neither run nor given back. */
static bool is_missing(const struct item_record *record)
{
    return record->accepted > record->runs + record->given_back;
}

static void at_rest(void *context)
{
    struct load *load = context;
    uint32_t missing = 0, queued = 0;
    for (uint32_t i = 0; i < load->count; i++)
        missing += is_missing(&load->records[i]);
    if (load->executor == NULL || missing == 0)
        return;
    struct pool *pool = load->executor->pool;
    while (queued < LOAD_ITEMS_MAX && pool->scheduler->drain(pool) != NULL)
        queued++;
    if (queued == 0)
        explored_fail("S1", "%u accepted tasks have neither run nor are they queued", missing);
    explored_fail("S3", "%u tasks are queued and nobody comes for them", queued);
}

static int open_executor(struct load *load, const struct configuration *configuration,
                         const struct load_options *options)
{
    struct pilfer_setting settings[2];
    uint32_t setting_count = 0;
    if (configuration->lifo_slot)
        settings[setting_count++] = (struct pilfer_setting){"lifo-slot", 1};
    if (configuration->tunable.name != NULL)
        settings[setting_count++] = configuration->tunable;
    const struct pilfer_options pool_options = {.scheduler = configuration->scheduler,
                                                .over = configuration->over,
                                                .idle = configuration->idle,
                                                .sizing = configuration->sizing,
                                                .min_workers = options->min_workers,
                                                .max_workers = options->max_workers,
                                                .spin_limit = options->spin_limit,
                                                .settings = settings,
                                                .setting_count = setting_count,
                                                .seed = 1};
    char message[PILFER_MESSAGE_SIZE];
    int status = pilfer_open(&pool_options, &load->executor, message);
    if (status == -EINVAL || status == -ENOENT)
        explored_fail("S1", "%s", message);
    return status;
}

static void prepare(struct load *load, const struct load_options *options)
{
    memset(load, 0, sizeof *load);
    load->blocks_before = explored_blocks();
    load->done = platform_alloc(sizeof *load->done);
    load->inner = platform_alloc(sizeof *load->inner);
    load->gates = platform_alloc(LOAD_GATES_MAX * sizeof *load->gates);
    pilfer_latch_init(load->done, options->arrivals);
    explored_at_rest(at_rest, load);
}

/* The scenario's own memory, and then there must be none left. */
static void finish(struct load *load, const char *invariant)
{
    for (uint32_t i = 0; i < load->count; i++)
        platform_free(load->records[i].item);
    platform_free(load->done);
    platform_free(load->inner);
    platform_free(load->gates);
    if (explored_blocks() != load->blocks_before)
        explored_fail(invariant, "%u allocations are left behind", explored_blocks() - load->blocks_before);
}

void load_open(struct load *load, const struct configuration *configuration, const struct load_options *options)
{
    prepare(load, options);
    int status = open_executor(load, configuration, options);
    if (status != 0)
        explored_fail("S1", "cannot be opened: %s", strerror(-status));
}

int load_try_open(struct load *load, const struct configuration *configuration, const struct load_options *options)
{
    prepare(load, options);
    explored_allocations_may_fail(1);
    int status = open_executor(load, configuration, options);
    explored_allocations_may_fail(0);
    if (status != 0)
        finish(load, "S4");
    return status;
}

/* ---- items ---- */

static void run_item(struct pilfer_task *task)
{
    struct item *item = (struct item *)task;
    struct load *load = item->load;
    uint32_t index = item->index;
    struct item_record *record = &load->records[index];
    explored_note("runs task %u", index);
    if (explored_locks_held() > 0)
        explored_fail("S10", "task %u runs while its thread holds a lock", index);
    if (record->refused > 0)
        explored_fail("S4", "task %u was refused, and runs", index);
    if (++record->runs + record->given_back > record->submits)
        explored_fail("S2", "task %u was handed out twice", index);
    load->order[load->order_count++] = index;
    if (item->payload != PAYLOAD + index)
        explored_fail("S1", "task %u does not find what its submitter wrote", index);
    if (item->act != NULL)
        item->act(load, item);
    item->result = RESULT + index;
    if (item->arrives != NULL)
        pilfer_latch_arrive(item->arrives);
    struct pilfer_latch *done = load->done;
    if (load->frees) {
        record->item = NULL;
        platform_free(item);
    }
    pilfer_latch_arrive(done);
}

static void give_back_item(struct pilfer_task *task)
{
    struct item *item = (struct item *)task;
    struct item_record *record = &item->load->records[item->index];
    explored_note("gets task %u back", item->index);
    if (++record->given_back + record->runs > record->submits)
        explored_fail("S2", "task %u was given back as well", item->index);
    pilfer_latch_arrive(item->load->done);
}

struct item *load_item(struct load *load, void (*act)(struct load *load, struct item *item))
{
    struct item *item = platform_alloc(sizeof *item);
    if (load->count == LOAD_ITEMS_MAX)
        explored_fail("limit", "a load of more than %d items", LOAD_ITEMS_MAX);
    item->load = load;
    item->index = load->count++;
    item->act = act;
    item->task.run = run_item;
    memset(&load->records[item->index], 0, sizeof load->records[item->index]);
    load->records[item->index].item = item;
    return item;
}

/* The item is the caller's again: it may write what the pool would have read. */
static void take_refused(struct load *load, struct item *item)
{
    struct item_record *record = &load->records[item->index];
    record->refused++;
    if (record->runs > 0)
        explored_fail("S4", "task %u was refused, and ran", item->index);
    if (item->task.run != run_item || item->payload != PAYLOAD + item->index)
        explored_fail("S4", "task %u was refused, and is changed", item->index);
    item->task.next = NULL;
    item->payload = 0;
    pilfer_latch_arrive(load->done);
}

int load_submit(struct load *load, struct item *item, enum pilfer_placement placement)
{
    struct item_record *record = &load->records[item->index];
    item->payload = PAYLOAD + item->index;
    record->submits++;
    int status = pilfer_submit(load->executor, &item->task, placement);
    if (status == 0)
        record->accepted++;
    else
        take_refused(load, item);
    return status;
}

bool load_has_urgent(const struct configuration *configuration)
{
    const struct scheduler *scheduler = registry_scheduler(configuration->scheduler);
    return scheduler->submit == dotnet_submit && strcmp(configuration->idle, scheduler->idle) == 0;
}

void load_submit_urgent(struct load *load, struct item *item)
{
    item->payload = PAYLOAD + item->index;
    load->records[item->index].submits++;
    load->records[item->index].accepted++;
    task_mark_queued(&item->task);
    if (dotnet_queue_high_priority(load->executor->pool, &item->task) != 0)
        explored_fail("S1", "task %u was refused though there is memory", item->index);
    pool_accepted(load->executor->pool, NULL, 1, 1);
}

int load_submit_new(struct load *load, enum pilfer_placement placement)
{
    return load_submit(load, load_item(load, NULL), placement);
}

void load_submit_batch(struct load *load, uint32_t first, uint32_t count, enum pilfer_placement placement)
{
    for (uint32_t i = first; i < first + count; i++) {
        load->records[i].submits++;
        load->records[i].item->payload = PAYLOAD + i;
        load->records[i].item->task.next = i + 1 < first + count ? &load->records[i + 1].item->task : NULL;
    }
    int taken = pilfer_submit_batch(load->executor, &load->records[first].item->task, count, placement);
    if (taken > (int)count || taken == 0)
        explored_fail("S1", "a batch of %u tasks: %d were taken", count, taken);
    for (uint32_t i = 0; i < count; i++) {
        if ((int)i < taken)
            load->records[first + i].accepted++;
        else
            take_refused(load, load->records[first + i].item);
    }
}

void load_wait_for(struct load *load, struct pilfer_latch *latch)
{
    int status = pilfer_wait(load->executor, latch);
    if (status != 0)
        explored_fail("S3", "a wait was refused: %s", strerror(-status));
}

void load_read(const struct load *load, uint32_t index)
{
    const struct item_record *record = &load->records[index];
    if (record->runs > 0 && record->item != NULL && record->item->result != RESULT + index)
        explored_fail("S1", "what task %u wrote is not seen", index);
}

void load_wait(struct load *load)
{
    load_wait_for(load, load->done);
    for (uint32_t i = 0; i < load->count; i++)
        load_read(load, i);
}

/* ---- the end ---- */

static void check_record(const struct item_record *record, uint32_t index, enum pilfer_close how)
{
    uint32_t ended = record->runs + record->given_back;
    if (ended < record->accepted)
        explored_fail("S1", "task %u was accepted, and has neither run nor been given back", index);
    if (ended > record->accepted)
        explored_fail("S2", "task %u has ended twice", index);
    if (how == PILFER_CLOSE_RUN && record->given_back > 0)
        explored_fail("S1", "task %u was given back by a close that runs what is queued", index);
}

static void check_records(struct load *load, enum pilfer_close how)
{
    load->executor = NULL;
    for (uint32_t i = 0; i < load->count; i++)
        check_record(&load->records[i], i, how);
}

void load_stop(struct load *load, enum pilfer_close how)
{
    pilfer_close(load->executor, how, give_back_item);
    check_records(load, how);
}

/* Both parts together are pilfer_close for a pool scheduler. */
void load_stop_workers(struct load *load, enum pilfer_close how)
{
    pool_stop(load->executor->pool, how == PILFER_CLOSE_RUN);
    pool_drain(load->executor->pool, how == PILFER_CLOSE_RUN, give_back_item);
}

void load_stop_rest(struct load *load, enum pilfer_close how)
{
    pool_destroy(load->executor->pool);
    platform_free(load->executor);
    check_records(load, how);
}

void load_end(struct load *load)
{
    finish(load, "S8");
}

void load_close(struct load *load, enum pilfer_close how)
{
    load_stop(load, how);
    load_end(load);
}

void load_expect_order(const struct load *load, uint32_t place, uint32_t index)
{
    if (load->order_count <= place || load->order[place] != index)
        explored_fail("S6", "task %u began as number %u, in place of task %u",
                      load->order_count > place ? load->order[place] : UINT32_MAX, place, index);
}

/* ---- gates and submitters ---- */

void gate_open(struct gate *gate)
{
    shared_u32_store_release(&gate->open, 1);
    platform_wake(&gate->open, UINT32_MAX);
}

void gate_wait(struct gate *gate)
{
    while (shared_u32_load_acquire(&gate->open) == 0)
        platform_park(&gate->open, 0, PLATFORM_FOREVER);
}

static void submit_all(void *argument)
{
    struct submitter *submitter = argument;
    struct load *load = submitter->load;
    if (submitter->attaches && pilfer_attach(load->executor, "guest") != 0)
        explored_fail("S4", "a guest cannot be attached");
    for (uint32_t i = submitter->first; i < submitter->first + submitter->count; i++)
        load_submit(load, load->records[i].item, submitter->placement);
    if (submitter->attaches)
        pilfer_detach(load->executor);
    if (submitter->opens != NULL)
        gate_open(submitter->opens);
}

void submitter_start(struct submitter *submitter, const char *name)
{
    platform_thread_start(&submitter->thread, name, submit_all, submitter);
}

void submitter_join(struct submitter *submitter)
{
    platform_thread_join(submitter->thread);
}
