/* SPDX-License-Identifier: MIT
 *
 * Scenarios of failing allocations, of threads too (S4): what is refused is untouched, what is accepted runs, and a
 * failed open leaves nothing behind.
 */
#include "pool_scenarios.h"

#include <errno.h>

#include "pool.h"

void failure_open(const struct configuration *configuration)
{
    struct load load;
    int status =
        load_try_open(&load, configuration, &(struct load_options){.min_workers = 2, .max_workers = 2, .arrivals = 1});
    if (status != 0)
        return;
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

enum { LOCALS = 4, FAILURES_MAX = 2 };

/* Items 1 to LOCALS: made before, so that only the pool's allocations fail. */
static void submit_locals(struct load *load, struct item *item)
{
    (void)item;
    for (uint32_t i = 1; i <= LOCALS; i++)
        load_submit(load, load->records[i].item, PILFER_PLACEMENT_LOCAL);
}

void failure_submit(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 3, .arrivals = LOCALS + 1});
    for (uint32_t i = 0; i <= LOCALS; i++)
        load_item(&load, i == 0 ? submit_locals : NULL);
    explored_allocations_may_fail(FAILURES_MAX);
    if (load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT) != 0) {
        explored_allocations_may_fail(0);
        submit_locals(&load, NULL);
    }
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

void failure_attach(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 1});
    load_item(&load, NULL);
    explored_allocations_may_fail(1);
    int status = pilfer_attach(load.executor, "guest");
    explored_allocations_may_fail(0);
    if (status != 0 && status != -ENOMEM)
        explored_fail("S4", "a guest cannot be attached: %d", status);
    load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    if (status == 0)
        pilfer_detach(load.executor);
    load_close(&load, PILFER_CLOSE_RUN);
}

static void wait_inside(struct load *load, struct item *item)
{
    (void)item;
    load_wait_for(load, load->inner);
}

/* The only worker blocks in a task and there may be no memory for a substitute, which it may learn before it parks or
 * after: it looks again by itself. */
void failure_substitute(const struct configuration *configuration)
{
    enum { DEADLINES = 12 };
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 2});
    pilfer_latch_init(load.inner, 1);
    load_item(&load, wait_inside);
    load_item(&load, NULL)->arrives = load.inner;
    explored_deadlines_may_come(0); /* not before the second task is there */
    load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT);
    explored_allocations_may_fail(1);
    if (load_submit(&load, load.records[1].item, PILFER_PLACEMENT_DEFAULT) != 0)
        pilfer_latch_arrive(load.inner); /* it was the submit that got no memory */
    explored_allocations_may_fail(0);
    explored_deadlines_may_come(DEADLINES);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

static void arrive_and_submit(void *argument)
{
    struct load *load = argument;
    pilfer_latch_arrive(load->inner);
    load_submit(load, load->records[2].item, PILFER_PLACEMENT_GLOBAL);
}

/* While the second submit starts a thread, which may fail, the only worker goes on, ends and sleeps, and the third
 * finds as many engaged as may be: it relies on a worker that will never be there. */
void failure_beside(const struct configuration *configuration)
{
    struct load load;
    struct platform_thread *second;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1, .arrivals = 3});
    pilfer_latch_init(load.inner, 1);
    for (uint32_t i = 0; i < 3; i++)
        load_item(&load, i == 0 ? wait_inside : NULL);
    load_submit(&load, load.records[0].item, PILFER_PLACEMENT_DEFAULT);
    while (pool_numbers(load.executor->pool).blocked == 0)
        platform_yield();
    platform_thread_start(&second, "second", arrive_and_submit, &load);
    explored_allocations_may_fail(1);
    load_submit(&load, load.records[1].item, PILFER_PLACEMENT_GLOBAL);
    explored_allocations_may_fail(0);
    load_wait(&load);
    platform_thread_join(second);
    load_close(&load, PILFER_CLOSE_RUN);
}

bool failure_is_of_threads(const struct configuration *configuration)
{
    return load_has_workers(configuration) && !sizing_moves(configuration);
}
