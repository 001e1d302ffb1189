/* SPDX-License-Identifier: MIT
 *
 * A growable Chase-Lev work-stealing deque of task pointers.
 *
 * What it is. One owner pushes and pops at the bottom, any number of thieves steal from the top. Push has no
 * read-modify-write and no full fence.
 *
 * How it works. A circular array of a power-of-two capacity between two signed 64-bit indices, top <= bottom + 1.
 * Signed, so that bottom - 1 on an empty deque does not wrap. The owner takes its last task with the same CAS on top
 * that a thief uses. When full, the owner copies into an array twice as large and publishes it; old arrays are kept
 * until fini, since a slow thief may still read one (together they are smaller than the current one). Slots are shared
 * words: a thief may read a slot that the owner overwrites, and then its CAS on top fails.
 *
 * Worst case. A burst of n tasks leaves an array of n slots for the rest of the pool's life.
 *
 * Every store of bottom is a release: a release sequence ends at a later relaxed store of the same thread (C2x), so a
 * thief that reads pop's bottom would otherwise have no edge to the slots below it.
 *
 * Sources. Chase & Lev 2005; Le, Pop, Cohen, Zappa Nardelli 2013 for the orders; with the array published by release
 * and read by acquire, which the 2013 text had relaxed (found by Norris & Demsky 2013).
 *
 * Labels
 *   @P deque.1  push -> steal: bottom exposes the slot and the task
 *   @P deque.2  grow -> steal: the array pointer exposes the copied slots
 *   @P deque.3  steal -> steal/pop: top; taking a task orders the taker after the earlier takers
 *   @F deque.1  pop and steal: between pop's write of bottom and its read of top, and between steal's read of top
 *               and its read of bottom
 */
#ifndef PILFER_POOL_DEQUE_H
#define PILFER_POOL_DEQUE_H

#include <errno.h>

#include "pilfer.h"

/* Slots of a new deque; the explorer builds with 2. */
#ifndef DEQUE_CAPACITY_INITIAL
#define DEQUE_CAPACITY_INITIAL 64
#endif

/* Where the indices start; the explorer also starts near the wrap of a narrower type. */
#ifndef DEQUE_INDEX_START
#define DEQUE_INDEX_START 0
#endif

struct deque_array {
    struct deque_array *previous; /* outgrown; the owner's, until fini */
    int64_t capacity;             /* a power of two; constant */
    struct shared_ptr slots[];    /* written by the owner; read by all; exposed by @P deque.1 and 2 */
};

struct deque {
    _Alignas(CACHE_LINE_SIZE) struct shared_i64 top;    /* written by thieves and the owner with CAS */
    _Alignas(CACHE_LINE_SIZE) struct shared_i64 bottom; /* written by the owner only */
    struct shared_ptr array;                            /* written by the owner only */
};

enum deque_result { DEQUE_TASK, DEQUE_EMPTY, DEQUE_MISSED };

/* Memory of the caller. Returns 0 or -ENOMEM. Before any other use. */
int deque_init(struct deque *deque);

/* Frees the arrays; the deque must be empty and unused. */
void deque_fini(struct deque *deque);

/* Doubles the array; the owner. Returns 0 or -ENOMEM with nothing changed. */
int deque_grow(struct deque *deque, int64_t top, int64_t bottom);

static inline struct shared_ptr *deque_slot(struct deque_array *array, int64_t index)
{
    return &array->slots[index & (array->capacity - 1)];
}

/* Adds a task at the bottom. The owner only. Returns 0 or -ENOMEM with nothing changed. */
static inline int deque_push(struct deque *deque, struct pilfer_task *task)
{
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom); /* single writer */
    /* @P deque.3: the slot of a task that has been taken is free to be overwritten. */
    int64_t top = shared_i64_load_acquire(&deque->top);
    struct deque_array *array = shared_ptr_load_relaxed(&deque->array); /* single writer */
    if (bottom - top >= array->capacity) {
        int status = deque_grow(deque, top, bottom);
        if (status != 0)
            return status;
        array = shared_ptr_load_relaxed(&deque->array); /* single writer */
    }
    shared_ptr_store_relaxed(deque_slot(array, bottom), task); /* exposed by @P deque.1 */
    /* @P deque.1: publishes the slot and what the task's owner wrote into it. */
    shared_i64_store_release(&deque->bottom, bottom + 1);
    return 0;
}

/* Takes the newest task, or NULL. The owner only. */
static inline struct pilfer_task *deque_pop(struct deque *deque)
{
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom) - 1;       /* single writer */
    struct deque_array *array = shared_ptr_load_relaxed(&deque->array); /* single writer */
    /* @P deque.1: a thief that reads this bottom still relies on the slots below it. Ordered by fence @F deque.1 too.
     */
    shared_i64_store_release(&deque->bottom, bottom);
    /* @F deque.1: store bottom, then load top. Without it owner and thief can both take the last task: the owner reads
     * a top from before the steal while the thief reads a bottom from before the pop. */
    ordered_fence_seq_cst();
    int64_t top = shared_i64_load_relaxed(&deque->top); /* re-checked by CAS; ordered by fence @F deque.1 */
    if (top > bottom) {
        shared_i64_store_release(&deque->bottom, bottom + 1); /* @P deque.1: as above; exposes nothing new */
        return NULL;
    }
    struct pilfer_task *task = shared_ptr_load_relaxed(deque_slot(array, bottom)); /* own write */
    if (top < bottom)
        return task;
    /* The last one: @P deque.3, taken with the thieves' CAS. Full order: competes with steal's CAS and its fence. */
    if (!shared_i64_cas_seq_cst(&deque->top, &top, top + 1))
        task = NULL;
    shared_i64_store_release(&deque->bottom, bottom + 1); /* @P deque.1: as above; the deque is empty */
    return task;
}

/* Takes the oldest task into *out. Any thread. */
static inline enum deque_result deque_steal(struct deque *deque, struct pilfer_task **out)
{
    int64_t top = shared_i64_load_relaxed(&deque->top); /* ordered by fence @F deque.1; re-checked by CAS */
    /* @F deque.1: load top, then load bottom; see deque_pop for the two interleavings that would be wrong. */
    ordered_fence_seq_cst();
    /* @P deque.1: relies on the slot and the task being written. */
    int64_t bottom = shared_i64_load_acquire(&deque->bottom);
    if (top >= bottom)
        return DEQUE_EMPTY;
    /* @P deque.2: relies on the copied slots of a grown array. */
    struct deque_array *array = shared_ptr_load_acquire(&deque->array);
    struct pilfer_task *task = shared_ptr_load_relaxed(deque_slot(array, top)); /* re-checked by CAS */
    /* @P deque.3: takes the task. Full order: competes with the owner's pop of the last task. */
    if (!shared_i64_cas_seq_cst(&deque->top, &top, top + 1))
        return DEQUE_MISSED;
    *out = task;
    return DEQUE_TASK;
}

/* False only if it was empty at some moment after the caller's last full fence. Any thread. */
static inline bool deque_has_tasks(const struct deque *deque)
{
    int64_t top = shared_i64_load_relaxed(&deque->top); /* ordered by the caller's fence (@F announce.1) */
    return top < shared_i64_load_relaxed(&deque->bottom); /* as top; only the index is used */
}

/* Approximate number of tasks; any thread. */
static inline uint64_t deque_depth(const struct deque *deque)
{
    int64_t top = shared_i64_load_relaxed(&deque->top);       /* counter only */
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom); /* counter only */
    return bottom > top ? (uint64_t)(bottom - top) : 0;
}

#endif
