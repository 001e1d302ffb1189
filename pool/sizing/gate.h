/* SPDX-License-Identifier: MIT
 *
 * What the gate thread decides: whether requests starve, what the CPU says, and when it may rest.
 *
 * How it works. The gate looks twice a second. If a worker is asked for and no worker has taken a task for longer than
 * a limit, all are stuck in long tasks, and the goal is set to one more than are engaged: at most one worker per look.
 * While the CPU is busy, waiting is what is to be expected, and the limit grows with the goal. After two looks in a row
 * at which nobody was asked for, it rests until the next request.
 *
 * Plain functions of numbers, so that a test can bring its own clock.
 *
 * Source. dotnet/runtime 8.0, PortableThreadPool.GateThread and CpuUtilizationReader.
 */
#ifndef PILFER_POOL_SIZING_GATE_H
#define PILFER_POOL_SIZING_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* The explorer, where time does not matter, builds with 0. */
#ifndef GATE_PERIOD_MS
#define GATE_PERIOD_MS 500
#endif

enum {
    GATE_BUSY_MS_PER_WORKER = 1000, /* the limit at high CPU, times the goal */
    GATE_CPU_BUSY_PERCENT = 80,
    GATE_IDLE_CYCLES = 2, /* looks without a request before it rests */
};

/* What the gate sees at one look. */
struct gate_view {
    uint64_t now_ms, last_dequeue_ms;
    uint32_t requests;    /* workers asked for and not come */
    uint32_t cpu_percent; /* of the process, of all processors, since the last look */
    uint32_t engaged, goal, maximum;
};

/* The goal to set, and then a worker is to be added; 0: nothing is to be done. */
uint32_t gate_goal(const struct gate_view *view);

/* Looks that are left before the gate rests, after one more look; a request sets them to GATE_IDLE_CYCLES again. */
uint32_t gate_cycles_left(uint32_t left, uint32_t requests);

/* Percent of all processors that the process used between two readings. */
struct gate_reading {
    uint64_t wall_ns, cpu_ns;
};
uint32_t gate_cpu_percent(const struct gate_reading *before, const struct gate_reading *now, uint32_t processors);

#endif
