/* SPDX-License-Identifier: MIT
 *
 * The safe protocol of the bounds: no item is stranded, no more than parallelism readers run.
 *
 * How it works. A submitter publishes its item, passes a full fence and reads `readers` once; that value is what it
 * compares with the bound, what it expects and what it raises, and it tries again when another thread was faster. A
 * reader that sees the queue empty lowers `readers`, passes a full fence and looks at the queue once more; if there is
 * an item it competes for a slot like a submitter. The proof that nothing strands is in README.md.
 *
 * Labels.
 *   @F safe.1  closes the store-load race between "item published, readers read" and "readers lowered, queue read".
 *              Without the submitter's fence: it reads the old, full count although its item is not visible yet, the
 *              reader sees no item and leaves. Without the reader's fence: it reads the empty queue although its
 *              lowered count is not visible yet, the submitter sees the full count. Either way the item is left
 *              behind.
 *   @P safe.2  a slot changes hands: what its last holder did (its reader's memory freed, its activity uncounted)
 *              comes before what the next one does
 *
 * Source. The protocol of FixedConcurrencyTaskScheduler (akkadotnet/akka.net 1.4.19 to 1.4.28, see published.c), mended
 * in three places: one read instead of three, retry, and the look after the decrement.
 */
#include "../bound.h"

/* Takes a slot if fewer than parallelism are taken. The caller has passed a full fence after what it published. */
static bool take_slot(struct bound_state *state)
{
    int64_t parallelism = state->bound->parallelism;
    /* Relaxed: ordered by fence @F safe.1 where the slot is refused; re-checked by CAS where it is taken. */
    int64_t readers = shared_i64_load_relaxed(&state->readers);
    while (readers < parallelism) {
        /* Acquire @P safe.2: the slot's last holder has freed its reader's memory. */
        if (shared_i64_cas_acquire(&state->readers, &readers, readers + 1))
            return true;
        bound_count(state, BOUND_cas_lost, 1);
    }
    return false;
}

/* Gives a slot back and passes the fence that must come before the look at the queue; returns the slots still taken. */
static int64_t give_slot_back(struct bound_state *state)
{
    /* Release @P safe.2: this holder has freed its reader's memory. */
    int64_t remaining = shared_i64_add_release(&state->readers, -1) - 1;
    ordered_fence_seq_cst(); /* @F safe.1, the reader's side: readers lowered, then the queue read */
    return remaining;
}

static int safe_engage(struct bound_state *state)
{
    ordered_fence_seq_cst(); /* @F safe.1, the submitter's side: item published, then readers read */
    if (!take_slot(state))
        return 0;
    int status = bound_reader_start(state);
    if (status == 0)
        return 0;
    /* While other slots are taken, their holders will look at the queue after this: see README.md. */
    if (give_slot_back(state) > 0 || state->queue->is_empty(state))
        return 0;
    return status;
}

static bool safe_leave(struct bound_state *state)
{
    give_slot_back(state);
    return !state->queue->is_empty(state) && take_slot(state);
}

const struct bound_protocol bound_protocol_safe = {
    .engage = safe_engage,
    .leave = safe_leave,
};
