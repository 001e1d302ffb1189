/* SPDX-License-Identifier: MIT
 *
 * The counter page: live counters of a running cell or server, in one small file that others map.
 *
 * How it works. The process under test creates pilfer-UID/counters-PID below $XDG_RUNTIME_DIR, or below /tmp where
 * there is none, and maps it. A reader maps it too and says in it that somebody looks; only then does the writer's main
 * thread refresh the numbers, a few times a second, so a measurement that nobody watches is not disturbed. Refreshing
 * is guarded by a sequence number: odd while the writer writes. The file is removed at the end; files of dead processes
 * are removed by whoever lists the pages.
 *
 * The file lies in a folder that only its owner may enter, and is read with its sizes checked: a page of another
 * version or a damaged one is left out.
 *
 * Labels, both in counter_page.c: @P counter_page.1 the sequence is odd before a number changes; @P counter_page.2 the
 * numbers are written before the sequence is even again.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_COUNTER_PAGE_H
#define PILFER_EXPERIMENTS_RUNNER_COUNTER_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COUNTER_PAGE_ENTRIES_MAX 64
#define COUNTER_PAGE_NAME_SIZE   32
#define COUNTER_PAGE_LABEL_SIZE  96
/* How often a watched page is refreshed. */
#define COUNTER_PAGE_PERIOD_NS 250000000

/* What a reader sees: one consistent state. */
struct counter_page_state {
    pid_t pid;
    char label[COUNTER_PAGE_LABEL_SIZE];    /* of the executor: "chase-lev" */
    char workload[COUNTER_PAGE_LABEL_SIZE]; /* "router" */
    uint64_t refreshed_ns;                  /* monotonic clock; 0: not yet, look again after COUNTER_PAGE_PERIOD_NS */
    uint32_t count;
    struct {
        char name[COUNTER_PAGE_NAME_SIZE]; /* "requests", "tasks_run", "parks", ...; "workers_started" is a level */
        uint64_t value;
    } entries[COUNTER_PAGE_ENTRIES_MAX];
};

struct counter_page;

/* ---- the writing end: one thread ---- */

/* NULL where no file can be made; the process then runs without a page. */
struct counter_page *counter_page_create(const char *label, const char *workload);
/* True while a reader looks. */
bool counter_page_is_watched(const struct counter_page *page);
/* Between counter_page_begin and _end: sets numbers by position; names stay as first set. */
void counter_page_begin(struct counter_page *page);
void counter_page_set(struct counter_page *page, uint32_t index, const char *name, uint64_t value);
void counter_page_end(struct counter_page *page);
/* Unmaps and removes the file. Accepts NULL. */
void counter_page_remove(struct counter_page *page);

/* ---- the reading end ---- */

/* Process ids of the pages of living processes of this user, ascending; returns how many there are, of which the first
 * capacity are written. Removes what dead ones left. */
uint32_t counter_page_list(pid_t *pids, uint32_t capacity);

struct counter_page_reader;

/* Maps the page of a process and says that somebody looks; NULL if there is none or it is not ours to read. */
struct counter_page_reader *counter_page_open(pid_t pid);
/* Reads a consistent state and says again that somebody looks (do so at least every two seconds). False when the
 * process has ended. */
bool counter_page_read(struct counter_page_reader *reader, struct counter_page_state *out);
void counter_page_close(struct counter_page_reader *reader);

#endif
