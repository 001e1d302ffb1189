/* SPDX-License-Identifier: MIT
 *
 * What the scenarios of pool schedulers share: a pool under a small load, and the account that is kept of its tasks.
 *
 * How it works. An item is a task in memory of the run, with plain fields that the submitter writes and the task reads:
 * a publication that lacks an order is a data race there. What happened to it is written down in struct load, which
 * lies on the stack of the scenario's body, where accesses are neither checked nor points at which another thread goes
 * on: keeping the account hides nothing. Each check names the invariant of schedulers/README.md that it found broken.
 *
 * When nothing can go on, the queues are emptied: an accepted task that lies there was not woken for (S3), one that
 * lies nowhere has been lost (S1).
 */
#ifndef PILFER_TESTS_EXPLORE_POOL_LOAD_H
#define PILFER_TESTS_EXPLORE_POOL_LOAD_H

#include "scenario.h"

enum { LOAD_ITEMS_MAX = 64, LOAD_SUBMITTERS_MAX = 2 };

struct load;

struct item {
    struct pilfer_task task;
    struct load *load;
    uint32_t index;
    uint32_t payload;                                  /* written before the submit, read by the task */
    uint32_t result;                                   /* written by the task, read after it was waited for */
    void (*act)(struct load *load, struct item *item); /* what it does beside; NULL: nothing */
    struct pilfer_latch *arrives;                      /* counted down by it beside the load's; NULL: none */
};

/* What happened to an item. */
struct item_record {
    struct item *item; /* NULL: freed by its task */
    uint32_t submits, accepted, refused, runs, given_back;
};

/* A word that a task waits for without helping, as if it computed until then. */
struct gate {
    struct shared_u32 open;
};

struct load {
    struct pilfer_executor *executor; /* NULL: not open, or closed */
    struct pilfer_latch *done;        /* one arrival for each item that ran, or never will */
    struct pilfer_latch *inner;       /* for tasks that wait for one another */
    struct gate *gates;               /* LOAD_GATES_MAX of them */
    struct item_record records[LOAD_ITEMS_MAX];
    uint32_t count;
    uint32_t order[LOAD_ITEMS_MAX], order_count; /* items as they began to run */
    bool frees;                                  /* tasks free their items */
    uint32_t blocks_before;
    uint32_t limit, arrived; /* for the tasks of one scenario: how many more, how many are there */
    bool may_refuse;         /* for the tasks of one scenario: a submit may fail */
};

enum { LOAD_GATES_MAX = 4 };

struct load_options {
    uint32_t min_workers, max_workers, spin_limit;
    uint32_t arrivals; /* items that load_wait waits for */
};

/* Whether the configuration's scheduler has these capabilities (enum scheduler_caps), or has workers. */
bool load_caps(const struct configuration *configuration, uint32_t caps);
bool load_has_workers(const struct configuration *configuration);

/* Opens, or ends the run: the configuration cannot be opened. */
void load_open(struct load *load, const struct configuration *configuration, const struct load_options *options);
/* The same, but returns pilfer_open's status; after a failure nothing is left behind (S4), and the load is over. */
int load_try_open(struct load *load, const struct configuration *configuration, const struct load_options *options);

/* A fresh item, not submitted. */
struct item *load_item(struct load *load, void (*act)(struct load *load, struct item *item));

/* Any thread. As pilfer_submit; a refused item must stay untouched (S4) and counts as an arrival. */
int load_submit(struct load *load, struct item *item, enum pilfer_placement placement);
/* The same from outside to the high-priority queue that the .NET pools have. True for them with their own idle policy:
 * one that looks again as long as anything is pending would not end while the hint is away. */
bool load_has_urgent(const struct configuration *configuration);
void load_submit_urgent(struct load *load, struct item *item);
/* load_item and load_submit of one that does nothing else. */
int load_submit_new(struct load *load, enum pilfer_placement placement);
/* Items first to first + count - 1 as one batch. */
void load_submit_batch(struct load *load, uint32_t first, uint32_t count, enum pilfer_placement placement);

/* Reads the result of a task that has been waited for. */
void load_read(const struct load *load, uint32_t index);
/* Until all arrivals; then the results are read. From outside. */
void load_wait(struct load *load);
/* Until that latch is at zero; also from inside a task. */
void load_wait_for(struct load *load, struct pilfer_latch *latch);

/* Closes, then checks every item: accepted = run + given back, each once (S1, S2), refused ones untouched (S4). */
void load_stop(struct load *load, enum pilfer_close how);
/* The same in two steps, between which submits are refused and the pool's memory is still there. */
void load_stop_workers(struct load *load, enum pilfer_close how);
void load_stop_rest(struct load *load, enum pilfer_close how);
/* Frees everything, and then nothing may be left (S8). All threads have been joined. */
void load_end(struct load *load);
/* Both. */
void load_close(struct load *load, enum pilfer_close how);

/* At this place of the order of starts the item must have begun; else S6. */
void load_expect_order(const struct load *load, uint32_t place, uint32_t index);

void gate_open(struct gate *gate);
void gate_wait(struct gate *gate);

/* A thread that submits the items of its list, one after the other. */
struct submitter {
    struct load *load;
    uint32_t first, count;
    enum pilfer_placement placement;
    bool attaches;      /* as a guest */
    struct gate *opens; /* afterwards; NULL: none */
    struct platform_thread *thread;
};
void submitter_start(struct submitter *submitter, const char *name);
void submitter_join(struct submitter *submitter);

#endif
