/* SPDX-License-Identifier: MIT
 *
 * How long the pauses of a back-off are, from the length of one pause instruction.
 *
 * How it works. A unit is so many instructions that it comes nearest to PLATFORM_PAUSE_NS; the longest pause of one
 * step is so many units that it comes nearest to LONGEST_PAUSE_NS. At least one, both. With an instruction of 37 ns
 * these are 1 and 7, with one of 24 ns 2 and 6.
 *
 * Source. dotnet/runtime 8.0, YieldProcessorNormalized (MinNsPerNormalizedYield, NsPerOptimalMaxSpinIterationDuration).
 */
#ifndef PILFER_POOL_PLATFORM_PAUSE_H
#define PILFER_POOL_PLATFORM_PAUSE_H

#include "platform.h"

enum { LONGEST_PAUSE_NS = 272 };

/* The processor's pause hint, what the lengths below count in. */
static inline void pause_instruction(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* How often length_ps goes into span_ns, rounded, at least once. */
static inline uint32_t pause_times(uint64_t span_ns, uint64_t length_ps)
{
    const uint64_t times = (span_ns * 1000 + length_ps / 2) / length_ps;
    return times > 0 ? (uint32_t)times : 1;
}

static inline uint32_t pause_instructions_per_unit(uint64_t instruction_ps)
{
    return pause_times(PLATFORM_PAUSE_NS, instruction_ps);
}

static inline uint32_t pause_units_max(uint64_t instruction_ps)
{
    return pause_times(LONGEST_PAUSE_NS, pause_instructions_per_unit(instruction_ps) * instruction_ps);
}

#endif
