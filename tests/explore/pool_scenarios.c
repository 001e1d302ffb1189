/* SPDX-License-Identifier: MIT
 *
 * The scenarios of pool schedulers, and which of them fit a configuration.
 */
#include "pool_scenarios.h"

#include "scheduler.h"

static bool keeps_fifo(const struct configuration *configuration)
{
    return load_caps(configuration, SCHEDULER_FIFO_GLOBAL);
}

static bool keeps_lifo(const struct configuration *configuration)
{
    return load_caps(configuration, SCHEDULER_LIFO_LOCAL);
}

static bool has_slot(const struct configuration *configuration)
{
    return configuration->lifo_slot;
}

/* What lies in a slot that nobody can steal waits for its worker: field case 27, a price that is known. */
static bool shares_locals(const struct configuration *configuration)
{
    return load_has_workers(configuration) && !configuration->lifo_slot;
}

#define POOL(NAME, PROMISE, APPLIES, BODY, EXHAUSTIVE)               \
    {                                                                \
        NAME, PROMISE, SCENARIO_SCHEDULER, APPLIES, BODY, EXHAUSTIVE \
    }

const struct scenario pool_scenarios[] = {
    POOL("wake-starting", "a task for a worker that is just starting or parks, then silence: it runs", NULL,
         wake_starting, true),
    POOL("wake-spinning", "the same for a worker that spins", NULL, wake_spinning, true),
    POOL("wake-after-turn", "a second task after the first one's turn: it runs", NULL, wake_after_turn, true),
    POOL("wake-two-submitters", "two threads submit one task each: both run", NULL, wake_two_submitters, true),
    POOL("wake-two-after-turn", "two submits meet the first task's worker on its way to sleep: both run", NULL,
         wake_two_after_turn, true),
    POOL("wake-two-by-two", "two threads submit two tasks each, one to three workers: all run", NULL, wake_two_by_two,
         false),
    POOL("wake-long-task", "a task that computes until the second has run: no idle worker beside it", load_has_workers,
         wake_long_task, true),
    POOL("wake-long-after-turn", "the same while the first worker takes its last look", load_has_workers,
         wake_long_after_turn, false),
    POOL("wake-meeting", "three tasks that wait for one another: three workers come", load_has_workers, wake_meeting,
         false),
    POOL("wake-batch", "three tasks in one batch, two that wait for one another: two workers come", NULL, wake_batch,
         true),
    POOL("wake-many-workers", "more workers than tasks, more than started", NULL, wake_many_workers, false),
    POOL("sizing-starved", "a task computes until the second has run, one worker allowed: the gate adds another",
         sizing_moves, sizing_starved, false),
    POOL("sizing-raised", "the minimum is raised beside a submit that waits for it: a second worker comes",
         sizing_moves, sizing_raised, false),
    POOL("sizing-cut", "the maximum is cut to one and raised again among local tasks: each runs once", sizing_moves,
         sizing_cut, false),
    POOL("played-spare", "who is woken and may not be engaged leaves the look to who is: a task beside that runs",
         played_leaves_spare, played_spare, false),
    POOL("steal-locals", "two local tasks and a thief: each runs once", NULL, steal_locals, true),
    POOL("steal-while-growing", "local tasks in turns, the deque grows under its thieves", NULL, steal_while_growing,
         false),
    POOL("steal-made-ready", "a task computes until its local one has run: a thief takes it", shares_locals,
         steal_made_ready, true),
    POOL("steal-reused-memory", "a task's memory is another one's at once", NULL, steal_reused_memory, false),
    POOL("order-fifo", "global tasks of one thread start in their order", keeps_fifo, order_fifo, true),
    POOL("order-fifo-of-each", "global tasks of two threads: each keeps its order", keeps_fifo, order_fifo_of_each,
         false),
    POOL("order-lifo", "a worker takes its newest local task first", keeps_lifo, order_lifo, true),
    POOL("order-slot-streak", "the slot gives at most three in a row", has_slot, order_slot_streak, true),
    POOL("order-many-queued", "many tasks are queued: finding the next takes no more steps", NULL, order_many_queued,
         false),
    POOL("stop-at-once", "open, close: nothing is left", NULL, stop_at_once, true),
    POOL("stop-run", "what is queued runs before the end", NULL, stop_run, true),
    POOL("stop-drop", "what is queued runs or is given back, once", NULL, stop_drop, true),
    POOL("stop-run-races", "submits beside a close that runs: accepted and run, or refused", NULL, stop_run_races,
         true),
    POOL("stop-drop-races", "submits beside a close that drops: run, given back or refused", NULL, stop_drop_races,
         true),
    POOL("stop-held-up", "a task holds up close until a submitter is through", load_has_workers, stop_held_up, false),
    POOL("stop-submit-inside", "a task submits another while close waits", NULL, stop_submit_inside, false),
    POOL("stop-last-look", "close beside a worker's last look: a task that waits for another", NULL, stop_last_look,
         true),
    POOL("urgent-two", "two high-priority tasks behind an ordinary one: each runs once", load_has_urgent, urgent_two,
         false),
    POOL("wait-helped", "a task waits for one that another worker runs: it sees what that one wrote", load_has_workers,
         wait_helped, false),
    POOL("wait-helps", "a task waits for one that it submitted, one worker: it helps", NULL, wait_helps, true),
    POOL("wait-too-deep", "a task that helped another one, which blocks: what that submitted is taken over",
         load_has_workers, wait_too_deep, false),
    POOL("wait-substitute", "a task waits for one that comes later, one worker: a substitute comes", load_has_workers,
         wait_substitute, true),
    POOL("wait-two-blocked", "two tasks wait for one that comes later", load_has_workers, wait_two_blocked, false),
    POOL("wait-looks", "a waiting task looks around beside submits, and then no more: what comes next runs",
         load_has_workers, wait_looks, false),
    POOL("failure-open", "an open without memory leaves nothing behind", NULL, failure_open, false),
    POOL("failure-submit", "submits and growth without memory: refused and untouched, or run", NULL, failure_submit,
         false),
    POOL("failure-substitute", "a task waits for one that comes later, and there is no memory for a substitute",
         failure_is_of_threads, failure_substitute, false),
    POOL("failure-beside", "a submit relies on a worker whose thread cannot be started: its task runs",
         failure_is_of_threads, failure_beside, false),
    POOL("failure-attach", "a guest without memory: refused, and the pool works", NULL, failure_attach, true),
};
const uint32_t pool_scenario_count = sizeof pool_scenarios / sizeof pool_scenarios[0];
