/* SPDX-License-Identifier: MIT
 *
 * ck-e78c421. A linked FIFO of Michael & Scott 1996 whose nodes are used again. A dequeue reads head, tail and
 * head's next node, and says "empty" if head and tail are the same node and there is no next one. If the head that
 * it read was dequeued meanwhile and its node enqueued again, that node is the tail and has no next: "empty",
 * although the queue held a task all the time. For a pool that is a task that nobody runs. concurrencykit/ck, commit
 * e78c421 (ck_fifo_mpmc; not in Debian's 0.7.1). Mended: head is read again before the verdict.
 */
#include "historic.h"

enum { NODES = 4, NO_NODE = 0 }; /* nodes are numbered from 1 */

struct node {
    struct shared_u64 next; /* reference of the next node */
    struct shared_u64 task;
};

/* A reference: node number in the lower half, generation in the upper. */
static uint32_t node_of(uint64_t reference)
{
    return (uint32_t)reference;
}

static uint64_t reference(uint32_t node, uint64_t generation)
{
    return generation << 32 | node;
}

struct fifo {
    bool mended;
    struct shared_u64 head, tail; /* references; head is that of a node whose task has been taken */
    struct node nodes[NODES];
    struct taker first, second;
    bool second_found_nothing;
};

static void enqueue(struct fifo *fifo, uint32_t node, uint64_t task)
{
    shared_u64_store_relaxed(&fifo->nodes[node].task, task);         /* exposed by the CAS below */
    uint64_t old = shared_u64_load_relaxed(&fifo->nodes[node].next); /* ours alone */
    shared_u64_store_relaxed(&fifo->nodes[node].next, reference(NO_NODE, (old >> 32) + 1)); /* exposed likewise */
    for (;;) {
        uint64_t tail = shared_u64_load_acquire(&fifo->tail);
        uint64_t next = shared_u64_load_acquire(&fifo->nodes[node_of(tail)].next);
        if (node_of(next) != NO_NODE) {
            shared_u64_cas_acq_rel(&fifo->tail, &tail, reference(node_of(next), (tail >> 32) + 1)); /* help */
            continue;
        }
        if (!shared_u64_cas_acq_rel(&fifo->nodes[node_of(tail)].next, &next, reference(node, (next >> 32) + 1)))
            continue;
        shared_u64_cas_acq_rel(&fifo->tail, &tail, reference(node, (tail >> 32) + 1));
        return;
    }
}

/* The task, and *spare, the node that is free now; or 0. */
static uint64_t dequeue(struct fifo *fifo, uint32_t *spare)
{
    for (;;) {
        uint64_t head = shared_u64_load_acquire(&fifo->head);
        uint64_t tail = shared_u64_load_acquire(&fifo->tail);
        uint64_t next = shared_u64_load_acquire(&fifo->nodes[node_of(head)].next);
        if (fifo->mended && shared_u64_load_acquire(&fifo->head) != head)
            continue; /* its node may have been used again */
        if (node_of(head) == node_of(tail)) {
            if (node_of(next) == NO_NODE)
                return 0;
            shared_u64_cas_acq_rel(&fifo->tail, &tail, reference(node_of(next), (tail >> 32) + 1)); /* help */
            continue;
        }
        if (node_of(next) == NO_NODE)
            continue;                                                              /* head is old */
        uint64_t task = shared_u64_load_relaxed(&fifo->nodes[node_of(next)].task); /* re-checked by CAS */
        if (shared_u64_cas_acq_rel(&fifo->head, &head, reference(node_of(next), (head >> 32) + 1))) {
            *spare = node_of(head);
            return task;
        }
    }
}

static void second_main(void *argument)
{
    struct fifo *fifo = argument;
    uint32_t spare;
    uint64_t task = dequeue(fifo, &spare);
    fifo->second_found_nothing = task == 0;
    if (task != 0)
        taker_note(&fifo->second, task);
}

/* Of three tasks two are taken, so the queue is never empty. */
static void node_reuse(bool mended)
{
    struct fifo *fifo = historic_alloc(sizeof(*fifo));
    fifo->mended = mended;
    shared_u64_store_relaxed(&fifo->head, reference(1, 0)); /* before the threads */
    shared_u64_store_relaxed(&fifo->tail, reference(1, 0)); /* before the threads */
    enqueue(fifo, 2, 1);
    enqueue(fifo, 3, 2);
    struct platform_thread *thread = historic_start("second", second_main, fifo);
    uint32_t spare;
    uint64_t task = dequeue(fifo, &spare);
    if (task == 0)
        explored_fail("false empty", "the queue held a task and said that it was empty");
    taker_note(&fifo->first, task);
    enqueue(fifo, spare, 3);
    platform_thread_join(thread);
    if (fifo->second_found_nothing)
        explored_fail("false empty", "the queue held a task and said that it was empty");
    while ((task = dequeue(fifo, &spare)) != 0)
        taker_note(&fifo->first, task);
    const struct taker *const takers[] = {&fifo->first, &fifo->second};
    takers_check(takers, 2, 3);
    platform_free(fifo);
}

HISTORIC_SCENARIO(node_reuse, "reuse-node", "a queue that holds a task never says that it is empty", true);
