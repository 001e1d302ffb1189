/* SPDX-License-Identifier: MIT
 *
 * What the bounds share: reader tasks, their memory, their counters, and the queue that they empty.
 *
 * A bound is a queue and a protocol. The queue holds the bound's items. The protocol decides when one more reader (a
 * task that runs items until the queue is empty) is submitted to the executor below, and when a reader may leave.
 * Everything else is here. bound/README.md has the protocols in numbered steps and the proof that the safe one strands
 * nothing.
 *
 * Two numbers must not be confused. `readers` counts slots: it is what the protocol reads and writes, and in the
 * published protocol it can be wrong. `present` counts reader tasks that exist (handed to the executor below and not
 * yet at their end): it is always right, and decides when the memory may go.
 */
#ifndef PILFER_POOL_BOUND_H
#define PILFER_POOL_BOUND_H

#include "queues.h"
#include "scheduler.h"

struct bound_state;

/* Where the items wait: functions of a queue of queues.h. */
struct bound_queue {
    int (*init)(struct bound_state *state);  /* optional */
    void (*fini)(struct bound_state *state); /* optional */
    int (*push)(struct bound_state *state, struct pilfer_task *task, uint64_t *ticket);
    struct pilfer_task *(*pop)(struct bound_state *state);
    struct pilfer_task *(*take_back)(struct bound_state *state, uint64_t ticket);
    bool (*is_empty)(const struct bound_state *state);
    uint64_t (*depth)(const struct bound_state *state);
};

/* When readers start and leave. */
struct bound_protocol {
    /* After an item was pushed. Starts one more reader if there may be one more and it is wanted. Returns 0; or the
     * refusal of the executor below (-errno), and then the slot has been given back and nobody is left to look at the
     * queue. Any thread. */
    int (*engage)(struct bound_state *state);
    /* A reader saw the queue empty. Gives its slot back; true: it has a slot again and must look again. */
    bool (*leave)(struct bound_state *state);
    /* Readers that this protocol may start beyond parallelism, because its count can be wrong. */
    uint32_t readers_excess;
    /* An item may wait for ever although nobody was refused a reader: close does not wait for it and gives it back. */
    bool strands;
};

/* One reader task; free until bound_reader_start takes it and again as soon as it runs. */
struct bound_reader {
    _Alignas(CACHE_LINE_SIZE) struct pilfer_task task;
    struct bound_state *state;
};

/* X(name): numbers of a bound since it was opened; shared counters, added to once per reader. */
#define BOUND_COUNTERS(X)                                                                                    \
    X(readers_total)         /* reader tasks that began */                                                   \
    X(readers_zero)          /* of these, found no item */                                                   \
    X(readers_single)        /* of these, ran exactly one item */                                            \
    X(items_run)             /* items that readers ran */                                                    \
    X(reader_starts_refused) /* the executor below, or the memory for readers beyond parallelism, said no */ \
    X(cas_lost)              /* a slot was not taken because another thread changed the count first */

enum bound_counter {
#define BOUND_COUNTER_ENUM(name) BOUND_##name,
    BOUND_COUNTERS(BOUND_COUNTER_ENUM)
#undef BOUND_COUNTER_ENUM
        BOUND_COUNTER_COUNT
};

/* A bound's state; each bound's state_size is its size. */
struct bound_state {
    struct bound_executor *bound;
    const struct bound_queue *queue;
    const struct bound_protocol *protocol;
    struct bound_reader *readers_memory; /* parallelism + readers_excess of them */
    union {
        struct task_fifo fifo;
        struct task_channel channel;
    } items;
    struct task_fifo readers_free; /* reader tasks that nobody uses */
    /* Slots taken. Written by submitters and readers (CAS, add); read by submitters; @F safe.1. Signed, since the
     * published protocol can take it below zero. */
    _Alignas(CACHE_LINE_SIZE) struct shared_i64 readers;
    /* Reader tasks that exist. Raised by whoever starts one, lowered as a reader's last step; read by close. */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 present;
    struct shared_u64 active, active_max; /* readers between their first and last look for an item */
    struct shared_u64 counters[BOUND_COUNTER_COUNT];
};

extern const struct bound_queue bound_queue_fifo;    /* task_fifo */
extern const struct bound_queue bound_queue_channel; /* task_channel */
extern const struct bound_protocol bound_protocol_safe;
extern const struct bound_protocol bound_protocol_published;

/* ---- for protocols ---- */

/* Submits one more reader to the executor below; the caller has taken a slot for it. 0; or -errno, and then nothing has
 * changed but a counter. Any thread. */
int bound_reader_start(struct bound_state *state);

void bound_count(struct bound_state *state, enum bound_counter counter, uint64_t amount);

/* ---- for the tables ---- */

/* Prepares bound->state; undoes everything on failure. 0 or -ENOMEM. */
int bound_init(struct bound_executor *bound, const struct bound_queue *queue, const struct bound_protocol *protocol);
void bound_fini(struct bound_executor *bound);

/* Takes an item over. 0; -ENOMEM when the queue could not grow; or what the executor below answered to a reader that
 * was needed for this item. On failure the item is the caller's. Any thread. */
int bound_submit(struct bound_executor *bound, struct pilfer_task *task);

/* Takes an item that no reader has taken, or NULL. Any thread, also while readers run. */
struct pilfer_task *bound_drain(struct bound_executor *bound);

/* Will readers still run something? Also true while an item waits that no reader has been started for since the
 * executor below refused one: then this call tries again. Any thread. */
bool bound_busy(struct bound_executor *bound);

void bound_extras(struct bound_executor *bound, void (*visit)(void *context, const char *name, double value),
                  void *context);

#endif
