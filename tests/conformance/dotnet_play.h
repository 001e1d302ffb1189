/* SPDX-License-Identifier: MIT
 *
 * Scheduler dotnet with its idle policy, played by one thread: a still pool (still.h) whose requests, releases and
 * turns are the policy's own.
 *
 * How it works. The test calls the hooks of a worker's life (scheduler.h) in the order in which worker.c calls them,
 * for one worker after the other, so that any interleaving of their steps can be written down and is the same every
 * time. A wait must find its signal at once: a worker that would have to block ends the test.
 */
#ifndef PILFER_TESTS_CONFORMANCE_DOTNET_PLAY_H
#define PILFER_TESTS_CONFORMANCE_DOTNET_PLAY_H

#include "still.h"

/* Where the counts of 16 bits lie in the semaphore's word (idle/semaphore.c). */
enum play_part { PLAY_SIGNALS = 0, PLAY_WAITERS = 16, PLAY_SPINNERS = 32 };

#define PLAY_OUTSIDE UINT32_MAX       /* a thread that is no worker and not attached */
#define PLAY_GUEST   (UINT32_MAX - 1) /* one that is attached */

struct dotnet_workers; /* idle/dotnet_workers.h */

struct play {
    struct still still;
    struct pool *pool;
    struct dotnet_workers *idle;
};

/* workers of which so many may be engaged at once (goal); none is. Settings: NULL: the defaults. */
void play_open(struct play *play, const struct subject *subject, uint32_t workers, uint32_t goal,
               const struct pilfer_setting *settings, uint32_t setting_count);
void play_close(struct play *play);

/* Submits a task as worker self, as a guest or from outside, and makes the request that follows. */
void play_submit(struct play *play, uint32_t self, struct still_task *task, enum pilfer_placement placement);

/* Worker self takes its signal and begins a turn. */
void play_wake(struct play *play, uint32_t self);
/* It begins a turn in any case. */
void play_begin(struct play *play, uint32_t self);
/* Its next task, the first of the turn or a later one; ends the test unless it is expected, which NULL may be. */
void play_next(struct play *play, uint32_t self, bool first, const struct still_task *expected);
/* It found nothing; true: it begins another turn. */
bool play_end(struct play *play, uint32_t self, bool missed);

/* A common counter, over all threads. */
uint64_t play_count(const struct play *play, enum counter counter);
uint32_t play_engaged(const struct play *play);
/* Signals that nobody has taken. */
uint32_t play_signals(const struct play *play);
/* One of the counts of a semaphore's word. */
uint16_t play_part(uint64_t word, enum play_part part);

#endif
