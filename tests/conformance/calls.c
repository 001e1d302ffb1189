/* SPDX-License-Identifier: MIT
 *
 * The wrappers of calls.h. A hook is taken off while it runs, so that what it calls itself goes straight on.
 */
#include "calls.h"

static _Thread_local struct calls counted;
static _Thread_local struct call_hooks hooked;

void calls_begin(const struct call_hooks *hooks)
{
    counted = (struct calls){0};
    hooked = hooks != NULL ? *hooks : (struct call_hooks){0};
}

struct calls calls_read(void)
{
    return counted;
}

static void run_hook(void (*hook)(void *context))
{
    const struct call_hooks before = hooked;
    hooked = (struct call_hooks){0};
    hook(before.context);
    hooked = before;
}

void __real_platform_pause(uint32_t count);
void __wrap_platform_pause(uint32_t count);
void __wrap_platform_pause(uint32_t count)
{
    if (counted.pauses++ == 0)
        counted.yields_before_pause = counted.yields;
    counted.pause_units += count;
    counted.pause_units_max = count > counted.pause_units_max ? count : counted.pause_units_max;
    __real_platform_pause(count);
}

void __real_platform_yield(void);
void __wrap_platform_yield(void);
void __wrap_platform_yield(void)
{
    if (counted.yields++ == 0)
        counted.pauses_before_yield = counted.pauses;
    __real_platform_yield();
}

uint32_t __real_platform_wake(struct shared_u32 *word, uint32_t count);
uint32_t __wrap_platform_wake(struct shared_u32 *word, uint32_t count);
uint32_t __wrap_platform_wake(struct shared_u32 *word, uint32_t count)
{
    counted.wakes++;
    if (hooked.before_wake != NULL)
        run_hook(hooked.before_wake);
    return __real_platform_wake(word, count);
}

void __real_semaphore_release(struct semaphore *semaphore, struct pool *pool, struct worker *self);
void __wrap_semaphore_release(struct semaphore *semaphore, struct pool *pool, struct worker *self);
void __wrap_semaphore_release(struct semaphore *semaphore, struct pool *pool, struct worker *self)
{
    counted.releases++;
    __real_semaphore_release(semaphore, pool, self);
}

enum semaphore_result __real_semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                            struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns);
enum semaphore_result __wrap_semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                            struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns);
enum semaphore_result __wrap_semaphore_wait(struct semaphore *semaphore, struct worker *worker,
                                            struct semaphore_waiter *waiter, uint32_t steps, uint64_t deadline_ns)
{
    counted.wait_steps = steps;
    counted.wait_deadline_ns = deadline_ns;
    if (hooked.wait != NULL)
        return hooked.wait(hooked.context);
    return __real_semaphore_wait(semaphore, worker, waiter, steps, deadline_ns);
}

void __real_pool_start_thread(struct pool *pool, struct worker *self);
void __wrap_pool_start_thread(struct pool *pool, struct worker *self);
void __wrap_pool_start_thread(struct pool *pool, struct worker *self)
{
    if (counted.thread_starts++ == 0)
        counted.releases_before_start = counted.releases;
    if (hooked.start_thread != NULL)
        hooked.start_thread(hooked.context);
    else
        __real_pool_start_thread(pool, self);
}

void __real_pool_disengage(struct worker *worker);
void __wrap_pool_disengage(struct worker *worker);
void __wrap_pool_disengage(struct worker *worker)
{
    if (hooked.before_disengage != NULL)
        run_hook(hooked.before_disengage);
    __real_pool_disengage(worker);
}

/* ---- the clock ---- */

uint64_t __real_platform_now_ns(void);
uint64_t __wrap_platform_now_ns(void);
uint64_t __wrap_platform_now_ns(void)
{
    return hooked.clock != NULL ? hooked.clock->now_ns : __real_platform_now_ns();
}

uint64_t __real_platform_stamp(void);
uint64_t __wrap_platform_stamp(void);
uint64_t __wrap_platform_stamp(void)
{
    return hooked.clock != NULL ? hooked.clock->now_ns : __real_platform_stamp();
}

uint64_t __real_platform_stamp_ns(uint64_t ticks);
uint64_t __wrap_platform_stamp_ns(uint64_t ticks);
uint64_t __wrap_platform_stamp_ns(uint64_t ticks)
{
    return hooked.clock != NULL ? ticks : __real_platform_stamp_ns(ticks);
}

uint64_t __real_platform_process_cpu_ns(void);
uint64_t __wrap_platform_process_cpu_ns(void);
uint64_t __wrap_platform_process_cpu_ns(void)
{
    return hooked.clock != NULL ? hooked.clock->cpu_ns : __real_platform_process_cpu_ns();
}

/* ---- the sizing policy ---- */

struct climb_step __real_climb_update(struct climb *climb, const struct climb_sample *sample);
struct climb_step __wrap_climb_update(struct climb *climb, const struct climb_sample *sample);
struct climb_step __wrap_climb_update(struct climb *climb, const struct climb_sample *sample)
{
    return hooked.climb != NULL ? hooked.climb(hooked.context, sample) : __real_climb_update(climb, sample);
}

void __real_climb_force(struct climb *climb, uint32_t goal);
void __wrap_climb_force(struct climb *climb, uint32_t goal);
void __wrap_climb_force(struct climb *climb, uint32_t goal)
{
    counted.climb_forces++;
    counted.climb_forced_goal = goal;
    __real_climb_force(climb, goal);
}

int __real_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument);
int __wrap_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument);
int __wrap_platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument),
                                 void *argument)
{
    if (hooked.thread == NULL)
        return __real_platform_thread_start(out, name, body, argument);
    *out = (struct platform_thread *)&counted; /* some handle */
    hooked.thread(hooked.context, body, argument);
    return 0;
}

void __real_platform_thread_join(struct platform_thread *thread);
void __wrap_platform_thread_join(struct platform_thread *thread);
void __wrap_platform_thread_join(struct platform_thread *thread)
{
    if (hooked.thread == NULL)
        __real_platform_thread_join(thread);
}

int __real_platform_park(struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns);
int __wrap_platform_park(struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns);
int __wrap_platform_park(struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns)
{
    if (hooked.park != NULL)
        return hooked.park(hooked.context, word, expected, deadline_ns);
    return __real_platform_park(word, expected, deadline_ns);
}
