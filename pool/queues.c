/* SPDX-License-Identifier: MIT
 *
 * The shared queues of queues.h.
 *
 * Labels.
 *   @P queues.1  a push: the cell of the ring is written before the bottom that exposes it
 *   @P queues.2  a growth: the cells are copied before the ring that holds them is exposed
 *   @P queues.3  a pop: the cell has been read before the top that frees it for a later push
 */
#include "queues.h"

#include <errno.h>

#include "platform.h"

/* ---- task_fifo ---- */

/* Appends a list; returns the ticket of its first task: how many tasks came before it since the beginning. */
static uint64_t fifo_append(struct task_fifo *fifo, struct pilfer_task *first, struct pilfer_task *last, uint64_t count)
{
    last->next = NULL;
    lock_lock(&fifo->lock);
    if (fifo->head == NULL)
        fifo->head = first;
    else
        fifo->tail->next = first;
    fifo->tail = last;
    /* Relaxed: single writer (the lock's holder); whoever reads it nonzero takes the lock before it reads the list. */
    uint64_t before = shared_u64_load_relaxed(&fifo->count);
    shared_u64_store_relaxed(&fifo->count, before + count);
    uint64_t ticket = fifo->popped + before;
    lock_unlock(&fifo->lock);
    return ticket;
}

/* Takes the oldest task or NULL. Under the lock. */
static struct pilfer_task *fifo_take_oldest(struct task_fifo *fifo)
{
    struct pilfer_task *task = fifo->head;
    if (task == NULL)
        return NULL;
    fifo->head = task->next;
    if (fifo->head == NULL)
        fifo->tail = NULL;
    fifo->popped++;
    /* Relaxed: single writer (the lock's holder). */
    shared_u64_store_relaxed(&fifo->count, shared_u64_load_relaxed(&fifo->count) - 1);
    return task;
}

uint64_t task_fifo_push(struct task_fifo *fifo, struct pilfer_task *task)
{
    return fifo_append(fifo, task, task, 1);
}

void task_fifo_push_batch(struct task_fifo *fifo, struct pilfer_task *first, uint64_t count)
{
    struct pilfer_task *last = first;
    for (uint64_t index = 1; index < count; index++)
        last = last->next;
    fifo_append(fifo, first, last, count);
}

struct pilfer_task *task_fifo_pop(struct task_fifo *fifo)
{
    if (task_fifo_is_empty(fifo))
        return NULL;
    lock_lock(&fifo->lock);
    struct pilfer_task *task = fifo_take_oldest(fifo);
    lock_unlock(&fifo->lock);
    return task;
}

struct pilfer_task *task_fifo_take_back(struct task_fifo *fifo, uint64_t ticket)
{
    lock_lock(&fifo->lock);
    struct pilfer_task *task = fifo->popped == ticket ? fifo_take_oldest(fifo) : NULL;
    lock_unlock(&fifo->lock);
    return task;
}

bool task_fifo_is_empty(const struct task_fifo *fifo)
{
    return task_fifo_depth(fifo) == 0;
}

uint64_t task_fifo_depth(const struct task_fifo *fifo)
{
    /* Relaxed: ordered by fence where it matters: the pusher's after its push and the caller's before this look, both
     * placed by the callers (the last look before sleeping, before a reader leaves). */
    return shared_u64_load_relaxed(&fifo->count);
}

/* ---- task_channel ---- */

/* Cells for the indices top to bottom - 1, each at its index modulo the capacity. */
struct task_channel_ring {
    uint64_t capacity;                  /* a power of two; constant */
    struct task_channel_ring *outgrown; /* the one before; freed with this one */
    struct shared_ptr cells[]; /* written under the channel's lock; read by consumers; @P queues.1, @P queues.2 */
};

static struct task_channel_ring *ring_create(uint64_t capacity, struct task_channel_ring *outgrown)
{
    if (capacity > (SIZE_MAX - sizeof(struct task_channel_ring)) / sizeof(struct shared_ptr))
        return NULL;
    struct task_channel_ring *ring = platform_alloc(sizeof *ring + capacity * sizeof ring->cells[0]);
    if (ring != NULL) {
        ring->capacity = capacity;
        ring->outgrown = outgrown;
    }
    return ring;
}

static struct shared_ptr *ring_cell(struct task_channel_ring *ring, uint64_t index)
{
    return &ring->cells[index & (ring->capacity - 1)];
}

int task_channel_init(struct task_channel *channel, uint64_t capacity)
{
    struct task_channel_ring *ring = ring_create(capacity, NULL);
    if (ring == NULL)
        return -ENOMEM;
    *channel = (struct task_channel){0};
    /* Relaxed: single writer, no other thread knows the channel yet. */
    shared_ptr_store_relaxed(&channel->ring, ring);
    return 0;
}

void task_channel_fini(struct task_channel *channel)
{
    /* Relaxed: single writer, the other threads are gone. */
    struct task_channel_ring *ring = shared_ptr_load_relaxed(&channel->ring);
    while (ring != NULL) {
        struct task_channel_ring *outgrown = ring->outgrown;
        platform_free(ring);
        ring = outgrown;
    }
    shared_ptr_store_relaxed(&channel->ring, NULL);
}

/* A ring of twice the size with the same tasks, exposed to the consumers; NULL without memory. Under the lock. */
static struct task_channel_ring *channel_grow(struct task_channel *channel, struct task_channel_ring *ring,
                                              uint64_t top, uint64_t bottom)
{
    struct task_channel_ring *larger = ring_create(ring->capacity * 2, ring);
    if (larger == NULL)
        return NULL;
    for (uint64_t index = top; index != bottom; index++) {
        /* Relaxed: single writer (the lock's holder); exposed by @P queues.2 below. */
        shared_ptr_store_relaxed(ring_cell(larger, index), shared_ptr_load_relaxed(ring_cell(ring, index)));
    }
    /* Release @P queues.2: the copied cells and the ring's capacity are written before the ring is seen. */
    shared_ptr_store_release(&channel->ring, larger);
    return larger;
}

int task_channel_push(struct task_channel *channel, struct pilfer_task *task, uint64_t *ticket)
{
    lock_lock(&channel->lock);
    /* Relaxed: single writer of both (the lock's holder). */
    uint64_t bottom = shared_u64_load_relaxed(&channel->bottom);
    struct task_channel_ring *ring = shared_ptr_load_relaxed(&channel->ring);
    /* Acquire @P queues.3: the consumers have read every cell below top, so its place may be written again. */
    uint64_t top = shared_u64_load_acquire(&channel->top);
    if (bottom - top >= ring->capacity) {
        ring = channel_grow(channel, ring, top, bottom);
        if (ring == NULL) {
            lock_unlock(&channel->lock);
            return -ENOMEM;
        }
    }
    /* Relaxed: single writer (the lock's holder); exposed by @P queues.1 below. */
    shared_ptr_store_relaxed(ring_cell(ring, bottom), task);
    /* Release @P queues.1: the cell, the ring that holds it and the task's own fields are written before the bottom
     * that exposes them. */
    shared_u64_store_release(&channel->bottom, bottom + 1);
    lock_unlock(&channel->lock);
    *ticket = bottom;
    return 0;
}

struct pilfer_task *task_channel_pop(struct task_channel *channel)
{
    /* Acquire @P queues.3: bottom is read after top, and is at least what the consumer that wrote this top saw; so
     * "top has reached bottom" was true at the moment bottom was read. */
    uint64_t top = shared_u64_load_acquire(&channel->top);
    for (;;) {
        /* Acquire @P queues.1: the cells below bottom and the ring that holds them are visible. */
        uint64_t bottom = shared_u64_load_acquire(&channel->bottom);
        if (top == bottom)
            return NULL;
        /* Acquire @P queues.2: a ring newer than bottom may be seen; its copied cells are visible. */
        struct task_channel_ring *ring = shared_ptr_load_acquire(&channel->ring);
        /* Relaxed: re-checked by CAS; the cell is overwritten only after top has moved on. */
        struct pilfer_task *task = shared_ptr_load_relaxed(ring_cell(ring, top));
        /* Acquire-release @P queues.3: the cell was read before this frees it; on failure (acquire) top is newer. */
        if (shared_u64_cas_acq_rel_acquire(&channel->top, &top, top + 1))
            return task;
    }
}

struct pilfer_task *task_channel_take_back(struct task_channel *channel, uint64_t ticket)
{
    /* Acquire @P queues.2: others may have let the ring grow since; its copied cells are visible. */
    struct task_channel_ring *ring = shared_ptr_load_acquire(&channel->ring);
    /* Relaxed: re-checked by CAS; the caller's own push wrote the cell. */
    struct pilfer_task *task = shared_ptr_load_relaxed(ring_cell(ring, ticket));
    /* Release @P queues.3: the cell was read before this frees it. */
    return shared_u64_cas_release(&channel->top, &ticket, ticket + 1) ? task : NULL;
}

bool task_channel_is_empty(const struct task_channel *channel)
{
    return task_channel_depth(channel) == 0;
}

uint64_t task_channel_depth(const struct task_channel *channel)
{
    /* Acquire @P queues.3: as in pop, bottom is at least what the consumer that wrote this top saw. A push that the
     * callers' two full fences put before this look is seen in bottom; top has passed it only if it was taken. */
    uint64_t top = shared_u64_load_acquire(&channel->top);
    /* Relaxed: ordered by fence, the callers' (see task_fifo_depth), and by the acquire above. */
    uint64_t bottom = shared_u64_load_relaxed(&channel->bottom);
    return bottom - top;
}
