/* SPDX-License-Identifier: MIT
 *
 * The measurement window and its clocks; see window.h.
 */
#include "window.h"

#include <stdio.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t window_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

struct window_edge window_edge_now(void)
{
    return (struct window_edge){.monotonic_ns = clock_ns(CLOCK_MONOTONIC), .boot_ns = clock_ns(CLOCK_BOOTTIME)};
}

uint64_t window_suspended_ns(const struct window_edge *first, const struct window_edge *last)
{
    uint64_t before = first->boot_ns - first->monotonic_ns, after = last->boot_ns - last->monotonic_ns;
    /* The two readings of one edge are not one instant: a preemption between them is no suspension. */
    return after > before + WINDOW_LATE_NS ? after - before : 0;
}

static bool differs(uint64_t one_ns, uint64_t other_ns, uint64_t planned_ns)
{
    uint64_t difference = one_ns > other_ns ? one_ns - other_ns : other_ns - one_ns;
    uint64_t allowed = (uint64_t)((double)planned_ns * WINDOW_TOLERANCE);
    return difference > (allowed > WINDOW_LATE_NS ? allowed : WINDOW_LATE_NS);
}

bool window_clocks_agree(const struct window_edge *first, const struct window_edge *last, char *reason, size_t size)
{
    if (last->monotonic_ns <= first->monotonic_ns) {
        snprintf(reason, size, "the window has no length: the clock read %llu ns, then %llu ns",
                 (unsigned long long)first->monotonic_ns, (unsigned long long)last->monotonic_ns);
        return false;
    }
    uint64_t elapsed_ns = last->monotonic_ns - first->monotonic_ns;
    uint64_t boot_ns = last->boot_ns - first->boot_ns - window_suspended_ns(first, last);
    if (differs(elapsed_ns, boot_ns, elapsed_ns)) {
        snprintf(reason, size, "two clocks disagree: %.3f ms and %.3f ms", (double)elapsed_ns / 1e6,
                 (double)boot_ns / 1e6);
        return false;
    }
    return true;
}

bool window_is_sane(const struct window *window, const struct window_edge *first, const struct window_edge *last,
                    char *reason, size_t size)
{
    if (!window_clocks_agree(first, last, reason, size))
        return false;
    uint64_t planned_ns = window->end_ns - window->start_ns;
    uint64_t elapsed_ns = last->monotonic_ns - first->monotonic_ns;
    if (differs(elapsed_ns, planned_ns, planned_ns)) {
        snprintf(reason, size, "elapsed %.3f ms is not the planned %.3f ms: the runner was held up",
                 (double)elapsed_ns / 1e6, (double)planned_ns / 1e6);
        return false;
    }
    return true;
}
