/* SPDX-License-Identifier: MIT
 *
 * Ordered shared access: every load, store and read-modify-write of memory that two threads share.
 *
 * What it is. One seam between this code and the memory model. The order is in the name of each operation and there is
 * no default, so that a reader, a reviewer and a tidy test can see what was meant. Wrapper structs make a plain access
 * to a shared field a compile error.
 *
 * How it works. This file holds the one list of types and operations. A back end turns the list into functions:
 *   real       C11 atomics (ordered/real.h)
 *   simulated  the same, plus the cost of the cache line (not part of this tree yet)
 *   explored   every call is a scheduling point, and its order can be weakened (ordered/explored.h)
 *
 * Labels. A release-side operation and the acquire-side operation that relies on it carry the same label in a comment,
 * "@P file.n", and each side says which data it publishes or relies on. Full fences carry "@F file.n" and name the
 * store-load race that they close. A relaxed operation gives one of four reasons: single writer, counter only,
 * re-checked by CAS, ordered by fence @F file.n. Plain counters (counter_*) are exempt.
 *
 * Sources. ISO C11 7.17; the naming follows Le, Pop, Cohen, Zappa Nardelli 2013 ("Correct and efficient work-stealing
 * for weak memory models") and the Linux kernel's rule that a barrier without a comment is a bug.
 */
#ifndef PILFER_POOL_ORDERED_H
#define PILFER_POOL_ORDERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size that keeps two writers from sharing a line: two lines, since adjacent-line prefetch pairs them on x86. */
#define CACHE_LINE_SIZE 128

/* X(suffix, C type). Fields of these types are the only shared memory in pool/, schedulers/ and workloads. */
#define ORDERED_TYPES(X) \
    X(u32, uint32_t)     \
    X(u64, uint64_t)     \
    X(i64, int64_t)      \
    X(ptr, void *)

/* X(suffix, C type): the types that can be added to. */
#define ORDERED_ADDABLE_TYPES(X) \
    X(u32, uint32_t)             \
    X(u64, uint64_t)             \
    X(i64, int64_t)

/* The one list of operations: X(type suffix, C type, order in the name), and for a compare-and-swap also the order on
 * success and the order on failure, which is relaxed where the name has one order only.
 *   value    shared_T_load_ORDER(const struct shared_T *)
 *   void     shared_T_store_ORDER(struct shared_T *, value)
 *   previous shared_T_exchange_ORDER(struct shared_T *, value)
 *   bool     shared_T_cas_ORDER(struct shared_T *, value *expected, value desired)   strong; on failure *expected is
 *            the value found
 *   previous shared_T_add_ORDER(struct shared_T *, value)                            wraps; subtract by adding -n */
#define ORDERED_LOADS(X, T, C)     X(T, C, relaxed) X(T, C, acquire) X(T, C, seq_cst)
#define ORDERED_STORES(X, T, C)    X(T, C, relaxed) X(T, C, release) X(T, C, seq_cst)
#define ORDERED_EXCHANGES(X, T, C) X(T, C, acquire) X(T, C, release) X(T, C, acq_rel) X(T, C, seq_cst)
#define ORDERED_CASES(X, T, C)                 \
    X(T, C, relaxed, relaxed, relaxed)         \
    X(T, C, acquire, acquire, relaxed)         \
    X(T, C, release, release, relaxed)         \
    X(T, C, acq_rel, acq_rel, relaxed)         \
    X(T, C, acq_rel_acquire, acq_rel, acquire) \
    X(T, C, seq_cst, seq_cst, relaxed)
#define ORDERED_ADDS(X, T, C) X(T, C, relaxed) X(T, C, release) X(T, C, acq_rel) X(T, C, seq_cst)

/* void ordered_fence_seq_cst(void)  full fence
 * void ordered_fence_light(void)    the frequent side of an asymmetric pair: no instruction where ordered_fence_heavy()
 *                                   can make every other thread fence, else a full fence
 * void ordered_fence_heavy(void)    the rare side: membarrier(2) private expedited, else a full fence
 *
 * A light fence pairs with a heavy one only. Both are full fences under the thread sanitizer, which does not model
 * stand-alone fences: there each becomes a read-modify-write of one word, which the sanitizer understands. */

#ifndef ORDERED_LISTS_ONLY /* sites.h wants the lists alone */
#ifdef PILFER_EXPLORED
#include "ordered/explored.h"
#else
#include "ordered/real.h"
#endif

/* Counters: numbers that nothing depends on. Each back end has these; readers may run at any time and see some earlier
 * value, and no order is implied.
 *   void     counter_add(struct shared_u64 *, amount)         only the calling thread writes it
 *   void     counter_add_shared(struct shared_u64 *, amount)  any thread
 *   void     counter_raise(struct shared_u64 *, value)        any thread; the largest value stays
 *   uint64_t counter_read(const struct shared_u64 *)          any thread */
#endif

#endif
