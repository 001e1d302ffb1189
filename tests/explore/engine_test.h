/* SPDX-License-Identifier: MIT
 *
 * What the tests of the engine share: a failed expectation is printed and counted; walks over all runs of a body.
 */
#ifndef PILFER_TESTS_EXPLORE_ENGINE_TEST_H
#define PILFER_TESTS_EXPLORE_ENGINE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explored/explored.h"
#include "platform.h"

enum { STEPS_MAX = 2000, UNBOUNDED = 254, CHOICES_ROOM = 65536 };

static uint32_t expectations_failed;

#define EXPECT(CONDITION, ...)                                               \
    do {                                                                     \
        if (!(CONDITION)) {                                                  \
            expectations_failed++;                                           \
            printf("%s:%d: not true: %s: ", __FILE__, __LINE__, #CONDITION); \
            printf(__VA_ARGS__);                                             \
            printf("\n");                                                    \
        }                                                                    \
    } while (0)

static inline struct explored_settings settings_exhaustive(enum explored_model model, uint32_t preemption_bound)
{
    return (struct explored_settings){.model = model,
                                      .strategy = EXPLORED_EXHAUSTIVE,
                                      .preemption_bound = preemption_bound,
                                      .stale_bound = UNBOUNDED,
                                      .steps_max = STEPS_MAX};
}

static inline struct explored_settings settings_drawn(enum explored_model model, enum explored_strategy strategy,
                                                      uint64_t seed, uint32_t depth)
{
    return (struct explored_settings){
        .model = model, .strategy = strategy, .seed = seed, .depth = depth, .steps_max = STEPS_MAX};
}

/* All runs within the bounds; each goes to `each`, which may be NULL. Returns how many. */
static inline uint64_t walk(const struct explored_settings *settings, void (*body)(void *context), void *context,
                            void (*each)(const struct explored_result *result, void *context))
{
    static struct explored_choice prefix[CHOICES_ROOM];
    uint32_t prefix_count = 0;
    uint64_t runs = 0;
    const struct explored_result *result;
    do {
        result = explored_run(settings, body, context, prefix, prefix_count);
        runs++;
        if (each != NULL)
            each(result, context);
    } while (explored_next(settings, result, prefix, CHOICES_ROOM, &prefix_count));
    return runs;
}

static inline struct platform_thread *start(void (*body)(void *argument), void *argument)
{
    struct platform_thread *thread;
    if (platform_thread_start(&thread, "other", body, argument) != 0)
        explored_fail("test", "a thread cannot be started");
    return thread;
}

#endif
