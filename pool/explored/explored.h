/* SPDX-License-Identifier: MIT
 *
 * The explorer's engine: runs a small closed program many times and chooses every interleaving of its threads and every
 * value that a load may return.
 *
 * How it works. All threads of a run are fibers on one thread of the operating system. Each operation of ordered.h and
 * each blocking call of platform.h is a scheduling point: there the engine asks its strategy which thread goes on. Then
 * the memory model says what the operation may see, and if that is more than one thing the strategy is asked again. A
 * run is thus a list of choices, and the same choices give the same run. Choice 0 is always the quiet one (the same
 * thread goes on, a load returns the newest store), so a run is written down as its deviations from 0.
 *
 * The models.
 *   sc   one memory, interleavings only
 *   tso  a store buffer per thread, which drains when the strategy says so, at a full fence, at a read-modify-write
 *        and at a system call (x86)
 *   ra   views: each location has a list of stores, and a load may return any that is not older than what the thread
 *        knows; release and acquire hand knowledge over; sequentially consistent fences exchange it with one another
 *        (ISO C11 without load buffering: a store is never visible before its thread reaches it)
 * sc and ra also know which plain accesses are ordered by happens-before: an unordered pair is a data race.
 *
 * What ends a run: the body returns; explored_fail(); no thread can go on ("rest") while some are not at their end;
 * more steps than the limit (a livelock); an access to memory that was freed; a crash.
 *
 * One engine per process, used by one thread: file-scope state.
 *
 * Sources. Preemption bound: Musuvathi & Qadeer 2007 (CHESS). PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte 2010.
 * Views: Kang, Hur, Lahav, Vafeiadis, Dreyer 2017 ("A promising semantics", without promises). Happens-before of plain
 * accesses: Flanagan & Freund 2009 (FastTrack). The habit of running one fiber at a time over the real code: folly's
 * DeterministicSchedule, Relacy, loom.
 */
#ifndef PILFER_POOL_EXPLORED_EXPLORED_H
#define PILFER_POOL_EXPLORED_EXPLORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORED_THREADS_MAX 8 /* of one run, main included */

enum explored_model { EXPLORED_SC, EXPLORED_TSO, EXPLORED_RA, EXPLORED_MODEL_COUNT };
enum explored_order { EXPLORED_relaxed, EXPLORED_acquire, EXPLORED_release, EXPLORED_acq_rel, EXPLORED_seq_cst };
enum explored_kind { EXPLORED_LOAD, EXPLORED_STORE, EXPLORED_EXCHANGE, EXPLORED_CAS, EXPLORED_ADD, EXPLORED_FENCE };
enum explored_fence { EXPLORED_FENCE_seq_cst, EXPLORED_FENCE_light, EXPLORED_FENCE_heavy, EXPLORED_FENCE_none };

/* One call of an operation in the source. All sites lie in one section of the program, so they can be listed before
 * anything runs. A mutant changes `order` (or, for a fence, `fence`) while it is explored. */
struct __attribute__((aligned(64))) explored_site {
    const char *file, *function, *operation, *expression; /* expression: the first argument as written */
    uint32_t line;
    uint8_t kind;                                    /* enum explored_kind */
    uint8_t order, failure, fence;                   /* what the operation does now */
    uint8_t written, written_failure, written_fence; /* what the source says */
    uint8_t reached;                                 /* set when an operation runs here */
};

/* ---- for ordered/explored.h ---- */

/* location: the field of the shared struct that the engine keeps for itself, 0 at first; cell: its value, at most 8
 * bytes (size), which the engine keeps equal to the newest store. */
struct explored_word {
    uint32_t *location;
    void *cell;
    uint32_t size;
};

uint64_t explored_load(struct explored_word word, const struct explored_site *site);
void explored_store(struct explored_word word, uint64_t value, const struct explored_site *site);
uint64_t explored_exchange(struct explored_word word, uint64_t value, const struct explored_site *site);
/* On failure *expected is the value found. */
bool explored_cas(struct explored_word word, uint64_t *expected, uint64_t desired, const struct explored_site *site);
uint64_t explored_add(struct explored_word word, uint64_t amount, const struct explored_site *site);
void explored_fence(const struct explored_site *site);

/* ---- for platform/explored.c ---- */

/* Starts a thread of the run; its number, or -EAGAIN when there are EXPLORED_THREADS_MAX already. */
int explored_thread_start(const char *name, void (*body)(void *argument), void *argument);
void explored_thread_join(int thread);
int explored_thread_self(void);
void *explored_self(void);
void explored_self_set(void *self);

/* Another thread goes on, if one can; or this one all the same, since a yield is a hint. */
void explored_yield(void);

/* Blocks if the word is expected: a seq_cst load, which is one step with the blocking as far as wakes go. With a
 * deadline the strategy may let it time out whenever it likes, a limited number of times; time is not modelled. 0 or
 * -ETIMEDOUT. */
int explored_park(struct explored_word word, uint64_t expected, bool deadline);
uint32_t explored_wake(const void *cell, uint32_t count);

/* Time in ns: grows with the steps of the run. */
uint64_t explored_now(void);

/* Zeroed memory of the run; NULL when the strategy says that the allocation fails (explored_allocations_may_fail). */
void *explored_alloc(size_t size);
void explored_free(void *memory);

/* ---- for the code of a scenario ---- */

/* Ends the run: an invariant is broken. Does not return. */
_Noreturn void explored_fail(const char *invariant, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line in the table of a replay, in the column of the calling thread. */
void explored_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Names an address for the table (a task, a queue). The text is kept by reference. */
void explored_name(const void *address, const char *name);

/* What to call when no thread can go on; it says what is wrong with explored_fail, or returns, and then the run is
 * reported as standing still (S3). It may look at everything, but run no operation that could block. */
void explored_at_rest(void (*check)(void *context), void *context);

/* A load or a read-modify-write of the watched word, after it was done. */
struct explored_event {
    uint32_t thread;
    bool changes;         /* a read-modify-write; else a load, or a compare-and-swap that lost */
    uint32_t age;         /* of what a load found: how many stores are newer (ra) */
    uint64_t found, left; /* the value before and after */
};

/* Calls seen after each such operation, in the thread that did it: for what is wrong or not depending on how it came
 * about. One word per run. */
void explored_watch(const void *word, void (*seen)(void *context, const struct explored_event *event), void *context);

/* A choice of the scenario's own, 0 to count - 1. */
uint32_t explored_choose(uint32_t count);

/* From here on each allocation may fail, in this run, up to limit times. */
void explored_allocations_may_fail(uint32_t limit);

/* How many deadlines may still come in this run (2 at first). Then none comes any more: what only a time-out would set
 * going again is at rest, so that a lost wake-up is not mistaken for a late one. */
void explored_deadlines_may_come(uint32_t limit);

/* The model of this run: what comes "before" what depends on it (sc alone has one time for all threads). */
enum explored_model explored_model(void);

/* Locks that the calling thread holds (S10); counted by whoever wraps lock.h and says +1 and -1. */
uint32_t explored_locks_held(void);
void explored_lock_taken(int change);

/* From here on the calling thread may take at most so many steps (operations and plain accesses) while no other thread
 * runs; one more breaks S5. Each time another one has run the count begins anew. 0: no limit. */
void explored_alone_at_most(uint32_t steps);

/* Allocations of this run that have not been freed. */
uint32_t explored_blocks(void);

/* ---- for the explorer ---- */

enum explored_strategy { EXPLORED_EXHAUSTIVE, EXPLORED_RANDOM, EXPLORED_PCT, EXPLORED_STRATEGY_COUNT };

enum explored_choice_kind {
    EXPLORED_CHOICE_THREAD,  /* which thread goes on; 0: the running one, or the next one that can */
    EXPLORED_CHOICE_STAY,    /* whether a thread that yields goes on all the same; 0: no */
    EXPLORED_CHOICE_VALUE,   /* which store a load returns, a read-modify-write follows; 0: the newest */
    EXPLORED_CHOICE_PLACE,   /* ra: where in the location's order a store goes; 0: last */
    EXPLORED_CHOICE_DRAIN,   /* tso: whether another thread's store is visible; 0: yes */
    EXPLORED_CHOICE_MEMORY,  /* whether an allocation fails; 0: no */
    EXPLORED_CHOICE_SCENARIO /* explored_choose */
};

struct explored_choice {
    uint16_t chosen, count;
    uint8_t kind;
    uint8_t cost_thread, cost_value; /* what a deviation here takes from the bounds */
};

struct explored_settings {
    enum explored_model model;
    enum explored_strategy strategy;
    uint64_t seed;             /* random, pct: of this run */
    bool focused;              /* random: threads are interrupted at a few locations, drawn for the run */
    uint32_t preemption_bound; /* exhaustive: switches away from a thread that could go on; yields that do not switch */
    uint32_t stale_bound;      /* exhaustive: loads, stores and drains that do not take choice 0 */
    uint32_t depth;            /* pct: priority changes + 1 */
    uint32_t steps_max;        /* more is a livelock */
    bool reuse_memory;         /* freed memory is handed out again at once (ABA); else never, touching it is an error */
    bool traces;               /* keep the lines of the table */
};

struct explored_line {
    uint8_t thread;
    char text[95];
};

/* The outcome of one run; owned by the engine, valid until the next one. */
struct explored_result {
    bool broken;
    char invariant[32]; /* "S3", "data race", ... */
    char text[256];
    uint32_t steps, preemptions;
    const struct explored_choice *choices;
    uint32_t choice_count;
    const struct explored_line *lines; /* traces only */
    uint32_t line_count;
    const char *thread_names[EXPLORED_THREADS_MAX];
    uint32_t thread_count;
};

/* Runs body as thread "main". prefix: choices to take first (a replay, or the exhaustive walk); after them the strategy
 * decides. A prefix's choice that is out of range is taken as 0. */
const struct explored_result *explored_run(const struct explored_settings *settings, void (*body)(void *context),
                                           void *context, const struct explored_choice *prefix, uint32_t prefix_count);

/* The exhaustive walk: the prefix of the next run after result, within the bounds; false: all have been run. prefix
 * holds room choices. */
bool explored_next(const struct explored_settings *settings, const struct explored_result *result,
                   struct explored_choice *prefix, uint32_t room, uint32_t *prefix_count);

/* Writes the deviations as text, e.g. "1c.2-3f.1" (place in base 36, point, choice), "0" if there are none; and reads
 * them. -EINVAL, -ENOSPC. */
int explored_write(const struct explored_choice *choices, uint32_t count, char *text, size_t room);
int explored_read(const char *text, struct explored_choice *choices, uint32_t room, uint32_t *count);

/* All sites of the program, sorted by file and line, one per line and operation (a header's site is compiled into
 * several files: site_set changes them all). */
uint32_t explored_sites(const struct explored_site *const **out);
/* The site's file, from the root of the project: without the way there ("../"). */
const char *explored_site_path(const struct explored_site *site);
/* Weakens: order and failure of the site and its copies, or fence for a fence. site_reset takes it back. */
void explored_site_set(const struct explored_site *site, uint8_t order, uint8_t failure, uint8_t fence);
void explored_site_reset(const struct explored_site *site);
/* Whether an operation ran at the site or a copy of it since sites_forget. */
bool explored_site_reached(const struct explored_site *site);
void explored_sites_forget(void);

extern const char *const explored_model_names[EXPLORED_MODEL_COUNT];       /* sc tso ra */
extern const char *const explored_strategy_names[EXPLORED_STRATEGY_COUNT]; /* exhaustive random pct */

#endif
