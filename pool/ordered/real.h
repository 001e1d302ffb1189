/* SPDX-License-Identifier: MIT
 *
 * The real back end of ordered.h: C11 atomics. Included by ordered.h only.
 *
 * Worst case. Under the thread sanitizer every fence is a read-modify-write of one process-wide word: correct, and
 * slow.
 */
#ifndef PILFER_POOL_ORDERED_REAL_H
#define PILFER_POOL_ORDERED_REAL_H

#include <stdatomic.h>

#define ORDERED_DEFINE_TYPE(T, C) \
    struct shared_##T {           \
        _Atomic(C) cell;          \
    };
ORDERED_TYPES(ORDERED_DEFINE_TYPE)

#define ORDERED_DEFINE_LOAD(T, C, ORDER)                                       \
    static inline C shared_##T##_load_##ORDER(const struct shared_##T *shared) \
    {                                                                          \
        return atomic_load_explicit(&shared->cell, memory_order_##ORDER);      \
    }
#define ORDERED_DEFINE_STORE(T, C, ORDER)                                             \
    static inline void shared_##T##_store_##ORDER(struct shared_##T *shared, C value) \
    {                                                                                 \
        atomic_store_explicit(&shared->cell, value, memory_order_##ORDER);            \
    }
#define ORDERED_DEFINE_EXCHANGE(T, C, ORDER)                                          \
    static inline C shared_##T##_exchange_##ORDER(struct shared_##T *shared, C value) \
    {                                                                                 \
        return atomic_exchange_explicit(&shared->cell, value, memory_order_##ORDER);  \
    }
#define ORDERED_DEFINE_CAS(T, C, NAME, ORDER, FAILURE)                                                         \
    static inline bool shared_##T##_cas_##NAME(struct shared_##T *shared, C *expected, C desired)              \
    {                                                                                                          \
        return atomic_compare_exchange_strong_explicit(&shared->cell, expected, desired, memory_order_##ORDER, \
                                                       memory_order_##FAILURE);                                \
    }
#define ORDERED_DEFINE_ADD(T, C, ORDER)                                               \
    static inline C shared_##T##_add_##ORDER(struct shared_##T *shared, C value)      \
    {                                                                                 \
        return atomic_fetch_add_explicit(&shared->cell, value, memory_order_##ORDER); \
    }

#define ORDERED_DEFINE_OPERATIONS(T, C)              \
    ORDERED_LOADS(ORDERED_DEFINE_LOAD, T, C)         \
    ORDERED_STORES(ORDERED_DEFINE_STORE, T, C)       \
    ORDERED_EXCHANGES(ORDERED_DEFINE_EXCHANGE, T, C) \
    ORDERED_CASES(ORDERED_DEFINE_CAS, T, C)
ORDERED_TYPES(ORDERED_DEFINE_OPERATIONS)

#define ORDERED_DEFINE_ADDS(T, C) ORDERED_ADDS(ORDERED_DEFINE_ADD, T, C)
ORDERED_ADDABLE_TYPES(ORDERED_DEFINE_ADDS)

/* Written once by platform_init() before any other thread exists: true when membarrier(2) is registered. */
extern bool ordered_real_heavy_is_membarrier;
void ordered_real_membarrier(void);

#if defined(__SANITIZE_THREAD__)
#define ORDERED_REAL_SANITIZED 1
#elif defined(__clang__)
#if __has_feature(thread_sanitizer)
#define ORDERED_REAL_SANITIZED 1
#endif
#endif

#ifdef ORDERED_REAL_SANITIZED
extern _Atomic(uint32_t) ordered_real_fence_word;
static inline void ordered_fence_seq_cst(void)
{
    atomic_fetch_add_explicit(&ordered_real_fence_word, 1, memory_order_seq_cst);
}
static inline void ordered_fence_light(void)
{
    ordered_fence_seq_cst();
}
static inline void ordered_fence_heavy(void)
{
    ordered_fence_seq_cst();
}
#else
static inline void ordered_fence_seq_cst(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
static inline void ordered_fence_light(void)
{
    if (ordered_real_heavy_is_membarrier)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}
static inline void ordered_fence_heavy(void)
{
    if (ordered_real_heavy_is_membarrier)
        ordered_real_membarrier();
    else
        atomic_thread_fence(memory_order_seq_cst);
}
#endif

static inline void counter_add(struct shared_u64 *counter, uint64_t amount)
{
    shared_u64_store_relaxed(counter, shared_u64_load_relaxed(counter) + amount); /* single writer */
}

static inline void counter_add_shared(struct shared_u64 *counter, uint64_t amount)
{
    shared_u64_add_relaxed(counter, amount); /* counter only */
}

static inline void counter_raise(struct shared_u64 *counter, uint64_t value)
{
    uint64_t seen = shared_u64_load_relaxed(counter);                      /* counter only */
    while (seen < value && !shared_u64_cas_relaxed(counter, &seen, value)) /* counter only */
        ;
}

static inline uint64_t counter_read(const struct shared_u64 *counter)
{
    return shared_u64_load_relaxed(counter); /* counter only */
}

#endif
