/* SPDX-License-Identifier: MIT
 *
 * The explored back end of platform.h: threads, waiting and memory go to the engine (explored/explored.h).
 *
 * Time is not modelled: it grows with the steps of a run, CPU time is the same, and a deadline may come at any moment.
 * Pausing and yielding let another thread go on. There are always two CPUs, and a pause instruction is one unit long.
 */
#include "platform/pause.h"

#include <errno.h>

#include "explored/explored.h"

enum { USABLE_CPUS = 2 };

int platform_init(void)
{
    return 0;
}

/* ---- threads ---- */

struct platform_thread {
    int number;
};

int platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument), void *argument)
{
    struct platform_thread *thread = explored_alloc(sizeof *thread);
    if (thread == NULL)
        return -ENOMEM;
    thread->number = explored_thread_start(name, body, argument);
    if (thread->number < 0) {
        int status = thread->number;
        explored_free(thread);
        return status;
    }
    *out = thread;
    return 0;
}

void platform_thread_join(struct platform_thread *thread)
{
    explored_thread_join(thread->number);
    explored_free(thread);
}

struct platform_thread *platform_thread_self(void)
{
    struct platform_thread *thread = explored_alloc(sizeof *thread);
    if (thread != NULL)
        thread->number = explored_thread_self();
    return thread;
}

void platform_thread_forget(struct platform_thread *thread)
{
    explored_free(thread);
}

int platform_thread_schedule(const struct platform_thread *thread, struct platform_schedule *out)
{
    (void)thread;
    *out = (struct platform_schedule){0};
    return 0;
}

void *platform_self(void)
{
    return explored_self();
}

void platform_self_set(void *self)
{
    explored_self_set(self);
}

/* ---- clocks ---- */

uint64_t platform_now_ns(void)
{
    return explored_now();
}

uint64_t platform_stamp(void)
{
    return explored_now();
}

uint64_t platform_stamp_ns(uint64_t ticks)
{
    return ticks;
}

uint64_t platform_thread_cpu_ns(void)
{
    return explored_now();
}

uint64_t platform_thread_cpu_read_ns(void)
{
    return 1;
}

uint64_t platform_process_cpu_ns(void)
{
    return explored_now();
}

/* ---- waiting ---- */

void platform_pause(uint32_t count)
{
    (void)count;
    explored_yield();
}

void platform_yield(void)
{
    explored_yield();
}

int platform_park(struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns)
{
    return explored_park(ORDERED_WORD(word), expected, deadline_ns != PLATFORM_FOREVER);
}

uint32_t platform_wake(struct shared_u32 *word, uint32_t count)
{
    return explored_wake(&word->cell, count);
}

/* ---- work, memory, machine ---- */

void platform_charge(uint64_t ns)
{
    (void)ns;
}

void *platform_alloc(size_t size)
{
    return explored_alloc(size);
}

void platform_free(void *memory)
{
    explored_free(memory);
}

uint32_t platform_usable_cpus(void)
{
    return USABLE_CPUS;
}

uint64_t platform_pause_instruction_ps(void)
{
    return PLATFORM_PAUSE_NS * 1000;
}

uint32_t platform_pause_units_max(void)
{
    return pause_units_max(platform_pause_instruction_ps());
}
