/* SPDX-License-Identifier: MIT
 *
 * One run: its threads, its scheduling points, and how it ends.
 *
 * How it works. explored_run() makes a fiber for "main" and switches to it; fibers switch to one another at scheduling
 * points, and back to the caller when the run is over. A broken run leaves its fibers where they are: nothing of them
 * outlives the run but their stacks, which are used again.
 *
 * A crash of the code under test (a null pointer, an assertion, a trap) is caught by a signal handler on a stack of its
 * own, and ends the run like any other violation.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { STACK_SIZE = 256 * 1024, LINES_MAX = 20000, NAMES_MAX = 64, SIGNAL_STACK_SIZE = 65536, STEP_NS = 10 };
/* Where systems put what is neither the program nor ours: the heap, libraries, the first stack. */
#define ADDRESS_MIN (UINT64_C(1) << 46)
#define ADDRESS_END (UINT64_C(1) << 48)
enum { COST_PROHIBITIVE = UINT8_MAX, DEADLINES_DEFAULT = 2 };

enum thread_state { RUNNABLE, PARKED, JOINING, FINISHED };

struct thread {
    struct fiber fiber;
    enum thread_state state;
    bool has_deadline, timed_out;
    const void *parked_on;
    int joins;
    void *self; /* platform_self() */
    void (*body)(void *argument);
    void *argument;
    char name[16];
    uint32_t locks_held;
    uint32_t alone, alone_max; /* steps since another thread ran; 0: no limit */
};

static struct {
    bool running, ready;
    struct explored_settings settings;
    struct fiber caller;
    struct thread threads[EXPLORED_THREADS_MAX];
    uint32_t count, current, allocations_to_fail, deadlines_left;
    struct explored_result result;
    struct explored_line *lines;
    void (*rest)(void *context);
    void *rest_context;
    bool resting;
    struct {
        const void *address;
        const char *name;
    } names[NAMES_MAX];
    uint32_t name_count;
    sigjmp_buf crash;
} run;

const char *const explored_model_names[] = {"sc", "tso", "ra"};
const char *const explored_strategy_names[] = {"exhaustive", "random", "pct"};

bool run_is_running(void)
{
    return run.running && !run.resting;
}

uint32_t run_thread(void)
{
    return run.current;
}

uint32_t run_thread_count(void)
{
    return run.count;
}

/* ---- the end ---- */

static _Noreturn void leave(void)
{
    struct fiber *own = &run.threads[run.current].fiber;
    run.running = false;
    fiber_switch(own, &run.caller);
    abort();
}

static void set_broken(const char *invariant, const char *text)
{
    run.result.broken = true;
    snprintf(run.result.invariant, sizeof run.result.invariant, "%s", invariant);
    snprintf(run.result.text, sizeof run.result.text, "%s", text);
}

static void set_broken_as_told(const char *invariant, const char *format, va_list arguments)
{
    char text[sizeof run.result.text];
    vsnprintf(text, sizeof text, format, arguments);
    set_broken(invariant, text);
}

_Noreturn void run_broken(const char *invariant, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_broken_as_told(invariant, format, arguments);
    va_end(arguments);
    leave();
}

_Noreturn void explored_fail(const char *invariant, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_broken_as_told(invariant, format, arguments);
    va_end(arguments);
    leave();
}

static void on_crash(int signal)
{
    (void)signal;
    if (!run.running) {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal, &plain, NULL); /* our own fault: die as usual */
        raise(signal);
        return;
    }
    siglongjmp(run.crash, signal);
}

/* ---- the table ---- */

bool run_is_tracing(void)
{
    return run.settings.traces;
}

void run_line(const char *format, ...)
{
    if (!run.settings.traces || run.result.line_count == LINES_MAX)
        return;
    struct explored_line *line = &run.lines[run.result.line_count++];
    va_list arguments;
    line->thread = (uint8_t)run.current;
    va_start(arguments, format);
    vsnprintf(line->text, sizeof line->text, format, arguments);
    va_end(arguments);
}

void explored_note(const char *format, ...)
{
    char text[sizeof run.lines->text];
    va_list arguments;
    if (!run.settings.traces)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    run_line("%s", text);
}

void explored_name(const void *address, const char *name)
{
    if (run.name_count == NAMES_MAX)
        return;
    run.names[run.name_count].address = address;
    run.names[run.name_count++].name = name;
}

/* Where something lies that is not in the run's memory; as exactly as is the same in each process and each build. */
static bool describe_elsewhere(uint64_t value, char *text, size_t room)
{
    extern const char __executable_start[], end[]; /* named by the linker */
    for (uint32_t i = 0; i < run.count; i++) {
        uint64_t stack = (uint64_t)(uintptr_t)run.threads[i].fiber.stack;
        if (value - stack < STACK_SIZE) {
            snprintf(text, room, "on %s's stack", run.threads[i].name);
            return true;
        }
    }
    if (value - (uint64_t)(uintptr_t)__executable_start < (uint64_t)(end - __executable_start))
        snprintf(text, room, "in the program");
    else if (value >= ADDRESS_MIN && value < ADDRESS_END)
        snprintf(text, room, "an address");
    else
        return false;
    return true;
}

const char *run_value_text(uint64_t value, char *text, size_t room)
{
    const void *address = (const void *)(uintptr_t)value;
    for (uint32_t i = 0; i < run.name_count; i++)
        if (run.names[i].address == address)
            return run.names[i].name;
    if (value != 0 && plain_describe(address, text, room))
        return text;
    if (value > UINT32_MAX && describe_elsewhere(value, text, room))
        return text;
    if (value > UINT32_MAX && value < UINT64_MAX - UINT32_MAX)
        snprintf(text, room, "0x%llx", (unsigned long long)value);
    else
        snprintf(text, room, "%lld", (long long)value);
    return text;
}

/* ---- threads ---- */

static void switch_to(uint32_t next)
{
    uint32_t before = run.current;
    run.current = next;
    run.threads[next].alone = next != before ? 0 : run.threads[next].alone;
    if (next != before)
        fiber_switch(&run.threads[before].fiber, &run.threads[next].fiber);
}

static bool can_go_on(const struct thread *thread)
{
    return thread->state == RUNNABLE || (thread->state == JOINING && run.threads[thread->joins].state == FINISHED);
}

/* The threads that can go on: the running one first (unless it yields), the others in turn; then those that a time-out
 * would free. */
static uint32_t list_threads(uint8_t *threads, bool yields)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run.count; i++) {
        uint32_t thread = (run.current + i) % run.count;
        if (can_go_on(&run.threads[thread]) && !(yields && i == 0))
            threads[count++] = (uint8_t)thread;
    }
    for (uint32_t i = 0; run.deadlines_left > 0 && i < run.count; i++) {
        uint32_t thread = (run.current + i) % run.count;
        if (run.threads[thread].state == PARKED && run.threads[thread].has_deadline)
            threads[count++] = (uint8_t)thread;
    }
    if (count == 0 && yields)
        threads[count++] = (uint8_t)run.current;
    return count;
}

static _Noreturn void at_rest(void)
{
    for (uint32_t i = 0; i < run.count; i++)
        memory_drain(i);
    run.resting = true;
    if (run.rest != NULL)
        run.rest(run.rest_context);
    char text[sizeof run.result.text];
    size_t length = 0;
    for (uint32_t i = 0; i < run.count && length < sizeof text; i++)
        if (run.threads[i].state != FINISHED)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s", length > 0 ? ", " : "",
                                       run.threads[i].name, run.threads[i].state == JOINING ? "joins" : "is parked");
    run_broken("S3", "nothing can go on: %s", text);
}

static bool all_finished(void)
{
    for (uint32_t i = 0; i < run.count; i++)
        if (run.threads[i].state != FINISHED)
            return false;
    return true;
}

void run_step(void)
{
    struct thread *own = &run.threads[run.current];
    if (own->alone_max > 0 && ++own->alone > own->alone_max)
        run_broken("S5", "no end after %u steps while no other thread runs", own->alone_max);
}

/* Another thread goes on, or this one. A yield is a hint: all others may be too slow to use it. */
static void pass_on(bool yields)
{
    run_step();
    uint8_t threads[EXPLORED_THREADS_MAX * 2];
    uint32_t count = list_threads(threads, yields);
    if (++run.result.steps > run.settings.steps_max)
        run_broken("livelock", "no end after %u steps", run.settings.steps_max);
    if (count == 0) {
        if (all_finished())
            leave();
        at_rest();
    }
    if (yields && threads[0] != run.current && choices_make(EXPLORED_CHOICE_STAY, 2, 1, 0) != 0)
        return;
    bool could_stay = threads[0] == run.current && !yields;
    uint32_t chosen = count == 1 ? 0 : choices_thread(threads, count, could_stay ? 1 : 0);
    run.result.preemptions += could_stay && chosen != 0;
    struct thread *next = &run.threads[threads[chosen]];
    if (next->state == PARKED) {
        next->state = RUNNABLE;
        next->timed_out = true;
        run.deadlines_left--;
    }
    switch_to(threads[chosen]);
}

void run_point(void)
{
    pass_on(false);
}

static void thread_main(void *argument)
{
    struct thread *thread = argument;
    thread->body(thread->argument);
    thread->state = FINISHED;
    run_line("ends");
    pass_on(false);
    abort();
}

int explored_thread_start(const char *name, void (*body)(void *argument), void *argument)
{
    if (run.count > 0)
        run_point();
    if (run.count == EXPLORED_THREADS_MAX)
        return -EAGAIN;
    uint32_t number = run.count++;
    struct thread *thread = &run.threads[number];
    thread->state = RUNNABLE;
    thread->has_deadline = thread->timed_out = false;
    thread->self = NULL;
    thread->body = body;
    thread->argument = argument;
    thread->locks_held = 0;
    thread->alone = thread->alone_max = 0;
    snprintf(thread->name, sizeof thread->name, "%s", name);
    run.result.thread_names[number] = thread->name;
    run.result.thread_count = run.count;
    fiber_prepare(&thread->fiber, thread_main, thread);
    if (number > 0) {
        memory_started(run.current, number);
        run_line("starts %s", name);
    }
    return (int)number;
}

void explored_thread_join(int thread)
{
    struct thread *own = &run.threads[run.current];
    own->state = JOINING;
    own->joins = thread;
    pass_on(false);
    own->state = RUNNABLE;
    memory_drain(run.current); /* not before: others may run between the last store and the call */
    memory_joined(run.current, (uint32_t)thread);
    run_line("joined %s", run.threads[thread].name);
}

int explored_thread_self(void)
{
    return (int)run.current;
}

void *explored_self(void)
{
    return run.threads[run.current].self;
}

void explored_self_set(void *self)
{
    run.threads[run.current].self = self;
}

void explored_yield(void)
{
    if (!run_is_running())
        return;
    choices_yielded(run.current);
    pass_on(true);
}

/* ---- parking ---- */

int explored_park(struct explored_word word, uint64_t expected, bool deadline)
{
    if (!run_is_running())
        run_broken("S3", "nothing can go on, and a lock is held");
    run_point();
    memory_drain(run.current);
    char text[32];
    uint64_t value = memory_compared(word);
    if (value != expected) {
        run_line("does not park: the word is %s", run_value_text(value, text, sizeof text));
        return 0;
    }
    /* A park may return for no reason. Not in an exhaustive walk, where its cost is above any bound; but the choice is
     * there, so that a run is the same list of choices whoever found it. */
    if (choices_make(EXPLORED_CHOICE_MEMORY, 2, 0, COST_PROHIBITIVE) != 0) {
        run_line("parks and returns without a wake");
        return 0;
    }
    struct thread *own = &run.threads[run.current];
    own->state = PARKED;
    own->parked_on = word.cell;
    own->has_deadline = deadline;
    own->timed_out = false;
    run_line("parks");
    pass_on(false);
    run_line(own->timed_out ? "times out" : "is awake");
    return own->timed_out ? -ETIMEDOUT : 0;
}

uint32_t explored_wake(const void *cell, uint32_t count)
{
    if (!run_is_running())
        return 0;
    run_point();
    memory_woken();
    uint32_t woken = 0;
    while (woken < count) {
        uint32_t parked[EXPLORED_THREADS_MAX], parked_count = 0;
        for (uint32_t i = 0; i < run.count; i++)
            if (run.threads[i].state == PARKED && run.threads[i].parked_on == cell)
                parked[parked_count++] = i;
        if (parked_count == 0)
            break;
        bool all = count - woken >= parked_count;
        uint32_t chosen = all ? 0 : choices_make(EXPLORED_CHOICE_SCENARIO, parked_count, 0, 1);
        run.threads[parked[chosen]].state = RUNNABLE;
        run_line("wakes %s", run.threads[parked[chosen]].name);
        woken++;
    }
    if (woken == 0)
        run_line("wakes nobody");
    return woken;
}

uint64_t explored_now(void)
{
    return (uint64_t)run.result.steps * STEP_NS;
}

/* ---- for scenarios ---- */

void explored_at_rest(void (*check)(void *context), void *context)
{
    run.rest = check;
    run.rest_context = context;
}

uint32_t explored_choose(uint32_t count)
{
    return count > 1 ? choices_make(EXPLORED_CHOICE_SCENARIO, count, 0, 0) : 0;
}

void explored_allocations_may_fail(uint32_t limit)
{
    run.allocations_to_fail = limit;
}

void explored_deadlines_may_come(uint32_t limit)
{
    run.deadlines_left = limit;
}

bool run_allocation_fails(void)
{
    if (!run_is_running() || run.allocations_to_fail == 0 || choices_make(EXPLORED_CHOICE_MEMORY, 2, 0, 0) == 0)
        return false;
    run.allocations_to_fail--;
    run_line("has no memory");
    return true;
}

enum explored_model explored_model(void)
{
    return run.settings.model;
}

uint32_t explored_locks_held(void)
{
    return run.threads[run.current].locks_held;
}

void explored_lock_taken(int change)
{
    run.threads[run.current].locks_held += (uint32_t)change;
}

void explored_alone_at_most(uint32_t steps)
{
    run.threads[run.current].alone = 0;
    run.threads[run.current].alone_max = steps;
}

/* ---- the run ---- */

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    static char stack[SIGNAL_STACK_SIZE];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&alternative, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static void get_ready(void)
{
    catch_crashes();
    for (uint32_t i = 0; i < EXPLORED_THREADS_MAX; i++)
        if (fiber_allocate(&run.threads[i].fiber, STACK_SIZE) != 0)
            abort();
    run.lines = calloc(LINES_MAX, sizeof *run.lines);
    if (run.lines == NULL)
        abort();
    run.ready = true;
}

const struct explored_result *explored_run(const struct explored_settings *settings, void (*body)(void *context),
                                           void *context, const struct explored_choice *prefix, uint32_t prefix_count)
{
    if (!run.ready)
        get_ready();
    run.settings = *settings;
    run.count = run.current = 0;
    run.allocations_to_fail = 0;
    run.deadlines_left = DEADLINES_DEFAULT;
    run.rest = NULL;
    run.resting = false;
    run.name_count = 0;
    memset(&run.result, 0, sizeof run.result);
    run.result.lines = run.lines;
    choices_begin(settings, prefix, prefix_count);
    memory_begin(settings->model);
    plain_begin(settings->reuse_memory, settings->model != EXPLORED_TSO);
    int signal = sigsetjmp(run.crash, 0); /* the handler blocks nothing, so there is no mask to restore */
    if (signal == 0) {
        run.running = true;
        explored_thread_start("main", body, context);
        fiber_switch(&run.caller, &run.threads[0].fiber);
    } else {
        char text[64];
        fiber_jumped_out();
        snprintf(text, sizeof text, "the code crashed: %s", strsignal(signal));
        run.running = false;
        set_broken("crash", text);
    }
    run.result.choices = choices_made(&run.result.choice_count);
    return &run.result;
}
