/* SPDX-License-Identifier: MIT
 *
 * Scenarios of tasks that a worker keeps to itself, and of the thieves that come for them.
 *
 * The explorer's deque begins with two places, so that three tasks let it grow. In every second round of runs freed
 * memory is given out again at once: a thief that still holds the address of a task that has gone meets another one
 * there.
 */
#include "pool_scenarios.h"

static void submit_locals(struct load *load, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        load_submit_new(load, PILFER_PLACEMENT_LOCAL);
}

static void submit_two(struct load *load, struct item *item)
{
    (void)item;
    submit_locals(load, 2);
}

static void submit_three(struct load *load, struct item *item)
{
    (void)item;
    submit_locals(load, 3);
}

static void root_of(const struct configuration *configuration, void (*act)(struct load *load, struct item *item),
                    uint32_t workers, uint32_t tasks)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = workers, .arrivals = tasks});
    load_submit(&load, load_item(&load, act), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}

void steal_locals(const struct configuration *configuration)
{
    root_of(configuration, submit_two, 2, 3);
}

/* Pushes again after the owner and the thieves have taken some: the array has been copied, its places are used again.
 */
static void submit_in_turns(struct load *load, struct item *item)
{
    (void)item;
    submit_locals(load, 3);
    load_submit(load, load_item(load, submit_three), PILFER_PLACEMENT_LOCAL);
    submit_locals(load, 1);
}

void steal_while_growing(const struct configuration *configuration)
{
    root_of(configuration, submit_in_turns, 2 + explored_choose(2), 9);
}

static void open_gate(struct load *load, struct item *item)
{
    (void)item;
    gate_open(&load->gates[0]);
}

/* Makes another task ready and computes until that has run. */
static void make_ready(struct load *load, struct item *item)
{
    (void)item;
    load_submit(load, load_item(load, open_gate), PILFER_PLACEMENT_LOCAL);
    gate_wait(&load->gates[0]);
}

void steal_made_ready(const struct configuration *configuration)
{
    root_of(configuration, make_ready, 2, 2);
}

/* One more link of the chain, and a task for the thief. */
static void submit_chain(struct load *load, struct item *item)
{
    (void)item;
    load_submit_new(load, PILFER_PLACEMENT_LOCAL);
    if (load->limit-- > 0)
        load_submit(load, load_item(load, submit_chain), PILFER_PLACEMENT_LOCAL);
}

void steal_reused_memory(const struct configuration *configuration)
{
    struct load load;
    load_open(&load, configuration, &(struct load_options){.max_workers = 2, .arrivals = 6});
    load.frees = true;
    load.limit = 2;
    load_submit(&load, load_item(&load, submit_chain), PILFER_PLACEMENT_DEFAULT);
    load_wait(&load);
    load_close(&load, PILFER_CLOSE_RUN);
}
