/* SPDX-License-Identifier: MIT
 *
 * A bounded queue of tasks on a ring of the concurrencykit library: many producers, many consumers, first in, first
 * out.
 *
 * What it is. The one place where the ring's atomic operations, which ordered.h does not see, are used. The functions
 * lie in a file of their own so that a build that must see every shared access can put a model of the ring here, and so
 * that the thread sanitizer, to which the library's stand-alone fences mean nothing, leaves the library's code alone
 * and is told what a push hands over to a pop.
 *
 * Worst case. A push waits, burning CPU, for every push that began earlier: one whose thread was preempted half-way
 * holds up all others. A pop never waits: it does not see what is not complete.
 *
 * Limits. Only for machines with total store order (x86): in release 0.7.1 of the library nothing else keeps a pop's
 * read of the cell before its release of the cell.
 */
#ifndef PILFER_SCHEDULERS_LIBRARY_RING_H
#define PILFER_SCHEDULERS_LIBRARY_RING_H

#include "pilfer.h"

struct library_ring;

/* A ring for capacity - 1 tasks, capacity a power of two from 2 up; NULL without memory. */
struct library_ring *library_ring_create(uint32_t capacity);
void library_ring_destroy(struct library_ring *ring);

/* Appends a task; false when the ring is full. Any thread. */
bool library_ring_push(struct library_ring *ring, struct pilfer_task *task);

/* Takes the oldest task, or NULL. Any thread. */
struct pilfer_task *library_ring_pop(struct library_ring *ring);

/* No task? Any thread. Never wrongly true for a push that returned before the pusher's full fence, when the caller has
 * passed a full fence that comes after that one. */
bool library_ring_is_empty(const struct library_ring *ring);

/* How many tasks there were a moment ago; any thread. */
uint32_t library_ring_depth(const struct library_ring *ring);

#endif
