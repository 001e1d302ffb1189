/* SPDX-License-Identifier: MIT
 *
 * Workloads without a network, for looking at policies: outside threads that submit small tasks in a pattern.
 *
 *   trickle  one task each period, from an absolute schedule      request = task     latency from the intended start
 *   burst    n tasks at once, all awaited, then a pause           request = burst
 *   chain    each task submits the next one, n in a row           request = task
 *   spawn    n empty tasks as fast as they can be submitted       request = task
 *   ping     one empty task, awaited, at once again               request = ping     latency of the round trip
 *
 * How it works. Each submitter is a thread attached to the executor. It has its own tasks and its own plain counters,
 * read after it has ended; tasks tell it of their end through one word each, or through a latch. A request belongs to
 * the window in which it was meant to start (trickle) or in which it ended (the others).
 */
#ifndef PILFER_EXPERIMENTS_WORKLOADS_IN_PROCESS_H
#define PILFER_EXPERIMENTS_WORKLOADS_IN_PROCESS_H

#include "histogram.h"
#include "pilfer.h"

#define IN_PROCESS_SUBMITTERS_MAX 64

struct in_process_options {
    const char *workload;  /* a name of the list above */
    uint32_t submitters;   /* outside threads, 1 to IN_PROCESS_SUBMITTERS_MAX, each with the whole pattern */
    uint32_t tasks;        /* burst, spawn: tasks at once */
    uint32_t chain_length; /* chain: tasks in a row */
    uint64_t task_ns;      /* CPU of one task; spawn and ping have empty ones */
    uint64_t period_ns;    /* trickle */
    uint64_t gap_ns;       /* burst: from the end of one to the start of the next */
};

/* Counts of all submitters together. sent = answered + failed + in_flight, in tasks. */
struct in_process_counts {
    uint64_t sent, answered, failed, in_flight; /* tasks over the whole run; failed: refused by the executor */
    uint64_t arrivals, requests;                /* requests due and done in the window */
    uint64_t submitted;                         /* submits that the executor accepted */
};

struct in_process;

/* True for the names above. */
bool in_process_is(const char *workload);
/* True if the workload has latencies: trickle and ping. */
bool in_process_has_latency(const char *workload);

/* Starts the submitters. The executor must stay open until in_process_stop has returned. Returns 0, or -EINVAL,
 * -ENOMEM, -EAGAIN (no thread) and has then left nothing running. Any thread. */
int in_process_start(struct pilfer_executor *executor, const struct in_process_options *options,
                     struct in_process **out);

/* Sets the window in which requests count, in time of platform_now_ns(); before it begins. */
void in_process_window(struct in_process *run, uint64_t start_ns, uint64_t end_ns);

/* Stops submitting, waits at most patience_ns for the submitted tasks to end, and fills the counts and the latencies.
 * True: all ended, and the run is freed. False: some are in flight; they and their submitters still use the run and the
 * executor, neither of which can be taken down any more. Once, by the thread that started. */
bool in_process_stop(struct in_process *run, uint64_t patience_ns, struct in_process_counts *counts,
                     struct histogram *latencies);

#endif
