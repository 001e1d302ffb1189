/* SPDX-License-Identifier: MIT
 *
 * What the scenarios of bounds share: a bound over a small pool, its items, what is known of them, and the judgement.
 *
 * How it works. A course lies on the stack of the run's main thread. It says of each item whether it was accepted and
 * how often it ran; items count themselves in and out (B2), carry plain fields (a missing publication is a data race)
 * and look whether a lock is held (S10). The word `readers` of the bound is watched: the course knows how many readers
 * there are in truth, and what each submit read there and when. From that a published bound's faults get their names
 * (bound_races.c).
 *
 * B1 items conserved: accepted = run + given back, each once. B2 at most `limit` items and readers at once. B3 no item
 * waits while no reader exists, once everybody has come to rest. B4 the reader counters add up, `readers` is 0 at rest.
 */
#ifndef PILFER_TESTS_EXPLORE_BOUND_COURSE_H
#define PILFER_TESTS_EXPLORE_BOUND_COURSE_H

#include "bound.h"
#include "scenario.h"

enum { ITEMS_MAX = 12, CHANGES_MAX = 128 };

struct course;

/* In memory of the run; the fields but the task are plain on purpose. */
struct item {
    struct pilfer_task task;
    struct course *course;
    uint32_t number, load, done;
};

/* How a submit of a published bound went: its steps b, c and d (what they read of `readers`) and e. */
enum attempt_end { ATTEMPT_OPEN, ATTEMPT_AT_BOUND, ATTEMPT_LOST, ATTEMPT_SWAPPED };
struct attempt {
    enum attempt_end end;
    uint32_t reads;              /* steps b, c, d made so far */
    int64_t read[3];             /* what they read */
    uint32_t read_at[3], end_at; /* after how many changes of `readers` that was the value; and at step e */
};

struct record {
    struct item *item;
    bool accepted;
    uint32_t runs, given_back;
    uint32_t children;                    /* items that it submits when it runs: those with the next free numbers */
    bool frees;                           /* it frees its own memory as its first step */
    struct pilfer_latch *arrives, *waits; /* it arrives here, then it waits here; may be NULL */
    uint32_t work_steps;                  /* steps of its own after that */
    struct attempt attempt;
};

struct course {
    struct pilfer_executor *executor;
    struct bound_state *state;
    bool specimen;
    bool may_refuse; /* memory is short, or a close is near */
    bool may_wait;   /* a reader was refused, and an accepted item may be queued until close */
    int64_t limit;
    struct pilfer_latch *latch; /* items that are not at their end */
    struct record records[ITEMS_MAX];
    uint32_t count;
    int64_t active;                            /* items between their first and last step, by their own count */
    uint32_t submitting[EXPLORED_THREADS_MAX]; /* number of the item + 1; 0: none */
    /* The life of `readers`: its value and the readers that there were in truth, after each change. */
    int64_t values[CHANGES_MAX], readers[CHANGES_MAX];
    uint32_t changes;
    struct attempt wrong_swap; /* the first that changed `readers` by something else than one */
    uint32_t wrong_item;       /* whose it was: its number + 1; 0: there was none */
};

/* Opens the bound of the configuration: `items` items will be submitted, at most `limit` run at once. */
void course_open(struct course *course, const struct configuration *configuration, uint32_t workers, uint32_t limit,
                 uint32_t items);

/* Makes all items now, so that a submit allocates nothing for them. */
void course_make_items(struct course *course);

/* Submits the item with this number, in memory of its own; true if it was accepted. Any thread. */
bool course_submit(struct course *course, uint32_t number);

/* Waits until every accepted item has run and no reader exists, and judges B1 to B4. Standing still before is judged as
 * well. Only main, when nobody else will submit any more. */
void course_rest(struct course *course);

/* As course_rest where readers may be refused: items may wait afterwards. */
void course_rest_after_refusals(struct course *course);

/* Closes. */
void course_close(struct course *course, enum pilfer_close how);

/* After close, when nobody uses the course any more: judges B1, frees the items. */
void course_judge_ends(struct course *course, enum pilfer_close how);

/* Parks until the latch is at zero; for threads that are not to help meanwhile. */
void latch_wait(struct pilfer_latch *latch);

/* ---- bound_races.c ---- */

/* The watcher of `readers`. */
void course_sees_readers(void *context, const struct explored_event *event);

/* Items wait and no reader exists: "race R1", "race R2", "race R4", or "B3". Does not return. */
_Noreturn void course_stranded(const struct course *course);

/* `readers` is not 0 and no reader exists: "race R4", or "B4". Does not return. */
_Noreturn void course_miscounted(const struct course *course, int64_t readers);

#endif
