/* SPDX-License-Identifier: MIT
 *
 * Faults of the ABP deque (Arora, Blumofe, Plaxton 1998): an array, bottom, and age = tag and top in one word. When
 * the owner empties the deque it sets both indices back to 0 and the tag one further, so that a thief that read the
 * old age fails.
 *
 * abp-tag. The tag stays the same where the owner takes the last task. A thief that has read age and slot 0 before
 *     that succeeds after the next push into slot 0: one task runs twice, the other never. MPLLang/mpl#214 (found by
 *     reading while #212 was mended). Mended: every reset advances the tag.
 * abp-relaxed. A thief reads age and bottom relaxed and without a fence: it can meet a new top with a bottom from
 *     before the owner's pop, and takes the task that the owner takes without a CAS. The pinned parlaylib of
 *     cmuparlay/ParlayANN#44, MPLLang/mpl#212, both seen on Arm only. Mended: acquire loads with a full fence
 *     between.
 */
#include "historic.h"

enum fault { NONE, TAG, RELAXED };

enum { SLOTS = 2 };

struct deque {
    enum fault fault;
    struct shared_u64 age;    /* tag in the upper half, top in the lower; CAS by all */
    struct shared_u32 bottom; /* written by the owner */
    struct shared_u64 slots[SLOTS];
    struct taker owner, thief;
    uint32_t steals;
};

static uint32_t age_top(uint64_t age)
{
    return (uint32_t)age;
}

static uint64_t age_reset(const struct deque *deque, uint64_t age)
{
    uint64_t tag = age >> 32;
    return (deque->fault == TAG ? tag : tag + 1) << 32; /* the fault: the tag stays */
}

static void push(struct deque *deque, uint64_t task)
{
    uint32_t bottom = shared_u32_load_relaxed(&deque->bottom); /* single writer */
    shared_u64_store_relaxed(&deque->slots[bottom], task);     /* exposed by bottom */
    shared_u32_store_release(&deque->bottom, bottom + 1);      /* publishes the slot */
}

static void pop(struct deque *deque)
{
    uint32_t bottom = shared_u32_load_relaxed(&deque->bottom); /* single writer */
    if (bottom == 0)
        return;
    bottom--;
    shared_u32_store_release(&deque->bottom, bottom);
    ordered_fence_seq_cst(); /* store bottom, then load age; the thief's is between its loads of age and bottom */
    uint64_t task = shared_u64_load_relaxed(&deque->slots[bottom]); /* own write */
    uint64_t age = shared_u64_load_acquire(&deque->age);            /* relies on earlier takers */
    if (bottom > age_top(age)) {
        taker_note(&deque->owner, task);
        return;
    }
    shared_u32_store_release(&deque->bottom, 0);
    uint64_t reset = age_reset(deque, age);
    if (bottom == age_top(age) && shared_u64_cas_seq_cst(&deque->age, &age, reset)) {
        taker_note(&deque->owner, task);
        return;
    }
    shared_u64_store_release(&deque->age, age_reset(deque, age)); /* a thief was faster; publishes bottom */
}

static void steal(struct deque *deque)
{
    uint64_t age;
    uint32_t bottom;
    if (deque->fault == RELAXED) {
        age = shared_u64_load_relaxed(&deque->age); /* the fault: nothing keeps these two in order */
        bottom = shared_u32_load_relaxed(&deque->bottom);
    } else {
        age = shared_u64_load_acquire(&deque->age);       /* relies on earlier takers */
        ordered_fence_seq_cst();                          /* load age, then load bottom; see pop */
        bottom = shared_u32_load_acquire(&deque->bottom); /* relies on the slots below it */
    }
    if (bottom <= age_top(age))
        return;
    uint64_t task = shared_u64_load_relaxed(&deque->slots[age_top(age)]); /* re-checked by CAS */
    if (shared_u64_cas_acq_rel(&deque->age, &age, age + 1))
        taker_note(&deque->thief, task);
}

static void thief_main(void *argument)
{
    struct deque *deque = argument;
    for (uint32_t i = 0; i < deque->steals; i++)
        steal(deque);
}

static void finish(struct deque *deque, uint32_t task_count)
{
    while (shared_u32_load_relaxed(&deque->bottom) > 0) /* no thief is left */
        pop(deque);
    const struct taker *const takers[] = {&deque->owner, &deque->thief};
    takers_check(takers, 2, task_count);
    platform_free(deque);
}

static void abp_tag(bool mended)
{
    struct deque *deque = historic_alloc(sizeof(*deque));
    deque->fault = mended ? NONE : TAG;
    deque->steals = 1;
    push(deque, 1);
    struct platform_thread *thread = historic_start("thief", thief_main, deque);
    pop(deque);
    push(deque, 2);
    platform_thread_join(thread);
    finish(deque, 2);
}

static void abp_relaxed(bool mended)
{
    struct deque *deque = historic_alloc(sizeof(*deque));
    deque->fault = mended ? NONE : RELAXED;
    deque->steals = 2;
    push(deque, 1);
    push(deque, 2);
    struct platform_thread *thread = historic_start("thief", thief_main, deque);
    pop(deque);
    platform_thread_join(thread);
    finish(deque, 2);
}

HISTORIC_SCENARIO(abp_tag, "empty-and-push", "an age that a thief has read does not come back", true);
HISTORIC_SCENARIO(abp_relaxed, "pop-and-steal-two", "owner and thief never take the same task", true);
