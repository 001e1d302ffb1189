/* SPDX-License-Identifier: MIT
 *
 * The two queues of the portable .NET thread pool: a growing ring of rings that all share, and a deque per worker whose
 * thieves take turns.
 *
 * segment_queue. Any thread enqueues, any thread dequeues, first in, first out. A list of bounded rings; each slot
 * carries a sequence number that says whether it may be written or read, so an enqueue is one compare-and-swap on the
 * tail and a dequeue one on the head. A dequeue from an empty queue does no read-modify-write. A ring that is full is
 * frozen and a larger one linked behind it; while the queue stays short the last ring is used round and round, and
 * nothing is allocated. Worst case: a dequeue that meets an enqueue half-way waits for it, burning CPU; after some
 * looks it gives up and says "missed" (the source waits without end). Rings that were outgrown are kept until the end
 * (a slow thread may still read one).
 *
 * foreign_lock_deque. The owner pushes and pops at the tail, mostly without a lock; thieves hold a lock, which they
 * only try, and take from the head. Both sides announce themselves with a full-order exchange before they look at the
 * other's index. Worst case: a steal that loses the lock or the race says "missed" without having taken anything.
 *
 * Differences to the source. Indices of the deque have 64 bits, so that they need not be folded back. After a steal
 * that gives its place back there is a fence, which the source lacked until 2026 (dotnet/runtime#128606). The source
 * leaves outgrown rings to its garbage collector.
 *
 * Source. dotnet/runtime 8.0: ConcurrentQueueSegment, ConcurrentQueue, ThreadPoolWorkQueue.WorkStealingQueue; the ring
 * is Vyukov's bounded queue.
 */
#ifndef PILFER_SCHEDULERS_DOTNET_QUEUES_H
#define PILFER_SCHEDULERS_DOTNET_QUEUES_H

#include "lock.h"
#include "pilfer.h"

/* Slots of the first ring and of a new deque; the explorer builds with 2. */
#ifndef DOTNET_CAPACITY_INITIAL
#define DOTNET_CAPACITY_INITIAL 32
#endif
#define DOTNET_SEGMENT_CAPACITY_MAX (1u << 20)

/* ---- segment_queue ---- */

struct segment;

struct segment_queue {
    _Alignas(CACHE_LINE_SIZE) struct shared_ptr head; /* ring to dequeue from; written under lock; @P dotnet_queues.1 */
    struct shared_ptr tail;                           /* ring to enqueue to; written under lock; @P dotnet_queues.1 */
    struct lock lock;                                 /* freezing, linking, moving on */
    struct segment *first;                            /* all rings, for fini; under lock */
};

/* 0 or -ENOMEM. */
int segment_queue_init(struct segment_queue *queue);
/* Nobody uses the queue any more; tasks in it are forgotten. */
void segment_queue_fini(struct segment_queue *queue);

/* Any thread. 0, or -ENOMEM with nothing changed. */
int segment_queue_push(struct segment_queue *queue, struct pilfer_task *task);
/* The oldest task or NULL; *missed is set if an enqueue was half-way and did not get on. Any thread. */
struct pilfer_task *segment_queue_pop(struct segment_queue *queue, bool *missed);
/* Any thread, after a full fence. A push that is half-way counts as a task. */
bool segment_queue_is_empty(const struct segment_queue *queue);
/* About how many; any thread. */
uint64_t segment_queue_depth(const struct segment_queue *queue);

/* ---- foreign_lock_deque ---- */

struct foreign_lock_array;

struct foreign_lock_deque {
    _Alignas(CACHE_LINE_SIZE) struct shared_i64 head; /* thieves under the lock; read by all; @F dotnet_queues.1 */
    struct shared_u32 lock;                           /* 1: held; tried by thieves, waited for by the owner */
    _Alignas(CACHE_LINE_SIZE) struct shared_i64 tail; /* the owner; read by all; @F dotnet_queues.1 */
    struct foreign_lock_array *array;                 /* the owner writes it under the lock; thieves read it under it */
};

/* 0 or -ENOMEM. */
int foreign_lock_deque_init(struct foreign_lock_deque *deque);
void foreign_lock_deque_fini(struct foreign_lock_deque *deque);

/* The owner. 0, or -ENOMEM with nothing changed. */
int foreign_lock_deque_push(struct foreign_lock_deque *deque, struct pilfer_task *task);
/* The newest task or NULL. The owner. */
struct pilfer_task *foreign_lock_deque_pop(struct foreign_lock_deque *deque);
/* The oldest task or NULL; *missed is set if there may have been one. Any thread. */
struct pilfer_task *foreign_lock_deque_steal(struct foreign_lock_deque *deque, bool *missed);
/* Any thread, after a full fence. Wrongly false only while a thief is about to give its place back, and that thief then
 * says "missed"; and while the owner grows the array for a push, after which it makes a request. */
bool foreign_lock_deque_has_tasks(const struct foreign_lock_deque *deque);
uint64_t foreign_lock_deque_depth(const struct foreign_lock_deque *deque);

#endif
