/* SPDX-License-Identifier: MIT
 *
 * Shared queues of tasks: one guarded by a lock, one whose consumers take no lock.
 *
 * task_fifo. An intrusive list under one lock: any thread pushes, any thread pops, strict first in, first out. A count
 * beside it answers "is it empty?" without the lock, so that idle workers do not fight with the submitters for it.
 * Never fails, never allocates. Worst case: all threads meet at one lock.
 *
 * task_channel. Producers serialise on a lock, consumers are lock-free (one compare-and-swap per task), strict first
 * in, first out. It keeps pointers in a ring that grows, so a consumer never reads the memory of a task that it did not
 * win: the winner may free it at once. Worst case: a push that must grow copies the ring under the lock, and may fail.
 * The ring never shrinks; outgrown rings are kept until the end (together less than the last one), because a consumer
 * may still be reading them.
 *
 * Neither has a state "reserved but not yet published": a push is visible as a whole, before it returns.
 *
 * Sources. The channel is the owner's push and the thief's steal of Chase and Lev 2005 ("Dynamic circular work-stealing
 * deque") with the owner replaced by "whoever holds the lock", in the C11 orders of Le, Pop, Cohen, Zappa Nardelli
 * 2013; nobody takes from the producers' end, so steal's full fence is not needed. The split into locked producers and
 * lock-free consumers is that of the unbounded channel of dotnet/runtime.
 */
#ifndef PILFER_POOL_QUEUES_H
#define PILFER_POOL_QUEUES_H

#include "lock.h"
#include "pilfer.h"

/* ---- task_fifo ---- */

/* Zeroed memory is an empty queue; nothing to free. */
struct task_fifo {
    _Alignas(CACHE_LINE_SIZE) struct lock lock;
    struct pilfer_task *head, *tail; /* under lock */
    uint64_t popped;                 /* tasks taken out since the beginning; under lock */
    /* Tasks in the list. Written under the lock, before the push or pop returns; read by all without it. */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 count;
};

/* Appends a task; returns its ticket for task_fifo_take_back. Any thread. */
uint64_t task_fifo_push(struct task_fifo *fifo, struct pilfer_task *task);

/* Appends the first count > 0 tasks of a list linked through next, in one step: nothing comes between them. Any thread.
 */
void task_fifo_push_batch(struct task_fifo *fifo, struct pilfer_task *first, uint64_t count);

/* Takes the oldest task, or NULL. Any thread. Does not touch the lock while the count reads 0. */
struct pilfer_task *task_fifo_pop(struct task_fifo *fifo);

/* Takes the task with this ticket if it is still there and the oldest, else NULL. For a submitter that finds that
 * nobody can run its task. Any thread. */
struct pilfer_task *task_fifo_take_back(struct task_fifo *fifo, uint64_t ticket);

/* No task? Any thread. Never wrongly true for a push that returned before the pusher's full fence, when the caller has
 * passed a full fence that comes after that one; so it serves as the last look before sleeping. */
bool task_fifo_is_empty(const struct task_fifo *fifo);

/* How many tasks there were a moment ago; any thread. */
uint64_t task_fifo_depth(const struct task_fifo *fifo);

/* ---- task_channel ---- */

struct task_channel_ring;

struct task_channel {
    _Alignas(CACHE_LINE_SIZE) struct lock lock; /* producers */
    struct shared_u64 bottom; /* index of the next push; written under the lock; read by all; @P queues.1 */
    struct shared_ptr ring;   /* the current ring; written under the lock; read by all; @P queues.2 */
    /* Index of the next pop. Written by consumers (CAS); read by all; @P queues.3 */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 top;
};

/* Starts an empty channel with room for capacity tasks (a power of two) before the first growth. 0 or -ENOMEM. */
int task_channel_init(struct task_channel *channel, uint64_t capacity);

/* Frees the rings. No other thread may use the channel any more; tasks still in it are forgotten. */
void task_channel_fini(struct task_channel *channel);

/* Appends a task; *ticket is for task_channel_take_back. Any thread. 0, or -ENOMEM when the ring could not grow: then
 * nothing has changed. */
int task_channel_push(struct task_channel *channel, struct pilfer_task *task, uint64_t *ticket);

/* Takes the oldest task, or NULL if the channel was empty at one moment during the call. Any thread, lock-free. */
struct pilfer_task *task_channel_pop(struct task_channel *channel);

/* As task_fifo_take_back; lock-free. */
struct pilfer_task *task_channel_take_back(struct task_channel *channel, uint64_t ticket);

/* As task_fifo_is_empty. */
bool task_channel_is_empty(const struct task_channel *channel);

/* How many tasks there were a moment ago; any thread. */
uint64_t task_channel_depth(const struct task_channel *channel);

#endif
