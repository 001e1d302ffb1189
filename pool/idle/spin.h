/* SPDX-License-Identifier: MIT
 *
 * The back-off of a worker that has nothing to do: short pauses that double, then pauses and yields by turns.
 *
 * How it works. A spin limit L means 2 L steps. Step i pauses 2^i units, at most as many as are 272 ns on this machine
 * (platform_pause_units_max: 7 where a unit is 37 ns), for i below 10 and for every odd i - 10 after that; the other
 * steps call sched_yield. On one processor the first 10 steps are left out and every other one is a yield, since a
 * pause cannot help. So L = 5 never yields (about 2 us), L = 70 yields 65 times (about 19 us of pauses and 65 system
 * calls).
 *
 * Source. dotnet/runtime 8.0, LowLevelSpinWaiter and LowLevelLifoSemaphore (the doubling on Unix included).
 */
#ifndef PILFER_POOL_IDLE_SPIN_H
#define PILFER_POOL_IDLE_SPIN_H

#include "scheduler.h"

/* Steps for the pool's spin limit. */
uint32_t spin_steps(const struct pool *pool);

/* The first of them: on one processor the short pauses are left out. */
uint32_t spin_first_step(const struct pool *pool);

/* One step, counted and timed as spin or yield of the worker; its own thread. pauses_only: pauses where it would yield.
 * Activity afterwards: as before. */
void spin_step(struct worker *worker, uint32_t step, bool pauses_only);

/* A wait that spins: begins, counted as spin_waits; ends, counted as spin_waits_won if it got what it waits for. The
 * worker's own thread. Activity afterwards: spin; search. */
void spin_begin(struct worker *worker, uint32_t steps);
void spin_end(struct worker *worker, bool won);

/* After a turn that lost a race for a task, before the next look: a pause, since whoever was faster may hold what this
 * worker looks for. */
void spin_after_miss(void);

/* Between two turns of one wake-up, where another request is known: a yield, and a pause if there is a second CPU. */
void spin_between_turns(struct worker *worker);

#endif
