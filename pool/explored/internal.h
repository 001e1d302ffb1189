/* SPDX-License-Identifier: MIT
 *
 * What the parts of the engine share: run.c (threads, scheduling points), choices.c (strategies), memory.c (the
 * models), plain.c (memory of a run and its plain accesses), sites.c.
 */
#ifndef PILFER_POOL_EXPLORED_INTERNAL_H
#define PILFER_POOL_EXPLORED_INTERNAL_H

#include "explored.h"
#include "fiber.h"

enum { NOBODY = -1 };

/* What a thread knows, or what a store hands over: for each location the oldest store that may still be read, and for
 * each thread how much of it happened before. at has room for LOCATIONS_MAX entries, of which count are in use; those
 * beyond are 0, which is the initial value of every location. */
struct view {
    uint32_t clock[EXPLORED_THREADS_MAX];
    uint32_t count;
    uint32_t *at;
};

/* ---- run.c ---- */

/* A thread of the run is about to do something that others could notice: another one may go on first. */
void run_point(void);
uint32_t run_thread(void); /* the running one */
uint32_t run_thread_count(void);
/* It takes a step: explored_alone_at_most. */
void run_step(void);
/* Ends the run; does not return. */
_Noreturn void run_broken(const char *invariant, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool run_is_tracing(void);
/* Asks the strategy, where allocations may fail. */
bool run_allocation_fails(void);
/* True while the fibers of a run are running. */
bool run_is_running(void);
/* A line of the table. */
void run_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A value as the table shows it: a number, or the name given to that address. */
const char *run_value_text(uint64_t value, char *text, size_t room);

/* ---- choices.c ---- */

void choices_begin(const struct explored_settings *settings, const struct explored_choice *prefix, uint32_t count);
/* One of count > 1 options. costs: what choosing another one than 0 takes from the bounds. */
uint32_t choices_make(enum explored_choice_kind kind, uint32_t count, uint32_t cost_thread, uint32_t cost_value);
/* The threads to choose from at a CHOICE_THREAD (for pct); others are chosen by number alone. */
uint32_t choices_thread(const uint8_t *threads, uint32_t count, uint32_t cost_thread);
/* The running thread is about to touch a location (its number; 0: not known). */
void choices_touch(uint32_t location);
/* pct: the thread has yielded, others come first from now on. */
void choices_yielded(uint32_t thread);
const struct explored_choice *choices_made(uint32_t *count);

/* ---- memory.c ---- */

void memory_begin(enum explored_model model);
/* Happens-before edges of starting and joining threads. */
void memory_started(uint32_t parent, uint32_t child);
void memory_joined(uint32_t waiter, uint32_t ended);
/* Before a system call that blocks or wakes, and when a thread has been joined: tso drains its buffer. */
void memory_drain(uint32_t thread);
/* What a park compares with: a seq_cst load's value, none older than what the callers of memory_woken knew. */
uint64_t memory_compared(struct explored_word word);
void memory_woken(void);
/* The view of a thread. */
struct view *memory_view(uint32_t thread);

/* ---- plain.c ---- */

void plain_begin(bool reuse, bool checks);
/* Whether the address may be used: 0, or the run is ended. */
void plain_check_alive(const void *address);
/* The same for a shared operation of the running thread, which must come after the plain writes there are. */
void plain_check_ordered(const void *address, size_t size);
/* Where an address lies, for the table: "block 7+24"; false outside the run's memory. */
bool plain_describe(const void *address, char *text, size_t room);

#endif
