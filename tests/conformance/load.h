/* SPDX-License-Identifier: MIT
 *
 * Loads for real pools: shapes of submitting whose every task is counted.
 *
 * How it works. A load is an array of items. Each item knows how often it must run; it counts its runs itself. When the
 * latch is at zero every run has been counted once, and load_verify() compares item by item, then with the executor's
 * own counters. Placement, who submits and how (one by one or in a batch) follow from the seed.
 *
 * Used by the conformance suite, the stress program and the tests of the API.
 */
#ifndef PILFER_TESTS_CONFORMANCE_LOAD_H
#define PILFER_TESTS_CONFORMANCE_LOAD_H

#include "account.h"
#include "pilfer.h"

enum load_shape {
    LOAD_FAN_OUT,  /* one task submits eight, each of those eight more, ... from inside tasks */
    LOAD_CHAINS,   /* eight chains of tasks that submit the next one */
    LOAD_RESUBMIT, /* 64 items that submit themselves again as the last thing they do: task memory is reused at once */
    LOAD_OUTSIDE,  /* four threads that are no workers submit one by one, or in batches */
    LOAD_SHAPES,
};

struct load;

struct item {
    struct pilfer_task task;
    struct load *load;
    struct shared_u32 runs;      /* times entered; written by workers, read by load_verify; @P pool.latch */
    struct shared_u32 cancelled; /* times given back by close */
    struct shared_u32 accepted;  /* submits that returned 0; written by whoever submits it */
};

struct load {
    struct pilfer_executor *executor;
    enum load_shape shape;
    uint32_t count;  /* items */
    uint32_t repeat; /* runs of each item; 1 but for LOAD_RESUBMIT */
    uint64_t seed;
    struct item *items;
    struct pilfer_latch latch; /* one arrival per run */
    bool memory_may_fail;      /* -ENOMEM is tried again as -EAGAIN is */
    struct shared_u32 refused; /* submits that failed with -ESHUTDOWN; counter only */
};

/* Name of a shape, for messages. */
const char *load_shape_name(enum load_shape shape);

/* Prepares about tasks runs of a shape for an executor. Ends the test when there is no memory. load_free() frees. */
void load_init(struct load *load, struct pilfer_executor *executor, enum load_shape shape, uint32_t tasks,
               uint64_t seed);
void load_free(struct load *load);

/* Starts the load; for LOAD_OUTSIDE it returns when the submitters have ended. A refusal with -EAGAIN is tried again,
 * one with -ESHUTDOWN ends that branch of the load, any other is a violation. Not from inside a task. */
void load_start(struct load *load);

/* Waits until everything has run. Not from inside a task. */
void load_wait(struct load *load);

/* After load_wait: each item ran as often as it was accepted. */
void load_verify(const struct load *load);

/* At rest: accepted = run, by the executor's own counters, and accepted = expected. */
void load_verify_counters(struct pilfer_executor *executor, uint64_t expected);

/* Runs one load from start to verified. Returns how many tasks it ran. */
uint64_t load_run(struct pilfer_executor *executor, enum load_shape shape, uint32_t tasks, uint64_t seed);

/* Opens subject's executor with these workers or ends the test, saying why. */
struct subject;
struct pilfer_executor *load_open(const struct subject *subject, uint32_t workers, uint32_t spin_limit,
                                  uint32_t parallelism);

/* From now on so many may be engaged at once, also where the sizing moves. */
void load_may_engage(struct pilfer_executor *executor, uint32_t workers);

#endif
