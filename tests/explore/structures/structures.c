/* SPDX-License-Identifier: MIT
 *
 * The programs of the trials (trial.h has the letters), and the list of structures.
 *
 * Each list is X(table, scenario, promise, program). The small capacities (2) make a queue grow, wrap and fill within
 * these few letters.
 */
#include "structures/structures.h"

/* What looks and messages promise of any queue. */
#define LOOK_PROGRAMS(X, TABLE)                                                                                       \
    X(TABLE, look, "look", "a look finds a queue empty only if it was", .before = "+", .main = "+",                   \
      .others = {"?", "o"})                                                                                           \
    X(TABLE, depth, "depth", "a depth is at most what was pushed", .before = "+", .main = "+", .others = {"d", "oo"}) \
    X(TABLE, last_look, "last-look", "with a fence on either side a look does not miss a task", .main = "+|?",        \
      .others = {"|?o"})                                                                                              \
    X(TABLE, message, "message", "who was told of a push finds the task", .main = "+!", .others = {"@?o"})

/* Thread main is the owner. At most eight operations each, before the rest is taken out. */
#define DEQUE_PROGRAMS(X, TABLE)                                                                                      \
    X(TABLE, pop_fresh, "pop-fresh", "a pop on a fresh deque finds nothing and breaks nothing", .main = "n+n",        \
      .others = {"o"})                                                                                                \
    X(TABLE, publish, "publish", "a thief finds what the owner has written into a task", .main = "++",                \
      .others = {"oo"})                                                                                               \
    X(TABLE, last_task, "last-task", "the last task goes to the owner or to the thief", .before = "+", .main = "n",   \
      .others = {"o"})                                                                                                \
    X(TABLE, last_task_two_thieves, "last-task-two-thieves", "the last task goes to one of three", .before = "+",     \
      .main = "n", .others = {"o", "o"})                                                                              \
    X(TABLE, push_pop_pop, "push-pop-pop", "one push and two pops beside two thieves", .main = "+nn",                 \
      .others = {"o", "o"})                                                                                           \
    X(TABLE, push_push_pop, "push-push-pop", "the bottom that a pop leaves behind exposes the tasks below it",         \
      .main = "++n", .others = {"oo"})                                                                                \
    X(TABLE, two_tasks, "two-tasks", "pops that meet steals in the middle of two tasks", .before = "++",              \
      .main = "nn", .others = {"oo"})                                                                                 \
    X(TABLE, emptied, "emptied", "a steal after a pop emptied the deque, and a push behind it", .before = "+",        \
      .main = "n+", .others = {"oo"})                                                                                 \
    X(TABLE, growth, "growth", "a steal while the array grows", .before = "++", .main = "+", .others = {"oo"})        \
    X(TABLE, growth_two_thieves, "growth-two-thieves", "a slow thief whose task is not in the outgrown array",        \
      .before = "++", .main = "+", .others = {"o", "oo"})                                                             \
    X(TABLE, growth_then_pop, "growth-then-pop", "the owner takes from the array that it has just made",              \
      .before = "++", .main = "+nn", .others = {"o"})                                                                 \
    X(TABLE, growth_twice, "growth-twice", "a slow thief reads an array that was outgrown twice", .before = "++",     \
      .main = "+++", .others = {"oo"})                                                                                \
    X(TABLE, growth_wrapped, "growth-wrapped", "the tasks that are copied pass the end of the array",                 \
      .before = "+o++", .main = "+", .others = {"oo"})                                                                \
    X(TABLE, overwritten, "overwritten", "a slot is used again while a slow thief reads it", .before = "++",          \
      .main = "o+n", .others = {"o"})                                                                                 \
    X(TABLE, look, "look", "a look finds a deque empty only if it was", .before = "+", .main = "+",                   \
      .others = {"?", "o"})                                                                                           \
    X(TABLE, depth, "depth", "a depth is at most what was pushed", .before = "+", .main = "+", .others = {"d", "oo"}) \
    X(TABLE, last_look, "last-look", "with a fence on either side a look does not miss a task", .main = "+|?",        \
      .others = {"|?o"})                                                                                              \
    X(TABLE, message, "message", "who was told of a push finds the task", .before = "+n", .main = "+!",               \
      .others = {"@o"})                                                                                               \
    X(TABLE, no_memory, "no-memory", "a push that cannot grow has changed nothing", .before = "++", .main = "+n",     \
      .others = {"o"}, .memory_fails = true)

#define FIFO_PROGRAMS(X, TABLE)                                                                                       \
    X(TABLE, publish, "publish", "a consumer finds what the producer has written into a task", .main = "++",          \
      .others = {"oo"})                                                                                               \
    X(TABLE, two_producers, "two-producers", "two producers beside a consumer", .main = "+", .others = {"+", "oo"})   \
    X(TABLE, two_consumers, "two-consumers", "the last task goes to one of two", .before = "+", .main = "o+",         \
      .others = {"o"})                                                                                                \
    X(TABLE, batch, "batch", "nothing comes between the tasks of a batch", .main = "2", .others = {"+", "o"})         \
    X(TABLE, take_back, "take-back", "a task is taken back or taken", .main = "+b", .others = {"o"})                  \
    X(TABLE, take_back_behind, "take-back-behind", "only the oldest task can be taken back", .before = "+",           \
      .main = "+b", .others = {"oo"})                                                                                 \
    X(TABLE, look, "look", "a look finds a queue empty only if it was", .before = "+", .main = "+",                   \
      .others = {"?", "o"})                                                                                           \
    X(TABLE, depth, "depth", "a depth is at most what was pushed", .before = "+", .main = "+", .others = {"d", "oo"}) \
    X(TABLE, last_look, "last-look", "with a fence on either side a look does not miss a task", .main = "+|?",        \
      .others = {"|?o"})                                                                                              \
    X(TABLE, message, "message", "who was told of a push finds the task", .main = "+!", .others = {"@?o"})

#define CHANNEL_PROGRAMS(X, TABLE)                                                                                    \
    X(TABLE, publish, "publish", "a consumer finds what the producer has written into a task", .main = "++",          \
      .others = {"oo"})                                                                                               \
    X(TABLE, two_producers, "two-producers", "two producers beside a consumer", .main = "+", .others = {"+", "o"})    \
    X(TABLE, two_consumers, "two-consumers", "the last task goes to one of three", .before = "+", .main = "o",        \
      .others = {"o", "o"})                                                                                           \
    X(TABLE, growth, "growth", "a pop while the ring grows", .before = "++", .main = "+", .others = {"oo"})           \
    X(TABLE, growth_two_consumers, "growth-two-consumers", "a slow consumer whose task is not in the outgrown ring",  \
      .before = "++", .main = "+", .others = {"o", "oo"})                                                             \
    X(TABLE, growth_twice, "growth-twice", "a slow consumer reads a ring that was outgrown twice", .before = "++",    \
      .main = "+++", .others = {"oo"})                                                                                \
    X(TABLE, growth_wrapped, "growth-wrapped", "the tasks that are copied pass the end of the ring",                  \
      .before = "+o++", .main = "+", .others = {"oo"})                                                                \
    X(TABLE, overwritten, "overwritten", "a cell is used again while a slow consumer reads it", .before = "++",       \
      .main = "o+o", .others = {"o"})                                                                                 \
    X(TABLE, take_back, "take-back", "a task is taken back or taken", .main = "+b", .others = {"o"})                  \
    X(TABLE, take_back_behind, "take-back-behind", "only the oldest task can be taken back", .before = "+",           \
      .main = "+b", .others = {"o"})                                                                                  \
    X(TABLE, take_back_grown, "take-back-grown", "a task is taken back from a ring that another one let grow",        \
      .before = "+", .main = "+b", .others = {"+", "o"})                                                             \
    LOOK_PROGRAMS(X, TABLE)                                                                                           \
    X(TABLE, no_memory, "no-memory", "a push that cannot grow has changed nothing", .before = "++", .main = "++o",    \
      .others = {"o"}, .memory_fails = true)

/* Who pushes and then takes has a full fence in between, as in a pool (@P dotnet_queues.5). */
#define SEGMENT_PROGRAMS(X, TABLE)                                                                                    \
    X(TABLE, publish, "publish", "a consumer finds what the producer has written into a task", .main = "++",          \
      .others = {"oo"})                                                                                               \
    X(TABLE, two_producers, "two-producers", "a task behind a push that is half-way is not lost", .main = "+",        \
      .others = {"+", "oo"})                                                                                          \
    X(TABLE, two_consumers, "two-consumers", "the last task goes to one of three", .before = "+", .main = "o",        \
      .others = {"o", "o"})                                                                                           \
    X(TABLE, wrapped, "wrapped", "slots are used again", .before = "+o+o", .main = "++", .others = {"oo"})            \
    X(TABLE, overwritten, "overwritten", "a slot is used again while a slow consumer reads it", .before = "++",       \
      .main = "o+|o", .others = {"o"})                                                                                \
    X(TABLE, growth, "growth", "pops while a larger ring is linked", .before = "++", .main = "+",                     \
      .others = {"ooo"})                                                                                              \
    X(TABLE, growth_from_empty, "growth-from-empty", "a ring that was empty is full and has a larger one behind it",  \
      .main = "+++", .others = {"o"})                                                                                 \
    X(TABLE, growth_two_producers, "growth-two-producers", "two producers find the ring full", .before = "++",        \
      .main = "+", .others = {"+", "o"})                                                                              \
    X(TABLE, growth_two_consumers, "growth-two-consumers", "a slow consumer in a ring that others have left",         \
      .before = "++", .main = "+", .others = {"o", "oo"})                                                             \
    X(TABLE, growth_twice, "growth-twice", "a slow consumer two rings behind", .before = "+++++", .main = "++",       \
      .others = {"ooo"})                                                                                              \
    LOOK_PROGRAMS(X, TABLE)                                                                                           \
    X(TABLE, no_memory, "no-memory", "a push that cannot grow has changed nothing", .before = "++", .main = "++|o",   \
      .others = {"o"}, .memory_fails = true)

/* Thread main is the owner. A deque of two slots holds one task, one of four three. */
#define FOREIGN_PROGRAMS(X, TABLE)                                                                                    \
    X(TABLE, pop_fresh, "pop-fresh", "a pop on a fresh deque finds nothing and breaks nothing", .main = "n+n",        \
      .others = {"o"})                                                                                                \
    X(TABLE, publish, "publish", "a thief finds what the owner has written into a task", .main = "++",                \
      .others = {"oo"})                                                                                               \
    X(TABLE, last_task, "last-task", "the last task goes to the owner or to the thief", .before = "+", .main = "n",   \
      .others = {"o"})                                                                                                \
    X(TABLE, last_task_two_thieves, "last-task-two-thieves", "the last task goes to one of three", .before = "+",     \
      .main = "n", .others = {"o", "o"})                                                                              \
    X(TABLE, push_pop_pop, "push-pop-pop", "one push and two pops beside a thief", .main = "+nn", .others = {"oo"})   \
    X(TABLE, two_tasks, "two-tasks", "pops that meet steals in the middle of two tasks", .before = "++",              \
      .main = "nn", .others = {"oo"})                                                                                 \
    X(TABLE, emptied, "emptied", "a push where a thief is about to give its place back", .before = "+",               \
      .main = "n+", .others = {"oo"})                                                                                 \
    X(TABLE, emptied_two_thieves, "emptied-two-thieves", "the same beside another thief", .before = "+",              \
      .main = "n+", .others = {"o", "o"})                                                                             \
    X(TABLE, growth, "growth", "a steal while the array grows", .before = "+", .main = "+", .others = {"oo"})         \
    X(TABLE, growth_two_thieves, "growth-two-thieves", "two steals while the array grows", .before = "+",             \
      .main = "+", .others = {"o", "o"})                                                                              \
    X(TABLE, growth_then_pop, "growth-then-pop", "the owner takes from the array that it has just made",              \
      .before = "+", .main = "+nn", .others = {"o"})                                                                  \
    X(TABLE, growth_twice, "growth-twice", "a steal while the array grows twice", .before = "+", .main = "+++",       \
      .others = {"oo"})                                                                                               \
    X(TABLE, growth_wrapped, "growth-wrapped", "the tasks that are copied do not begin at the first slot",            \
      .before = "+o+", .main = "+", .others = {"oo"})                                                                 \
    X(TABLE, overwritten, "overwritten", "a slot is used again when two thieves have passed it", .before = "+++",     \
      .main = "++n", .others = {"oo"})                                                                                \
    X(TABLE, look, "look", "a look finds a deque empty only if it was", .before = "++", .main = "n+",                 \
      .others = {"?", "o"})                                                                                           \
    X(TABLE, depth, "depth", "a depth is at most what was pushed", .before = "+", .main = "+", .others = {"d", "oo"}) \
    X(TABLE, last_look, "last-look", "with a fence on either side a look does not miss a task", .main = "+|?",        \
      .others = {"|?o"})                                                                                              \
    X(TABLE, message, "message", "who was told of a push finds the task", .before = "+n", .main = "+!",               \
      .others = {"@o"})                                                                                               \
    X(TABLE, no_memory, "no-memory", "a push that cannot grow has changed nothing", .before = "+", .main = "+n",      \
      .others = {"o"}, .memory_fails = true)

#define RING_PROGRAMS(X, TABLE)                                                                                       \
    X(TABLE, publish, "publish", "a consumer finds what the producer has written into a task", .main = "++",          \
      .others = {"oo"})                                                                                               \
    X(TABLE, two_producers, "two-producers", "two producers beside a consumer", .main = "+", .others = {"+", "o"})    \
    X(TABLE, two_consumers, "two-consumers", "a slow consumer beside one that is ahead of it", .before = "+",          \
      .main = "+", .others = {"oo", "o"})                                                                             \
    X(TABLE, full, "full", "a push is refused only when the ring is full", .before = "++", .main = "++",              \
      .others = {"oo"})                                                                                               \
    X(TABLE, wrapped, "wrapped", "cells are used again", .before = "+o+o", .main = "++", .others = {"oo"})            \
    X(TABLE, look, "look", "a look finds a queue empty only if it was", .before = "+", .main = "+",                   \
      .others = {"?", "o"})                                                                                           \
    X(TABLE, depth, "depth", "a depth is at most what was pushed", .before = "+", .main = "+", .others = {"d", "oo"}) \
    X(TABLE, last_look, "last-look", "with a fence on either side a look does not miss a task", .main = "+|?",        \
      .others = {"|?o"})

#define DEFINE_BODY(TABLE, NAME, TITLE, PROMISE, ...)                        \
    static void NAME##_of_##TABLE(const struct configuration *configuration) \
    {                                                                        \
        (void)configuration;                                                 \
        trial_run(&structure_##TABLE, &(struct program){__VA_ARGS__});       \
    }
#define DEFINE_SCENARIO(TABLE, NAME, TITLE, PROMISE, ...) \
    {TITLE, PROMISE, SCENARIO_CODE, NULL, NAME##_of_##TABLE, true},
#define DEFINE_SCENARIOS(PROGRAMS, TABLE) \
    PROGRAMS(DEFINE_BODY, TABLE)          \
    static const struct scenario TABLE##_scenarios[] = {PROGRAMS(DEFINE_SCENARIO, TABLE)};

DEFINE_SCENARIOS(DEQUE_PROGRAMS, deque)
DEFINE_SCENARIOS(DEQUE_PROGRAMS, deque_from_2147483646)
DEFINE_SCENARIOS(DEQUE_PROGRAMS, deque_from_4294967294)
DEFINE_SCENARIOS(FIFO_PROGRAMS, task_fifo)
DEFINE_SCENARIOS(CHANNEL_PROGRAMS, task_channel)
DEFINE_SCENARIOS(RING_PROGRAMS, library_ring)
DEFINE_SCENARIOS(SEGMENT_PROGRAMS, segment_queue)

FOREIGN_PROGRAMS(DEFINE_BODY, foreign_lock_deque)
static const struct scenario foreign_lock_deque_scenarios[] = {
    FOREIGN_PROGRAMS(DEFINE_SCENARIO, foreign_lock_deque) /* and one that is no trial */
    {"given-back", "a thief that gives its place back asks for a scan of the deque that finds the next task",
     SCENARIO_CODE, NULL, foreign_lock_deque_given_back, false},
};

#define SUBJECT(NAME, SUMMARY, SCENARIOS) {NAME, SUMMARY, SCENARIOS, sizeof SCENARIOS / sizeof SCENARIOS[0], NULL}

const struct code_subject structure_subjects[] = {
    SUBJECT("deque", "the work-stealing deque", deque_scenarios),
    SUBJECT("deque-from-2147483646", "the deque while its indices pass 2^31", deque_from_2147483646_scenarios),
    SUBJECT("deque-from-4294967294", "the deque while its indices pass 2^32", deque_from_4294967294_scenarios),
    SUBJECT("task-fifo", "the queue under a lock", task_fifo_scenarios),
    SUBJECT("task-channel", "the queue whose consumers take no lock", task_channel_scenarios),
    SUBJECT("segment-queue", "the shared queue of the .NET schedulers", segment_queue_scenarios),
    SUBJECT("foreign-lock-deque", "the deque of the .NET schedulers", foreign_lock_deque_scenarios),
    SUBJECT("lock", "the small lock", lock_scenarios),
    SUBJECT("latch", "counting down to zero", latch_scenarios),
    SUBJECT("semaphore", "the semaphore of idle workers", semaphore_scenarios),
    SUBJECT("semaphore-on-conditions", "the same, whose workers park on condition variables",
            semaphore_on_conditions_scenarios),
    SUBJECT("trace-ring", "a copy of an event ring while its thread records", trace_ring_scenarios),
    SUBJECT("library-ring-model", "the model that stands in for the library's ring", library_ring_scenarios),
};
const uint32_t structure_subject_count = sizeof structure_subjects / sizeof structure_subjects[0];
