/* SPDX-License-Identifier: MIT
 *
 * The processes of a cell or a server, as a group: started in order, told the window, stopped in order, ended.
 *
 * Order of start: router (or inprocess, or the keeper of a target), extension, load; each needs a port of the one
 * before. Order of stop: load, which settles first; router; the extension ends when the router goes.
 *
 * A child that ends early, refuses or says nothing for PROCESSES_PATIENCE_NS is a fault: one line names it, how it
 * ended and what it said. processes_end ends whatever is left, by process group.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_PROCESSES_H
#define PILFER_EXPERIMENTS_RUNNER_PROCESSES_H

#include "cell.h"
#include "cgroup.h"
#include "child.h"
#include "window.h"

/* Watchdog: how long a process may be silent when something is due from it. */
#define PROCESSES_PATIENCE_NS UINT64_C(10000000000)

struct processes {
    struct child children[CHILDREN_MAX];
    uint32_t count;
    struct child *router, *extension, *load; /* in children; extension and load NULL where there is none */
    struct cgroup_quota quota;
    const volatile int *stop; /* borrowed; may be NULL */
    char *message;            /* borrowed: CELL_MESSAGE_SIZE bytes */
};

struct processes_options {
    uint64_t seed;
    uint16_t port;          /* of the server under test; 0: any */
    bool serve;             /* no load generator and no window: until stopped */
    const char *trace_path; /* or NULL */
    double seconds;         /* planned, for the CPU limit; 0: no plan */
};

/* Starts all and waits until they are ready. On anything but CELL_MEASURED all have ended and message says why. */
enum cell_status processes_start(struct processes *processes, const struct configuration *configuration,
                                 const struct processes_options *options, const volatile int *stop, char *message);

/* Tells all the window; load begins at load_start_ns. */
void processes_announce(struct processes *processes, const struct window *window, uint64_t load_start_ns,
                        uint64_t settle_ns);

/* Listens until the time has come. CELL_MEASURED: it has, and all are alive. Otherwise message says who ended. */
enum cell_status processes_wait_until(struct processes *processes, uint64_t deadline_ns);

/* Waits until a child has said `ready`, or, with ready false, has said `done` and ended by itself; for patience_ns at
 * most: then it hangs, and message says what is known of it. */
enum cell_status processes_wait_for(struct processes *processes, struct child *child, bool ready, uint64_t patience_ns);

/* Load settled, router stopped, extension gone. grace_ns: how long the load may go on from now. */
enum cell_status processes_stop(struct processes *processes, uint64_t grace_ns);

/* Ends whatever is left and frees everything, reports too. */
void processes_end(struct processes *processes);

/* CPU time of all children, and of each that is not NULL; of a target, that of all its processes. False if one has
 * ended. */
bool processes_cpu(const struct processes *processes, uint64_t *router_ns, uint64_t *extension_ns, uint64_t *load_ns);

/* CPU time of the keeper of a target; 0 without one. */
uint64_t processes_keeper_cpu(const struct processes *processes);

#endif
