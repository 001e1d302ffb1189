/* SPDX-License-Identifier: MIT
 *
 * The seam to the machine: threads, clocks, waiting, CPU clocks, work, memory.
 *
 * How it works. pool/, schedulers/ and workloads call only these functions and those of ordered.h; nothing there calls
 * pthreads, a clock, a futex or an allocator directly. Back ends lie in platform/: real.c (this machine) and explored.c
 * (every interleaving chosen). A simulated one (virtual cores, virtual time) will implement the same functions.
 *
 * Time is unsigned nanoseconds of one monotonic clock; PLATFORM_FOREVER as a deadline means none.
 */
#ifndef PILFER_POOL_PLATFORM_H
#define PILFER_POOL_PLATFORM_H

#include "ordered.h"

#define PLATFORM_FOREVER UINT64_MAX

/* Unit of platform_pause(): the "normalised yield" of the published runtime, 37 ns.
 * Source: dotnet/runtime, YieldProcessorNormalized (MinNsPerNormalizedYield). */
#define PLATFORM_PAUSE_NS 37

/* Prepares the machine: measures the pause instruction and the stamp clock, registers membarrier. Call once per process
 * before any other function and before any thread. Takes about 10 ms. Returns 0 or -errno. */
int platform_init(void);

/* ---- threads ---- */

struct platform_thread;

/* Starts a thread that runs body(argument) with all signals blocked. name: at most 15 bytes are kept.
 * On success *out is owned by the caller and ends with platform_thread_join. Returns 0, -EAGAIN or -ENOMEM. */
int platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument), void *argument);

/* Waits until the thread's body has returned, then frees the handle. */
void platform_thread_join(struct platform_thread *thread);

/* Takes a handle of the calling thread for platform_thread_schedule(); NULL without memory. Freed by
 * platform_thread_forget(). */
struct platform_thread *platform_thread_self(void);
void platform_thread_forget(struct platform_thread *thread);

/* What the kernel's scheduler says of a thread, since the thread began. */
struct platform_schedule {
    uint64_t cpu_ns;               /* time on a CPU */
    uint64_t run_delay_ns;         /* time runnable but waiting for a CPU; 0 where the kernel does not tell */
    uint64_t voluntary_switches;   /* it blocked */
    uint64_t involuntary_switches; /* it was preempted or yielded to another thread */
};

/* Reads *out for a running thread; any thread. Returns 0 or -errno (-ESRCH: the thread has ended). */
int platform_thread_schedule(const struct platform_thread *thread, struct platform_schedule *out);

/* One pointer per thread, kept for pool/pool.c (the worker or guest that runs here); NULL at first. */
void *platform_self(void);
void platform_self_set(void *self);

/* ---- clocks ---- */

uint64_t platform_now_ns(void);

/* A cheap stamp (the invariant TSC where there is one) and the length of a difference of two stamps. Stamps of two
 * threads may disagree by some tens of ns. */
uint64_t platform_stamp(void);
uint64_t platform_stamp_ns(uint64_t ticks);

/* CPU time of the calling thread; costs a system call. And what that call costs, as measured at start. */
uint64_t platform_thread_cpu_ns(void);
uint64_t platform_thread_cpu_read_ns(void);

/* CPU time of the whole process. */
uint64_t platform_process_cpu_ns(void);

/* ---- waiting ---- */

/* Busy-waits count x PLATFORM_PAUSE_NS with the processor's pause hint, as near as whole instructions come to that. */
void platform_pause(uint32_t count);

/* Units of the longest pause of one back-off step: 272 ns, in units as long as they are on this machine; 7 where they
 * are 37 ns. Constant after platform_init. */
uint32_t platform_pause_units_max(void);

/* Gives the CPU to another runnable thread, if there is one (sched_yield). */
void platform_yield(void);

/* Blocks while *word == expected, until platform_wake(word), the deadline or a spurious return.
 * Returns 0, or -ETIMEDOUT. The comparison and the blocking are one atomic step with respect to platform_wake. */
int platform_park(struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns);

/* Wakes up to count threads parked on word; returns how many were parked. Does not touch *word's value, which may
 * already belong to somebody else. */
uint32_t platform_wake(struct shared_u32 *word, uint32_t count);

/* ---- work, memory, machine ---- */

/* Consumes ns of CPU time of the calling thread: the stand-in for a task's own computation. Time during which the
 * thread was visibly not running (a gap of more than 2 us between two clock readings) does not count. */
void platform_charge(uint64_t ns);

/* Zeroed memory aligned to CACHE_LINE_SIZE, or NULL. platform_free accepts NULL. */
void *platform_alloc(size_t size);
void platform_free(void *memory);

/* CPUs that this process may use: the affinity mask, cut by a cgroup quota (rounded up); at least 1. */
uint32_t platform_usable_cpus(void);

/* Measured length of one pause instruction, in picoseconds (context of every sweep). */
uint64_t platform_pause_instruction_ps(void);

#endif
