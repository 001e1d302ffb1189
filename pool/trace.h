/* SPDX-License-Identifier: MIT
 *
 * Event rings: what each thread of a pool did and when, for the Chrome trace viewer. Off unless asked for.
 *
 * How it works. One ring per thread, written by that thread only, the oldest events overwritten; no lock, no
 * allocation. pilfer_write_trace() turns the rings into JSON ("Trace Event Format") when no task runs.
 *
 * Cost. Off: one test of a pointer. On: one stamp and one 24-byte store per event.
 */
#ifndef PILFER_POOL_TRACE_H
#define PILFER_POOL_TRACE_H

#include "platform.h"

/* X(name): kinds of events. Each begin has an end of the same name. */
#define TRACE_EVENTS(X) X(run) X(dispatch) X(spin) X(park) X(submit) X(wake) X(steal)

enum trace_kind {
#define TRACE_ENUM(name) TRACE_##name,
    TRACE_EVENTS(TRACE_ENUM)
#undef TRACE_ENUM
        TRACE_KIND_COUNT
};

enum trace_phase { TRACE_BEGIN, TRACE_END, TRACE_INSTANT };

struct trace_ring;

/* A ring for events events (rounded up to a power of two), or NULL without memory. */
struct trace_ring *trace_ring_create(uint32_t events, const char *thread_name, uint32_t thread_index);
void trace_ring_destroy(struct trace_ring *ring);

/* Records an event; the ring's own thread. */
void trace_record(struct trace_ring *ring, enum trace_kind kind, enum trace_phase phase, uint64_t argument);

static inline void trace_event(struct trace_ring *ring, enum trace_kind kind, enum trace_phase phase, uint64_t argument)
{
    if (ring != NULL)
        trace_record(ring, kind, phase, argument);
}

/* Writes count rings as one JSON document to descriptor; 0 or -errno. When no ring is being written to. */
int trace_write(struct trace_ring *const *rings, uint32_t count, int descriptor);

#endif
