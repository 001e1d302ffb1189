/* SPDX-License-Identifier: MIT
 *
 * Hill climbing, see climb.h.
 */
#include "sizing/climb.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545F4914F6CDD1D) >> 32;
}

static void draw_interval(struct climb *climb)
{
    uint64_t width = CLIMB_INTERVAL_MAX_MS - CLIMB_INTERVAL_MIN_MS + 1;
    climb->interval_ms = CLIMB_INTERVAL_MIN_MS + (uint32_t)(random_next(&climb->random) * width >> 32);
}

void climb_init(struct climb *climb, uint64_t seed)
{
    *climb = (struct climb){.random = seed | 1};
    draw_interval(climb);
}

void climb_force(struct climb *climb, uint32_t goal)
{
    if (goal == climb->goal)
        return;
    climb->control += (double)goal - climb->goal;
    climb->goal = goal;
    draw_interval(climb);
}

/* ---- frequencies ---- */

/* The index-th oldest of the count newest entries of a ring. */
static double newest(const struct climb *climb, const double *ring, uint32_t count, uint32_t index)
{
    return ring[(climb->samples - count + index) % CLIMB_SAMPLES];
}

static double mean(const struct climb *climb, const double *ring, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += newest(climb, ring, count, i);
    return sum / count;
}

/* How much of a ring swings at one period: Goertzel's algorithm. */
static double complex component(const struct climb *climb, const double *ring, uint32_t count, double period)
{
    double angle = 2 * M_PI / period;
    double cosine = cos(angle), sine = sin(angle);
    double q1 = 0, q2 = 0;
    for (uint32_t i = 0; i < count; i++) {
        double q0 = 2 * cosine * q1 - q2 + newest(climb, ring, count, i);
        q2 = q1;
        q1 = q0;
    }
    return CMPLX((q1 - q2 * cosine) / count, q2 * sine / count);
}

/* What the rings say of the next move. */
struct evidence {
    double ratio;      /* what one worker more brings, beyond the bias; negative: it is not worth it */
    double confidence; /* from 0; above 1 is as good as 1 */
};

static double noise_beside(const struct climb *climb, uint32_t count, double throughput)
{
    double periods = (double)count / CLIMB_WAVE_PERIOD;
    double shorter = count / (periods + 1), longer = count / (periods - 1);
    double noise = cabs(component(climb, climb->throughputs, count, shorter) / throughput);
    if (longer <= count)
        noise = fmax(noise, cabs(component(climb, climb->throughputs, count, longer) / throughput));
    return noise;
}

static struct evidence weigh(struct climb *climb)
{
    struct evidence none = {0, 0};
    uint64_t usable = climb->samples - 1 < CLIMB_SAMPLES ? climb->samples - 1 : CLIMB_SAMPLES;
    uint32_t count = (uint32_t)usable / CLIMB_WAVE_PERIOD * CLIMB_WAVE_PERIOD;
    if (count <= CLIMB_WAVE_PERIOD)
        return none;
    double throughput = mean(climb, climb->throughputs, count), workers = mean(climb, climb->workers, count);
    if (throughput <= 0 || workers <= 0)
        return none;
    double complex swing = component(climb, climb->throughputs, count, CLIMB_WAVE_PERIOD) / throughput;
    double complex wave = component(climb, climb->workers, count, CLIMB_WAVE_PERIOD) / workers;
    double noise = noise_beside(climb, count, throughput);
    climb->noise = climb->noise == 0
                       ? noise
                       : CLIMB_ERROR_SMOOTHING * noise + (1 - CLIMB_ERROR_SMOOTHING) * climb->noise;
    double loudest = fmax(climb->noise, noise);
    return (struct evidence){
        .ratio = cabs(wave) > 0 ? creal((swing - CLIMB_BIAS * wave) / wave) : 0,
        .confidence = loudest > 0 ? cabs(wave) / loudest / CLIMB_SIGNAL_TO_NOISE : 1,
    };
}

/* ---- the update ---- */

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* A move to a change of the setting over so many seconds. */
static double gain(struct evidence evidence, const struct climb_sample *sample, double seconds)
{
    double move = clamp(evidence.ratio, -1, 1) * clamp(evidence.confidence, 0, 1);
    double change = copysign(pow(fabs(move), CLIMB_GAIN_EXPONENT), move) * CLIMB_MOVE_MAX_PER_S * seconds;
    change = fmin(change, CLIMB_MOVE_MAX_PER_SAMPLE);
    return change > 0 && sample->cpu_percent > CLIMB_CPU_HIGH_PERCENT ? 0 : change;
}

/* The wave's height now, with the setting cut so that the wave fits below the maximum. */
static double fit_wave(struct climb *climb, const struct climb_sample *sample)
{
    double wave =
        trunc(0.5 + climb->control * climb->noise * CLIMB_SIGNAL_TO_NOISE * CLIMB_WAVE_MULTIPLIER * 2);
    wave = clamp(wave, 1, CLIMB_WAVE_MAX);
    climb->control = fmax(sample->minimum, fmin((double)sample->maximum - wave, climb->control));
    return wave;
}

struct climb_step climb_update(struct climb *climb, const struct climb_sample *sample)
{
    climb_force(climb, sample->goal);
    double seconds = sample->seconds + climb->carried_seconds;
    double completions = (double)sample->completions + climb->carried_completions;
    /* Workers in the middle of a task make the count wrong by up to one each. */
    bool too_few = climb->samples > 0 && (sample->goal - 1.0) / completions >= CLIMB_SAMPLE_ERROR_MAX;
    climb->carried_seconds = too_few ? seconds : 0;
    climb->carried_completions = too_few ? completions : 0;
    if (too_few)
        return (struct climb_step){sample->goal, CLIMB_MORE_DATA_MS};

    climb->throughputs[climb->samples % CLIMB_SAMPLES] = completions / seconds;
    climb->workers[climb->samples % CLIMB_SAMPLES] = sample->goal;
    climb->samples++;
    struct evidence evidence = weigh(climb);
    climb->control += gain(evidence, sample, seconds);
    double wave = fit_wave(climb, sample);
    bool crest = climb->samples / (CLIMB_WAVE_PERIOD / 2) % 2 != 0;
    uint32_t goal = (uint32_t)clamp(trunc(climb->control + (crest ? wave : 0)), sample->minimum, sample->maximum);
    if (goal != climb->goal) {
        climb->goal = goal;
        draw_interval(climb);
    }
    struct climb_step step = {goal, climb->interval_ms};
    /* More than the minimum does harm, and fewer is not allowed: stay here, and try more only now and then. */
    if (evidence.ratio < 0 && goal == sample->minimum)
        step.interval_ms = (uint32_t)(0.5 + climb->interval_ms * (10 * fmin(-evidence.ratio, 1)));
    return step;
}
