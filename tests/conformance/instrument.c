/* SPDX-License-Identifier: MIT
 *
 * The run time of the instrumentation (see instrument.h).
 *
 * The names and signatures are the interface between GCC and the sanitizer's run time (gcc/sanitizer.def). Atomic
 * operations keep the memory order that the code asked for, so that real threads see the machine's own behaviour.
 */
#include "instrument.h"

#ifdef PILFER_INSTRUMENTED

static struct {
    bool on;
    uint32_t self, count;
    struct instrument_trace trace;
    struct {
        uint32_t owner;
        uintptr_t start;
        size_t size;
    } ranges[INSTRUMENT_RANGES_MAX];
    void (*before_exchange)(void *context);
    void *context;
} state; /* written only while the process has one thread that runs instrumented code */

bool instrument_is_available(void)
{
    return true;
}

void instrument_forget(void)
{
    state.count = 0;
}

void instrument_own(uint32_t owner, const void *start, size_t size)
{
    if (size == 0 || state.count == INSTRUMENT_RANGES_MAX)
        return;
    state.ranges[state.count].owner = owner;
    state.ranges[state.count].start = (uintptr_t)start;
    state.ranges[state.count].size = size;
    state.count++;
}

void instrument_begin(uint32_t self)
{
    state.self = self;
    state.trace = (struct instrument_trace){0};
    state.on = true;
}

struct instrument_trace instrument_end(void)
{
    state.on = false;
    return state.trace;
}

void instrument_before_exchange(void (*hook)(void *context), void *context)
{
    state.before_exchange = hook;
    state.context = context;
}

static inline void note_access(void)
{
    if (__builtin_expect(state.on, false))
        state.trace.accesses++;
}

static inline void note_update(void)
{
    note_access();
    if (__builtin_expect(state.on, false))
        state.trace.updates++;
}

static inline void note_exchange(int order)
{
    note_update();
    if (__builtin_expect(state.on, false))
        state.trace.full_exchanges += order == __ATOMIC_SEQ_CST;
    if (__builtin_expect(state.before_exchange != NULL, false) && order == __ATOMIC_SEQ_CST) {
        void (*hook)(void *context) = state.before_exchange;
        state.before_exchange = NULL;
        hook(state.context);
    }
}

static void note_write(const void *address, size_t size)
{
    if (__builtin_expect(!state.on, true))
        return;
    state.trace.accesses++;
    const uintptr_t start = (uintptr_t)address;
    for (uint32_t i = 0; i < state.count && !state.trace.foreign; i++) {
        if (state.ranges[i].owner == state.self || start >= state.ranges[i].start + state.ranges[i].size ||
            start + size <= state.ranges[i].start)
            continue;
        state.trace.foreign = true;
        state.trace.owner = state.ranges[i].owner;
        state.trace.offset = start - state.ranges[i].start;
    }
}

void __tsan_init(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
}
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
void __tsan_read_range(void *address, uint64_t size);
void __tsan_read_range(void *address, uint64_t size)
{
    note_access();
}
void __tsan_write_range(void *address, uint64_t size);
void __tsan_write_range(void *address, uint64_t size)
{
    note_write(address, size);
}

#define DEFINE_PLAIN(PREFIX, SIZE)           \
    void PREFIX##read##SIZE(void *address);  \
    void PREFIX##read##SIZE(void *address)   \
    {                                        \
        note_access();                       \
    }                                        \
    void PREFIX##write##SIZE(void *address); \
    void PREFIX##write##SIZE(void *address)  \
    {                                        \
        note_write(address, SIZE);           \
    }
DEFINE_PLAIN(__tsan_, 1)
DEFINE_PLAIN(__tsan_, 2)
DEFINE_PLAIN(__tsan_, 4)
DEFINE_PLAIN(__tsan_, 8)
DEFINE_PLAIN(__tsan_, 16)
DEFINE_PLAIN(__tsan_unaligned_, 2)
DEFINE_PLAIN(__tsan_unaligned_, 4)
DEFINE_PLAIN(__tsan_unaligned_, 8)
DEFINE_PLAIN(__tsan_unaligned_, 16)
DEFINE_PLAIN(__tsan_volatile_, 1)
DEFINE_PLAIN(__tsan_volatile_, 2)
DEFINE_PLAIN(__tsan_volatile_, 4)
DEFINE_PLAIN(__tsan_volatile_, 8)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    switch (order) {
    case __ATOMIC_SEQ_CST:
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        break;
    case __ATOMIC_RELAXED:
        break;
    default:
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
    }
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* One read-modify-write for each order; the order must be a constant where the operation stands. */
#define WITH_ORDER(order, OPERATION, ...)                \
    switch (order) {                                     \
    case __ATOMIC_RELAXED:                               \
        return OPERATION(__VA_ARGS__, __ATOMIC_RELAXED); \
    case __ATOMIC_CONSUME:                               \
    case __ATOMIC_ACQUIRE:                               \
        return OPERATION(__VA_ARGS__, __ATOMIC_ACQUIRE); \
    case __ATOMIC_RELEASE:                               \
        return OPERATION(__VA_ARGS__, __ATOMIC_RELEASE); \
    case __ATOMIC_ACQ_REL:                               \
        return OPERATION(__VA_ARGS__, __ATOMIC_ACQ_REL); \
    default:                                             \
        return OPERATION(__VA_ARGS__, __ATOMIC_SEQ_CST); \
    }

#define DEFINE_UPDATE(BITS, NAME)                                                                         \
    uint##BITS##_t __tsan_atomic##BITS##_##NAME(volatile void *address, uint##BITS##_t value, int order); \
    uint##BITS##_t __tsan_atomic##BITS##_##NAME(volatile void *address, uint##BITS##_t value, int order)  \
    {                                                                                                     \
        note_update();                                                                                    \
        WITH_ORDER(order, __atomic_##NAME, (volatile uint##BITS##_t *)address, value)                     \
    }

#define DEFINE_CAS(BITS, STRENGTH, WEAK)                                                                          \
    bool __tsan_atomic##BITS##_compare_exchange_##STRENGTH(volatile void *address, void *expected,                \
                                                           uint##BITS##_t desired, int order, int failure);       \
    bool __tsan_atomic##BITS##_compare_exchange_##STRENGTH(volatile void *address, void *expected,                \
                                                           uint##BITS##_t desired, int order, int failure)        \
    {                                                                                                             \
        note_update();                                                                                            \
        volatile uint##BITS##_t *word = address;                                                                  \
        if (order == __ATOMIC_RELAXED)                                                                            \
            return __atomic_compare_exchange_n(word, (uint##BITS##_t *)expected, desired, WEAK, __ATOMIC_RELAXED, \
                                               __ATOMIC_RELAXED);                                                 \
        return __atomic_compare_exchange_n(word, (uint##BITS##_t *)expected, desired, WEAK, __ATOMIC_SEQ_CST,     \
                                           __ATOMIC_SEQ_CST);                                                     \
    }

#define DEFINE_ATOMICS(BITS)                                                                                \
    uint##BITS##_t __tsan_atomic##BITS##_load(const volatile void *address, int order);                     \
    uint##BITS##_t __tsan_atomic##BITS##_load(const volatile void *address, int order)                      \
    {                                                                                                       \
        note_access();                                                                                      \
        const volatile uint##BITS##_t *word = address;                                                      \
        if (order == __ATOMIC_RELAXED)                                                                      \
            return __atomic_load_n(word, __ATOMIC_RELAXED);                                                 \
        if (order == __ATOMIC_SEQ_CST)                                                                      \
            return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                                 \
        return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                     \
    }                                                                                                       \
    void __tsan_atomic##BITS##_store(volatile void *address, uint##BITS##_t value, int order);              \
    void __tsan_atomic##BITS##_store(volatile void *address, uint##BITS##_t value, int order)               \
    {                                                                                                       \
        note_access();                                                                                      \
        volatile uint##BITS##_t *word = address;                                                            \
        if (order == __ATOMIC_RELAXED)                                                                      \
            __atomic_store_n(word, value, __ATOMIC_RELAXED);                                                \
        else if (order == __ATOMIC_SEQ_CST)                                                                 \
            __atomic_store_n(word, value, __ATOMIC_SEQ_CST);                                                \
        else                                                                                                \
            __atomic_store_n(word, value, __ATOMIC_RELEASE);                                                \
    }                                                                                                       \
    uint##BITS##_t __tsan_atomic##BITS##_exchange(volatile void *address, uint##BITS##_t value, int order); \
    uint##BITS##_t __tsan_atomic##BITS##_exchange(volatile void *address, uint##BITS##_t value, int order)  \
    {                                                                                                       \
        note_exchange(order);                                                                               \
        WITH_ORDER(order, __atomic_exchange_n, (volatile uint##BITS##_t *)address, value)                   \
    }                                                                                                       \
    DEFINE_UPDATE(BITS, fetch_add)                                                                          \
    DEFINE_UPDATE(BITS, fetch_sub)                                                                          \
    DEFINE_UPDATE(BITS, fetch_or)                                                                           \
    DEFINE_UPDATE(BITS, fetch_and)                                                                          \
    DEFINE_UPDATE(BITS, fetch_xor)                                                                          \
    DEFINE_CAS(BITS, strong, false)                                                                         \
    DEFINE_CAS(BITS, weak, true)
DEFINE_ATOMICS(8)
DEFINE_ATOMICS(16)
DEFINE_ATOMICS(32)
DEFINE_ATOMICS(64)

#else

bool instrument_is_available(void)
{
    return false;
}

void instrument_forget(void)
{
}

void instrument_own(uint32_t owner, const void *start, size_t size)
{
}

void instrument_begin(uint32_t self)
{
}

void instrument_before_exchange(void (*hook)(void *context), void *context)
{
}

struct instrument_trace instrument_end(void)
{
    return (struct instrument_trace){0};
}

#endif
