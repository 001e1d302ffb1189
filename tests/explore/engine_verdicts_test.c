/* SPDX-License-Identifier: MIT
 *
 * Promise: what the engine calls broken is broken, by the name that it says, and what is right it lets pass: data
 * races, memory that is not there, livelocks, crashes, rest, deadlines, wakes for no reason, allocations that fail.
 *
 * Method. Small bodies, each right or wrong in one thing, walked exhaustively in each model that can see it. A wrong
 * one must be found in some run and never by another name; a right one in none.
 */
#include "engine_test.h"

#include <errno.h>

#include "lock.h"

struct box {
    struct shared_u32 flag, other;
    struct lock lock;
    uint32_t data;
    uint8_t bytes[8];
    void *block;
};

/* ---- data races ---- */

static void write_data(void *argument)
{
    struct box *box = argument;
    box->data = 1;
}

static void race_writes(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    struct platform_thread *other = start(write_data, box);
    box->data = 2;
    platform_thread_join(other);
}

static void read_data(void *argument)
{
    const struct box *box = argument;
    if (box->data > 2)
        explored_note("reads");
}

static void race_read_then_write(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    struct platform_thread *other = start(read_data, box);
    box->data = 2;
    platform_thread_join(other);
}

#define READ_THEN_WRITE(NAME, STORE_ORDER, LOAD_ORDER)             \
    static void NAME##_reader(void *argument)                      \
    {                                                              \
        struct box *box = argument;                                \
        read_data(box);                                            \
        shared_u32_store_##STORE_ORDER(&box->flag, 1);             \
    }                                                              \
    static void NAME(void *context)                                \
    {                                                              \
        struct box *box = platform_alloc(sizeof *box);             \
        (void)context;                                             \
        struct platform_thread *other = start(NAME##_reader, box); \
        if (shared_u32_load_##LOAD_ORDER(&box->flag) == 1)         \
            box->data = 1;                                         \
        platform_thread_join(other);                               \
    }
READ_THEN_WRITE(race_read_relaxed, relaxed, relaxed)
READ_THEN_WRITE(no_race_read_release, release, acquire)

static void no_race_reads(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    struct platform_thread *other = start(read_data, box);
    read_data(box);
    platform_thread_join(other);
}

#define HAND_OVER(NAME, BEFORE_STORE, STORE_ORDER, LOAD_ORDER, AFTER_LOAD) \
    static void NAME##_writer(void *argument)                              \
    {                                                                      \
        struct box *box = argument;                                        \
        box->data = 1;                                                     \
        BEFORE_STORE;                                                      \
        shared_u32_store_##STORE_ORDER(&box->flag, 1);                     \
    }                                                                      \
    static void NAME(void *context)                                        \
    {                                                                      \
        struct box *box = platform_alloc(sizeof *box);                     \
        (void)context;                                                     \
        struct platform_thread *other = start(NAME##_writer, box);         \
        if (shared_u32_load_##LOAD_ORDER(&box->flag) == 1) {               \
            AFTER_LOAD;                                                    \
            box->data++;                                                   \
        }                                                                  \
        platform_thread_join(other);                                       \
    }
#define NONE (void)0
HAND_OVER(race_relaxed, NONE, relaxed, relaxed, NONE)
HAND_OVER(race_release_only, NONE, release, relaxed, NONE)
HAND_OVER(race_acquire_only, NONE, relaxed, acquire, NONE)
HAND_OVER(no_race_release_acquire, NONE, release, acquire, NONE)
HAND_OVER(no_race_fences, ordered_fence_seq_cst(), relaxed, relaxed, ordered_fence_seq_cst())

static void write_locked(void *argument)
{
    struct box *box = argument;
    lock_lock(&box->lock);
    box->data++;
    lock_unlock(&box->lock);
}

static void no_race_lock(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    struct platform_thread *other = start(write_locked, box);
    write_locked(box);
    platform_thread_join(other);
    if (box->data != 2)
        explored_fail("test", "the lock lost an update");
}

static void no_race_start_join(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    box->data = 2;
    struct platform_thread *other = start(write_data, box);
    platform_thread_join(other);
    box->data++;
}

static void write_byte(void *argument)
{
    struct box *box = argument;
    box->bytes[1] = 1;
}

static void no_race_neighbours(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    struct platform_thread *other = start(write_byte, box);
    box->bytes[2] = 1;
    platform_thread_join(other);
}

/* One thread frees a block, the other one gets it: what was there before is nobody's any more. */
static void free_block(void *argument)
{
    struct box *box = argument;
    *(uint32_t *)box->block = 1;
    platform_free(box->block);
}

static void no_race_reuse(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    box->block = platform_alloc(sizeof(uint32_t));
    struct platform_thread *other = start(free_block, box);
    uint32_t *mine = platform_alloc(sizeof *mine);
    *mine = 2;
    platform_thread_join(other);
}

/* A block is zeroed by whoever gets it, and freed after the last access of all others. */
#define PUBLISH(NAME, STORE_ORDER, LOAD_ORDER)                                  \
    static void NAME##_writer(void *argument)                                   \
    {                                                                           \
        struct cell *cell = platform_alloc(sizeof *cell);                       \
        shared_ptr_store_##STORE_ORDER(&((struct cell *)argument)->next, cell); \
    }                                                                           \
    static void NAME(void *context)                                             \
    {                                                                           \
        struct cell *cell = platform_alloc(sizeof *cell);                       \
        (void)context;                                                          \
        struct platform_thread *other = start(NAME##_writer, cell);             \
        struct cell *next = shared_ptr_load_##LOAD_ORDER(&cell->next);          \
        if (next != NULL)                                                       \
            shared_ptr_load_relaxed(&next->next);                               \
        platform_thread_join(other);                                            \
    }
struct cell {
    struct shared_ptr next;
};
PUBLISH(race_publish_relaxed, relaxed, acquire)
PUBLISH(no_race_publish, release, acquire)

#define FREE_AFTER(NAME, STORE_ORDER, LOAD_ORDER)                \
    static void NAME##_user(void *argument)                      \
    {                                                            \
        struct box *box = argument;                              \
        shared_u32_add_relaxed(box->block, 1);                   \
        shared_u32_store_##STORE_ORDER(&box->flag, 1);           \
    }                                                            \
    static void NAME(void *context)                              \
    {                                                            \
        struct box *box = platform_alloc(sizeof *box);           \
        (void)context;                                           \
        box->block = platform_alloc(sizeof(struct shared_u32));  \
        struct platform_thread *other = start(NAME##_user, box); \
        if (shared_u32_load_##LOAD_ORDER(&box->flag) == 1)       \
            platform_free(box->block);                           \
        platform_thread_join(other);                             \
    }
FREE_AFTER(race_free_relaxed, release, relaxed)
FREE_AFTER(no_race_free, release, acquire)

/* ---- memory that is not there ---- */

static void read_freed(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    platform_free(box);
    read_data(box);
}

static void load_freed(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    platform_free(box);
    shared_u32_load_relaxed(&box->flag);
}

static void free_twice(void *context)
{
    void *block = platform_alloc(8);
    (void)context;
    platform_free(block);
    platform_free(block);
}

static void free_inside(void *context)
{
    (void)context;
    platform_free((char *)platform_alloc(64) + 8);
}

static void read_behind(void *context)
{
    const uint32_t *block = platform_alloc(8);
    (void)context;
    if (block[2] != 0)
        explored_note("reads");
}

/* The first half of the access lies in the block. */
static void read_over_the_end(void *context)
{
    const char *block = platform_alloc(12);
    (void)context;
    if (*(const volatile uint64_t *)(block + 8) != 0)
        explored_note("reads");
}

static void load_behind(void *context)
{
    struct shared_u32 *words = platform_alloc(sizeof *words);
    (void)context;
    shared_u32_load_relaxed(&words[1]);
}

static void use_memory_well(void *context)
{
    uint8_t *block = platform_alloc(13);
    (void)context;
    block[12] = 1;
    platform_free(block);
    platform_free(NULL);
}

/* ---- standing still, never ending, crashing ---- */

static void spin_for_ever(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    while (shared_u32_load_relaxed(&box->flag) == 0)
        platform_yield();
}

static void park_for_ever(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    platform_park(&box->flag, 0, PLATFORM_FOREVER);
}

static void say_rest(void *context)
{
    const struct box *box = context;
    explored_fail("S7", "the flag is %u", shared_u32_load_relaxed(&box->flag));
}

static void rest_is_asked(void *context)
{
    struct box *box = platform_alloc(sizeof *box);
    (void)context;
    explored_at_rest(say_rest, box);
    shared_u32_store_relaxed(&box->flag, 7);
    platform_park(&box->flag, 7, PLATFORM_FOREVER);
}

__attribute__((no_sanitize("undefined", "address"))) static void crash_null(void *context)
{
    (void)context;
    *(volatile int *)context = 1;
}

static void crash_abort(void *context)
{
    (void)context;
    abort();
}

static int recurse(volatile int *depth)
{
    volatile char frame[1024];
    frame[0] = (char)++*depth;
    return *depth < 0 ? 0 : recurse(depth) + frame[0];
}

static void crash_stack(void *context)
{
    volatile int depth = 0;
    (void)context;
    recurse(&depth);
}

/* ---- the table ---- */

#define RACE      "data race"
#define NO_MEMORY "use after free"

static const struct {
    const char *name;
    void (*body)(void *context);
    const char *broken; /* NULL: nothing may be */
    bool plain;         /* needs the compiler's instrumentation */
    bool races;         /* not to be seen in tso */
} verdicts[] = {
    {"two threads write", race_writes, RACE, true, true},
    {"one reads, one writes", race_read_then_write, RACE, true, true},
    {"one has read, one writes after a relaxed hand-over", race_read_relaxed, RACE, true, true},
    {"one has read, one writes after release and acquire", no_race_read_release, NULL, true, true},
    {"both read", no_race_reads, NULL, true, true},
    {"handed over relaxed", race_relaxed, RACE, true, true},
    {"handed over by release to a relaxed load", race_release_only, RACE, true, true},
    {"handed over by a relaxed store to acquire", race_acquire_only, RACE, true, true},
    {"handed over by release and acquire", no_race_release_acquire, NULL, true, true},
    {"handed over through fences", no_race_fences, NULL, true, true},
    {"under a lock", no_race_lock, NULL, true, true},
    {"before start, after join", no_race_start_join, NULL, true, true},
    {"two bytes side by side", no_race_neighbours, NULL, true, true},
    {"freed here, handed out there", no_race_reuse, NULL, true, true},
    {"a new block published relaxed", race_publish_relaxed, RACE, false, true},
    {"a new block published by release and acquire", no_race_publish, NULL, false, true},
    {"a block freed after a relaxed hand-over", race_free_relaxed, RACE, false, true},
    {"a block freed after release and acquire", no_race_free, NULL, false, true},
    {"a plain read of freed memory", read_freed, NO_MEMORY, true, true},
    {"a load of freed memory", load_freed, NO_MEMORY, false, false},
    {"a second free", free_twice, NO_MEMORY, false, false},
    {"a free inside a block", free_inside, NO_MEMORY, false, false},
    {"a plain read behind a block", read_behind, NO_MEMORY, true, true},
    {"a plain read over the end of a block", read_over_the_end, NO_MEMORY, true, true},
    {"a load behind a block", load_behind, NO_MEMORY, false, false},
    {"the last byte, free of nothing", use_memory_well, NULL, false, false},
    {"a loop without an end", spin_for_ever, "livelock", false, false},
    {"a sleep without a wake", park_for_ever, "S3", false, false},
    {"rest, and the scenario knows why", rest_is_asked, "S7", false, false},
    {"a null pointer", crash_null, "crash", false, false},
    {"an abort", crash_abort, "crash", false, false},
    {"a stack that overflows", crash_stack, "crash", false, false},
};

struct verdict {
    uint32_t as_expected, otherwise;
    const char *broken;
    char seen[32];
};

static void judge(const struct explored_result *result, void *context)
{
    struct verdict *verdict = context;
    const char *seen = result->broken ? result->invariant : "";
    bool expected = strcmp(seen, verdict->broken != NULL ? verdict->broken : "") == 0;
    verdict->as_expected += expected;
    if (expected || (verdict->broken != NULL && !result->broken))
        return;
    verdict->otherwise++;
    snprintf(verdict->seen, sizeof verdict->seen, "%s", seen);
}

/* The bodies get NULL as their context, and judge() gets the verdict. */
struct judged {
    void (*body)(void *context);
    struct verdict verdict;
};

static void run_judged(void *context)
{
    const struct judged *judged = context;
    judged->body(NULL);
}

static void judge_judged(const struct explored_result *result, void *context)
{
    struct judged *judged = context;
    judge(result, &judged->verdict);
}

static void test_verdicts(void)
{
    uint32_t skipped = 0;
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
#ifndef EXPLORE_INSTRUMENTED
        if (verdicts[i].plain) {
            skipped++;
            continue;
        }
#endif
        for (uint32_t model = 0; model < EXPLORED_MODEL_COUNT; model++) {
            if (verdicts[i].races && model == EXPLORED_TSO)
                continue;
            for (uint32_t reuse = 0; reuse < 2; reuse++) {
                struct explored_settings settings = settings_exhaustive((enum explored_model)model, 2);
                settings.reuse_memory = reuse != 0;
                struct judged judged = {verdicts[i].body, {.broken = verdicts[i].broken}};
                walk(&settings, run_judged, &judged, judge_judged);
                const struct verdict *verdict = &judged.verdict;
                EXPECT(verdict->as_expected > 0 && verdict->otherwise == 0, "%s (%s): %u runs as expected, %u '%s'",
                       verdicts[i].name, explored_model_names[model], verdict->as_expected, verdict->otherwise,
                       verdict->seen);
            }
        }
    }
    if (skipped > 0)
        printf("%u verdicts on plain accesses skipped: this build does not show them (gcc without a sanitizer does)\n",
               skipped);
}

/* ---- what a run may meet ---- */

/* Which of the answers 0 to 31 some run gave. */
struct answers {
    uint32_t seen, answer;
    uint64_t broken, runs;
};

static void collect(const struct explored_result *result, void *context)
{
    struct answers *answers = context;
    answers->runs++;
    answers->broken += result->broken;
    if (!result->broken)
        answers->seen |= 1u << answers->answer;
}

static struct answers ask(void (*body)(void *context), const struct explored_settings *settings)
{
    struct answers answers = {0};
    walk(settings, body, &answers, collect);
    return answers;
}

static void wake_flag(void *argument)
{
    struct box *box = argument;
    shared_u32_store_relaxed(&box->flag, 1);
    platform_wake(&box->flag, 1);
}

static void park_with_deadline(void *context)
{
    struct answers *answers = context;
    struct box *box = platform_alloc(sizeof *box);
    struct platform_thread *other = start(wake_flag, box);
    answers->answer = platform_park(&box->flag, 0, 1000) == -ETIMEDOUT;
    platform_thread_join(other);
}

static void deadline_alone(void *context)
{
    struct answers *answers = context;
    struct box *box = platform_alloc(sizeof *box);
    answers->answer = platform_park(&box->flag, 0, 1000) == -ETIMEDOUT;
}

static void deadline_never(void *context)
{
    explored_deadlines_may_come(0);
    deadline_alone(context);
}

static void park_then_look(void *context)
{
    struct answers *answers = context;
    struct box *box = platform_alloc(sizeof *box);
    struct platform_thread *other = start(wake_flag, box);
    platform_park(&box->flag, 0, PLATFORM_FOREVER);
    answers->answer = shared_u32_load_acquire(&box->flag) == 0;
    platform_thread_join(other);
}

static void test_parking(void)
{
    struct explored_settings settings = settings_exhaustive(EXPLORED_SC, UNBOUNDED);
    struct answers answers = ask(park_with_deadline, &settings);
    EXPECT(answers.seen == 3 && answers.broken == 0, "woken and timed out: answers %x", answers.seen);
    answers = ask(deadline_alone, &settings);
    EXPECT(answers.seen == 2 && answers.broken == 0, "nobody wakes, so it times out: answers %x", answers.seen);
    answers = ask(deadline_never, &settings);
    EXPECT(answers.seen == 0 && answers.broken == answers.runs, "no deadline comes: rest");
    answers = ask(park_then_look, &settings);
    EXPECT(answers.seen == 1 && answers.broken == 0, "no return for no reason in a walk: answers %x", answers.seen);
    answers = (struct answers){0};
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const struct explored_settings drawn = settings_drawn(EXPLORED_SC, EXPLORED_RANDOM, seed, 1);
        collect(explored_run(&drawn, park_then_look, &answers, NULL, 0), &answers);
    }
    EXPECT(answers.seen == 3 && answers.broken == 0, "returns for no reason at random: answers %x", answers.seen);
}

/* A yield is a hint: both looks may fall before whatever the others do. */
static void set_flag(void *argument)
{
    struct box *box = argument;
    shared_u32_store_relaxed(&box->other, 1);
    shared_u32_store_relaxed(&box->flag, 1);
}

static void look_twice(void *context)
{
    struct answers *answers = context;
    struct box *box = platform_alloc(sizeof *box);
    struct platform_thread *other = start(set_flag, box);
    uint32_t under_way = shared_u32_load_relaxed(&box->other);
    uint32_t first = shared_u32_load_relaxed(&box->flag);
    platform_yield();
    uint32_t second = shared_u32_load_relaxed(&box->flag);
    answers->answer = under_way * 4 + first * 2 + second;
    platform_thread_join(other);
}

static void park_a_while(void *argument)
{
    struct box *box = argument;
    shared_u32_store_relaxed(&box->other, 1);
    platform_park(&box->flag, 0, 1000);
}

static void yield_and_wake(void *context)
{
    struct answers *answers = context;
    struct box *box = platform_alloc(sizeof *box);
    struct platform_thread *other = start(park_a_while, box);
    while (shared_u32_load_relaxed(&box->other) == 0)
        platform_yield();
    platform_yield(); /* at the latest now the other one sleeps, and */
    platform_yield(); /* nobody but its deadline is left */
    answers->answer = platform_wake(&box->flag, 1);
    platform_thread_join(other);
}

static void test_yields(void)
{
    const struct explored_settings settings = settings_exhaustive(EXPLORED_SC, 3);
    struct answers answers = ask(look_twice, &settings);
    EXPECT((answers.seen & 0xf0) == 0xb0, "while the other one is under way 00, 01 and 11: answers %x", answers.seen);
    answers = ask(yield_and_wake, &settings);
    EXPECT(answers.seen == 3, "a wake after a yield meets the sleeper, or comes too late: answers %x", answers.seen);
}

static void allocate_twice(void *context)
{
    struct answers *answers = context;
    explored_allocations_may_fail(1);
    bool first = platform_alloc(8) != NULL, second = platform_alloc(8) != NULL;
    answers->answer = first * 2u + second;
}

static void choose(void *context)
{
    struct answers *answers = context;
    answers->answer = explored_choose(3) * 4 + explored_choose(1);
}

static void free_and_allocate(void *context)
{
    struct answers *answers = context;
    void *first = platform_alloc(24);
    platform_free(first);
    answers->answer = platform_alloc(24) == first;
}

static void count_threads(void *context)
{
    struct answers *answers = context;
    struct box *box = platform_alloc(sizeof *box);
    struct platform_thread *threads[EXPLORED_THREADS_MAX];
    uint32_t started = 0;
    while (platform_thread_start(&threads[started], "other", set_flag, box) == 0)
        started++;
    answers->answer = started;
    while (started > 0)
        platform_thread_join(threads[--started]);
}

static void test_choices_of_a_run(void)
{
    struct explored_settings settings = settings_exhaustive(EXPLORED_RA, 0);
    struct answers answers = ask(allocate_twice, &settings);
    EXPECT(answers.seen == (1u << 3 | 1u << 2 | 1u << 1) && answers.runs == 3,
           "none, the first or the second fails: %x", answers.seen);
    answers = ask(choose, &settings);
    EXPECT(answers.seen == (1u << 0 | 1u << 4 | 1u << 8) && answers.runs == 3, "each choice once: %x", answers.seen);
    answers = ask(free_and_allocate, &settings);
    EXPECT(answers.seen == 1, "freed memory is not handed out again");
    settings.reuse_memory = true;
    answers = ask(free_and_allocate, &settings);
    EXPECT(answers.seen == 2, "freed memory is handed out again at once");
    answers = (struct answers){0};
    settings = settings_drawn(EXPLORED_SC, EXPLORED_RANDOM, 1, 1);
    collect(explored_run(&settings, count_threads, &answers, NULL, 0), &answers);
    EXPECT(answers.seen == 1u << (EXPLORED_THREADS_MAX - 1), "threads beside main: answers %x", answers.seen);
}

int main(void)
{
    test_verdicts();
    test_parking();
    test_yields();
    test_choices_of_a_run();
    printf(expectations_failed == 0 ? "ok\n" : "%u expectations failed\n", expectations_failed);
    return expectations_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
