/* SPDX-License-Identifier: MIT
 *
 * Litmus tests of the engine's memory models: small programs with closed sets of outcomes.
 *
 * A program has up to four threads over a few shared words; each thread leaves what it read in registers. The outcome
 * of a run is the registers' digits, or the name of what broke ("S3": nobody could go on). A set is written as a list
 * of outcomes; "*" stands for every outcome with digits 0 and 1, "*3" with 0 to 2; "-1.0" takes away what fits (a point
 * fits any digit).
 */
#ifndef PILFER_TESTS_EXPLORE_LITMUS_H
#define PILFER_TESTS_EXPLORE_LITMUS_H

#include "platform.h"

enum { LITMUS_THREADS_MAX = 4, LITMUS_REGISTERS_MAX = 5 };

struct world {
    struct shared_u32 x, y, z, w;
    uint32_t r[LITMUS_REGISTERS_MAX];
};

typedef void litmus_thread(struct world *world);

struct litmus {
    const char *name;
    uint32_t registers;
    litmus_thread *threads[LITMUS_THREADS_MAX];
    litmus_thread *final; /* reads after all threads have been joined; NULL */
    const char *sc, *tso, *ra;
    const char *source; /* whose answer the sets are */
    bool large;         /* millions of runs without a bound on preemptions */
};

extern const struct litmus litmus_programs[];
extern const uint32_t litmus_program_count;

#endif
