/* SPDX-License-Identifier: MIT
 *
 * What is to be explored of a subject, and how.
 */
#ifndef PILFER_TESTS_EXPLORE_REQUEST_H
#define PILFER_TESTS_EXPLORE_REQUEST_H

#include "explored/explored.h"

enum { PREEMPTION_BOUND = 2, STALE_BOUND = 2 };

struct request {
    const char *scenario;      /* NULL: all */
    const char *configuration; /* NULL: all */
    bool models[EXPLORED_MODEL_COUNT];
    bool strategies[EXPLORED_STRATEGY_COUNT]; /* exhaustive alone, or one or both of the others */
    uint64_t runs;                            /* exhaustive: at most so many per cell; 0: no limit */
    uint64_t seed;
    uint32_t preemption_bound, stale_bound;
    bool stops_at_first; /* at the first broken run */
    bool quiet;          /* no line of progress */
};

#endif
