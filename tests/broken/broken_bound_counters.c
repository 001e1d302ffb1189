/* SPDX-License-Identifier: MIT
 *
 * Broken bound: counts every reader as one that found nothing. Convicted by B4.
 */
#include <string.h>

#include "bound.h"

static int broken_bound_counters_init(struct bound_executor *bound)
{
    return bound_init(bound, &bound_queue_fifo, &bound_protocol_safe);
}

struct forward {
    struct bound_state *state;
    void (*visit)(void *context, const char *name, double value);
    void *context;
};

static void forward(void *context, const char *name, double value)
{
    const struct forward *forward = context;
    if (strcmp(name, "readers_zero") == 0)
        value = (double)counter_read(&forward->state->counters[BOUND_readers_total]);
    forward->visit(forward->context, name, value);
}

static void broken_bound_counters_extras(struct bound_executor *bound,
                                         void (*visit)(void *context, const char *name, double value), void *context)
{
    struct forward wrong = {bound->state, visit, context};
    bound_extras(bound, forward, &wrong);
}

const struct bound bound_broken_bound_counters = {
    .name = "broken-bound-counters",
    .summary = "counts readers wrongly",
    .state_size = sizeof(struct bound_state),
    .init = broken_bound_counters_init,
    .fini = bound_fini,
    .submit = bound_submit,
    .drain = bound_drain,
    .busy = bound_busy,
    .extras = broken_bound_counters_extras,
};
