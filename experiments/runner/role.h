/* SPDX-License-Identifier: MIT
 *
 * One process of a cell, seen from inside.
 *
 * How it works. Lines come in on descriptor 3: "key = value" for parameters and facts of this cell ("port", "seed"),
 * then single words: `begin` (all is said: set up), `window` (the times are said: measure), `stop`. A window that waits
 * is said a second time when it is moved ahead. Lines go out on descriptor 4: what the role found, then `ready` when it
 * is set up and `done` at the end. A role that cannot start says "surroundings = why" and leaves with status 3; one
 * that finds something broken says "failure = what" and leaves with 1.
 *
 * Files: role.c (the conversation), role_router.c (processes under test), role_target.c (the keeper of a foreign one),
 * role_load.c (load generator and extension).
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_ROLE_H
#define PILFER_EXPERIMENTS_RUNNER_ROLE_H

#include "cli/parameters.h"
#include "histogram.h"
#include "report.h"

#define ROLE_WORD_SIZE 16

/* What the clients say a few times a second while a window waits for steady CPU: requests answered since the start, and
 * when that was (monotonic clock, ns). One line, so that the two belong together. */
#define ROLE_ANSWERED        "answered"
#define ROLE_ANSWERED_FORMAT "%llu at %llu"

/* Exit statuses of a role. */
enum role_status { ROLE_DONE = 0, ROLE_FAILED = 1, ROLE_SURROUNDINGS = 3 };

struct role {
    struct configuration configuration;
    struct report facts; /* lines that are no parameters */
    struct line_reader commands;
    char word[ROLE_WORD_SIZE]; /* the last single word; "" once it has been taken */
};

/* Waits for the next single word until deadline_ns (monotonic clock; UINT64_MAX: for ever). True: it is `word`. False:
 * the deadline has come; or `stop` has, behind the end of a window that this process has missed: it is kept for whoever
 * waits for it. Any other word, and the end of the commands, end the process: the runner is gone or confused. */
bool role_wait(struct role *role, const char *word, uint64_t deadline_ns);

/* A fact of the cell; ends the process with a failure if it was not given. */
uint64_t role_fact(struct role *role, const char *name);

void role_say_text(const char *name, const char *text);
void role_say_number(const char *name, double number);
void role_say_integer(const char *name, uint64_t number);
void role_say_word(const char *word);
void role_say_histogram(const char *name, const struct histogram *histogram);

/* Say why and end the process. */
_Noreturn void role_refuse(const char *what, const char *why);
_Noreturn void role_fail(const char *what, const char *why);

/* What to do before this process is left early, for whatever reason it can see. */
void role_on_leave(void (*leave)(void));

/* Restricts the process to the CPUs of a parameter ("router-cpus"), if it is set. Ends the process when refused. */
void role_pin(struct role *role, const char *key);

/* The roles; each returns enum role_status. */
int role_router(struct role *role);     /* router and echo */
int role_target(struct role *role);     /* a foreign server in place of them */
int role_in_process(struct role *role); /* workloads without clients */
int role_load(struct role *role);
int role_extension(struct role *role);

#endif
