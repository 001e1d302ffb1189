/* SPDX-License-Identifier: MIT
 *
 * Queues whose thieves take half, and queues whose indices are narrow.
 *
 * steal-half-one-cas. A thief of a Chase-Lev deque moves top by half the length with one CAS. But the owner pops
 *     without a CAS as long as it sees more than one task, so it can pop tasks that the thief counted: top overtakes
 *     bottom and tasks are taken twice. Review of crossbeam-rs/crossbeam#148. Mended here as in Go's run queue: the
 *     owner takes from the top, with a CAS too. (Tokio and zio have a head of two parts instead.)
 * tokio-5041. The indices of Tokio's local queue had 8 and 16 bits: after that many pushes a head that a slow thief
 *     has read comes back, and its CAS succeeds with a task that was taken long ago. tokio-rs/tokio#5041. Here the
 *     index has 1 bit, so two pushes are enough. Mended by indices that do not come back.
 */
#include "historic.h"

enum { SLOTS = 4 };

struct queue {
    bool owner_cas;           /* the owner takes from the top with a CAS; else from the bottom */
    bool narrow;              /* indices of 1 bit */
    struct shared_i64 top;    /* CAS by thieves and the owner */
    struct shared_i64 bottom; /* written by the owner */
    struct shared_u64 slots[SLOTS];
    struct taker owner, thief;
};

static int64_t wrap(const struct queue *queue, int64_t index)
{
    return queue->narrow ? index & 1 : index;
}

static struct shared_u64 *slot(struct queue *queue, int64_t index)
{
    return &queue->slots[queue->narrow ? 0 : index % SLOTS];
}

static void push(struct queue *queue, uint64_t task)
{
    int64_t bottom = shared_i64_load_relaxed(&queue->bottom); /* single writer */
    shared_u64_store_relaxed(slot(queue, bottom), task);      /* exposed by bottom */
    shared_i64_store_release(&queue->bottom, wrap(queue, bottom + 1));
}

static void pop_top(struct queue *queue)
{
    int64_t bottom = shared_i64_load_relaxed(&queue->bottom); /* single writer */
    int64_t top = shared_i64_load_acquire(&queue->top);       /* relies on earlier takers */
    while (top != bottom) {
        uint64_t task = shared_u64_load_relaxed(slot(queue, top)); /* own write */
        if (shared_i64_cas_seq_cst(&queue->top, &top, wrap(queue, top + 1))) {
            taker_note(&queue->owner, task);
            return;
        }
    }
}

static void pop_bottom(struct queue *queue)
{
    int64_t bottom = shared_i64_load_relaxed(&queue->bottom) - 1; /* single writer */
    shared_i64_store_release(&queue->bottom, bottom);
    ordered_fence_seq_cst();                            /* store bottom, then load top */
    int64_t top = shared_i64_load_relaxed(&queue->top); /* ordered by the fence; re-checked by CAS */
    if (top > bottom) {
        shared_i64_store_release(&queue->bottom, bottom + 1);
        return;
    }
    uint64_t task = shared_u64_load_relaxed(slot(queue, bottom)); /* own write */
    if (top == bottom) {
        bool won = shared_i64_cas_seq_cst(&queue->top, &top, top + 1);
        shared_i64_store_release(&queue->bottom, bottom + 1);
        if (!won)
            return;
    }
    taker_note(&queue->owner, task); /* the fault: without a CAS although a thief may have counted it */
}

static void pop(struct queue *queue)
{
    if (queue->owner_cas)
        pop_top(queue);
    else
        pop_bottom(queue);
}

static void steal_half(void *argument)
{
    struct queue *queue = argument;
    int64_t top = shared_i64_load_acquire(&queue->top);       /* relies on earlier takers */
    ordered_fence_seq_cst();                                  /* load top, then load bottom */
    int64_t bottom = shared_i64_load_acquire(&queue->bottom); /* relies on the slots below it */
    int64_t length = wrap(queue, bottom - top);
    if (length <= 0)
        return;
    int64_t half = (length + 1) / 2;
    uint64_t tasks[SLOTS];
    for (int64_t i = 0; i < half; i++)
        tasks[i] = shared_u64_load_relaxed(slot(queue, top + i)); /* re-checked by CAS */
    if (!shared_i64_cas_seq_cst(&queue->top, &top, wrap(queue, top + half)))
        return;
    for (int64_t i = 0; i < half; i++)
        taker_note(&queue->thief, tasks[i]);
}

static void finish(struct queue *queue, uint32_t task_count)
{
    while (queue->narrow ? shared_i64_load_relaxed(&queue->top) != shared_i64_load_relaxed(&queue->bottom)
                         : shared_i64_load_relaxed(&queue->top) < shared_i64_load_relaxed(&queue->bottom))
        pop(queue); /* no thief is left */
    const struct taker *const takers[] = {&queue->owner, &queue->thief};
    takers_check(takers, 2, task_count);
    platform_free(queue);
}

static void half_one_cas(bool mended)
{
    struct queue *queue = historic_alloc(sizeof(*queue));
    queue->owner_cas = mended;
    for (uint64_t task = 1; task <= 3; task++)
        push(queue, task);
    struct platform_thread *thread = historic_start("thief", steal_half, queue);
    pop(queue);
    pop(queue);
    platform_thread_join(thread);
    finish(queue, 3);
}

/* One task at a time goes through the queue: it holds one slot under narrow indices. */
static void narrow_index(bool mended)
{
    struct queue *queue = historic_alloc(sizeof(*queue));
    queue->owner_cas = true;
    queue->narrow = !mended;
    push(queue, 1);
    struct platform_thread *thread = historic_start("thief", steal_half, queue);
    for (uint64_t task = 2; task <= 3; task++) {
        pop(queue);
        push(queue, task);
    }
    platform_thread_join(thread);
    finish(queue, 3);
}

HISTORIC_SCENARIO(half_one_cas, "pop-two-steal-half", "half of a deque is taken from an owner that pops", true);
HISTORIC_SCENARIO(narrow_index, "wrap-under-thief", "an index that a thief has read does not come back", true);
