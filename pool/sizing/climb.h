/* SPDX-License-Identifier: MIT
 *
 * Hill climbing: how many workers should be engaged, from what came of having engaged more and fewer.
 *
 * How it works. The number of workers is made to swing by a small wave around a control setting. The throughput of each
 * interval is kept beside the number of workers it was reached with; if the throughput swings at the wave's period more
 * than the noise at the neighbouring periods explains, and in step with the workers, the setting moves up, else down.
 * More workers must pay: the throughput is to rise by 15 % of what proportion would give. The interval is drawn anew
 * with each change, so that two programs do not swing in step.
 *
 * Arithmetic only: no clock, no thread, no shared memory. The caller serialises its calls.
 *
 * Worst case. A throughput that is mostly noise makes the setting wander, up as well as down.
 *
 * Source. dotnet/runtime 8.0, PortableThreadPool.HillClimbing; the method is that of Hellerstein, Morrison, Eilebrecht
 * 2010 ("Applying control theory in the real world: experience with building a controller for the .NET thread pool").
 */
#ifndef PILFER_POOL_SIZING_CLIMB_H
#define PILFER_POOL_SIZING_CLIMB_H

#include <stdint.h>

/* Twelve of the thirteen parameters of the source, its percentages as fractions. The thirteenth, the off switch, is the
 * caller's. */
enum {
    CLIMB_WAVE_PERIOD = 4,                     /* samples */
    CLIMB_WAVE_HISTORY = 8,                    /* periods that are remembered */
    CLIMB_MOVE_MAX_PER_SAMPLE = 20,            /* workers */
    CLIMB_WAVE_MAX = 20,                       /* workers */
    CLIMB_INTERVAL_MIN_MS = 10,                /* between two samples */
    CLIMB_INTERVAL_MAX_MS = 200,
    CLIMB_CPU_HIGH_PERCENT = 95,               /* above it nothing moves up; here a constant of the source */
    CLIMB_MORE_DATA_MS = 10,                   /* as well: how long to wait for more completions */
    CLIMB_SAMPLES = CLIMB_WAVE_PERIOD * CLIMB_WAVE_HISTORY,
};
#define CLIMB_SIGNAL_TO_NOISE   3.0  /* signal over noise at which a move is believed in full */
#define CLIMB_ERROR_SMOOTHING   0.01 /* weight of the newest noise */
#define CLIMB_BIAS              0.15 /* throughput to be gained per worker, 1 being in proportion */
#define CLIMB_MOVE_MAX_PER_S    4.0  /* workers per second */
#define CLIMB_WAVE_MULTIPLIER   1.0
#define CLIMB_SAMPLE_ERROR_MAX  0.15 /* of a sample, by workers that are in the middle of a task */
#define CLIMB_GAIN_EXPONENT     2.0

/* Zeroed memory and climb_init make one. */
struct climb {
    double throughputs[CLIMB_SAMPLES]; /* rings: per second, and the workers they were reached with */
    double workers[CLIMB_SAMPLES];
    uint64_t samples;          /* ever stored */
    double control;            /* the setting, around which the goal swings */
    double noise;              /* smoothed, as a fraction of the throughput */
    double carried_seconds;    /* of samples too small to be stored */
    double carried_completions;
    uint32_t goal;             /* last given or heard of */
    uint32_t interval_ms;      /* between samples, until the goal changes */
    uint64_t random;
};

/* What happened since the last update. */
struct climb_sample {
    uint32_t goal;           /* that was in force */
    uint32_t minimum, maximum;
    uint32_t cpu_percent;    /* of the whole process, of all processors */
    double seconds;
    uint64_t completions;
};

/* What to do now. */
struct climb_step {
    uint32_t goal;
    uint32_t interval_ms; /* to the next sample */
};

void climb_init(struct climb *climb, uint64_t seed);

struct climb_step climb_update(struct climb *climb, const struct climb_sample *sample);

/* Somebody else has changed the goal. */
void climb_force(struct climb *climb, uint32_t goal);

#endif
