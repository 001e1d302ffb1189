/* SPDX-License-Identifier: MIT
 *
 * The gate's decisions, see gate.h.
 */
#include "sizing/gate.h"

static bool starves(const struct gate_view *view)
{
    uint64_t limit_ms = view->cpu_percent < GATE_CPU_BUSY_PERCENT ? GATE_PERIOD_MS
                                                                  : (uint64_t)view->goal * GATE_BUSY_MS_PER_WORKER;
    return view->requests > 0 && view->now_ms > view->last_dequeue_ms &&
           view->now_ms - view->last_dequeue_ms > limit_ms;
}

uint32_t gate_goal(const struct gate_view *view)
{
    /* Below the goal, workers are on their way already. */
    bool may_grow = view->engaged < view->maximum && view->engaged >= view->goal;
    return starves(view) && may_grow ? view->engaged + 1 : 0;
}

uint32_t gate_cycles_left(uint32_t left, uint32_t requests)
{
    return requests > 0 || left == 0 ? left : left - 1;
}

uint32_t gate_cpu_percent(const struct gate_reading *before, const struct gate_reading *now, uint32_t processors)
{
    uint64_t wall_ns = (now->wall_ns - before->wall_ns) * processors;
    return wall_ns == 0 ? 0 : (uint32_t)((now->cpu_ns - before->cpu_ns) * 100 / wall_ns);
}
