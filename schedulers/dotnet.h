/* SPDX-License-Identifier: MIT
 *
 * What the schedulers of the .NET thread pools share: dotnet (.NET 8), dotnet-9, dotnet-11. The functions are callbacks
 * of scheduler.h and lie in dotnet.c.
 */
#ifndef PILFER_SCHEDULERS_DOTNET_H
#define PILFER_SCHEDULERS_DOTNET_H

#include "dotnet_queues.h"
#include "idle/idle_timeout.h"
#include "scheduler.h"

struct dotnet {
    struct segment_queue global;        /* any thread */
    struct segment_queue high_priority; /* any thread; in the original: I/O completions of another system */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 may_have_high_priority; /* any thread */
};

struct dotnet_worker {
    struct foreign_lock_deque local; /* the owner pushes and pops, all steal */
    bool processes_high_priority;    /* private to the owner */
};

/* Rows of the tables of tunables: of the worker loop and the sizing, and of the semaphore of .NET 8 and 9. */
/* clang-format off */
#define DOTNET_PARAMETERS \
    {"idle-timeout-ms", 1, 3600000, IDLE_TIMEOUT_MS_DEFAULT, "an idle worker ends its thread after so long"}, \
    {"processors", 0, PILFER_WORKERS_MAX, 0, "P, in place of the usable CPUs (0)"}, \
    {"hill-climbing", 0, 1, 1, "the goal follows the throughput"}, \
    {"starvation-detection", 0, 1, 1, "the gate thread adds workers when requests starve"}, \
    {"force-min-workers", 0, PILFER_WORKERS_MAX, 0, "min-workers, and the only value it can be set to (0: any)"}, \
    {"force-max-workers", 0, PILFER_WORKERS_MAX, 0, "max-workers, and the only value it can be set to (0: any)"}
#define DOTNET_SEMAPHORE_PARAMETERS \
    {"spin-yields", 0, 1, 1, "0: a spinning worker pauses where it would yield"}, \
    {"park-on-conditions", 0, 1, 1, "0: parks on a futex, not on a mutex and a condition variable"}
/* What the three schedulers have in common. */
#define DOTNET_COMMON                                      \
    .caps = SCHEDULER_LIFO_LOCAL | SCHEDULER_FIFO_GLOBAL,  \
    .published = true,                                     \
    .sizing = "hill-climbing",                             \
    .init = dotnet_init,                                   \
    .fini = dotnet_fini,                                   \
    .worker_init = dotnet_worker_init,                     \
    .worker_fini = dotnet_worker_fini,                     \
    .submit = dotnet_submit
/* clang-format on */

int dotnet_init(struct pool *pool);
void dotnet_fini(struct pool *pool);
int dotnet_worker_init(struct worker *worker);
void dotnet_worker_fini(struct worker *worker);
int dotnet_submit(struct pool *pool, struct worker *worker, struct pilfer_task *task, enum pilfer_placement placement);
enum next_result dotnet_next(struct worker *worker, struct pilfer_task **out);
bool dotnet_pending(struct pool *pool);
uint32_t dotnet_surrender_local(struct worker *worker);
struct pilfer_task *dotnet_drain(struct pool *pool);
uint64_t dotnet_depth(struct pool *pool);

/* What comes after the worker's own deque. As next. */
enum next_result dotnet_next_shared(struct worker *worker, struct pilfer_task **out);

/* Queues into the high-priority queue, which workers look into before the shared one; the rest of a submit is the
 * core's (pool_accepted). No public placement leads there: on Unix the original uses it for nothing either.
 *
 * As in the original (the hint is cleared by compare-and-swap, a task is taken, the hint is set again by a plain store,
 * and nobody is asked for), a task there can be left lying while another one runs: the look of a requested worker that
 * comes between clearing and setting misses the next task. If the task that was taken waits for that next one, both
 * stay. Kept, since the pools that are modelled have it, and reached only from here: the explorer finds it through this
 * function (dotnet-high-priority), and not with the same tasks by public submits (dotnet-high-priority-public);
 * dotnet-121608 is the protocol alone. Without such a dependence every task runs. Under an idle policy that looks again
 * as long as dotnet_pending says so (eager, single-waker), workers turn in that moment.
 *
 * Any thread. 0 or -ENOMEM. */
int dotnet_queue_high_priority(struct pool *pool, struct pilfer_task *task);

#endif
