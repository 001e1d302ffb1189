/* SPDX-License-Identifier: MIT
 *
 * A process and all that descend from it: their CPU, switches, threads and memory, and their end.
 *
 * How it works. /proc/PID/task/TID/children is followed from the root down. The root is a process of ours that has made
 * itself the one to which orphans are given (a subreaper), so that nothing leaves the tree but by ending. No control
 * group is needed.
 *
 * CPU is that of the process clocks, which know ended threads too, and for processes that have ended inside the tree
 * that of their parents' books (in ticks of 10 ms). What a process used whose parent does not wait for it (SIGCHLD
 * ignored) is in no book and leaves the sum with it: the sum may go back. Switches and run delay are told by thread:
 * those of a thread that ended between two samples are lost, and how many did is counted.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_PROCESS_TREE_H
#define PILFER_EXPERIMENTS_RUNNER_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_list {
    pid_t *pids; /* owned */
    uint32_t count;
};

/* The descendants of root, parents first, root not among them. Frees with process_list_fini. */
void process_tree_list(pid_t root, struct process_list *out);
void process_list_fini(struct process_list *list);

/* False for a process that has ended, waited for or not. */
bool process_is_alive(pid_t process);

/* CPU time of the descendants in ns; 0 without any. */
uint64_t process_tree_cpu(pid_t root);

struct tree_thread {
    pid_t thread;
    uint64_t run_ns, delay_ns, voluntary, involuntary;
};

/* A sample of all threads of the descendants. */
struct tree_sample {
    struct tree_thread *threads; /* by number; owned */
    uint32_t thread_count, process_count;
    uint64_t cpu_ns;
    double memory_mib, memory_peak_mib; /* resident, summed over the processes: what they share counts for each */
};

void process_tree_sample(pid_t root, struct tree_sample *out);
void tree_sample_fini(struct tree_sample *sample);

/* What happened between two samples; thread numbers that are in both are the same thread, unless one of its figures is
 * smaller in the last: then it is another one, which was not there at the first. */
struct tree_difference {
    bool cpu_went_back; /* and cpu_ns is 0: what ended in between used more than the rest, and nobody waited for it */
    uint64_t cpu_ns, run_ns, delay_ns, voluntary, involuntary;
    uint32_t threads_ended, threads_started;
};

void tree_difference(const struct tree_sample *first, const struct tree_sample *last, struct tree_difference *out);

/* Kills the descendants until none is left alive; the root must be there. One that calls this for itself has waited for
 * its children then. False if there still was a living one after a second, or 200 looks where those take longer. */
bool process_tree_kill(pid_t root);

/* Whether this kernel tells children at all (CONFIG_PROC_CHILDREN). */
bool process_tree_is_known(void);

#endif
