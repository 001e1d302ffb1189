/* SPDX-License-Identifier: MIT
 *
 * Counters and the CPU split: what each thread of an executor did, and on what it spent its CPU time.
 *
 * How it works. Each worker and guest has one record that only it writes. A transition from one activity to the next
 * takes one stamp: the end of one interval is the start of the next, so no time falls between two. Wall time is not CPU
 * time (a worker may be preempted, a parked one burns nothing, a yield may run somebody else), so some intervals,
 * chosen at random, are bracketed by the thread's CPU clock as well. The CPU time of an activity is then a ratio
 * estimate: (sum of x over all intervals) x (sampled CPU / sampled x), where x is the interval's wall time, cut at a
 * length that an interval spent on the CPU seldom exceeds. Where nothing interferes x is the CPU time and the ratio is
 * 1; the cut bounds what one preemption, or one long sleep, can do to the estimate. Nothing forces the parts to add up:
 * the difference to the process CPU clock is reported as unaccounted.
 *
 * Cost. One stamp (about 10 ns) per transition, no lock, no division, no system call but for the sampled ones.
 *
 * Sources. Ratio estimator with an auxiliary variable: Cochran, Sampling Techniques, 3rd ed. 1977, ch. 6.
 */
#ifndef PILFER_POOL_ACCOUNT_H
#define PILFER_POOL_ACCOUNT_H

#include "platform.h"

/* X(name, what one count means). The common counters, in the order in which they are shown. */
#define COUNTERS(X)                                                          \
    X(tasks_accepted, "submits that returned 0")                             \
    X(tasks_run, "tasks whose run function returned")                        \
    X(tasks_drained, "tasks given back at the end")                          \
    X(submits_refused, "submits that failed")                                \
    X(placements_local, "tasks put into the submitting worker's own queue")  \
    X(placements_global, "tasks put into a shared queue")                    \
    X(placements_honoured, "submits with an explicit placement that got it") \
    X(dispatches, "turns of a worker: from engaged to nothing found")        \
    X(dispatches_empty, "turns that ran no task")                            \
    X(scans, "passes over the queues of other workers")                      \
    X(scans_empty, "of these, such that found no task")                      \
    X(steals_tried, "looks into another worker's queue")                     \
    X(steals_won, "tasks taken from another worker's queue")                 \
    X(steals_missed, "races for a task lost to another thread")              \
    X(lifo_slot_hits, "tasks taken from the worker's own LIFO slot")         \
    X(spin_waits, "waits that began to spin")                                \
    X(spin_waits_won, "of these, such that got a signal or saw a task")      \
    X(spins, "back-off steps that paused")                                   \
    X(yields, "back-off steps that called sched_yield")                      \
    X(parks, "times a worker blocked")                                       \
    X(wakes_sent, "system calls that woke a parked worker")                  \
    X(wakes_lost, "woken workers whose signal a spinner took")               \
    X(wakes_idle, "engagements that then found no task")                     \
    X(worker_requests, "workers asked for (policies that keep requests)")    \
    X(releases, "signals or permits given (policies that count them)")       \
    X(requests_merged, "submits that found a wake already on its way")       \
    X(helps, "tasks run inside a waiting task")                              \
    X(substitutes, "workers engaged in place of a blocked one")              \
    X(thread_failures, "threads that could not be started")

enum counter {
#define COUNTER_ENUM(name, meaning) COUNTER_##name,
    COUNTERS(COUNTER_ENUM)
#undef COUNTER_ENUM
        COUNTER_COUNT
};

/* X(name, cut in ns, whether the cut bounds the CPU time of an interval, one interval in this many is sampled (a power
 * of two), meaning). The activities of the CPU split; columns are NAME_cpu_percent. Back-off and searching are made of
 * very many short and similar intervals, so fewer of them need a look. Where the cut is a bound, a ratio above 1 can
 * only be the error of the readings, which is as long as such an interval, and is taken for 1. */
#define ACTIVITIES(X)                                                                         \
    X(run, 12000, false, 32, "running tasks")                                                 \
    X(search, 2000, true, 256, "looking for a task, the pool's books, reading the CPU clock") \
    X(spin, 2000, true, 1024, "pausing before parking")                                       \
    X(yield, 3000, true, 512, "sched_yield before parking")                                   \
    X(wake, 12000, false, 32, "waking a parked worker")                                       \
    X(park, 10000, false, 32, "blocking and coming back")                                     \
    X(poll, 10000, false, 32, "epoll and its bookkeeping")

enum activity {
#define ACTIVITY_ENUM(name, cut_ns, bound, every, meaning) ACTIVITY_##name,
    ACTIVITIES(ACTIVITY_ENUM)
#undef ACTIVITY_ENUM
        ACTIVITY_COUNT
};

/* Sums of one activity of one thread. Written by that thread, read by any; plain counters. */
struct account_activity {
    struct shared_u64 intervals;
    struct shared_u64 wall_ticks;
    struct shared_u64 cut_ticks; /* of the intervals, each cut as the table says */
    struct shared_u64 sampled;
    struct shared_u64 sampled_cut_ticks;
    struct shared_u64 sampled_cpu_ns;
};

/* One thread's record, on cache lines of its own. Owner: that thread; the last seven fields are private to it. */
struct account {
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 counters[COUNTER_COUNT];
    struct account_activity activities[ACTIVITY_COUNT];
    struct shared_u64 stamps;      /* transitions taken */
    struct shared_u64 clock_reads; /* of the thread's CPU clock */
    enum activity current;
    uint64_t last_ticks;
    uint64_t limit_ticks[ACTIVITY_COUNT]; /* the cuts, in ticks */
    uint64_t sample_cpu_ns;               /* CPU clock at the start of a sampled interval; 0: this one is not sampled */
    uint64_t sample_read_ticks;           /* how long that reading took */
    uint64_t clock_read_ns;               /* shortest cost of a reading */
    uint64_t random;
};

/* Starts a record in the given activity. The owning thread. */
void account_init(struct account *account, enum activity first, uint64_t seed);

/* Ends the current activity and begins another one. The owning thread. Same activity: a new interval begins. */
void account_switch(struct account *account, enum activity next);

static inline void account_count(struct account *account, enum counter counter, uint64_t amount)
{
    counter_add(&account->counters[counter], amount);
}

/* Sums of one activity over threads, in ns. */
struct account_sums {
    uint64_t intervals, wall_ns, cut_ns, sampled, sampled_cut_ns, sampled_cpu_ns;
};

/* Sums over the threads of an executor, monotone in time: a window is the difference of two. */
struct account_totals {
    uint64_t counters[COUNTER_COUNT];
    struct account_sums activities[ACTIVITY_COUNT];
    uint64_t stamps, clock_reads;
    uint64_t thread_cpu_ns, run_delay_ns, voluntary_switches, involuntary_switches; /* from the kernel */
    uint32_t workers_started;                                                       /* threads that exist as workers */
    uint32_t workers_max; /* most workers engaged at once since the executor was opened */
};

/* Adds one thread's record to *totals; any thread. */
void account_add(struct account_totals *totals, const struct account *account);

/* later - earlier, field by field; workers_* are taken from later. */
void account_difference(const struct account_totals *later, const struct account_totals *earlier,
                        struct account_totals *out);

/* Estimated CPU time of an activity in ns over the sums of a window; 0 without a sample. */
double account_cpu_ns(const struct account_sums *sums, enum activity activity);

/* Measured cost of one transition and of one read of the CPU clock on this machine, in ns. */
void account_calibrate(double *stamp_ns, double *clock_read_ns);

const char *counter_name(enum counter counter);
const char *activity_name(enum activity activity);

#endif
