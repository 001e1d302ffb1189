/* SPDX-License-Identifier: MIT
 *
 * The published faults of the Chase-Lev deque, each in the same small deque with one of them switched on.
 *
 * The deque is that of Chase & Lev 2005 with the orders of Le, Pop, Cohen, Zappa Nardelli 2013: an array of 2 slots
 * that doubles, between the indices top and bottom. The faults:
 *
 * GROWTH (chase-lev-2013-growth). The 2013 text published the grown array with a relaxed store and thieves loaded it
 *     relaxed: a thief could reach the new array before its slots and take a task that nobody pushed. Found by
 *     Norris & Demsky with CDSChecker, 2013; computersforpeace/model-checker-benchmarks keeps chase-lev-deque beside
 *     chase-lev-deque-bugfix. Mended by release and acquire.
 * UNSIGNED (chase-lev-unsigned). bottom - 1 in an unsigned type: pop on a fresh deque finds "top <= bottom" and
 *     takes a slot that nobody wrote. The much copied C port; crossbeam-rs/crossbeam#33 discusses it. Mended by
 *     signed indices.
 * PLAIN_CELLS (chase-lev-plain-cells). Slots in plain memory: a slow thief reads one that the owner overwrites. It
 *     would drop what it read, but the pair is a data race. The header of MPI-SWS/genmc's Chase-Lev says so of its
 *     own. Mended by relaxed atomic slots.
 * BATCH (crossbeam-726). A thief that takes several tasks reads the array once and bottom again for each. When the
 *     owner grows in between, the later tasks are in the new array only and the thief takes old ones a second time.
 *     crossbeam-rs/crossbeam#726, CVE-2021-32810. Mended: before each CAS the array must still be the same.
 * READ_AFTER_CAS (crossbeam-149). The slot is read after the CAS that gives it away; the owner may have pushed into
 *     it. Asked and refused in the review of crossbeam-rs/crossbeam#149; shipped in ssbl/concurrent-deque, its issue
 *     #2. Mended: read first.
 * FREE_AT_GROWTH (deque-free-at-growth). The outgrown array is freed at once while a slow thief still reads it. The
 *     reason for keeping arrays (here, lace) or for epochs (crossbeam). Mended: kept until the deque ends.
 */
#include "historic.h"

enum fault { NONE, GROWTH, UNSIGNED, PLAIN_CELLS, BATCH, READ_AFTER_CAS, FREE_AT_GROWTH };

enum { CAPACITY = 2, GROWN = 4 };

struct array {
    struct array *previous;         /* the owner's */
    struct shared_i64 capacity;     /* written before the array is published */
    struct shared_u64 slots[GROWN]; /* written by the owner, read by all */
    uint64_t plain_slots[GROWN];    /* instead, under PLAIN_CELLS */
};

struct deque {
    enum fault fault;
    struct shared_i64 top;    /* CAS by all */
    struct shared_i64 bottom; /* written by the owner */
    struct shared_ptr array;  /* written by the owner */
    struct taker owner, thief;
    uint32_t steals; /* what the thief tries */
};

enum result { TAKEN, EMPTY, MISSED };

static struct array *array_create(int64_t capacity)
{
    struct array *array = historic_alloc(sizeof(*array));
    shared_i64_store_relaxed(&array->capacity, capacity); /* published with the array */
    return array;
}

static uint64_t slot_read(const struct deque *deque, struct array *array, int64_t index)
{
    int64_t place = index & (shared_i64_load_relaxed(&array->capacity) - 1); /* published with the array */
    if (deque->fault == PLAIN_CELLS)
        return array->plain_slots[place % GROWN];
    return shared_u64_load_relaxed(&array->slots[place % GROWN]); /* re-checked by CAS */
}

static void slot_write(const struct deque *deque, struct array *array, int64_t index, uint64_t task)
{
    int64_t place = index & (shared_i64_load_relaxed(&array->capacity) - 1); /* own write */
    if (deque->fault == PLAIN_CELLS)
        array->plain_slots[place % GROWN] = task;
    else
        shared_u64_store_relaxed(&array->slots[place % GROWN], task); /* exposed by bottom or by the array */
}

static struct array *grow(struct deque *deque, struct array *old, int64_t top, int64_t bottom)
{
    struct array *array = array_create(GROWN);
    array->previous = old;
    for (int64_t i = top; i < bottom; i++)
        slot_write(deque, array, i, slot_read(deque, old, i));
    if (deque->fault == GROWTH)
        shared_ptr_store_relaxed(&deque->array, array); /* the fault: publishes nothing */
    else
        shared_ptr_store_release(&deque->array, array); /* publishes the copied slots */
    if (deque->fault == FREE_AT_GROWTH) {
        array->previous = NULL;
        platform_free(old);
    }
    return array;
}

static void push(struct deque *deque, uint64_t task)
{
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom);      /* single writer */
    int64_t top = shared_i64_load_acquire(&deque->top);            /* taken slots may be overwritten */
    struct array *array = shared_ptr_load_relaxed(&deque->array);  /* single writer */
    if (bottom - top >= shared_i64_load_relaxed(&array->capacity)) /* own write */
        array = grow(deque, array, top, bottom);
    slot_write(deque, array, bottom, task);
    shared_i64_store_release(&deque->bottom, bottom + 1); /* publishes the slot */
}

static void pop(struct deque *deque)
{
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom) - 1; /* single writer */
    struct array *array = shared_ptr_load_relaxed(&deque->array); /* single writer */
    shared_i64_store_release(&deque->bottom, bottom);
    ordered_fence_seq_cst(); /* store bottom, then load top; the thief's is between its loads of top and bottom */
    int64_t top = shared_i64_load_relaxed(&deque->top); /* ordered by the fence; re-checked by CAS */
    if (deque->fault == UNSIGNED ? (uint64_t)top > (uint64_t)bottom : top > bottom) {
        shared_i64_store_release(&deque->bottom, bottom + 1);
        return;
    }
    uint64_t task = slot_read(deque, array, bottom);
    if (top == bottom) {
        bool won = shared_i64_cas_seq_cst(&deque->top, &top, top + 1); /* the thieves' CAS, for the last one */
        shared_i64_store_release(&deque->bottom, bottom + 1);
        if (!won)
            return;
    }
    taker_note(&deque->owner, task);
}

/* Takes up to limit tasks. */
static enum result steal(struct deque *deque, uint32_t limit)
{
    int64_t top = shared_i64_load_acquire(&deque->top);       /* relies on what earlier takers saw */
    ordered_fence_seq_cst();                                  /* load top, then load bottom; see pop */
    int64_t bottom = shared_i64_load_acquire(&deque->bottom); /* relies on the slots below it */
    if (top >= bottom)
        return EMPTY;
    struct array *array = deque->fault == GROWTH ? shared_ptr_load_relaxed(&deque->array)  /* the fault */
                                                 : shared_ptr_load_acquire(&deque->array); /* relies on its slots */
    for (uint32_t taken = 0; taken < limit && top < bottom; taken++) {
        uint64_t task = 0;
        if (deque->fault != READ_AFTER_CAS)
            task = slot_read(deque, array, top);
        if (taken > 0 && deque->fault != BATCH && shared_ptr_load_acquire(&deque->array) != array)
            return MISSED; /* task may have come from an outgrown array */
        if (!shared_i64_cas_seq_cst(&deque->top, &top, top + 1))
            return MISSED;
        if (deque->fault == READ_AFTER_CAS)
            task = slot_read(deque, array, top); /* the fault: the slot is no longer ours */
        taker_note(&deque->thief, task);
        top++;
        if (taken + 1 < limit) {
            ordered_fence_seq_cst(); /* as above, for the next one */
            bottom = shared_i64_load_acquire(&deque->bottom);
        }
    }
    return TAKEN;
}

static struct deque *deque_create(enum fault fault)
{
    struct deque *deque = historic_alloc(sizeof(*deque));
    deque->fault = fault;
    shared_ptr_store_relaxed(&deque->array, array_create(CAPACITY)); /* before the thief */
    return deque;
}

/* Takes what is left, compares, frees. */
static void deque_finish(struct deque *deque, uint32_t task_count)
{
    while (shared_i64_load_relaxed(&deque->top) < shared_i64_load_relaxed(&deque->bottom)) /* no thief is left */
        pop(deque);
    const struct taker *const takers[] = {&deque->owner, &deque->thief};
    takers_check(takers, 2, task_count);
    struct array *array = shared_ptr_load_relaxed(&deque->array); /* no thief is left */
    while (array != NULL) {
        struct array *previous = array->previous;
        platform_free(array);
        array = previous;
    }
    platform_free(deque);
}

static void thief_main(void *argument)
{
    struct deque *deque = argument;
    for (uint32_t i = 0; i < deque->steals; i++)
        steal(deque, 1);
}

static void batch_thief_main(void *argument)
{
    steal(argument, 3);
}

/* The owner pushes 1 and 2, starts the thief and grows with 3. */
static void grow_under_thief(enum fault fault, void (*thief)(void *))
{
    struct deque *deque = deque_create(fault);
    deque->steals = 1;
    push(deque, 1);
    push(deque, 2);
    struct platform_thread *thread = historic_start("thief", thief, deque);
    push(deque, 3);
    platform_thread_join(thread);
    deque_finish(deque, 3);
}

static void growth(bool mended)
{
    grow_under_thief(mended ? NONE : GROWTH, thief_main);
}

static void free_at_growth(bool mended)
{
    grow_under_thief(mended ? NONE : FREE_AT_GROWTH, thief_main);
}

static void batch(bool mended)
{
    grow_under_thief(mended ? NONE : BATCH, batch_thief_main);
}

static void unsigned_indices(bool mended)
{
    struct deque *deque = deque_create(mended ? NONE : UNSIGNED);
    deque->steals = 1;
    struct platform_thread *thread = historic_start("thief", thief_main, deque);
    pop(deque);
    push(deque, 1);
    platform_thread_join(thread);
    deque_finish(deque, 1);
}

/* While the thief looks at task 1, the owner takes it and comes round to its slot. */
static void plain_cells(bool mended)
{
    struct deque *deque = deque_create(mended ? NONE : PLAIN_CELLS);
    deque->steals = 1;
    push(deque, 1);
    struct platform_thread *thread = historic_start("thief", thief_main, deque);
    pop(deque);
    push(deque, 2);
    push(deque, 3);
    platform_thread_join(thread);
    deque_finish(deque, 3);
}

static void read_after_cas(bool mended)
{
    grow_under_thief(mended ? NONE : READ_AFTER_CAS, thief_main);
}

HISTORIC_SCENARIO(growth, "grow-and-steal", "a thief that meets a grown array finds its tasks in it", true);
HISTORIC_SCENARIO(free_at_growth, "grow-and-steal", "an array lives as long as a thief may read it", true);
HISTORIC_SCENARIO(batch, "grow-and-steal-three", "a batch of steals takes each task once, growth or not", true);
HISTORIC_SCENARIO(unsigned_indices, "pop-fresh", "a pop of a fresh deque finds nothing", true);
HISTORIC_SCENARIO(plain_cells, "reuse-slot", "a slot that a thief reads may be overwritten", true);
HISTORIC_SCENARIO(read_after_cas, "push-and-steal", "what a thief takes is what it saw", true);
