/* SPDX-License-Identifier: MIT
 *
 * Sizing policy fixed: the goal is max-workers, always.
 *
 * How it works. One worker is started at once (min-workers), the others when they are first wanted, so a pool that
 * never has work for them never has them. Defaults: max-workers = usable CPUs, min-workers = 1.
 */
#include "scheduler.h"

static void fixed_limits(uint32_t processors, uint32_t *min_workers, uint32_t *max_workers)
{
    if (*max_workers == 0)
        *max_workers = processors;
    if (*min_workers == 0)
        *min_workers = 1;
}

static int fixed_init(struct pool *pool)
{
    pool_set_goal(pool, pool->max_workers);
    return 0;
}

const struct sizing_policy sizing_fixed = {
    .name = "fixed",
    .summary = "max-workers may always run",
    .limits = fixed_limits,
    .init = fixed_init,
};
