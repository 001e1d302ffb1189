/* SPDX-License-Identifier: MIT
 *
 * The queue of library_ring.h: ck_ring, in its variant for many producers and many consumers.
 *
 * Waiting. Pushes become visible in the order in which they reserved their cells, so each waits for those before it.
 * The library's own push waits without giving the CPU away; with more threads than CPUs each push then takes as many
 * time slices as it takes to run the one thread that is next. Hence reserve, wait here, and commit.
 *
 * Order. A push's last step is the store of the producers' tail, after the cell; on a machine with total store order
 * that publishes the cell and the task. The pusher's full fence (placed by the idle policy) comes after it, so the tail
 * that library_ring_is_empty reads after the other full fence counts every completed push. Not ck_ring_size: it reduces
 * the difference modulo the size, so a head read early and a tail read late may look equal.
 */
#include "library_ring.h"

#include <ck_ring.h>

#include "platform.h"

#define YIELD_AFTER 16 /* turns of one pause each */

#ifndef CK_MD_TSO
#error "ck_ring of concurrencykit 0.7.1 needs total store order, see library_ring.h"
#endif

#ifdef LIBRARY_RING_SANITIZED
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif

/* Tell the thread sanitizer that a push comes before the pop of its task. This file itself is not instrumented. */
static void note_push(struct library_ring *ring)
{
#ifdef LIBRARY_RING_SANITIZED
    __tsan_release(ring);
#endif
}

static void note_pop(struct library_ring *ring)
{
#ifdef LIBRARY_RING_SANITIZED
    __tsan_acquire(ring);
#endif
}

struct library_ring {
    struct ck_ring ring; /* any thread, through the library's functions */
    _Alignas(CACHE_LINE_SIZE) struct ck_ring_buffer cells[];
};

struct library_ring *library_ring_create(uint32_t capacity)
{
    struct library_ring *ring = platform_alloc(sizeof *ring + capacity * sizeof ring->cells[0]);
    if (ring != NULL)
        ck_ring_init(&ring->ring, capacity);
    return ring;
}

void library_ring_destroy(struct library_ring *ring)
{
    platform_free(ring);
}

/* Waits until the pushes that began earlier are complete. Gives the CPU away soon, since one of them may need it. */
static void wait_for_earlier_pushes(const struct library_ring *ring, unsigned int ticket)
{
    for (unsigned int turn = 1; ck_pr_load_uint(&ring->ring.p_tail) != ticket; turn++) {
        if (turn < YIELD_AFTER)
            platform_pause(1);
        else
            platform_yield();
    }
}

bool library_ring_push(struct library_ring *ring, struct pilfer_task *task)
{
    unsigned int ticket;
    struct ck_ring_buffer *cell = ck_ring_enqueue_reserve_mpmc(&ring->ring, ring->cells, &ticket);
    if (cell == NULL)
        return false;
    note_push(ring);
    cell->value = task;
    wait_for_earlier_pushes(ring, ticket);
    ck_ring_enqueue_commit_mpmc(&ring->ring, ticket);
    return true;
}

struct pilfer_task *library_ring_pop(struct library_ring *ring)
{
    void *task;
    if (!ck_ring_dequeue_mpmc(&ring->ring, ring->cells, &task))
        return NULL;
    note_pop(ring);
    return task;
}

bool library_ring_is_empty(const struct library_ring *ring)
{
    return library_ring_depth(ring) == 0;
}

uint32_t library_ring_depth(const struct library_ring *ring)
{
    /* Head first: the tail read after it is at least that far, so the difference does not wrap. Both loads are atomic
     * and in program order on this machine; ck_pr_fence_load keeps the compiler to it. */
    unsigned int head = ck_pr_load_uint(&ring->ring.c_head);
    ck_pr_fence_load();
    return ck_pr_load_uint(&ring->ring.p_tail) - head;
}
