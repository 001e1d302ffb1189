/* SPDX-License-Identifier: MIT
 *
 * The bodies of the scenarios of pool schedulers, by theme; pool_scenarios.c has the list and what each promises.
 */
#ifndef PILFER_TESTS_EXPLORE_POOL_SCENARIOS_H
#define PILFER_TESTS_EXPLORE_POOL_SCENARIOS_H

#include "pool_load.h"

/* pool_wake.c */
void wake_starting(const struct configuration *configuration);
void wake_spinning(const struct configuration *configuration);
void wake_after_turn(const struct configuration *configuration);
void wake_two_submitters(const struct configuration *configuration);
void wake_two_after_turn(const struct configuration *configuration);
void wake_two_by_two(const struct configuration *configuration);
void wake_long_task(const struct configuration *configuration);
void wake_long_after_turn(const struct configuration *configuration);
void wake_meeting(const struct configuration *configuration);
void wake_batch(const struct configuration *configuration);
void wake_many_workers(const struct configuration *configuration);

/* pool_sizing.c */
void sizing_starved(const struct configuration *configuration);
void sizing_raised(const struct configuration *configuration);
void sizing_cut(const struct configuration *configuration);
bool sizing_moves(const struct configuration *configuration);

/* pool_played.c */
void played_spare(const struct configuration *configuration);
bool played_leaves_spare(const struct configuration *configuration);

/* pool_steal.c */
void steal_locals(const struct configuration *configuration);
void steal_while_growing(const struct configuration *configuration);
void steal_made_ready(const struct configuration *configuration);
void steal_reused_memory(const struct configuration *configuration);

/* pool_order.c */
void order_fifo(const struct configuration *configuration);
void order_fifo_of_each(const struct configuration *configuration);
void order_lifo(const struct configuration *configuration);
void order_slot_streak(const struct configuration *configuration);
void order_many_queued(const struct configuration *configuration);

/* pool_stop.c */
void stop_at_once(const struct configuration *configuration);
void stop_run(const struct configuration *configuration);
void stop_drop(const struct configuration *configuration);
void stop_run_races(const struct configuration *configuration);
void stop_drop_races(const struct configuration *configuration);
void stop_held_up(const struct configuration *configuration);
void stop_submit_inside(const struct configuration *configuration);
void stop_last_look(const struct configuration *configuration);

/* pool_urgent.c */
void urgent_two(const struct configuration *configuration);

/* pool_wait.c */
void wait_too_deep(const struct configuration *configuration);
void wait_looks(const struct configuration *configuration);
void wait_helps(const struct configuration *configuration);
void wait_helped(const struct configuration *configuration);
void wait_substitute(const struct configuration *configuration);
void wait_two_blocked(const struct configuration *configuration);

/* pool_failure.c */
void failure_open(const struct configuration *configuration);
void failure_submit(const struct configuration *configuration);
void failure_substitute(const struct configuration *configuration);
void failure_beside(const struct configuration *configuration);
bool failure_is_of_threads(const struct configuration *configuration);
void failure_attach(const struct configuration *configuration);

#endif
