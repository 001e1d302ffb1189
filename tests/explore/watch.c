/* SPDX-License-Identifier: MIT
 *
 * Signals and progress; see watch.h.
 */
#include "watch.h"

#include <stdio.h>
#include <time.h>

#include "runner/progress.h"

/* Runs between two looks at the clock: some milliseconds. */
enum { RUNS_PER_LOOK = 128 };

static volatile sig_atomic_t noted;

static struct {
    struct progress progress;
    double start_s, shown_s;
} watch;

double watch_now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void note(int number)
{
    noted = number;
}

void watch_begin(void)
{
    const struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    progress_begin(&watch.progress, stderr, 0, 0);
    watch.start_s = watch.shown_s = watch_now_s();
}

void watch_end(void)
{
    progress_clear(&watch.progress);
    fflush(stderr);
}

int watch_signal(void)
{
    return noted;
}

static void show(uint64_t runs, uint64_t total, uint32_t kinds, double spent_s)
{
    char line[256], left[32], of[64] = "", behind[64] = "";
    double rate = (double)runs / spent_s;
    if (total > 0) {
        progress_format_seconds((double)(total - runs) / rate, left, sizeof left);
        snprintf(of, sizeof of, " of %llu", (unsigned long long)total);
        snprintf(behind, sizeof behind, ", %s left", left);
    }
    snprintf(line, sizeof line, "%llu%s runs, %.0f/s, %u kinds broken%s", (unsigned long long)runs, of, rate, kinds,
             behind);
    progress_show(&watch.progress, line);
}

void watch_step(uint64_t runs, uint64_t total, uint32_t kinds)
{
    if (!watch.progress.terminal || runs % RUNS_PER_LOOK != 0)
        return;
    double now = watch_now_s();
    if (now - watch.shown_s < (watch.progress.shown ? 0.25 : 1.0))
        return;
    watch.shown_s = now;
    show(runs, total, kinds, now - watch.start_s);
}
