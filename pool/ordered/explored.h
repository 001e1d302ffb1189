/* SPDX-License-Identifier: MIT
 *
 * The explored back end of ordered.h: every operation goes to the engine (explored/explored.h). Included by ordered.h
 * only.
 *
 * How it works. ordered_sites.h, which sites.sh makes from the lists of ordered.h, turns each operation into a macro
 * that records where it stands: the site. The order lies in the site and not in the code, so that a mutant can weaken
 * it while the program runs. Counters are left out: they are plain, and no scheduling point.
 */
#ifndef PILFER_POOL_ORDERED_EXPLORED_H
#define PILFER_POOL_ORDERED_EXPLORED_H

#include "explored/explored.h"

#define ORDERED_DEFINE_TYPE(T, C) \
    struct shared_##T {           \
        C cell;                   \
        uint32_t location;        \
    };
ORDERED_TYPES(ORDERED_DEFINE_TYPE)

/* The address of a site of its own. EXPRESSION: the shared operand, as text. */
#define ORDERED_SITE(KIND, OPERATION, ORDER, FAILURE, FENCE, EXPRESSION)                      \
    __extension__({                                                                           \
        static struct explored_site site __attribute__((section("explored_sites"), used)) = { \
            .file = __FILE__,                                                                 \
            .function = __func__,                                                             \
            .operation = OPERATION,                                                           \
            .expression = EXPRESSION,                                                         \
            .line = __LINE__,                                                                 \
            .kind = EXPLORED_##KIND,                                                          \
            .order = EXPLORED_##ORDER,                                                        \
            .failure = EXPLORED_##FAILURE,                                                    \
            .fence = EXPLORED_FENCE_##FENCE,                                                  \
            .written = EXPLORED_##ORDER,                                                      \
            .written_failure = EXPLORED_##FAILURE,                                            \
            .written_fence = EXPLORED_FENCE_##FENCE,                                          \
        };                                                                                    \
        &site;                                                                                \
    })

/* const is dropped: the engine keeps the location's number in the field of a word that is only read. */
/* clang-format off: it takes the & for an operator between two values */
#define ORDERED_WORD(SHARED)                                                                                     \
    (struct explored_word)                                                                                       \
    {                                                                                                            \
        (uint32_t *)(uintptr_t)&(SHARED)->location, (void *)(uintptr_t)&(SHARED)->cell, sizeof((SHARED)->cell)   \
    }
/* clang-format on */

/* Conversions between a type's own C type and the engine's 64 bits. */
#define ORDERED_BITS_u32(value) ((uint64_t)(value))
#define ORDERED_BITS_u64(value) ((uint64_t)(value))
#define ORDERED_BITS_i64(value) ((uint64_t)(value))
#define ORDERED_BITS_ptr(value) ((uint64_t)(uintptr_t)(value))
#define ORDERED_VALUE_u32(bits) ((uint32_t)(bits))
#define ORDERED_VALUE_u64(bits) ((uint64_t)(bits))
#define ORDERED_VALUE_i64(bits) ((int64_t)(bits))
#define ORDERED_VALUE_ptr(bits) ((void *)(uintptr_t)(bits))

#define ORDERED_DEFINE_BASIC(T, C)                                                                           \
    static inline C shared_##T##_load_at(const struct shared_##T *shared, struct explored_site *site)        \
    {                                                                                                        \
        return ORDERED_VALUE_##T(explored_load(ORDERED_WORD(shared), site));                                 \
    }                                                                                                        \
    static inline void shared_##T##_store_at(struct shared_##T *shared, C value, struct explored_site *site) \
    {                                                                                                        \
        explored_store(ORDERED_WORD(shared), ORDERED_BITS_##T(value), site);                                 \
    }                                                                                                        \
    static inline C shared_##T##_exchange_at(struct shared_##T *shared, C value, struct explored_site *site) \
    {                                                                                                        \
        return ORDERED_VALUE_##T(explored_exchange(ORDERED_WORD(shared), ORDERED_BITS_##T(value), site));    \
    }                                                                                                        \
    static inline bool shared_##T##_cas_at(struct shared_##T *shared, C *expected, C desired,                \
                                           struct explored_site *site)                                       \
    {                                                                                                        \
        uint64_t bits = ORDERED_BITS_##T(*expected);                                                         \
        bool done = explored_cas(ORDERED_WORD(shared), &bits, ORDERED_BITS_##T(desired), site);              \
        *expected = ORDERED_VALUE_##T(bits);                                                                 \
        return done;                                                                                         \
    }
ORDERED_TYPES(ORDERED_DEFINE_BASIC)

#define ORDERED_DEFINE_ADD(T, C)                                                                        \
    static inline C shared_##T##_add_at(struct shared_##T *shared, C value, struct explored_site *site) \
    {                                                                                                   \
        return ORDERED_VALUE_##T(explored_add(ORDERED_WORD(shared), ORDERED_BITS_##T(value), site));    \
    }
ORDERED_ADDABLE_TYPES(ORDERED_DEFINE_ADD)

#include "ordered_sites.h"

#define ordered_fence_seq_cst() explored_fence(ORDERED_SITE(FENCE, "fence_seq_cst", seq_cst, seq_cst, seq_cst, ""))
#define ordered_fence_light()   explored_fence(ORDERED_SITE(FENCE, "fence_light", seq_cst, seq_cst, light, ""))
#define ordered_fence_heavy()   explored_fence(ORDERED_SITE(FENCE, "fence_heavy", seq_cst, seq_cst, heavy, ""))

/* Not instrumented: a race on a counter is none. */
__attribute__((no_sanitize("thread"))) static inline void counter_add(struct shared_u64 *counter, uint64_t amount)
{
    counter->cell += amount;
}
__attribute__((no_sanitize("thread"))) static inline void counter_add_shared(struct shared_u64 *counter,
                                                                             uint64_t amount)
{
    counter->cell += amount;
}
__attribute__((no_sanitize("thread"))) static inline void counter_raise(struct shared_u64 *counter, uint64_t value)
{
    if (counter->cell < value)
        counter->cell = value;
}
__attribute__((no_sanitize("thread"))) static inline uint64_t counter_read(const struct shared_u64 *counter)
{
    return counter->cell;
}

#endif
