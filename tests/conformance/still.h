/* SPDX-License-Identifier: MIT
 *
 * A pool without threads: a scheduler's table driven by one thread that plays every worker in turn.
 *
 * How it works. The pool and its workers are made by the core's own functions, but no thread is started. The test calls
 * the table's callbacks in an order that a seed decides, and the instrumentation (instrument.h) watches each call. So
 * whatever goes wrong is repeated by the same seed.
 */
#ifndef PILFER_TESTS_CONFORMANCE_STILL_H
#define PILFER_TESTS_CONFORMANCE_STILL_H

#include "instrument.h"
#include "scheduler.h"

#define STILL_WORKERS_MAX 64

struct subject;

struct still {
    struct pool *pool;
    struct worker *guest; /* an attached thread that is no worker */
    uint32_t workers;
    const char *callback;          /* the one called last */
    struct instrument_trace trace; /* of that call */
};

/* A task of a still pool; never run. */
struct still_task {
    struct pilfer_task task;
    uint32_t id;
    uint32_t state; /* enum still_state */
};
enum still_state { STILL_FREE, STILL_ACCEPTED, STILL_TAKEN };

/* Makes a still pool or ends the test. settings: NULL: the defaults. */
void still_open(struct still *still, const struct subject *subject, uint32_t workers,
                const struct pilfer_setting *settings, uint32_t setting_count);
void still_close(struct still *still);

/* Calls submit for a free task as worker index, or as the guest when index is UINT32_MAX. Returns what submit returned;
 * the task becomes accepted unless that is negative. */
int still_submit(struct still *still, uint32_t index, struct still_task *task, enum pilfer_placement placement);

/* Calls next as worker index, then done if a task came. The task must be an accepted one, which becomes taken; NULL:
 * none. Ends the test when it is handed out twice, and when next says that it lost a race, which nobody can win here.
 */
struct still_task *still_next(struct still *still, uint32_t index);

/* Calls drain, checking as still_next does. */
struct still_task *still_drain(struct still *still);

/* Calls surrender_local as worker index, if the scheduler has it. */
void still_surrender(struct still *still, uint32_t index);

/* Drains and takes nothing more: ends the test unless exactly expected tasks come and none comes after them. */
void still_drain_all(struct still *still, uint64_t expected);

#endif
