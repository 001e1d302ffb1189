/* SPDX-License-Identifier: MIT
 *
 * Rings and pipes; see flow.h.
 */
#include "workloads/flow.h"

#include <errno.h>
#include <string.h>

int ring_init(struct ring *ring, uint32_t capacity)
{
    uint64_t size = 2;
    while (size < capacity)
        size *= 2;
    ring->slots = platform_alloc(size * sizeof(ring->slots[0]));
    if (!ring->slots)
        return -ENOMEM;
    ring->mask = size - 1;
    for (uint64_t index = 0; index < size; index++)
        shared_u64_store_relaxed(&ring->slots[index].turn, index); /* relaxed: single writer, nobody else has it yet */
    shared_u64_store_relaxed(&ring->tail, 0);
    shared_u64_store_relaxed(&ring->head, 0);
    return 0;
}

void ring_fini(struct ring *ring)
{
    platform_free(ring->slots);
    ring->slots = NULL;
}

bool ring_push(struct ring *ring, void *value)
{
    uint64_t position = shared_u64_load_relaxed(&ring->tail); /* relaxed: re-checked by CAS */
    for (;;) {
        struct ring_slot *slot = &ring->slots[position & ring->mask];
        /* @P flow.emptied: relies on the consumer of the round before having read the value. */
        const int64_t ahead = (int64_t)(shared_u64_load_acquire(&slot->turn) - position);
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            position = shared_u64_load_relaxed(&ring->tail); /* relaxed: re-checked by CAS */
            continue;
        }
        if (!shared_u64_cas_relaxed(&ring->tail, &position, position + 1)) /* relaxed: the turn orders the data */
            continue;
        shared_ptr_store_relaxed(&slot->value, value); /* relaxed: ordered by the turn */
        /* @P flow.filled: publishes the value and what it points to. */
        shared_u64_store_release(&slot->turn, position + 1);
        return true;
    }
}

void *ring_pop(struct ring *ring)
{
    uint64_t position = shared_u64_load_relaxed(&ring->head); /* relaxed: re-checked by CAS */
    for (;;) {
        struct ring_slot *slot = &ring->slots[position & ring->mask];
        /* @P flow.filled: relies on the value and what it points to. */
        const int64_t ahead = (int64_t)(shared_u64_load_acquire(&slot->turn) - (position + 1));
        if (ahead < 0)
            return NULL;
        if (ahead > 0) {
            position = shared_u64_load_relaxed(&ring->head); /* relaxed: re-checked by CAS */
            continue;
        }
        if (!shared_u64_cas_relaxed(&ring->head, &position, position + 1)) /* relaxed: the turn orders the data */
            continue;
        void *value = shared_ptr_load_relaxed(&slot->value); /* relaxed: ordered by the turn */
        /* @P flow.emptied: the value has been read. */
        shared_u64_store_release(&slot->turn, position + ring->mask + 1);
        return value;
    }
}

bool ring_is_empty(const struct ring *ring)
{
    const uint64_t position = shared_u64_load_relaxed(&ring->head); /* relaxed: a hint, callers re-check by ring_pop */
    const uint64_t turn = shared_u64_load_acquire(&ring->slots[position & ring->mask].turn); /* @P flow.filled */
    return (int64_t)(turn - (position + 1)) < 0;
}

uint32_t ring_count(const struct ring *ring)
{
    const uint64_t head = shared_u64_load_relaxed(&ring->head); /* relaxed: approximate */
    const uint64_t tail = shared_u64_load_relaxed(&ring->tail); /* relaxed: approximate */
    return tail > head ? (uint32_t)(tail - head) : 0;
}

/* ---- pipe ---- */

int pipe_init(struct pipe *pipe, uint32_t size)
{
    pipe->bytes = platform_alloc(size);
    if (!pipe->bytes)
        return -ENOMEM;
    pipe->size = size;
    pipe_reset(pipe);
    return 0;
}

void pipe_fini(struct pipe *pipe)
{
    platform_free(pipe->bytes);
    pipe->bytes = NULL;
}

void pipe_reset(struct pipe *pipe)
{
    shared_u32_store_relaxed(&pipe->tail, 0); /* relaxed: single writer, nobody else uses it now */
    shared_u32_store_relaxed(&pipe->head, 0); /* relaxed: the same */
}

uint32_t pipe_room_total(const struct pipe *pipe)
{
    const uint32_t tail = shared_u32_load_relaxed(&pipe->tail); /* relaxed: single writer, the caller */
    /* @P flow.room: relies on the consumer being done with the bytes. */
    return pipe->size - (tail - shared_u32_load_acquire(&pipe->head));
}

uint8_t *pipe_room(const struct pipe *pipe, uint32_t *count)
{
    const uint32_t room = pipe_room_total(pipe);
    const uint32_t at =
        shared_u32_load_relaxed(&pipe->tail) & (pipe->size - 1); /* relaxed: single writer, the caller */
    *count = room < pipe->size - at ? room : pipe->size - at;
    return pipe->bytes + at;
}

void pipe_wrote(struct pipe *pipe, uint32_t count)
{
    const uint32_t tail = shared_u32_load_relaxed(&pipe->tail); /* relaxed: single writer, the caller */
    /* @P flow.bytes: publishes the bytes. */
    shared_u32_store_release(&pipe->tail, tail + count);
}

void pipe_write(struct pipe *pipe, const void *bytes, uint32_t count)
{
    const uint8_t *from = bytes;
    const uint32_t at =
        shared_u32_load_relaxed(&pipe->tail) & (pipe->size - 1); /* relaxed: single writer, the caller */
    const uint32_t first = count < pipe->size - at ? count : pipe->size - at;
    memcpy(pipe->bytes + at, from, first);
    memcpy(pipe->bytes, from + first, count - first);
    pipe_wrote(pipe, count);
}

uint32_t pipe_data_total(const struct pipe *pipe)
{
    const uint32_t head = shared_u32_load_relaxed(&pipe->head); /* relaxed: single writer, the caller */
    return shared_u32_load_acquire(&pipe->tail) - head;         /* @P flow.bytes: relies on the bytes */
}

const uint8_t *pipe_data(const struct pipe *pipe, uint32_t *count)
{
    const uint32_t data = pipe_data_total(pipe);
    const uint32_t at =
        shared_u32_load_relaxed(&pipe->head) & (pipe->size - 1); /* relaxed: single writer, the caller */
    *count = data < pipe->size - at ? data : pipe->size - at;
    return pipe->bytes + at;
}

void pipe_consumed(struct pipe *pipe, uint32_t count)
{
    const uint32_t head = shared_u32_load_relaxed(&pipe->head); /* relaxed: single writer, the caller */
    /* @P flow.room: the bytes have been read. */
    shared_u32_store_release(&pipe->head, head + count);
}

void pipe_peek(const struct pipe *pipe, uint32_t offset, void *bytes, uint32_t count)
{
    uint8_t *to = bytes;
    /* relaxed: single writer, the caller */
    const uint32_t at = (shared_u32_load_relaxed(&pipe->head) + offset) & (pipe->size - 1);
    const uint32_t first = count < pipe->size - at ? count : pipe->size - at;
    memcpy(to, pipe->bytes + at, first);
    memcpy(to + first, pipe->bytes, count - first);
}
