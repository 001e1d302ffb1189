/* SPDX-License-Identifier: MIT
 *
 * The rare parts of deque.h: making, growing and freeing the arrays.
 */
#include "deque.h"

#include "platform.h"

static struct deque_array *array_create(int64_t capacity)
{
    struct deque_array *array =
        platform_alloc(sizeof(struct deque_array) + (size_t)capacity * sizeof(struct shared_ptr));
    if (array != NULL)
        array->capacity = capacity;
    return array;
}

int deque_init(struct deque *deque)
{
    struct deque_array *array = array_create(DEQUE_CAPACITY_INITIAL);
    if (array == NULL)
        return -ENOMEM;
    shared_i64_store_relaxed(&deque->top, DEQUE_INDEX_START);    /* before any thief */
    shared_i64_store_relaxed(&deque->bottom, DEQUE_INDEX_START); /* before any thief */
    shared_ptr_store_relaxed(&deque->array, array);              /* before any thief */
    return 0;
}

void deque_fini(struct deque *deque)
{
    struct deque_array *array = shared_ptr_load_relaxed(&deque->array); /* no other thread is left */
    while (array != NULL) {
        struct deque_array *previous = array->previous;
        platform_free(array);
        array = previous;
    }
}

int deque_grow(struct deque *deque, int64_t top, int64_t bottom)
{
    struct deque_array *old = shared_ptr_load_relaxed(&deque->array); /* single writer */
    struct deque_array *array = array_create(old->capacity * 2);
    if (array == NULL)
        return -ENOMEM;
    array->previous = old;
    for (int64_t i = top; i < bottom; i++) {
        void *task = shared_ptr_load_relaxed(deque_slot(old, i)); /* own writes */
        shared_ptr_store_relaxed(deque_slot(array, i), task);     /* exposed by @P deque.2 */
    }
    /* @P deque.2: publishes the copied slots. */
    shared_ptr_store_release(&deque->array, array);
    return 0;
}
