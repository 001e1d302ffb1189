/* SPDX-License-Identifier: MIT
 *
 * Four small parts from which the servers' graph of work items is built; they hold all of its synchronisation.
 *
 *   gate   one owner at a time, and a set of bits that say what is new. Whoever kicks an unowned gate owns it and
 *          sees to it that the work is done (usually by queueing an item); a kick on an owned gate only leaves its
 *          bits, and the owner cannot leave without seeing them. This is how items coalesce, and what makes an
 *          object's plain fields safe: they belong to the owner.
 *   stall  "I stopped for lack of room": declared by a producer, lifted by the consumer that made room.
 *   ring   a bounded queue of pointers for many producers and consumers.
 *   pipe   a bounded queue of bytes for one producer and one consumer at a time.
 *
 * Why no lost wake-up. Gates and stalls are single words that are only changed by read-modify-writes, and those form
 * one order: either the owner's last step comes first, and the kicker becomes owner; or the kick comes first, and the
 * owner's last step fails (gate) or sees what the kicker did before (stall). No separate fence is needed.
 *
 * Labels
 *   @P flow.gate    what a kicker did before its kick, and an owner before it left -> what the next owner relies on
 *   @P flow.stall   what either side did before its exchange -> what the other side sees after its own
 *   @P flow.filled  the value in a slot -> the consumer that finds the slot's turn
 *   @P flow.emptied the slot is free again -> the producer of the next round
 *   @P flow.bytes   bytes written -> the consumer that sees the tail
 *   @P flow.room    bytes read -> the producer that sees the head
 *
 * Source. Ring: Vyukov, bounded MPMC queue (1024cores, 2010).
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_FLOW_H
#define PILFER_EXPERIMENTS_WORKLOADS_FLOW_H

#include "platform.h"

/* ---- gate ---- */

#define GATE_OWNED 0x80000000u

/* Zeroed memory is an unowned gate. */
struct gate {
    struct shared_u32 word; /* GATE_OWNED and news bits; written by any kicker and the owner; @P flow.gate */
};

/* Leaves bits (not GATE_OWNED; may be 0); true when the caller is the owner now. Any thread. */
static inline bool gate_kick(struct gate *gate, uint32_t bits)
{
    uint32_t found = shared_u32_load_relaxed(&gate->word); /* relaxed: re-checked by CAS */
    /* @P flow.gate: publishes what was done before the kick; as the new owner, relies on the last owner's work. */
    while (!shared_u32_cas_acq_rel(&gate->word, &found, found | bits | GATE_OWNED))
        ;
    return (found & GATE_OWNED) == 0;
}

/* Takes the bits that came; the gate stays owned. Owner only. */
static inline uint32_t gate_take(struct gate *gate)
{
    /* @P flow.gate: relies on what the kickers did before they left the bits. */
    return shared_u32_exchange_acq_rel(&gate->word, GATE_OWNED) & ~GATE_OWNED;
}

/* Gives the gate up; false when there is news, and then the caller is still the owner. Owner only. */
static inline bool gate_leave(struct gate *gate)
{
    uint32_t expected = GATE_OWNED;
    /* @P flow.gate: publishes the owner's work to the next owner. */
    return shared_u32_cas_acq_rel(&gate->word, &expected, 0);
}

/* ---- stall ---- */

/* Zeroed memory is no stall. */
struct stall {
    struct shared_u32 declared; /* 1 while the producer waits; written by both sides; @P flow.stall */
};

/* The producer found no room. It must look once more after this and, if there is room now, go on. */
static inline void stall_declare(struct stall *stall)
{
    /* @P flow.stall: a lift that came before is seen, and with it the room that it stands for. */
    shared_u32_exchange_acq_rel(&stall->declared, 1);
}

/* The consumer made room; true when a producer had stopped and the caller must start it again. */
static inline bool stall_lift(struct stall *stall)
{
    /* @P flow.stall: publishes the room. */
    return shared_u32_exchange_acq_rel(&stall->declared, 0) != 0;
}

/* ---- ring ---- */

struct ring_slot {
    struct shared_u64 turn;  /* position whose producer may fill it, + 1 when filled; @P flow.filled, @P flow.emptied */
    struct shared_ptr value; /* written by that producer, read by that consumer */
};

struct ring {
    uint64_t mask;
    struct ring_slot *slots;
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 tail; /* next position to fill; producers, by CAS */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 head; /* next position to empty; consumers, by CAS */
};

/* Room for at least capacity pointers. Returns 0 or -ENOMEM; zeroed memory may be given to ring_fini(). */
int ring_init(struct ring *ring, uint32_t capacity);
void ring_fini(struct ring *ring);

/* False when full. Any thread. */
bool ring_push(struct ring *ring, void *value);

/* NULL when empty, or when the oldest value is still being pushed (its producer has yet to say so to somebody). Any
 * thread. */
void *ring_pop(struct ring *ring);

/* True when nothing was there; may be outdated at once. */
bool ring_is_empty(const struct ring *ring);

/* How many are in it; approximate while it is used. */
uint32_t ring_count(const struct ring *ring);

/* ---- pipe ---- */

struct pipe {
    uint8_t *bytes;
    uint32_t size;                                    /* a power of two */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 tail; /* written by the producer, wraps; @P flow.bytes */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 head; /* written by the consumer, wraps; @P flow.room */
};

/* size: a power of two. Returns 0 or -ENOMEM; zeroed memory may be given to pipe_fini(). */
int pipe_init(struct pipe *pipe, uint32_t size);
void pipe_fini(struct pipe *pipe);

/* Empties it. Nobody may use the pipe meanwhile. */
void pipe_reset(struct pipe *pipe);

/* The producer's next contiguous room, and that it wrote count bytes into it. */
uint8_t *pipe_room(const struct pipe *pipe, uint32_t *count);
void pipe_wrote(struct pipe *pipe, uint32_t count);

/* All of the producer's room; and a copy into it, which must fit. */
uint32_t pipe_room_total(const struct pipe *pipe);
void pipe_write(struct pipe *pipe, const void *bytes, uint32_t count);

/* The consumer's next contiguous bytes, and that it is done with count of them. */
const uint8_t *pipe_data(const struct pipe *pipe, uint32_t *count);
void pipe_consumed(struct pipe *pipe, uint32_t count);

/* All of the consumer's bytes; and a copy of count of them that starts at offset, both within what is there. */
uint32_t pipe_data_total(const struct pipe *pipe);
void pipe_peek(const struct pipe *pipe, uint32_t offset, void *bytes, uint32_t count);

#endif
