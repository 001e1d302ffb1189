/* SPDX-License-Identifier: MIT
 *
 * S4: refusal is clean. After -EAGAIN or -ENOMEM the queue is as before and the caller still owns the task; after a
 * stop the answer is -ESHUTDOWN, with the same promise.
 *
 * Method. On the table: thousands of submits during each of which every allocation fails. A submit may be refused then,
 * or find a way without memory; what was refused must not come out again, must be accepted once there is memory, and
 * all that was accepted must come out. The same with batches, where a prefix may be taken. Through the API: the same on
 * a real pool, counted by item; a task that submits while its pool is being closed, until it is refused; and opening
 * while the n-th allocation fails, for every n until none does: a clean answer, and nothing left behind.
 */
#include "invariants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "inside.h"
#include "load.h"
#include "still.h"

#define TASKS 5000

/* ---- the table ---- */

static uint64_t depth_of(const struct still *still)
{
    const struct pool *pool = still->pool;
    return pool->scheduler->depth != NULL ? pool->scheduler->depth(still->pool) : 0;
}

/* Submits without memory, then with it if need be. Returns how often it was refused. */
static uint32_t submit_without_memory(struct still *still, uint32_t self, struct still_task *task,
                                      enum pilfer_placement placement)
{
    const uint64_t depth = depth_of(still);
    allocation_fail(true);
    const int status = still_submit(still, self, task, placement);
    allocation_fail(false);
    if (status >= 0)
        return 0;
    if (status != -ENOMEM && status != -EAGAIN)
        check_broken("submit without memory answered %d (%s)", status, strerror(-status));
    if (depth_of(still) != depth)
        check_broken("submit answered %d, and the depth went from %llu to %llu", status, (unsigned long long)depth,
                     (unsigned long long)depth_of(still));
    if (status == -ENOMEM && still_submit(still, self, task, placement) < 0)
        check_broken("submit refused a task for want of memory, and again when there was memory");
    return 1;
}

static void refuse_in_table(const struct subject *subject, uint32_t workers, uint32_t self,
                            enum pilfer_placement placement)
{
    struct still still;
    struct still_task *items = calloc(TASKS, sizeof(*items));
    uint64_t random = subject->seed + placement;
    uint32_t refused = 0, queued = 0;
    check_setup(items != NULL);
    still_open(&still, subject, workers, NULL, 0);
    check_trying("%d submits without memory, %u workers, placement %d", TASKS, workers, placement);
    for (uint32_t i = 0; i < TASKS; i++) {
        items[i].id = i;
        refused += submit_without_memory(&still, self, &items[i], placement);
        queued += items[i].state == STILL_ACCEPTED;
        if (check_random(&random) % 5 == 0)
            queued -= still_next(&still, (uint32_t)(check_random(&random) % workers)) != NULL;
    }
    check_trying("draining after %u refusals", refused);
    still_drain_all(&still, queued);
    still_close(&still);
    free(items);
}

static void refuse_batches(const struct subject *subject, uint32_t self, enum pilfer_placement placement)
{
    enum { BATCH = 10 };
    struct still still;
    struct still_task *items = calloc(TASKS, sizeof(*items));
    uint32_t queued = 0;
    check_setup(items != NULL);
    still_open(&still, subject, 2, NULL, 0);
    struct pool *pool = still.pool;
    struct worker *submitter = self == UINT32_MAX ? still.guest : pool_worker(pool, self);
    check_trying("batches of %d without memory, placement %d", BATCH, placement);
    for (uint32_t i = 0; i < TASKS; i += BATCH) {
        uint32_t wakes = 0;
        for (uint32_t j = i; j < i + BATCH; j++) {
            items[j] = (struct still_task){.id = j, .state = STILL_ACCEPTED};
            items[j].task.next = j + 1 < i + BATCH ? &items[j + 1].task : NULL;
        }
        struct pilfer_task *rest = &items[i].task;
        allocation_fail(true);
        const int taken = pool->scheduler->submit_batch(pool, submitter, &rest, BATCH, placement, &wakes);
        allocation_fail(false);
        if (taken > BATCH || (taken < 0 && taken != -ENOMEM && taken != -EAGAIN))
            check_broken("a batch of %d without memory answered %d", BATCH, taken);
        for (uint32_t j = i + (taken > 0 ? (uint32_t)taken : 0); j < i + BATCH; j++, rest = rest->next) {
            if (rest != &items[j].task)
                check_broken("a batch of %d of which %d were taken lost the links of the others", BATCH, taken);
            items[j].state = STILL_FREE;
        }
        queued += taken > 0 ? (uint32_t)taken : 0;
    }
    still_drain_all(&still, queued);
    still_close(&still);
    free(items);
}

/* ---- the API ---- */

struct refused_item {
    struct pilfer_task task;
    struct shared_u32 runs; /* written by the worker, read after the latch; @P pool.latch */
    struct pilfer_latch *latch;
};

static void run_refused_item(struct pilfer_task *task)
{
    struct refused_item *item = (struct refused_item *)task;
    shared_u32_add_relaxed(&item->runs, 1);
    check_progress();
    pilfer_latch_arrive(item->latch);
}

static void refuse_in_pool(const struct subject *subject)
{
    struct pilfer_executor *executor = load_open(subject, inside_workers(subject, 2), 0, 0);
    struct refused_item *items = calloc(TASKS, sizeof(*items));
    struct pilfer_latch latch;
    uint64_t refused = 0;
    check_setup(items != NULL);
    pilfer_latch_init(&latch, TASKS);
    check_trying("%d submits without memory to a real pool", TASKS);
    for (uint32_t i = 0; i < TASKS; i++) {
        items[i] = (struct refused_item){.task.run = run_refused_item, .latch = &latch};
        allocation_fail(true);
        int status = pilfer_submit(executor, &items[i].task, PILFER_PLACEMENT_DEFAULT);
        allocation_fail(false);
        if (status != 0 && status != -ENOMEM && status != -EAGAIN)
            check_broken("a submit without memory answered %d (%s)", status, strerror(-status));
        if (status == 0)
            continue;
        refused++;
        if (shared_u32_load_relaxed(&items[i].runs) != 0)
            check_broken("a submit answered %d, and the task ran", status);
        while ((status = pilfer_submit(executor, &items[i].task, PILFER_PLACEMENT_DEFAULT)) == -EAGAIN)
            platform_yield();
        if (status != 0)
            check_broken("a submit refused for want of memory was refused again (%d)", status);
    }
    pilfer_wait(executor, &latch);
    for (uint32_t i = 0; i < TASKS; i++)
        if (shared_u32_load_relaxed(&items[i].runs) != 1)
            check_broken("task %u ran %u times", i, shared_u32_load_relaxed(&items[i].runs));
    struct account_totals totals;
    pilfer_totals(executor, &totals);
    if (totals.counters[COUNTER_submits_refused] != refused)
        check_broken("%llu submits were refused, and the counter says %llu", (unsigned long long)refused,
                     (unsigned long long)totals.counters[COUNTER_submits_refused]);
    pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
    free(items);
}

/* ---- opening without memory ---- */

static void refuse_open(const struct subject *subject)
{
    const struct pilfer_options options = {.scheduler = subject->name,
                                           .idle = subject->idle,
                                           .sizing = subject->sizing,
                                           .max_workers = inside_workers(subject, 2),
                                           .seed = subject->seed};
    char message[PILFER_MESSAGE_SIZE];
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        const int64_t live = allocation_live();
        struct pilfer_executor *executor = NULL;
        check_trying("opening it while allocation %llu fails", (unsigned long long)n);
        allocation_fail_at(n);
        const int status = pilfer_open(&options, &executor, message);
        failed = allocation_has_failed();
        allocation_fail_at(0);
        if (status == 0)
            pilfer_close(executor, PILFER_CLOSE_RUN, NULL);
        else if (status != -ENOMEM || !failed)
            check_broken("opening it while allocation %llu failed answered %d: %s", (unsigned long long)n, status,
                         message);
        if (allocation_live() != live)
            check_broken("opening it while allocation %llu failed left %lld allocations behind", (unsigned long long)n,
                         (long long)(allocation_live() - live));
    }
}

/* ---- after a stop ---- */

struct late {
    struct pilfer_task task;
    struct pilfer_executor *executor;
    struct refused_item item;
    struct shared_u32 running; /* 1: the task runs; counter only */
    uint32_t accepted;         /* written by the task; read after close */
};

static bool late_is_running(void *context)
{
    struct late *late = context;
    return shared_u32_load_relaxed(&late->running) != 0;
}

/* Nothing else uses the one worker, so the item that is accepted cannot run before this task ends: a fresh one each
 * time would be needed to submit twice. The first refusal ends it; an acceptance is tried again only after a wait. */
static void submit_late(struct pilfer_task *task)
{
    struct late *late = (struct late *)task;
    struct pilfer_latch latch;
    int status;
    late->item.latch = &latch;
    shared_u32_store_relaxed(&late->running, 1);
    for (;;) {
        pilfer_latch_init(&latch, 1);
        status = pilfer_submit(late->executor, &late->item.task, PILFER_PLACEMENT_DEFAULT);
        if (status == -ESHUTDOWN)
            return;
        if (status != 0)
            check_broken("a submit from inside a task while the pool is closed answered %d", status);
        late->accepted++;
        pilfer_wait(late->executor, &latch);
    }
}

static void refuse_after_stop(const struct subject *subject)
{
    struct late late = {.task.run = submit_late, .item.task.run = run_refused_item};
    late.executor = load_open(subject, 1, 0, 0);
    check_trying("a task that submits while its pool is closed");
    if (pilfer_submit(late.executor, &late.task, PILFER_PLACEMENT_DEFAULT) != 0)
        check_broken("a submit to an idle executor was refused");
    check_until(late_is_running, &late);
    pilfer_close(late.executor, PILFER_CLOSE_DROP, NULL);
    if (shared_u32_load_relaxed(&late.item.runs) != late.accepted)
        check_broken("a task was accepted %u times around a close and ran %u times", late.accepted,
                     shared_u32_load_relaxed(&late.item.runs));

    struct pilfer_executor *next = load_open(subject, 1, 0, 0);
    struct pilfer_latch latch;
    pilfer_latch_init(&latch, 1);
    late.item.latch = &latch;
    check_trying("the task refused after a stop, in another pool");
    if (pilfer_submit(next, &late.item.task, PILFER_PLACEMENT_DEFAULT) != 0)
        check_broken("a task refused after a stop cannot be submitted elsewhere");
    pilfer_wait(next, &latch);
    pilfer_close(next, PILFER_CLOSE_RUN, NULL);
}

void check_refusal(const struct subject *subject)
{
    refuse_open(subject);
    refuse_in_pool(subject);
    if (inside_runs_in_submitter(subject))
        return;
    for (uint32_t workers = 1; workers <= 3; workers += 2)
        for (uint32_t placement = 0; placement < 3; placement++) {
            refuse_in_table(subject, workers, 0, (enum pilfer_placement)placement);
            refuse_in_table(subject, workers, UINT32_MAX, (enum pilfer_placement)placement);
            if (inside_scheduler(subject)->submit_batch != NULL) {
                refuse_batches(subject, 0, (enum pilfer_placement)placement);
                refuse_batches(subject, UINT32_MAX, (enum pilfer_placement)placement);
            }
        }
    for (uint32_t cycle = 0; cycle < 20; cycle++)
        refuse_after_stop(subject);
}
