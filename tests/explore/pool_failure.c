/* SPDX-License-Identifier: MIT
 *
 * Scenarios of failing allocations, of threads too (S4): what is refused is untouched, what is accepted runs, and a
 * failed open leaves nothing behind.
 */
#include "pool_scenarios.h"

#include <errno.h>

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
