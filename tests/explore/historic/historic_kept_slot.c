/* SPDX-License-Identifier: MIT
 *
 * deque-kept-slot. A cell of a deque still holds the task that was taken from it, until the cell is written again:
 * the task's memory stays alive, about 20 % more minor collections. A thief may not clear the cell, which the owner
 * may be writing. ocaml-multicore/domainslib#29. Mended: the cell holds a box, and whoever takes the box empties it.
 *
 * The collector stands at the end of the program: no task may be reachable from the cells of a drained deque.
 */
#include "historic.h"

enum { SLOTS = 2 };

struct box {
    uint64_t task; /* of the pusher, then of the taker */
};

struct deque {
    bool mended;
    struct shared_i64 top, bottom; /* as in historic_chase_lev.c */
    struct shared_ptr slots[SLOTS];
    struct taker owner, thief;
};

static void push(struct deque *deque, uint64_t task)
{
    struct box *box = historic_alloc(sizeof(*box));
    box->task = task;
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom);     /* single writer */
    shared_ptr_store_relaxed(&deque->slots[bottom % SLOTS], box); /* exposed by bottom */
    shared_i64_store_release(&deque->bottom, bottom + 1);         /* publishes slot and box */
}

static void taken(struct deque *deque, struct taker *taker, struct box *box)
{
    taker_note(taker, box->task);
    if (deque->mended)
        box->task = 0; /* ours alone now */
}

static void pop(struct deque *deque)
{
    int64_t bottom = shared_i64_load_relaxed(&deque->bottom) - 1; /* single writer */
    shared_i64_store_release(&deque->bottom, bottom);
    ordered_fence_seq_cst();                            /* store bottom, then load top */
    int64_t top = shared_i64_load_relaxed(&deque->top); /* ordered by the fence; re-checked by CAS */
    if (top > bottom) {
        shared_i64_store_release(&deque->bottom, bottom + 1);
        return;
    }
    struct box *box = shared_ptr_load_relaxed(&deque->slots[bottom % SLOTS]); /* own write */
    if (top == bottom) {
        bool won = shared_i64_cas_seq_cst(&deque->top, &top, top + 1);
        shared_i64_store_release(&deque->bottom, bottom + 1);
        if (!won)
            return;
    }
    taken(deque, &deque->owner, box);
}

static void steal(void *argument)
{
    struct deque *deque = argument;
    int64_t top = shared_i64_load_acquire(&deque->top);
    ordered_fence_seq_cst();                            /* load top, then load bottom */
    if (top >= shared_i64_load_acquire(&deque->bottom)) /* relies on slot and box */
        return;
    struct box *box = shared_ptr_load_relaxed(&deque->slots[top % SLOTS]); /* re-checked by CAS */
    if (shared_i64_cas_seq_cst(&deque->top, &top, top + 1))
        taken(deque, &deque->thief, box);
}

static void kept_slot(bool mended)
{
    struct deque *deque = historic_alloc(sizeof(*deque));
    deque->mended = mended;
    push(deque, 1);
    push(deque, 2);
    struct platform_thread *thread = historic_start("thief", steal, deque);
    pop(deque);
    platform_thread_join(thread);
    pop(deque);
    const struct taker *const takers[] = {&deque->owner, &deque->thief};
    takers_check(takers, 2, 2);
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct box *box = shared_ptr_load_relaxed(&deque->slots[i]); /* no thief is left */
        if (box->task != 0)
            explored_fail("kept task", "the deque is empty and its cell %u still holds task %u", i,
                          (uint32_t)box->task);
        platform_free(box);
    }
    platform_free(deque);
}

HISTORIC_SCENARIO(kept_slot, "drain", "a drained deque holds no task", true);
