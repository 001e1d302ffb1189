/* SPDX-License-Identifier: MIT
 *
 * A trial: a few threads run a few operations each on a queue of tasks, and the outcome is held against a sequence.
 *
 * What it is. A program is a handful of letters per thread. The trial makes a task for each push, starts the threads,
 * records when each operation was called and when it returned, takes out what is left at the end, and then asks:
 *   exactly once   no task is taken twice, or was never pushed
 *   conservation   each task that was pushed has been taken
 *   linearizable   the operations have an order that respects "before" and in which a plain sequence gives the same
 *                  answers; all orders are tried
 *   missed         a steal that lost its race ran beside another one that took a task, or, where the queue says so,
 *                  beside a push
 *   data race      a task has a plain payload, written before the push and read after the take, and its memory is freed
 *                  by whoever took it: a missing publication, or an access too late, is seen by the engine
 *   leak           no memory is left when the queue has been closed
 *
 * What comes before what. In model sc an operation comes before another if it returned before the other was called. In
 * tso and ra there is no such time: a push without a fence may be visible later than it returns. There the order is
 * what the program itself makes: one thread's operations in turn, starting and joining threads, a message ('!' to '@'),
 * and full fences ('|'), of which the earlier one's past comes before the later one's future.
 *
 * Source. Herlihy & Wing 1990 for the question, Wing & Gong 1993 for trying all orders; the order by happens-before in
 * place of time: Burckhardt, Gotsman, Musuvathi, Yang 2012.
 */
#ifndef PILFER_TESTS_EXPLORE_STRUCTURES_TRIAL_H
#define PILFER_TESTS_EXPLORE_STRUCTURES_TRIAL_H

#include "pilfer.h"
#include "scenario.h"

enum { TRIAL_THREADS_MAX = 4 }; /* main included */

enum take_result { TAKE_TASK, TAKE_NOTHING, TAKE_MISSED };

/* A queue of tasks, as the trials see it. Operations that it has not are NULL. object: what open returned. */
struct structure {
    void *(*open)(void);
    void (*close)(void *object);
    /* The ticket is for take_back. 0, or -errno with nothing changed. */
    int (*push)(void *object, struct pilfer_task *task, uint64_t *ticket);
    void (*push_batch)(void *object, struct pilfer_task *first, uint64_t count);
    enum take_result (*take_oldest)(void *object, struct pilfer_task **out);
    enum take_result (*take_newest)(void *object, struct pilfer_task **out); /* thread main only */
    enum take_result (*take_back)(void *object, uint64_t ticket, struct pilfer_task **out);
    bool (*is_empty)(void *object);
    uint64_t (*depth)(void *object);
    uint32_t capacity; /* a push into a sequence of this length may be refused; 0: only without memory */
    bool misses_pushes; /* a take may be missed because of a push that is half-way */
    /* May look empty, though it is not, beside a take that is missed and beside a push whose ticket is 1. */
    bool hides;
};

/* Letters:  + push            o take the oldest     ? look: is it empty?     ! send a message
 *           2 push two        n take the newest     | full fence             @ look for the message
 *                             b take back the task    d look at the depth
 *                               that this thread
 *                               pushed last           */
struct program {
    const char *before; /* by main, before the others start */
    const char *main;
    const char *others[TRIAL_THREADS_MAX]; /* up to the first NULL */
    bool memory_fails;                     /* one allocation after the start of the threads may fail */
};

/* The body of a scenario. */
void trial_run(const struct structure *structure, const struct program *program);

#endif
