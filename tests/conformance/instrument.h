/* SPDX-License-Identifier: MIT
 *
 * What a scheduler's own code touches: a count of its memory accesses, and plain writes into another worker's state.
 *
 * How it works. The checking build compiles schedulers/ (and the request flag of scheduler dotnet) with the
 * instrumentation of the thread sanitizer but without its run time: every load, store and atomic operation becomes a
 * call, and instrument.c supplies the functions. They do the access with the order that was asked for; while a trace is
 * on they also count it (invariant S5) and look whether a plain write falls into a range that belongs to somebody else
 * (S7). Atomic writes are exempt: those fields are ordered shared types. A test may act before an exchange.
 *
 * Limits. GCC only, and not in sanitizer builds, which have that run time: there instrument_is_available() is false.
 */
#ifndef PILFER_TESTS_CONFORMANCE_INSTRUMENT_H
#define PILFER_TESTS_CONFORMANCE_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUMENT_RANGES_MAX 64

bool instrument_is_available(void);

/* Forgets all declared ranges: their memory has been freed and may come back as somebody else's. */
void instrument_forget(void);

/* Declares size bytes at start as written plainly by owner only. Single-threaded, before any trace. */
void instrument_own(uint32_t owner, const void *start, size_t size);

/* Begins a trace: from now on the calling code acts for self (any number that is no owner: for none). No other thread
 * may run instrumented code until instrument_end(). */
void instrument_begin(uint32_t self);

struct instrument_trace {
    uint64_t accesses;       /* loads, stores and atomic operations since the trace began */
    uint64_t updates;        /* of those: atomic read-modify-writes, successful or not */
    uint64_t full_exchanges; /* of those: sequentially consistent exchanges */
    bool foreign;            /* a plain write fell into the range of another owner */
    uint32_t owner;          /* whose */
    size_t offset;           /* and where in it */
};

/* Before the next sequentially consistent exchange of this thread, which must be the only one that runs instrumented
 * code: hook(context), once. NULL: none. */
void instrument_before_exchange(void (*hook)(void *context), void *context);

/* Ends the trace. */
struct instrument_trace instrument_end(void);

#endif
