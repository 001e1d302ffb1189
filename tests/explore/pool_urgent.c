/* SPDX-License-Identifier: MIT
 *
 * Scenarios of the .NET pools' high-priority queue, which no public submit reaches (schedulers/dotnet.h).
 *
 * What holds of it: each task runs once. What does not, in the original and so in the model: a task may wait for the
 * next one. A worker in the middle of its turn takes the hint away to look; the worker that was requested for the next
 * task comes now, does not look for want of the hint, and ends; the first puts the hint back and asks for nobody. The
 * very same tasks by public submits have no such moment.
 */
#include "historic/historic.h"
#include "pool_scenarios.h"

enum { ORDINARY, WAITING, AWAITED, TASKS };

void urgent_two(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 1 + explored_choose(2), .arrivals = TASKS});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    for (uint32_t i = WAITING; i < TASKS; i++)
        load_submit_urgent(&load, load_item(&load, NULL));
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

static void wait_at_gate(struct load *load, struct item *item)
{
    (void)item;
    gate_wait(&load->gates[0]);
}

static void open_gate(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[0]);
}

static void dotnet_high_priority(bool is_public)
{
    static const char *const schedulers[] = {"dotnet", "dotnet-9", "dotnet-11"};
    const struct configuration configuration = {.scheduler = schedulers[explored_choose(3)], .sizing = "fixed"};
    struct load load;
    load_open(&load, &configuration, &(struct load_options){.max_workers = 2, .arrivals = TASKS});
    load_submit_new(&load, PILFER_PLACEMENT_DEFAULT);
    for (uint32_t i = WAITING; i < TASKS; i++) {
        struct item *item = load_item(&load, i == WAITING ? wait_at_gate : open_gate);
        if (is_public)
            load_submit(&load, item, (enum pilfer_placement)explored_choose(3));
        else
            load_submit_urgent(&load, item);
    }
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

HISTORIC_SCENARIO(dotnet_high_priority, "urgent-waits", "no task waits for the next one", false);
