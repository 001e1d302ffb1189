/* SPDX-License-Identifier: MIT
 *
 * The queues of dotnet_queues.h.
 *
 * Labels
 *   @P dotnet_queues.1  a ring is filled with its first sequence numbers before it is linked
 *   @P dotnet_queues.2  a slot: the task is written before the sequence number that says so, and read before the one
 *                       that gives the slot back
 *   @P dotnet_queues.3  a deque's tail: the slot and the task are written before the tail that exposes them
 *   @P dotnet_queues.4  a deque's lock: the array and the slots below head
 *   @P dotnet_queues.5  a ring's head: who sees that a task was taken sees the tasks that its taker came for
 *   @F dotnet_queues.1  owner: exchange tail, then read head | thief: exchange head, then read tail. All four are
 *                       sequentially consistent. Otherwise both could take the last task: the owner reads a head from
 *                       before the steal while the thief reads a tail from before the pop
 *   @F dotnet_queues.2  give a place back, then read the request | clear the request, then read head and tail
 */
#include "dotnet_queues.h"

#include <errno.h>

#include "platform.h"

/* ---- segment_queue ---- */

struct slot {
    struct shared_ptr task;
    struct shared_u32 sequence; /* position: may be written; position + 1: may be read; @P dotnet_queues.2 */
};

struct segment {
    uint32_t capacity;      /* a power of two; constant */
    struct segment *linked; /* the ring made after this one; under the queue's lock */
    struct shared_ptr next; /* the same, for all; @P dotnet_queues.1 */
    struct shared_u32 frozen;
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 head; /* position of the next dequeue; CAS */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 tail; /* of the next enqueue; CAS; frozen: 2 x capacity more */
    _Alignas(CACHE_LINE_SIZE) struct slot slots[];
};

static struct segment *segment_create(uint32_t capacity)
{
    struct segment *segment = platform_alloc(sizeof *segment + capacity * sizeof segment->slots[0]);
    if (segment == NULL)
        return NULL;
    segment->capacity = capacity;
    for (uint32_t i = 0; i < capacity; i++)
        shared_u32_store_relaxed(&segment->slots[i].sequence, i); /* exposed by @P dotnet_queues.1 */
    return segment;
}

static bool segment_push(struct segment *segment, struct pilfer_task *task)
{
    uint32_t position = shared_u32_load_relaxed(&segment->tail); /* re-checked by CAS */
    for (;;) {
        struct slot *slot = &segment->slots[position & (segment->capacity - 1)];
        /* @P dotnet_queues.2: the slot's last task has been read. */
        int32_t ahead = (int32_t)(shared_u32_load_acquire(&slot->sequence) - position);
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            position = shared_u32_load_relaxed(&segment->tail); /* re-checked by CAS */
            continue;
        }
        if (!shared_u32_cas_relaxed(&segment->tail, &position, position + 1)) /* the slot's number carries the order */
            continue;
        shared_ptr_store_relaxed(&slot->task, task); /* exposed by @P dotnet_queues.2 */
        /* @P dotnet_queues.2: the slot and the task are written. */
        shared_u32_store_release(&slot->sequence, position + 1);
        return true;
    }
}

/* Positions between head and tail; of a frozen ring without what freezing added. */
static int32_t segment_depth(const struct segment *segment, uint32_t head)
{
    /* Relaxed, both: ordered by fence where it matters (the callers' last look), else re-checked by CAS. */
    bool frozen = shared_u32_load_relaxed(&segment->frozen) != 0;
    int32_t depth = (int32_t)(shared_u32_load_relaxed(&segment->tail) - head);
    return frozen && depth >= (int32_t)segment->capacity * 2 ? depth - (int32_t)segment->capacity * 2 : depth;
}

/* Looks at an enqueue that is half-way before a dequeue gives it up. */
#ifndef DOTNET_HALF_WAY_LOOKS
#define DOTNET_HALF_WAY_LOOKS 100
#endif

static struct pilfer_task *segment_pop(struct segment *segment, bool *missed)
{
    for (uint32_t looks = 0;;) {
        /* @P dotnet_queues.5: another worker, which came for a later task, may have taken the one that this one came
         * for: then the later one must be seen. The next look re-checks what the CAS finds. */
        uint32_t position = shared_u32_load_acquire(&segment->head);
        struct slot *slot = &segment->slots[position & (segment->capacity - 1)];
        /* @P dotnet_queues.2: relies on the slot and the task being written. */
        int32_t ahead = (int32_t)(shared_u32_load_acquire(&slot->sequence) - (position + 1));
        if (ahead == 0) {
            /* relaxed: the slot's number carries the order of the task; that of @P dotnet_queues.5 the fence at the
             * turn's begin, which the policies have whose turns answer requests. */
            if (!shared_u32_cas_relaxed(&segment->head, &position, position + 1))
                continue;
            struct pilfer_task *task = shared_ptr_load_relaxed(&slot->task); /* @P dotnet_queues.2 */
            /* @P dotnet_queues.2: the slot has been read and may be written again. */
            shared_u32_store_release(&slot->sequence, position + segment->capacity);
            return task;
        }
        if (ahead < 0) {
            if (segment_depth(segment, position) <= 0)
                return NULL;
            if (looks++ >= DOTNET_HALF_WAY_LOOKS) {
                *missed = true;
                return NULL;
            }
            platform_pause(1); /* an enqueue has taken the place and not yet filled it */
        }
    }
}

int segment_queue_init(struct segment_queue *queue)
{
    struct segment *segment = segment_create(DOTNET_CAPACITY_INITIAL);
    if (segment == NULL)
        return -ENOMEM;
    queue->first = segment;
    shared_ptr_store_relaxed(&queue->head, segment); /* before any other thread */
    shared_ptr_store_relaxed(&queue->tail, segment); /* before any other thread */
    return 0;
}

void segment_queue_fini(struct segment_queue *queue)
{
    struct segment *segment = queue->first;
    while (segment != NULL) {
        struct segment *linked = segment->linked;
        platform_free(segment);
        segment = linked;
    }
}

/* Freezes a full ring and links a larger one. Under the lock. */
static int grow(struct segment_queue *queue, struct segment *full)
{
    uint32_t capacity =
        full->capacity < DOTNET_SEGMENT_CAPACITY_MAX ? full->capacity * 2 : DOTNET_SEGMENT_CAPACITY_MAX;
    struct segment *larger = segment_create(capacity);
    if (larger == NULL)
        return -ENOMEM;
    /* relaxed, both: who sees one without the other takes the ring for empty or for full, and looks at its next. */
    shared_u32_store_relaxed(&full->frozen, 1);
    shared_u32_add_relaxed(&full->tail, full->capacity * 2); /* no slot fits any more */
    full->linked = larger;
    /* @P dotnet_queues.1: the ring's numbers are written. */
    shared_ptr_store_release(&full->next, larger);
    shared_ptr_store_release(&queue->tail, larger); /* @P dotnet_queues.1 */
    return 0;
}

int segment_queue_push(struct segment_queue *queue, struct pilfer_task *task)
{
    for (;;) {
        /* @P dotnet_queues.1: relies on the ring's numbers. */
        struct segment *tail = shared_ptr_load_acquire(&queue->tail);
        if (segment_push(tail, task))
            return 0;
        lock_lock(&queue->lock);
        bool is_last = shared_ptr_load_relaxed(&queue->tail) == tail; /* written under the lock */
        int status = is_last ? grow(queue, tail) : 0;
        lock_unlock(&queue->lock);
        if (status != 0)
            return status;
    }
}

struct pilfer_task *segment_queue_pop(struct segment_queue *queue, bool *missed)
{
    for (;;) {
        bool missed_here = false;
        /* @P dotnet_queues.1: relies on the ring's numbers. */
        struct segment *head = shared_ptr_load_acquire(&queue->head);
        struct pilfer_task *task = segment_pop(head, &missed_here);
        /* @P dotnet_queues.1: a linked ring says that this one is frozen: what it still gets was begun before. */
        struct segment *next = task == NULL && !missed_here ? shared_ptr_load_acquire(&head->next) : NULL;
        if (next != NULL)
            task = segment_pop(head, &missed_here); /* once more, now that nothing is added */
        *missed = *missed || missed_here;
        if (next == NULL || task != NULL || missed_here)
            return task;
        lock_lock(&queue->lock);
        if (shared_ptr_load_relaxed(&queue->head) == head) /* written under the lock */
            shared_ptr_store_release(&queue->head, next);  /* @P dotnet_queues.1 */
        lock_unlock(&queue->lock);
    }
}

uint64_t segment_queue_depth(const struct segment_queue *queue)
{
    uint64_t depth = 0;
    /* @P dotnet_queues.1: relies on the rings' numbers. */
    const struct segment *segment = shared_ptr_load_acquire(&queue->head);
    for (; segment != NULL; segment = shared_ptr_load_acquire(&segment->next)) { /* @P dotnet_queues.1 */
        /* relaxed: ordered by the caller's fence. */
        int32_t here = segment_depth(segment, shared_u32_load_relaxed(&segment->head));
        depth += here > 0 ? (uint64_t)here : 0;
    }
    return depth;
}

bool segment_queue_is_empty(const struct segment_queue *queue)
{
    return segment_queue_depth(queue) == 0;
}

/* ---- foreign_lock_deque ---- */

struct foreign_lock_array {
    int64_t mask; /* slots - 1; constant */
    struct shared_ptr slots[];
};

static struct foreign_lock_array *array_create(int64_t slots)
{
    struct foreign_lock_array *array = platform_alloc(sizeof *array + (size_t)slots * sizeof array->slots[0]);
    if (array != NULL)
        array->mask = slots - 1;
    return array;
}

static struct shared_ptr *array_slot(struct foreign_lock_array *array, int64_t index)
{
    return &array->slots[index & array->mask];
}

static bool try_lock(struct foreign_lock_deque *deque)
{
    uint32_t expected = 0;
    /* @P dotnet_queues.4: relies on what the last holder wrote. */
    return shared_u32_cas_acquire(&deque->lock, &expected, 1);
}

static void lock_owner(struct foreign_lock_deque *deque)
{
    while (!try_lock(deque))
        platform_yield();
}

static void unlock(struct foreign_lock_deque *deque)
{
    shared_u32_store_release(&deque->lock, 0); /* @P dotnet_queues.4 */
}

int foreign_lock_deque_init(struct foreign_lock_deque *deque)
{
    deque->array = array_create(DOTNET_CAPACITY_INITIAL);
    return deque->array != NULL ? 0 : -ENOMEM;
}

void foreign_lock_deque_fini(struct foreign_lock_deque *deque)
{
    platform_free(deque->array);
}

/* Copies into an array twice as large; head becomes 0. The owner, with the lock. */
static int array_grow(struct foreign_lock_deque *deque, int64_t head, int64_t tail)
{
    struct foreign_lock_array *old = deque->array, *array = array_create((old->mask + 1) * 2);
    if (array == NULL)
        return -ENOMEM;
    for (int64_t i = head; i < tail; i++) {
        void *task = shared_ptr_load_relaxed(array_slot(old, i)); /* under the lock */
        shared_ptr_store_relaxed(array_slot(array, i - head), task); /* exposed by @P dotnet_queues.3 and 4 */
    }
    deque->array = array;
    /* Under the lock, both. A look without it may see one new and one old, and so more tasks, or none in a full deque;
     * the push that grows is followed by a request, whose turn sees both. */
    shared_i64_store_relaxed(&deque->head, 0);
    shared_i64_store_relaxed(&deque->tail, tail - head);
    platform_free(old); /* thieves read it under the lock only */
    return 0;
}

static void put(struct foreign_lock_deque *deque, int64_t tail, struct pilfer_task *task)
{
    shared_ptr_store_relaxed(array_slot(deque->array, tail), task); /* exposed by @P dotnet_queues.3 */
    /* @P dotnet_queues.3: the slot and the task are written. */
    shared_i64_store_release(&deque->tail, tail + 1);
}

int foreign_lock_deque_push(struct foreign_lock_deque *deque, struct pilfer_task *task)
{
    int64_t tail = shared_i64_load_relaxed(&deque->tail); /* single writer */
    /* @P dotnet_queues.4 in spirit: the slots below head have been read. */
    if (tail < shared_i64_load_acquire(&deque->head) + deque->array->mask) {
        put(deque, tail, task);
        return 0;
    }
    int status = 0;
    lock_owner(deque);
    int64_t head = shared_i64_load_relaxed(&deque->head); /* under the lock */
    if (tail - head >= deque->array->mask) {
        status = array_grow(deque, head, tail);
        tail = status == 0 ? tail - head : tail;
    }
    if (status == 0)
        put(deque, tail, task);
    unlock(deque);
    return status;
}

/* The slot's task, taken out. */
static struct pilfer_task *take(struct foreign_lock_deque *deque, int64_t index)
{
    struct shared_ptr *slot = array_slot(deque->array, index);
    struct pilfer_task *task = shared_ptr_load_relaxed(slot); /* @P dotnet_queues.3, or own write */
    shared_ptr_store_relaxed(slot, NULL);                     /* whoever has the index has the slot */
    return task;
}

struct pilfer_task *foreign_lock_deque_pop(struct foreign_lock_deque *deque)
{
    int64_t tail = shared_i64_load_relaxed(&deque->tail); /* single writer */
    if (shared_i64_load_relaxed(&deque->head) >= tail)    /* re-checked below; own pushes are seen */
        return NULL;
    shared_i64_exchange_seq_cst(&deque->tail, --tail); /* @F dotnet_queues.1; releases as @P dotnet_queues.3 */
    if (shared_i64_load_seq_cst(&deque->head) <= tail) /* @F dotnet_queues.1 */
        return take(deque, tail);
    /* None or one left, and a thief may be at it. */
    struct pilfer_task *task = NULL;
    lock_owner(deque);
    if (shared_i64_load_relaxed(&deque->head) <= tail) /* under the lock */
        task = take(deque, tail);
    else
        shared_i64_store_relaxed(&deque->tail, tail + 1); /* under the lock; exposes nothing: the slot was taken */
    unlock(deque);
    return task;
}

struct pilfer_task *foreign_lock_deque_steal(struct foreign_lock_deque *deque, bool *missed)
{
    if (!foreign_lock_deque_has_tasks(deque))
        return NULL;
    if (!try_lock(deque)) {
        *missed = true;
        return NULL;
    }
    struct pilfer_task *task = NULL;
    int64_t head = shared_i64_load_relaxed(&deque->head);   /* under the lock */
    shared_i64_exchange_seq_cst(&deque->head, head + 1);    /* @F dotnet_queues.1 */
    if (head < shared_i64_load_seq_cst(&deque->tail)) {     /* @F dotnet_queues.1; acquires @P dotnet_queues.3 */
        task = take(deque, head);
    } else {
        shared_i64_store_relaxed(&deque->head, head); /* under the lock; ordered by fence @F dotnet_queues.2 */
        /* @F dotnet_queues.2: the place is given back, then this thief says "missed" and requests. Without it another
         * worker could find the deque empty, and this one a request that is already answered. */
        ordered_fence_seq_cst();
        *missed = true;
    }
    unlock(deque);
    return task;
}

uint64_t foreign_lock_deque_depth(const struct foreign_lock_deque *deque)
{
    int64_t head = shared_i64_load_relaxed(&deque->head); /* ordered by the caller's fence */
    int64_t tail = shared_i64_load_relaxed(&deque->tail); /* as head; only the index is used */
    return tail > head ? (uint64_t)(tail - head) : 0;
}

bool foreign_lock_deque_has_tasks(const struct foreign_lock_deque *deque)
{
    return foreign_lock_deque_depth(deque) > 0;
}
