/* SPDX-License-Identifier: MIT
 *
 * Promise: a run is its choices. The same seed makes the same ones, the same ones make the same run; their text loses
 * nothing; the exhaustive walk takes each list once and keeps to its bounds; random and pct find what they should as
 * often as they should.
 *
 * Method. Counts against closed formulas and against a second way of counting; seeds run twice with others in between.
 * Chances are counted over fixed seeds, so that no count ever changes.
 */
#include "engine_test.h"

#include <errno.h>

/* ---- text ---- */

static uint64_t random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % below;
}

static void test_text_round_trip(void)
{
    enum { COUNT_MAX = 400 };
    static struct explored_choice written[COUNT_MAX], read[COUNT_MAX];
    static char text[COUNT_MAX * 16 + 16];
    for (uint32_t trial = 0; trial < 1000; trial++) {
        uint32_t count = draw(COUNT_MAX), read_count = 0;
        for (uint32_t i = 0; i < count; i++)
            written[i] = (struct explored_choice){.chosen = (uint16_t)(draw(4) == 0 ? draw(UINT16_MAX + 1) : 0)};
        memset(read, 0, sizeof read);
        EXPECT(explored_write(written, count, text, sizeof text) == 0, "trial %u", trial);
        EXPECT(explored_read(text, read, COUNT_MAX, &read_count) == 0, "%s", text);
        EXPECT(read_count <= count, "%u of %u", read_count, count);
        for (uint32_t i = 0; i < count; i++) /* quiet ones at the end are not written */
            EXPECT(read[i].chosen == written[i].chosen, "trial %u, choice %u", trial, i);
    }
}

static void test_text_refused(void)
{
    static const char *const bad[] = {"",     "-",     "1",     "1.",   ".1",    "1.0",   "0.0",   "1.1-",   "-1.1",
                                      "1..1", "1.1.1", "1,1",   "A.1",  "1.1 ",  " 1.1",  "1.1--1.1",        "+1.1",
                                      "1.1\n", "zzzzzzzzzzzzzz.1", "0.zzzz", "00", "1.1-0", "\xff.1"};
    struct explored_choice choices[8];
    char text[64];
    uint32_t count;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT(explored_read(bad[i], choices, 8, &count) == -EINVAL, "'%s'", bad[i]);
    EXPECT(explored_read("7.1", choices, 8, &count) == 0 && count == 8, "fits");
    EXPECT(explored_read("8.1", choices, 8, &count) == -ENOSPC, "one more than fits");
    EXPECT(explored_read("3.1-4.1", choices, 8, &count) == -ENOSPC, "one more than fits, in two parts");
    EXPECT(explored_read("0", choices, 8, &count) == 0 && count == 0, "no deviation");
    for (size_t i = 0; i < 8; i++)
        choices[i].chosen = 1;
    EXPECT(explored_write(choices, 8, text, sizeof text) == 0, "fits");
    for (size_t room = 0; room < 16; room++)
        EXPECT(explored_write(choices, 8, text, room) == -ENOSPC, "a room of %zu", room);
    EXPECT(explored_write(NULL, 0, text, 1) == -ENOSPC && explored_write(NULL, 0, text, 2) == 0, "no deviation");
}

/* ---- the walk ---- */

struct interleaved {
    uint32_t main_steps, other_steps;
    struct shared_u32 *words;
    /* of the walk */
    char (*seen)[64];
    uint32_t seen_count, seen_room, twice, over_bound, preemption_bound, with_preemptions[16];
};

static void step_other(void *argument)
{
    const struct interleaved *program = argument;
    for (uint32_t i = 0; i < program->other_steps; i++)
        shared_u32_store_relaxed(&program->words[0], i);
}

static void interleave(void *context)
{
    struct interleaved *program = context;
    program->words = platform_alloc(2 * sizeof program->words[0]);
    struct platform_thread *other = start(step_other, program);
    for (uint32_t i = 0; i < program->main_steps; i++)
        shared_u32_store_relaxed(&program->words[1], i);
    platform_thread_join(other);
}

static void note_choices(const struct explored_result *result, void *context)
{
    struct interleaved *program = context;
    program->over_bound += result->preemptions > program->preemption_bound;
    program->with_preemptions[result->preemptions]++;
    if (program->seen_count == program->seen_room ||
        explored_write(result->choices, result->choice_count, program->seen[program->seen_count], 64) != 0)
        abort();
    for (uint32_t i = 0; i < program->seen_count; i++)
        program->twice += strcmp(program->seen[i], program->seen[program->seen_count]) == 0;
    program->seen_count++;
}

static uint64_t binomial(uint32_t n, uint32_t k)
{
    uint64_t result = 1;
    for (uint32_t i = 1; i <= k; i++)
        result = result * (n - k + i) / i;
    return result;
}

static struct interleaved walk_interleaved(uint32_t main_steps, uint32_t other_steps, uint32_t bound, uint64_t *runs)
{
    static char seen[2000][64];
    struct interleaved program = {main_steps, other_steps, .seen = seen, .seen_room = 2000, .preemption_bound = bound};
    const struct explored_settings settings = settings_exhaustive(EXPLORED_SC, bound);
    *runs = walk(&settings, interleave, &program, note_choices);
    return program;
}

/* Main's m steps among the other's n, and its beginning, which is one more. */
static void test_walk_counts(void)
{
    for (uint32_t m = 0; m <= 5; m++)
        for (uint32_t n = 0; n <= 5; n++) {
            uint64_t runs;
            struct interleaved program = walk_interleaved(m, n, UNBOUNDED, &runs);
            EXPECT(runs == binomial(m + n + 1, m), "%u and %u steps: %llu runs, not %llu", m, n,
                   (unsigned long long)runs, (unsigned long long)binomial(m + n + 1, m));
            EXPECT(program.twice == 0, "%u and %u steps: %u lists of choices more than once", m, n, program.twice);
        }
}

static void test_walk_bounds(void)
{
    uint64_t all, within = 0;
    struct interleaved program = walk_interleaved(4, 4, UNBOUNDED, &all);
    for (uint32_t bound = 0; bound < 12; bound++) {
        uint64_t runs;
        struct interleaved bounded = walk_interleaved(4, 4, bound, &runs);
        within += program.with_preemptions[bound];
        EXPECT(bounded.over_bound == 0, "bound %u: %u runs over it", bound, bounded.over_bound);
        EXPECT(runs == within, "bound %u: %llu runs, not %llu", bound, (unsigned long long)runs,
               (unsigned long long)within);
    }
    EXPECT(within == all, "no run needs more than 11 preemptions");
}

/* ---- the same seed, the same run ---- */

struct mixture {
    struct shared_u32 words[2], sleep;
};

static void mix_other(void *argument)
{
    struct mixture *mixture = argument;
    shared_u32_add_relaxed(&mixture->words[0], 1);
    shared_u32_store_release(&mixture->words[1], shared_u32_load_relaxed(&mixture->words[0]));
    platform_yield();
    shared_u32_store_relaxed(&mixture->sleep, 1);
    platform_wake(&mixture->sleep, 2);
}

/* Something of everything that is chosen; breaks now and then. */
static void mix(void *context)
{
    struct mixture *mixture = platform_alloc(sizeof *mixture);
    (void)context;
    explored_allocations_may_fail(1);
    struct platform_thread *threads[2];
    for (int i = 0; i < 2; i++)
        if (platform_thread_start(&threads[i], "other", mix_other, mixture) != 0)
            explored_fail("memory", "no thread %d", i);
    platform_park(&mixture->sleep, explored_choose(2), 1000);
    if (shared_u32_load_acquire(&mixture->words[1]) == 2 && shared_u32_load_relaxed(&mixture->words[0]) == 1)
        explored_fail("stale", "older than what is known");
    if (shared_u32_load_relaxed(&mixture->words[1]) == 1)
        explored_fail("one", "an outcome like any other, at %p", NULL);
    for (int i = 0; i < 2; i++)
        platform_thread_join(threads[i]);
}

struct kept {
    struct explored_result result;
    struct explored_choice choices[512];
    struct explored_line lines[512];
};

static void keep(struct kept *kept, const struct explored_result *result)
{
    kept->result = *result;
    if (result->choice_count > 512 || result->line_count > 512)
        abort();
    memcpy(kept->choices, result->choices, result->choice_count * sizeof kept->choices[0]);
    memcpy(kept->lines, result->lines, result->line_count * sizeof kept->lines[0]);
}

static bool is_same_end(const struct kept *kept, const struct explored_result *result)
{
    if (kept->result.broken != result->broken || strcmp(kept->result.invariant, result->invariant) != 0 ||
        strcmp(kept->result.text, result->text) != 0 || kept->result.steps != result->steps ||
        kept->result.line_count != result->line_count)
        return false;
    for (uint32_t i = 0; i < result->line_count; i++)
        if (kept->lines[i].thread != result->lines[i].thread || strcmp(kept->lines[i].text, result->lines[i].text) != 0)
            return false;
    return true;
}

static bool is_same_choices(const struct kept *kept, const struct explored_result *result)
{
    return kept->result.choice_count == result->choice_count &&
           memcmp(kept->choices, result->choices, result->choice_count * sizeof kept->choices[0]) == 0;
}

static void test_same_seed(enum explored_strategy strategy)
{
    static struct kept kept;
    uint32_t same = 0, broken = 0, different = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct explored_settings settings =
            settings_drawn((enum explored_model)(seed % EXPLORED_MODEL_COUNT), strategy, seed, 3);
        settings.traces = true;
        settings.reuse_memory = seed % 2 != 0;
        different += seed > 1 && !is_same_choices(&kept, explored_run(&settings, mix, NULL, NULL, 0));
        keep(&kept, explored_run(&settings, mix, NULL, NULL, 0));
        settings.seed = seed + 1000000;
        explored_run(&settings, mix, NULL, NULL, 0); /* another one in between leaves nothing behind */
        settings.seed = seed;
        const struct explored_result *again = explored_run(&settings, mix, NULL, NULL, 0);
        same += is_same_choices(&kept, again) && is_same_end(&kept, again);
        broken += again->broken;
    }
    EXPECT(same == 1000, "%s: %u of 1000 runs the same", explored_strategy_names[strategy], same);
    EXPECT(different > 900, "%s: seeds differ in %u of 999", explored_strategy_names[strategy], different);
    EXPECT(broken > 50 && broken < 950, "%s: %u of 1000 broken, so the bodies' ends are not compared",
           explored_strategy_names[strategy], broken);
}

/* What random or pct found is written down, read, and run by nothing but the text. */
static void test_replay(enum explored_strategy strategy)
{
    static struct kept kept;
    static struct explored_choice choices[512];
    static char text[8192];
    uint32_t broken = 0, same = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct explored_settings settings =
            settings_drawn((enum explored_model)(seed % EXPLORED_MODEL_COUNT), strategy, seed, 3);
        settings.traces = true;
        keep(&kept, explored_run(&settings, mix, NULL, NULL, 0));
        if (!kept.result.broken)
            continue;
        broken++;
        uint32_t count;
        if (explored_write(kept.choices, kept.result.choice_count, text, sizeof text) != 0 ||
            explored_read(text, choices, 512, &count) != 0)
            continue;
        settings.strategy = EXPLORED_EXHAUSTIVE;
        settings.seed = 0;
        same += is_same_end(&kept, explored_run(&settings, mix, NULL, choices, count));
    }
    EXPECT(broken > 20 && same == broken, "%s: %u of %u replay to the same table", explored_strategy_names[strategy],
           same, broken);
}

/* ---- how often a fault is found ---- */

static void lose_one(void *argument)
{
    struct shared_u32 *sum = argument;
    shared_u32_store_relaxed(sum, shared_u32_load_relaxed(sum) + 1);
}

/* Depth 2: one switch between a load and a store. */
static void lose_update(void *context)
{
    struct shared_u32 *sum = platform_alloc(sizeof *sum);
    (void)context;
    struct platform_thread *other = start(lose_one, sum);
    lose_one(sum);
    platform_thread_join(other);
    if (shared_u32_load_relaxed(sum) != 2)
        explored_fail("lost", "an update");
}

struct places {
    struct shared_u32 next;
    uint32_t at[3][2];
    bool reversed;
};

static void take_places(struct places *places, uint32_t who, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        places->at[who][i] = shared_u32_add_relaxed(&places->next, 1);
}
static void take_as_0(void *argument)
{
    take_places(argument, 0, 2);
}
static void take_as_1(void *argument)
{
    take_places(argument, 1, 2);
}

/* Depth 3: two threads are interrupted, one after the other, and go on in either order. */
static void interrupt_two(void *context)
{
    struct places *places = platform_alloc(sizeof *places);
    struct platform_thread *first = start(take_as_0, places), *second = start(take_as_1, places);
    take_places(places, 2, 1);
    platform_thread_join(first);
    platform_thread_join(second);
    uint32_t(*at)[2] = places->at;
    if (at[0][0] == 0 && at[1][0] == 1 && at[2][0] == 2 && (at[0][1] == 4) == *(const bool *)context)
        explored_fail("order", "interrupted one after the other");
}

static uint32_t count_broken(enum explored_strategy strategy, uint32_t depth, void (*body)(void *context),
                             void *context, uint32_t runs)
{
    uint32_t broken = 0;
    for (uint64_t seed = 1; seed <= runs; seed++) {
        const struct explored_settings settings = settings_drawn(EXPLORED_SC, strategy, seed, depth);
        broken += explored_run(&settings, body, context, NULL, 0)->broken;
    }
    return broken;
}

static void test_chances(void)
{
    /* Of 20,000: pct promises 1 / (n k^(d-1)) for n threads; k is drawn from five lengths, 32 to 512. Two threads,
     * depth 2: 1/10 (1/32 + 1/64 + 1/128 + 1/256 + 1/512) = 0.00605. Three, depth 3: 1/15 (1/32^2 + ...) = 0.0000868.
     */
    enum { RUNS = 20000, PROMISED_DEPTH_2 = 121, PROMISED_DEPTH_3 = 1 };
    uint32_t found = count_broken(EXPLORED_PCT, 2, lose_update, NULL, RUNS);
    EXPECT(found >= PROMISED_DEPTH_2, "pct found a fault of depth 2 in %u of %d runs", found, RUNS);
    EXPECT(count_broken(EXPLORED_PCT, 1, lose_update, NULL, RUNS) == 0, "depth 1 interrupts nobody");
    /* Main's load, the other's three steps up to its load, main's store: 2^-5 at least. */
    found = count_broken(EXPLORED_RANDOM, 1, lose_update, NULL, RUNS);
    EXPECT(found >= RUNS / 32, "random found it in %u of %d runs", found, RUNS);
    for (int reversed = 0; reversed < 2; reversed++) {
        bool context = reversed != 0;
        found = count_broken(EXPLORED_PCT, 3, interrupt_two, &context, RUNS);
        EXPECT(found >= PROMISED_DEPTH_3, "pct found a fault of depth 3 (%s) in %u of %d runs",
               reversed ? "the later one goes on first" : "the earlier one goes on first", found, RUNS);
    }
}

int main(void)
{
    test_text_round_trip();
    test_text_refused();
    test_walk_counts();
    test_walk_bounds();
    test_same_seed(EXPLORED_RANDOM);
    test_same_seed(EXPLORED_PCT);
    test_replay(EXPLORED_RANDOM);
    test_replay(EXPLORED_PCT);
    test_chances();
    printf(expectations_failed == 0 ? "ok\n" : "%u expectations failed\n", expectations_failed);
    return expectations_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
