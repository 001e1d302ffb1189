/* SPDX-License-Identifier: MIT
 *
 * The public API of the pool library: open an executor, submit tasks, wait, stop, read counters.
 *
 * What it is. An executor is either a pool scheduler (its own worker threads, chosen by name) or a bound (a limit on
 * how many of its own items run at once) that stands on another executor. Callers cannot tell the two apart.
 *
 * How it works. Tasks are intrusive: the caller embeds struct pilfer_task in its own object and owns the memory; the
 * executor owns the task from a successful submit until its run function is entered, and never touches it afterwards,
 * so run may free or resubmit it. Task memory is at most 32 bytes and holds no atomic outside checking builds.
 *
 * Example.
 *     struct pilfer_options options = {.scheduler = "chase-lev", .max_workers = 4};
 *     struct pilfer_executor *executor;
 *     char message[PILFER_MESSAGE_SIZE];
 *     int status = pilfer_open(&options, &executor, message);
 *     ... pilfer_submit(executor, &item->task, PILFER_PLACEMENT_DEFAULT) ...
 *     pilfer_close(executor, PILFER_CLOSE_RUN);
 *
 * Errors are negative errno values; out parameters come last and are written on success only.
 */
#ifndef PILFER_POOL_PILFER_H
#define PILFER_POOL_PILFER_H

#include "ordered.h"

struct pilfer_executor;

/* A unit of work; zero-initialise it before its first submit. run is entered exactly once per accepted submit, on a
 * worker (scheduler inline: on the submitter). */
struct pilfer_task {
    struct pilfer_task *next; /* link of whichever queue holds the task; owned by the executor while queued */
    void (*run)(struct pilfer_task *task);
    struct shared_u32 state; /* checking builds only: free, queued, running (invariant S2); else unused */
    uint32_t reserved;
};
_Static_assert(sizeof(struct pilfer_task) <= 32, "a task is at most 32 bytes");

/* Where a submit asks its task to go. A hint: each scheduler says what it does with it and counts what it honoured. */
enum pilfer_placement {
    PILFER_PLACEMENT_DEFAULT, /* the scheduler's own choice */
    PILFER_PLACEMENT_LOCAL,   /* the submitting worker's own queue, where there is one */
    PILFER_PLACEMENT_GLOBAL,  /* the queue shared by all workers */
};

#define PILFER_OVER_DEFAULT       "chase-lev"
#define PILFER_WORKERS_MAX        32767
#define PILFER_SPIN_LIMIT_DEFAULT UINT32_MAX /* 70, or 280 on Arm, as in the published runtime */
#define PILFER_SPIN_LIMIT_MAX     100000
#define PILFER_MESSAGE_SIZE       256

/* A tunable of a scheduler or bound by its parameter name, e.g. {"lifo-slot", 1}. */
struct pilfer_setting {
    const char *name;
    uint64_t value;
};

/* What to open. Zero or NULL in a field means its default. */
struct pilfer_options {
    const char *scheduler; /* name of a pool scheduler or of a bound; required */
    const char *over;      /* for a bound: the pool scheduler below it; default PILFER_OVER_DEFAULT */
    const char *idle;      /* idle policy; default: the scheduler's own */
    const char *sizing;    /* sizing policy; default: the scheduler's own */
    uint32_t min_workers;  /* fixed: started at once, default 1 (dedicated-threads: all); hill-climbing: usable CPUs */
    uint32_t max_workers;  /* default: usable CPUs under fixed, PILFER_WORKERS_MAX under hill-climbing; at most that */
    uint32_t spin_limit;   /* L of the published runtime: 2 L back-off steps before parking; 0 parks at once */
    uint32_t parallelism;  /* for a bound: items at once; default: max_workers resolved */
    const struct pilfer_setting *settings;
    uint32_t setting_count;
    uint64_t seed;         /* of the workers' random numbers */
    uint32_t trace_events; /* events kept per thread; 0: no trace */
};

/* Opens an executor. Fails with -ENOENT (unknown name), -EINVAL (a value or a pair of policies that is not admitted),
 * -ENOMEM or -EAGAIN (no thread); then message holds one line that says what and why, and nothing is left behind.
 * message must hold PILFER_MESSAGE_SIZE bytes. If the first worker starts and a later one cannot, the executor works
 * with those it has and counter thread_failures says so. Any thread. After a fork the child has no workers: it may only
 * exec or _exit; the parent's executor goes on. */
int pilfer_open(const struct pilfer_options *options, struct pilfer_executor **out, char *message);

/* Hands a task over. Any thread, also from inside a task. Returns 0; or -EAGAIN (a bounded queue is full), -ENOMEM or
 * -ESHUTDOWN, and then the task is still the caller's and nothing has changed. */
int pilfer_submit(struct pilfer_executor *executor, struct pilfer_task *task, enum pilfer_placement placement);

/* Submits count tasks linked through next; returns how many of the first were accepted, or a negative errno if none. */
int pilfer_submit_batch(struct pilfer_executor *executor, struct pilfer_task *first, uint32_t count,
                        enum pilfer_placement placement);

/* ---- waiting ---- */

/* Counts down to zero; memory owned by the caller, reusable after pilfer_latch_init when nobody waits. */
struct pilfer_latch {
    struct shared_u32 remaining; /* written by arrivers and init; read by waiters; @P pool.latch */
};

void pilfer_latch_init(struct pilfer_latch *latch, uint32_t count);

/* One arrival; the last one wakes the waiters. Everything done before it is visible after pilfer_wait. Any thread. The
 * latch may be freed by a waiter as soon as the last arrival has been counted. */
void pilfer_latch_arrive(struct pilfer_latch *latch);

/* Waits until the latch is at zero. From outside: parks. From inside a task of this executor: runs other tasks
 * meanwhile, nested at most PILFER_HELP_DEPTH_MAX deep; with nothing to run it parks and lets a substitute worker take
 * its place, so that waiting cannot starve the tasks waited for. Returns 0, or -EDEADLK when there is no substitute
 * left (PILFER_SUBSTITUTES_MAX tasks are blocked already): then the latch is not at zero and the caller must not assume
 * it. With a bound: if all its parallelism readers wait for items of the same bound that are still queued, nobody runs
 * those, and the wait does not end. */
int pilfer_wait(struct pilfer_executor *executor, struct pilfer_latch *latch);

#ifndef PILFER_HELP_DEPTH_MAX /* shrunk by the explorer */
#define PILFER_HELP_DEPTH_MAX 64
#endif
#define PILFER_SUBSTITUTES_MAX 256

/* ---- limits that move ---- */

/* The published pool's pairs: workers, and I/O completion threads, which do not exist on Unix. Their number is checked,
 * kept and given back, and has no other effect. */
struct pilfer_limits {
    int32_t workers, completion_threads;
};

struct pilfer_limit_values {
    struct pilfer_limits minimum, maximum;
    struct pilfer_limits available; /* maximum less the workers engaged; the completion threads' maximum */
};

/* As SetMinThreads, SetMaxThreads and the three getters of the published runtime, for an executor whose sizing moves
 * (hill-climbing). Returns 0; -EINVAL: refused, nothing has changed (the original returns false); -ENOTSUP: the sizing
 * has no such limits. Zeros are a minimum of one, and refused as a maximum; a minimum above the maximum is refused,
 * either way round, so the order of calls matters. A maximum above the max_workers of pilfer_open is cut to that. Any
 * thread. With a bound: those of the executor below it. */
int pilfer_set_min_workers(struct pilfer_executor *executor, struct pilfer_limits minimum);
int pilfer_set_max_workers(struct pilfer_executor *executor, struct pilfer_limits maximum);
int pilfer_read_limits(struct pilfer_executor *executor, struct pilfer_limit_values *out);

/* ---- guests ---- */

/* Attaches the calling thread (a poller, a submitter) so that it has counters, a CPU split and a trace of its own. A
 * thread that is not attached may submit as well; its counts are kept in shared ones. Returns 0, -ENOMEM or -EBUSY. */
int pilfer_attach(struct pilfer_executor *executor, const char *name);

/* Ends that. Counts stay. The same thread, before the executor is closed; attached to several: the last one first. */
void pilfer_detach(struct pilfer_executor *executor);

/* Marks what the attached calling thread does from now on (enum activity of account.h); no-op when not attached. A
 * poller calls it around its blocking poll. */
void pilfer_guest_polls(void);
void pilfer_guest_runs(void);

/* ---- the end ---- */

enum pilfer_close {
    PILFER_CLOSE_RUN,  /* tasks still queued are run first */
    PILFER_CLOSE_DROP, /* tasks still queued are given back: cancel(task) is called for each, if not NULL. They never
                        * run: who waits for one, waits for ever unless cancel arrives at the latch in its place. */
};

/* Refuses new tasks, lets running ones end, runs or gives back the queued ones, joins the workers, frees everything.
 * Submits that race with it are either accepted and run or given back, or refused. The memory is gone when it returns,
 * so other threads' calls must have returned by then: join them before, or let an accepted task wait until the last of
 * them has been refused. Once, from outside any task. */
void pilfer_close(struct pilfer_executor *executor, enum pilfer_close how, void (*cancel)(struct pilfer_task *task));

/* ---- reading ---- */

struct account_totals; /* account.h */

/* Sums counters and CPU split over all threads into *out; any thread, at any time, approximate while work is running.
 * For a bound: those of the executor below it, plus its own items. */
void pilfer_totals(struct pilfer_executor *executor, struct account_totals *out);

/* Calls visit for each number that the scheduler, policies or bound declare beside the common counters. */
void pilfer_extras(struct pilfer_executor *executor, void (*visit)(void *context, const char *name, double value),
                   void *context);

/* What the defaults meant. label is e.g. "chase-lev", "chase-lev+eager", "fixed-concurrency/chase-lev" or
 * "dotnet+hill-climbing=0". */
struct pilfer_resolved {
    const char *scheduler, *over, *idle, *sizing;               /* over is NULL for a pool scheduler */
    uint32_t min_workers, max_workers, spin_limit, parallelism; /* 0 where the knob does not apply */
    char label[96];
};

/* Resolves options without opening anything; same errors as pilfer_open. */
int pilfer_resolve(const struct pilfer_options *options, struct pilfer_resolved *out, char *message);

/* Writes the event rings as Chrome trace JSON to an open descriptor; -ENODATA without a trace. After close is too late;
 * call when no task runs. */
int pilfer_write_trace(struct pilfer_executor *executor, int descriptor);

/* ---- what there is ---- */

enum pilfer_kind { PILFER_KIND_SCHEDULER, PILFER_KIND_BOUND, PILFER_KIND_IDLE, PILFER_KIND_SIZING };
enum pilfer_knob {
    PILFER_KNOB_WORKERS = 1,
    PILFER_KNOB_SPIN = 2,
    PILFER_KNOB_PARALLELISM = 4,
    PILFER_KNOB_LIFO_SLOT = 8,
    PILFER_KNOB_LIMITS = 16, /* of a sizing: its limits move (pilfer_set_min_workers) */
};

struct pilfer_entry {
    const char *name, *summary;
    uint32_t knobs; /* enum pilfer_knob: those that have an effect */
    bool hidden;    /* left out of lists and default sweeps */
    bool specimen;  /* deliberately unsafe: left out of default sweeps */
};

/* The index-th entry of a kind, in list order; false past the end. Its strings are static. */
bool pilfer_entry(enum pilfer_kind kind, uint32_t index, struct pilfer_entry *out);

/* A tunable of a pool scheduler (struct pilfer_setting). Its strings are static. */
struct pilfer_tunable {
    const char *name, *summary;
    uint64_t minimum, maximum, initial;
};

/* The index-th tunable of the scheduler of that name; false past the end, and for other names. */
bool pilfer_tunable(const char *scheduler, uint32_t index, struct pilfer_tunable *out);

/* True when the scheduler admits the idle (or sizing) policy. */
bool pilfer_admits(const char *scheduler, const char *policy);

#endif
