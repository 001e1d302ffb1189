/* SPDX-License-Identifier: MIT
 *
 * What the program says: results on standard output, everything else on standard error.
 *
 * How it works. Results are written with stdio to standard output and checked once at the end (output_finish): a closed
 * stream or a full device is an error with a message, never silence; a reader that left early (`| head`) has what it
 * wanted, and only the status tells. Words that came from outside are
 * escaped before they are shown, so that a file name cannot drive the terminal. The locale is never set, so numbers
 * have a decimal point everywhere.
 */
#ifndef PILFER_EXPERIMENTS_CLI_OUTPUT_H
#define PILFER_EXPERIMENTS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses of the program. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_INVALID = 1,      /* done, but a cell failed or is invalid, a comparison regressed, a check was violated */
    EXIT_USAGE = 2,        /* arguments or a sweep file */
    EXIT_SURROUNDINGS = 3, /* a missing program, a limit, a port, a full device */
    EXIT_STORE = 4,        /* the store: damaged, locked, full, unwritable, missing */
    EXIT_INTERRUPTED = 130,
    EXIT_READER_LEFT = 141, /* what SIGPIPE would give; work in progress is finished and stored all the same */
    EXIT_TERMINATED = 143,
};

/* Makes descriptors 0, 1 and 2 safe: one that is closed is taken by /dev/null, so that no file opened later (a store!)
 * receives what is meant for it. Ignores SIGPIPE and SIGXFSZ, and no SIGCHLD. Call first; before any thread. */
void output_init(void);

/* Flushes standard output. Returns status, or, where that was EXIT_DONE or EXIT_INVALID: EXIT_SURROUNDINGS after a
 * message if standard output was closed or did not take everything, EXIT_READER_LEFT if its reader has gone. */
int output_finish(int status);

/* Before another program goes on in this process: flushes, and a standard output that was closed is closed again, so
 * that it notices. */
void output_hand_over(void);

/* One line on standard error, "pilfer: " in front, what is not printable in it as \xNN (words that come from outside
 * are passed through escaped() all the same, which also cuts them). Always returns -1, so that callers can
 * `return complain(...)`. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether text is UTF-8 that shows what it says: no control characters, no invisible ones that change how others are
 * shown (marks of direction, joiners). */
bool is_printable(const char *text);

/* text with what is not printable as \xNN, byte by byte, cut at OUTPUT_ESCAPED_MAX bytes with "..." behind.
 * The returned memory is one of four static buffers: at most four per line. One thread. */
#define OUTPUT_ESCAPED_MAX 120
const char *escaped(const char *text);

/* "; did you mean 'WORD'?" for the nearest of count words (or one that begins like it), or "; one of A, B, C" when none
 * is near and there are at most 12, or "" else. Static memory, valid until the next call. One thread. */
const char *hint(const char *word, const char *const *words, size_t count);

/* How people call this program: the environment's PILFER_COMMAND (the start script sets it), else "pilfer". Shown in
 * messages only. */
#define PROGRAM_NAME_VARIABLE "PILFER_COMMAND"
const char *program_name(void);

#endif
