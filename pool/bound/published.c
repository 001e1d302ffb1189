/* SPDX-License-Identifier: MIT
 *
 * The published protocol of the bounds, with its four races: a specimen, kept to be convicted. Not for use.
 *
 * How it works. Steps a to f of a submit: (a) publish the item, (b) read `readers`, give up if it is at the bound, (c)
 * read it again as the expected value, (d) read it a third time for the new value, (e) compare and swap once, (f) if
 * that succeeded, submit a reader. A reader runs items until it sees the queue empty, then lowers `readers`.
 *
 * What is wrong with it.
 *   R1  Between a reader's last look and its decrement a submitter reads "at the bound" at b: the item is stranded.
 *   R2  Between a submitter's c and e a reader past its last look decrements: the swap fails, nobody retries: stranded.
 *   R3  Between b and c other submitters raise `readers` to the bound: the swap takes it beyond.
 *   R4  Between c and e `readers` changes and comes back, and d read the value in between: the count is wrong for good.
 *
 * Differences to the source. Its interlocked operations, of which the enqueue is one, are full fences; a sequentially
 * consistent one of C11 is not. So the fences are explicit here, and only the four races of the protocol are left and
 * none of the memory model's. Its reader is allocated by each start; here one of parallelism + READERS_EXCESS is taken,
 * and a start that finds none is refused, counted, and its count undone.
 *
 * Labels.
 *   @F published.1  item published, then readers read | readers raised, then the queue read by the new reader. Without
 *                   the second fence a submitter could lose its swap to another one, whose reader misses its item.
 *   @P published.2  as @P safe.2 in safe.c
 *
 * Source. FixedConcurrencyTaskScheduler, akkadotnet/akka.net 1.4.19 to 1.4.28; before it the ChannelExecutor of pull
 * request 4882, which had the same protocol over a channel.
 */
#include "../bound.h"

/* The explorer builds with 2. */
#ifndef READERS_EXCESS
#define READERS_EXCESS 64
#endif

/* Sequentially consistent @P published.2, and a full fence @F published.1: an interlocked operation of the source. */
static bool interlocked_cas(struct shared_i64 *readers, int64_t expected, int64_t desired)
{
    bool done = shared_i64_cas_seq_cst(readers, &expected, desired);
    ordered_fence_seq_cst();
    return done;
}

static void interlocked_decrement(struct shared_i64 *readers)
{
    shared_i64_add_seq_cst(readers, -1);
    ordered_fence_seq_cst();
}

static int published_engage(struct bound_state *state)
{
    int64_t parallelism = state->bound->parallelism;
    /* @F published.1. A reader that lowers the count passes a fence as well, but does not look again: R1. */
    ordered_fence_seq_cst();
    /* Relaxed, all three: as in the source, where they are plain reads. Tolerated races R1 to R4; worst consequence:
     * items wait for ever, or there is one reader too few or too many for ever. The expected value is re-checked by
     * CAS. */
    if (shared_i64_load_relaxed(&state->readers) >= parallelism) /* b: R1 */
        return 0;
    int64_t expected = shared_i64_load_relaxed(&state->readers);    /* c: R3 */
    int64_t desired = shared_i64_load_relaxed(&state->readers) + 1; /* d: R4 */
    if (!interlocked_cas(&state->readers, expected, desired)) {     /* e: R2 */
        bound_count(state, BOUND_cas_lost, 1);
        return 0;
    }
    int status = bound_reader_start(state); /* f */
    if (status != 0)
        interlocked_decrement(&state->readers); /* the start is undone */
    return status;
}

static bool published_leave(struct bound_state *state)
{
    interlocked_decrement(&state->readers); /* R1: nobody looks at the queue after this */
    return false;
}

const struct bound_protocol bound_protocol_published = {
    .engage = published_engage,
    .leave = published_leave,
    .readers_excess = READERS_EXCESS,
    .strands = true,
};
