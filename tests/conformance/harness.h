/* SPDX-License-Identifier: MIT
 *
 * How one invariant is tested: in a child process, under a watch.
 *
 * What it is. A test that finds a broken scheduler must survive it: the suspect may crash, hang, exit or trample
 * memory. So each invariant runs in a forked child. Child and parent share one page: the child counts progress and says
 * what it tries at the moment; the parent ends a child whose progress stands still.
 *
 * How a test reports. It returns: the invariant held. check_broken(): it did not; check_skip(): it does not apply. They
 * end the child at once, whatever threads it has. A crash, a foreign exit or a stall is "broken" too, with what was
 * being tried.
 */
#ifndef PILFER_TESTS_CONFORMANCE_HARNESS_H
#define PILFER_TESTS_CONFORMANCE_HARNESS_H

#include "ordered.h"

#define HARNESS_TEXT_SIZE 2048

/* What is tested. */
struct subject {
    const char *name;   /* scheduler or bound */
    const char *idle;   /* NULL: its own */
    const char *sizing; /* NULL: its own */
    const char *over;   /* for a bound; NULL: the default */
    uint64_t seed;
    uint64_t tasks; /* of the stress of D3 */
};

enum outcome { OUTCOME_HELD, OUTCOME_BROKEN, OUTCOME_SKIPPED };

struct verdict {
    enum outcome outcome;
    char text[HARNESS_TEXT_SIZE]; /* what broke, why it was skipped, or how much was tried; may be empty when it held */
    uint32_t left_out; /* promises of it that were not tried, when it held */
};

/* Runs test(subject) in a child. patience_s: seconds without progress after which the child counts as stalled. The
 * calling process must have no other thread. Returns 0, or -errno when no child could be made. */
int harness_run(void (*test)(const struct subject *subject), const struct subject *subject, uint32_t patience_s,
                struct verdict *out);

/* Zeroed memory that the caller and its children share; NULL without memory. Never freed. */
void *harness_shared(size_t size);

/* ---- for tests, inside the child, any thread ---- */

/* Something happened that a stalled suspect could not have done. Cheap enough for every task of a short test. */
void check_progress(void);

/* Says what is tried from now on (printf-like); counts as progress. */
void check_trying(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* So many of the invariant's promises cannot be tried here; the verdict is on the others. One thread. */
void check_left_out(uint32_t promises);

/* The invariant is broken: ends the child. */
_Noreturn void check_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The invariant held, and this is what was done for it: ends the child. */
_Noreturn void check_held(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The invariant does not apply: ends the child. */
_Noreturn void check_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The test itself could not be set up (no memory, no thread): ends the child as broken, in those words. */
#define check_setup(condition)                                                                             \
    do {                                                                                                   \
        if (!(condition))                                                                                  \
            check_broken("the test could not be set up: %s (%s:%d)", #condition, __FILE_NAME__, __LINE__); \
    } while (0)

/* Waits until condition(context) is true, by polling; the watch ends it if it never is. */
void check_until(bool (*condition)(void *context), void *context);

/* A generator for the order of steps: the same seed gives the same steps (splitmix64). */
uint64_t check_random(uint64_t *state);

#endif
