/* SPDX-License-Identifier: MIT
 *
 * A model of the library's ring (schedulers/library_ring.h), whose own atomic operations the explorer cannot see.
 *
 * What it keeps of the ring: bounded, many producers, many consumers, first in, first out; a push that is under way is
 * not seen by a pop, and one that began earlier holds up later ones. What it cannot show: faults of the library itself.
 */
#include "library_ring.h"

#include "platform.h"

struct library_ring {
    uint32_t capacity;
    struct shared_u32 reserved, committed; /* of pushes: places taken, places filled */
    struct shared_u32 taken;               /* of pops */
    struct shared_ptr cells[];
};

struct library_ring *library_ring_create(uint32_t capacity)
{
    enum { CAPACITY_EXPLORED = 2 }; /* overflow within a few steps */
    struct library_ring *ring = platform_alloc(sizeof *ring + CAPACITY_EXPLORED * sizeof ring->cells[0]);
    (void)capacity;
    if (ring != NULL)
        ring->capacity = CAPACITY_EXPLORED;
    return ring;
}

void library_ring_destroy(struct library_ring *ring)
{
    platform_free(ring);
}

bool library_ring_push(struct library_ring *ring, struct pilfer_task *task)
{
    uint32_t place = shared_u32_load_relaxed(&ring->reserved);
    for (;;) {
        if (place - shared_u32_load_acquire(&ring->taken) < ring->capacity) {
            if (shared_u32_cas_relaxed(&ring->reserved, &place, place + 1))
                break;
            continue;
        }
        /* Full, unless others have pushed and popped since place was read. */
        uint32_t again = shared_u32_load_relaxed(&ring->reserved);
        if (again == place)
            return false;
        place = again;
    }
    shared_ptr_store_relaxed(&ring->cells[place % ring->capacity], task);
    while (shared_u32_load_acquire(&ring->committed) != place)
        platform_yield();
    shared_u32_store_release(&ring->committed, place + 1);
    return true;
}

struct pilfer_task *library_ring_pop(struct library_ring *ring)
{
    for (;;) {
        uint32_t place = shared_u32_load_acquire(&ring->taken); /* again after a lost CAS, which acquires nothing */
        if (place == shared_u32_load_acquire(&ring->committed))
            return NULL;
        struct pilfer_task *task = shared_ptr_load_relaxed(&ring->cells[place % ring->capacity]);
        if (shared_u32_cas_acq_rel(&ring->taken, &place, place + 1))
            return task;
    }
}

bool library_ring_is_empty(const struct library_ring *ring)
{
    return library_ring_depth(ring) == 0;
}

uint32_t library_ring_depth(const struct library_ring *ring)
{
    uint32_t taken = shared_u32_load_acquire(&ring->taken);
    return shared_u32_load_relaxed(&ring->committed) - taken;
}
