/* SPDX-License-Identifier: MIT
 *
 * Private to the core (the files that README.md lists with pool.c and executor.c): the counts word, the states of a
 * pool, and what the core keeps per pool beside the contract's fields.
 */
#ifndef PILFER_POOL_POOL_H
#define PILFER_POOL_POOL_H

#include "lock.h"
#include "scheduler.h"

enum pool_state {
    POOL_RUNNING,  /* submits are accepted */
    POOL_CLOSING,  /* only tasks submit; the workers run what is queued */
    POOL_STOPPED,  /* nobody submits, workers leave */
    POOL_DRAINING, /* the workers have left; the closing thread runs or gives back the rest */
};

/* The counts word. */
struct pool_counts {
    uint16_t engaged, existing, goal, blocked;
};

static inline struct pool_counts counts_unpack(uint64_t word)
{
    return (struct pool_counts){(uint16_t)word, (uint16_t)(word >> 16), (uint16_t)(word >> 32), (uint16_t)(word >> 48)};
}

static inline uint64_t counts_pack(struct pool_counts counts)
{
    return (uint64_t)counts.engaged | (uint64_t)counts.existing << 16 | (uint64_t)counts.goal << 32 |
           (uint64_t)counts.blocked << 48;
}

struct pool_private {
    struct lock add_lock;            /* guards adding workers and the list of guests */
    struct worker *guests;           /* under add_lock; freed at the end */
    struct shared_u32 outside;       /* submits of unattached threads in progress; @F pool.1 */
    struct shared_u32 quiet;         /* bumped when a worker disengages while closing; closer parks on it; @P pool.4 */
    struct account *outside_account; /* of unattached threads; written with read-modify-writes */
    struct worker *closer;           /* the closing thread's guest while it runs leftovers; written by it; @P pool.2 */
};

/* Creates a pool with resolved options and starts min_workers. 0 or -errno; *out on success. */
int pool_create(const struct pilfer_options *options, const struct scheduler *scheduler, const struct idle_policy *idle,
                const struct sizing_policy *sizing, struct pool **out);

/* Adds to the fields of the counts word, and returns what they are then; full order. */
struct pool_counts pool_counts_change(struct pool *pool, int engaged, int existing, int blocked);

/* The end of what pool_disengage_over began: the worker holds nothing any more that others cannot see. */
void pool_handed_over(struct worker *worker);

/* The calling thread's worker or guest of this pool, or NULL. */
struct worker *pool_self(const struct pool *pool);

/* The gate that keeps close and submit apart. enter returns false when submits are refused; then it has counted tasks
 * refused ones, and the pool may be gone: no leave. */
struct pool_gate {
    uint32_t before;
};
bool pool_enter(struct pool *pool, struct worker *self, uint32_t tasks, struct pool_gate *gate);
void pool_leave(struct pool *pool, struct worker *self, const struct pool_gate *gate);

/* Submits past the gate. */
int pool_submit(struct pool *pool, struct worker *self, struct pilfer_task *task, enum pilfer_placement placement);
int pool_submit_batch(struct pool *pool, struct worker *self, struct pilfer_task *first, uint32_t count,
                      enum pilfer_placement placement);

/* The end of a submit: so many tasks were queued, and so many wakes are wanted. Counts them and tells the policies. */
void pool_accepted(struct pool *pool, struct worker *self, uint32_t tasks, uint32_t wakes);

int pool_attach(struct pool *pool, const char *name);
void pool_detach(struct pool *pool);
int pool_wait(struct pool *pool, struct pilfer_latch *latch);
void pool_totals(struct pool *pool, struct account_totals *out);

/* Refuses submits from outside (run_queued: not those of tasks) and waits until no worker is engaged or blocked. */
void pool_quiesce(struct pool *pool, bool run_queued);
/* Quiesces and ends the workers. After it only pool_drain and pool_destroy are allowed. */
void pool_stop(struct pool *pool, bool run_queued);
/* Runs (give_back NULL and run true) or gives back what is left. */
void pool_drain(struct pool *pool, bool run, void (*give_back)(struct pilfer_task *task));
void pool_destroy(struct pool *pool);

/* worker.c */
int worker_add(struct pool *pool);
struct worker *worker_create(struct pool *pool, uint32_t index, bool is_worker, const char *name);
void worker_destroy(struct worker *worker);
void worker_run(struct worker *worker, struct pilfer_task *task);
void worker_add_schedule(struct platform_schedule *to, const struct platform_schedule *from);
/* Scheduler inline: runs what this thread has been given. */
void worker_run_inline(struct worker *worker);

/* Checking builds: invariant S2, a task is queued once and run once per submit. */
#ifdef PILFER_CHECKING
void task_mark_queued(struct pilfer_task *task);
void task_mark_refused(struct pilfer_task *task);
void task_mark_taken(struct pilfer_task *task);
#else
static inline void task_mark_queued(struct pilfer_task *task)
{
    (void)task;
}
static inline void task_mark_refused(struct pilfer_task *task)
{
    (void)task;
}
static inline void task_mark_taken(struct pilfer_task *task)
{
    (void)task;
}
#endif

/* registry.c: lookup by name with hyphens; NULL if unknown. */
const struct scheduler *registry_scheduler(const char *name);
const struct bound *registry_bound(const char *name);
const struct idle_policy *registry_idle(const char *name);
const struct sizing_policy *registry_sizing(const char *name);

/* Why the table of that name cannot be used (a required callback is missing, its name differs from the list's); NULL:
 * it can. */
const char *registry_fault(enum pilfer_kind kind, const char *name);

/* executor.c */
struct pilfer_executor {
    struct pool *pool;            /* of the bottom */
    struct bound_executor *bound; /* NULL for a pool scheduler */
    struct pilfer_executor *below;
};

/* resolve.c */
struct resolution {
    const struct scheduler *scheduler;
    const struct bound *bound;
    const struct idle_policy *idle;
    const struct sizing_policy *sizing;
    struct pilfer_resolved resolved;
    uint32_t spin_limit;
};
int resolve(const struct pilfer_options *options, struct resolution *out, char *message);

/* P: the tunable processors, or the usable CPUs. */
uint32_t resolve_processors(const struct pilfer_options *options);

#endif
