/* SPDX-License-Identifier: MIT
 *
 * The contract: what a scheduler, an idle policy, a sizing policy and a bound must do, and what the core offers them.
 *
 * What people call "the scheduler" is four decisions, kept apart so that a cost can be pinned on one of them:
 *   queueing  where a task goes, which one is next, whom to steal from    schedulers/NAME.c     struct scheduler
 *   idle      whether a submit wakes somebody, how a worker spins, parks   pool/idle/NAME.c      struct idle_policy
 *   sizing    how many workers may be engaged now                         pool/sizing/NAME.c    struct sizing_policy
 *   bound     how many of its own items may run at once, over another one pool/bound/NAME.c     struct bound
 *
 * The core (pool.c, worker.c) owns the threads, the worker loop, the counts word {engaged, existing, goal}, the stop
 * check, counters, stamps and shutdown. Life of a worker:
 *
 *     while idle.wait(worker) says it is engaged:
 *         dispatch:
 *             scheduler.turn_began(worker); idle.dispatch_begin(worker)
 *             while scheduler.next(worker) gives a task:
 *                 the first time: idle.got_first(worker)
 *                 run the task; scheduler.done(worker)
 *                 if sizing.task_done(worker) says "stop": idle.stopped(worker), its local tasks are surrendered, and
 *                 told to the idle policy as new ones; to wait
 *             if idle.found_nothing(worker, missed) says "look again": dispatch once more
 *         (the worker is no longer engaged)
 *
 * Rules for every callback: no blocking except in idle.wait; no lock held while a task runs (S10); only ordered.h and
 * platform.h; no mutable file-scope state; state lives in the memory that the core allocates. The invariants S1 to S10
 * that a scheduler is checked against are listed in schedulers/README.md.
 *
 * Sources. The split of powers follows the Linux kernel's sched_ext; the counts word and the hand-shake hooks follow
 * the portable thread pool of dotnet/runtime 8.0.
 */
#ifndef PILFER_POOL_SCHEDULER_H
#define PILFER_POOL_SCHEDULER_H

#include "account.h"
#include "pilfer.h"
#include "trace.h"

struct pool;
struct worker;

enum next_result {
    NEXT_TASK,   /* *out is the caller's to run */
    NEXT_EMPTY,  /* every queue was seen empty */
    NEXT_MISSED, /* a race for a task was lost: there may be more */
};

/* Capability and property flags of a scheduler; each is a promise that is tested (S6). */
enum scheduler_caps {
    SCHEDULER_FIFO_GLOBAL = 1,       /* tasks placed globally by one thread start in submit order */
    SCHEDULER_LIFO_LOCAL = 2,        /* a worker takes its own newest local task first */
    SCHEDULER_RUNS_IN_SUBMITTER = 4, /* no workers: submit runs the task (scheduler inline) */
    SCHEDULER_LIBRARY_QUEUE = 8,     /* a queue that ordered.h does not see: explored through a model of it */
    SCHEDULER_LIFO_SLOT = 16,        /* has the lifo-slot tunable */
    SCHEDULER_STARTS_ALL = 32,       /* min-workers is max-workers, if nobody says otherwise: no thread comes later */
};

/* A tunable: an option, a sweep key and a column of the same name. */
struct scheduler_parameter {
    const char *name;
    uint64_t minimum, maximum, initial;
    const char *help;
};

/* The queueing table. Each scheduler's file ends in one of these, named scheduler_<file stem>. */
struct scheduler {
    const char *name;                             /* hyphens where the file has underscores */
    const char *summary;                          /* one line for `pilfer list` */
    uint32_t caps;                                /* enum scheduler_caps */
    bool published; /* models a pool that others know: its label names every tunable that departs from it */
    const char *idle;                             /* default idle policy */
    const char *sizing;                           /* default sizing policy */
    const char *const *idles;                     /* admitted idle policies, NULL-terminated; NULL: all */
    const struct scheduler_parameter *parameters; /* ends with a NULL name; NULL: none */
    size_t pool_state_size, worker_state_size;    /* zeroed, on own cache lines: pool->queueing, worker->queueing */

    /* Optional. Before any worker; undo everything on failure. 0 or -errno. */
    int (*init)(struct pool *pool);
    /* Optional. After every worker has left; frees what init took. */
    void (*fini)(struct pool *pool);
    /* Optional. By the thread that adds the worker, while others run; 0 or -errno. */
    int (*worker_init)(struct worker *worker);
    void (*worker_fini)(struct worker *worker);

    /* Required. Takes the task over and publishes it with a release operation. worker: the calling worker or guest of
     * this pool, or NULL for a thread that is neither; only a worker (worker->is_worker) has a local queue. Returns how
     * many wakes it wants (0 or more), or -EAGAIN, -ENOMEM and has then changed nothing (S4). Any thread. Must not run
     * the task, block or wake anybody. */
    int (*submit)(struct pool *pool, struct worker *worker, struct pilfer_task *task, enum pilfer_placement placement);

    /* Optional. As submit for a prefix of count tasks linked from *tasks; leaves the links of the others alone. Returns
     * how many it took, with *tasks moved on to the first that it did not take and *wakes set, or -errno for none. */
    int (*submit_batch)(struct pool *pool, struct worker *worker, struct pilfer_task **tasks, uint32_t count,
                        enum pilfer_placement placement, uint32_t *wakes);

    /* Required. By that worker only. Hands each task out once (S2) in a number of steps bounded by the number of
     * workers when no other thread runs (S5). Must not allocate, block or submit. */
    enum next_result (*next)(struct worker *worker, struct pilfer_task **out);

    /* Optional. The worker begins a turn. Only this begins one: next may find nothing in the middle of a turn as well,
     * where the idle policy looks for a second task and where a task that waits looks for one to help with. By that
     * worker. */
    void (*turn_began)(struct worker *worker);

    /* Optional. Lays the task that next has just handed to this worker where any worker, this one as well, finds it:
     * who begins a turn, before all others. For an idle policy that wants to see whether there is more than one. At
     * most one lies there. By that worker, and never by two at a time. */
    void (*set_aside)(struct worker *worker, struct pilfer_task *task);

    /* Required. True if a task that any worker may take was published before the caller's last full fence; may be
     * wrongly true, never wrongly false. Any thread. */
    bool (*pending)(struct pool *pool);

    /* Optional. Moves tasks that only this worker can reach to where others can; before the worker blocks in a task or
     * leaves. Returns how many were moved, or for a moment could be seen by nobody. By that worker. */
    uint32_t (*surrender_local)(struct worker *worker);

    /* Optional. Right after a task returned, by that worker; must not touch the task. */
    void (*done)(struct worker *worker);

    /* Required. Returns every task never handed out, one at a time, then NULL. Single-threaded, after the workers left.
     */
    struct pilfer_task *(*drain)(struct pool *pool);

    /* Optional. Verifies internal structure at rest; NULL or what is broken. */
    const char *(*check)(struct pool *pool);
    /* Optional. Approximate number of queued tasks; any thread, cheap. */
    uint64_t (*depth)(struct pool *pool);
    /* Optional. Numbers of its own, per pool. */
    void (*extras)(struct pool *pool, void (*visit)(void *context, const char *name, double value), void *context);
};

/* The idle table, named idle_<file stem>. An engaged worker is one counted in the counts word. Whoever engages a worker
 * (pool_engage) also sees to it that one waiting worker returns true from wait. */
struct idle_policy {
    const char *name, *summary;
    bool spins;                                /* the spin limit has an effect */
    uint32_t spin_limit;                       /* its default; 0: that of the published runtime, .NET 8 */
    size_t pool_state_size, worker_state_size; /* zeroed: pool->idle_state, worker->idle_state */
    int (*init)(struct pool *pool);
    void (*fini)(struct pool *pool);
    /* After a task was published; wakes is what the scheduler asked for (> 0). Places its own full fence between that
     * publication and its look at who sleeps. Any thread; self is the calling worker or guest, or NULL. */
    void (*submitted)(struct pool *pool, struct worker *self, uint32_t wakes);
    /* The worker begins a turn. */
    void (*dispatch_begin)(struct worker *worker);
    /* It found its first task of this turn and is about to run it. */
    void (*got_first)(struct worker *worker);
    /* Optional: the same for each further task of the turn. */
    void (*got_next)(struct worker *worker);
    /* It found nothing. Returns true: look again, still engaged. Returns false: the worker has been disengaged
     * (pool_disengage), and a last look after a full fence, at the queues or at what was asked for meanwhile, has found
     * nothing, or has had another worker released for it. */
    bool (*found_nothing)(struct worker *worker, bool missed);
    /* Waits to be engaged. True: engaged; false: the pool stops, or the worker has retired (pool_retire). */
    bool (*wait)(struct worker *worker);
    /* Optional. The sizing policy stopped the worker in the middle of its turn; it is disengaged and waits next. */
    void (*stopped)(struct worker *worker);
    /* Lets one waiting worker return true from wait; the caller has engaged it (pool_engage) for a reason other than a
     * submit, e.g. as the substitute of a blocked worker. Any thread. */
    void (*release)(struct pool *pool, struct worker *self);
    /* The pool stops: every wait returns false, now and in future. Any thread, once. */
    void (*stop)(struct pool *pool);
    /* Optional, for sizing policies; without them the scheduler's pending() and release are used. requests: workers
     * that were asked for and have not begun a turn. add_worker: engages and releases one if the goal allows it, for a
     * request that was made before. Any thread; self as in submitted. */
    uint32_t (*requests)(struct pool *pool);
    void (*add_worker)(struct pool *pool, struct worker *self);
};

/* The sizing table, named sizing_<file stem>. Only a sizing policy writes the goal. */
struct sizing_policy {
    const char *name, *summary;
    /* Resolves defaults (0) of the two limits, in place; processors: usable CPUs, or what the user puts in their place.
     * */
    void (*limits)(uint32_t processors, uint32_t *min_workers, uint32_t *max_workers);
    /* One worker is started at once and stays, min_workers or not; the others are started when they are needed. */
    bool starts_late;
    size_t pool_state_size, worker_state_size; /* zeroed: pool->sizing_state, worker->sizing_state */
    int (*init)(struct pool *pool);            /* calls pool_set_goal */
    void (*fini)(struct pool *pool);
    /* Optional: an engaged worker begins to look for tasks, for a turn or inside a task that waits. */
    void (*turn_began)(struct worker *worker);
    /* Optional: a completion, by the worker that ran the task. False: too many are engaged, the worker has been
     * disengaged (pool_disengage_over) and ends its turn. */
    bool (*task_done)(struct worker *worker);
    void (*blocked)(struct pool *pool, int32_t change); /* optional: a task began (+1) or ended (-1) to block */
    /* Optional: a worker was asked for, whether or not one could be engaged: by an idle policy that keeps requests, or,
     * under any other, by a submit that wants a wake. Any thread; self as in idle_policy.submitted. */
    void (*requested)(struct pool *pool, struct worker *self);
    /* Optional: a worker retired; existing is what is left. By that worker, with the add lock held. */
    void (*retired)(struct pool *pool, uint32_t existing);
    /* Optional: the pool stops; threads of the policy's own end now and are joined. Once, before the workers leave. */
    void (*stop)(struct pool *pool);
    /* Optional, all three or none: limits that move (pilfer_set_min_workers and the others). False: refused. */
    bool (*set_minimum)(struct pool *pool, struct worker *self, struct pilfer_limits minimum);
    bool (*set_maximum)(struct pool *pool, struct worker *self, struct pilfer_limits maximum);
    void (*read_limits)(struct pool *pool, struct pilfer_limit_values *out);
    /* Optional. Numbers of its own, per pool; any thread. */
    void (*extras)(struct pool *pool, void (*visit)(void *context, const char *name, double value), void *context);
};

/* ---- what the core offers ---- */

/* A worker, or a guest (a foreign thread that was attached). Written by its own thread unless a field says otherwise.
 */
struct worker {
    struct pool *pool;
    uint32_t index;   /* 0 to pool_published() - 1; guests: UINT32_MAX */
    bool is_worker;   /* false for a guest */
    uint64_t random;  /* state of worker_random */
    void *queueing;   /* the scheduler's; NULL for guests, but for schedulers that run in the submitter */
    void *idle_state; /* the idle policy's; NULL for guests */
    void *sizing_state; /* the sizing policy's; NULL for guests */
    struct account *account;
    struct trace_ring *trace; /* NULL: no trace */
    /* below: private to the core */
    uint32_t help_depth;
    bool runs_inline;             /* scheduler inline: this thread is running tasks already */
    struct shared_u32 submitting; /* guests: 1 inside a submit; written by its thread, read by close; @F pool.1 */
    struct platform_thread *thread;
    struct platform_schedule ended; /* of threads that ended: after detach, after retiring */
    bool retired;                   /* its thread has ended or is about to; under the add lock */
    struct worker *next_guest;
    struct worker *outer; /* what platform_self() was before (an executor used inside another one's task) */
};

/* A pool. Fields are set before the first worker starts and constant from then on, unless they are shared types. */
struct pool {
    const struct scheduler *scheduler;
    const struct idle_policy *idle;
    const struct sizing_policy *sizing;
    void *queueing, *idle_state, *sizing_state;
    uint32_t min_workers, max_workers, spin_limit, worker_slots;
    uint32_t processors; /* P: usable CPUs, or the scheduler's tunable of that name; the spin loop depends on P > 1 */
    uint64_t seed;
    uint32_t trace_events;
    const struct pilfer_setting *settings; /* owned copies; names are the parameters' own */
    uint32_t setting_count;
    /* {engaged:16, existing:16, goal:16, blocked:16}: workers that look for or run tasks or were promised to; threads
     * that exist; the sizing policy's limit on engaged; workers whose task blocks inside pilfer_wait, or which were
     * stopped and have not yet handed over what only they can reach. Written by any thread with CAS. */
    _Alignas(CACHE_LINE_SIZE) struct shared_u64 counts;
    struct shared_u64 workers_max;  /* most engaged at once; a counter */
    struct shared_u32 thread_limit; /* workers that can exist; lowered when a thread cannot be started; counter only */
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 state; /* enum pool_state; written by close; read by all; @F pool.1 */
    struct shared_u32 published; /* workers made so far; written under the add lock; read by all; @P pool.1 */
    struct shared_ptr *workers; /* [worker_slots], each written once, before published exposes it; @P pool.1 */
    struct pool_private *private;
};

/* The index-th worker, retired or not, or NULL if it was not made yet; any thread. */
struct worker *pool_worker(const struct pool *pool, uint32_t index);

/* How many workers were ever made, those that have retired since included; grows only. How many exist: pool_numbers. */
uint32_t pool_published(const struct pool *pool);

/* Engages one more worker if fewer than the goal are engaged, and starts a thread for it if all existing ones are
 * engaged already. True: the caller now owes one wake-up to the waiting ones. self as in submitted. */
bool pool_engage(struct pool *pool, struct worker *self);

/* The two halves of pool_engage, for a policy that releases a waiting worker before it starts a thread: engage_first
 * counts one more worker, and says whether a thread must be started for it (pool_start_thread), after the release. */
enum pool_engaged { POOL_FULL, POOL_WAITING, POOL_NEEDS_THREAD };
enum pool_engaged pool_engage_first(struct pool *pool);
void pool_start_thread(struct pool *pool, struct worker *self);

/* Whether pool_engage could succeed now; a hint that the caller orders with its own fence. */
bool pool_has_room(const struct pool *pool);

/* Engages the calling, disengaged worker again (after its last look found something); false: the goal is reached, or
 * somebody has engaged it meanwhile, and it will not wait long. */
bool pool_engage_self(struct worker *worker);

/* The calling worker is no longer engaged. A sequentially consistent read-modify-write: everything the worker reads
 * afterwards is ordered after it (pairs with the counts read in pool_engage). */
void pool_disengage(struct worker *worker);

/* Disengages the worker if more than the goal are engaged; true: it did. Orders nothing: who relied on the count relies
 * on the last looks of the others, as many as the goal. Until the core has moved what only this worker can reach, it
 * counts as blocked, so that a close does not take the pool for empty. */
bool pool_disengage_over(struct worker *worker);

/* The calling worker, which is disengaged and has waited long for nothing, wants to end its thread. True: it may, is no
 * longer counted as existing, and wait must return false; false: as many are promised as exist, or min_workers are left
 * (one, where the sizing starts late). */
bool pool_retire(struct worker *worker);

/* How many are engaged, exist, may be engaged at most, and block; one moment's values. */
struct pool_numbers {
    uint32_t engaged, existing, goal, blocked;
};
struct pool_numbers pool_numbers(const struct pool *pool);

/* A tunable's value; 0 where the scheduler has none of that name. */
uint64_t pool_setting(const struct pool *pool, const char *name);

/* As pool_setting; for a policy, which may stand under a scheduler that has no such tunable: then otherwise. */
uint64_t pool_setting_or(const struct pool *pool, const char *name, uint64_t otherwise);

/* Sets the limit on engaged workers; for sizing policies. A raised goal engages nobody by itself. */
void pool_set_goal(struct pool *pool, uint32_t goal);

/* The workers are to leave: the pool was stopped and no task is blocked in pilfer_wait for others. */
bool pool_is_stopping(const struct pool *pool);

/* Wakes count threads parked on word, counted and timed as wake for self (may be NULL). */
void pool_wake(struct pool *pool, struct worker *self, struct shared_u32 *word, uint32_t count);

/* The books of pool_wake, for a wake that takes more than the system call: ends gets what begins has returned. */
enum activity pool_wake_begins(struct pool *pool, struct worker *self, uint32_t count);
void pool_wake_ends(struct worker *self, enum activity before);

/* Runs a task of a bound inside the reader task that runs now on this thread, counted and timed as an item. */
void run_nested(struct worker *worker, struct pilfer_task *task);

/* xorshift64*; the worker's own thread only. */
uint32_t worker_random(struct worker *worker, uint32_t below);

static inline void worker_count(struct worker *worker, enum counter counter, uint64_t amount)
{
    account_count(worker->account, counter, amount);
}

/* The books of a worker that blocks for want of work: before it does, and when it is back. */
static inline void worker_parks(struct worker *worker)
{
    worker_count(worker, COUNTER_parks, 1);
    trace_event(worker->trace, TRACE_park, TRACE_BEGIN, 0);
    account_switch(worker->account, ACTIVITY_park);
}

static inline void worker_is_back(struct worker *worker)
{
    account_switch(worker->account, ACTIVITY_search);
    trace_event(worker->trace, TRACE_park, TRACE_END, 0);
}

/* Gives the CPU to another thread once, counted and timed as yield. Activity afterwards: as before. */
static inline void worker_yields(struct worker *worker)
{
    enum activity before = worker->account->current;
    worker_count(worker, COUNTER_yields, 1);
    account_switch(worker->account, ACTIVITY_yield);
    platform_yield();
    account_switch(worker->account, before);
}

/* Counts for the calling thread: into self's own record, or the pool's shared one when self is NULL. */
void pool_count(struct pool *pool, struct worker *self, enum counter counter, uint64_t amount);

/* ---- bounds ---- */

struct bound_executor;

/* The bound table, named bound_<file stem>. A bound keeps its items in a queue of its own and submits reader tasks to
 * the executor below. */
struct bound {
    const char *name, *summary;
    size_t state_size; /* zeroed: bound_executor->state */
    int (*init)(struct bound_executor *bound);
    void (*fini)(struct bound_executor *bound);
    int (*submit)(struct bound_executor *bound, struct pilfer_task *task);
    /* Items that were never run, at the end; single-threaded. */
    struct pilfer_task *(*drain)(struct bound_executor *bound);
    /* Items queued or readers active: close waits for false. */
    bool (*busy)(struct bound_executor *bound);
    void (*extras)(struct bound_executor *bound, void (*visit)(void *context, const char *name, double value),
                   void *context);
};

/* Submits a reader task to the executor below, inside a submit or a reader of this bound: not refused by a close that
 * has begun meanwhile. Placement global. Returns 0, -EAGAIN or -ENOMEM. */
int bound_submit_below(struct bound_executor *bound, struct pilfer_task *reader);

struct bound_executor {
    const struct bound *bound;
    struct pilfer_executor *below;
    uint32_t parallelism;
    void *state;
};

#endif
