/* SPDX-License-Identifier: MIT
 *
 * The back-off of spin.h.
 */
#include "idle/spin.h"

enum { STEPS_PER_LIMIT = 2, YIELD_THRESHOLD = 10, DOUBLINGS_MAX = 30 };

uint32_t spin_steps(const struct pool *pool)
{
    return pool->spin_limit * STEPS_PER_LIMIT;
}

uint32_t spin_first_step(const struct pool *pool)
{
    return pool->processors > 1 ? 0 : YIELD_THRESHOLD;
}

void spin_step(struct worker *worker, uint32_t step, bool pauses_only)
{
    bool pauses = pauses_only || (worker->pool->processors > 1 &&
                                  (step < YIELD_THRESHOLD || (step - YIELD_THRESHOLD) % 2 != 0));
    if (pauses) {
        uint32_t longest = platform_pause_units_max();
        uint32_t units = step <= DOUBLINGS_MAX && 1u << step < longest ? 1u << step : longest;
        worker_count(worker, COUNTER_spins, 1);
        platform_pause(units);
        return;
    }
    worker_yields(worker);
}

void spin_begin(struct worker *worker, uint32_t steps)
{
    worker_count(worker, COUNTER_spin_waits, 1);
    account_switch(worker->account, ACTIVITY_spin);
    trace_event(worker->trace, TRACE_spin, TRACE_BEGIN, steps);
}

void spin_end(struct worker *worker, bool won)
{
    worker_count(worker, COUNTER_spin_waits_won, won);
    trace_event(worker->trace, TRACE_spin, TRACE_END, 0);
    account_switch(worker->account, ACTIVITY_search);
}

void spin_after_miss(void)
{
    platform_pause(1);
}

void spin_between_turns(struct worker *worker)
{
    worker_yields(worker);
    if (worker->pool->processors > 1)
        platform_pause(1);
}
