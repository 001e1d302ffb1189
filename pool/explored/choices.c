/* SPDX-License-Identifier: MIT
 *
 * Choices: the strategies that make them, the exhaustive walk over them, and their text.
 *
 * How it works. Each choice is recorded with the number of its options. A run begins with a prefix of choices that are
 * given; after it the strategy decides.
 *   exhaustive  takes option 0; explored_next() makes the prefix of the next run: the last choice that has an untried
 *               option within the bounds takes it, and what followed is dropped. Depth first, nothing is run twice.
 *   random      uniform over the threads; a load takes the newest store every second time. If it is focused, a run has
 *               a few locations of its own, and a thread is interrupted when it is about to touch one of these, hardly
 *               elsewhere: what goes wrong at one word, however long the way between two steps there, is hit often.
 *   pct         threads have priorities, the highest runs; at depth - 1 random steps the running one falls below all
 *               that have not fallen, and takes its place among those that have by lot; one that yields falls below
 *               all.
 *               A bug of depth d is hit with a probability of at least 1 / (n k^(d-1)) for n threads and k steps. How
 *               long the run will be is not known, so k is drawn as well, from 32 to 512.
 *
 * The generator is splitmix64: the same on any machine.
 *
 * Sources. Musuvathi & Qadeer 2007; Burckhardt et al. 2010; Bindal, Bansal, Lal 2013 (variable bounding: focused);
 * Steele, Lea, Flood 2014 (splitmix64).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum { CHOICES_MAX = 65536, CHANGES_MAX = 15, FOCUS_CLASSES = 16, FOCUS_STRAYS = 64 };
/* pct: priorities from the start, after a change, after a yield. */
enum { PRIORITY_FIRST = 1 << 30, PRIORITY_CHANGED = 1 << 29, PRIORITY_YIELDED = PRIORITY_CHANGED - 1 };

static struct {
    struct explored_settings settings;
    struct explored_choice made[CHOICES_MAX];
    uint32_t count;
    const struct explored_choice *prefix;
    uint32_t prefix_count;
    uint64_t random;
    uint32_t focus, touched; /* focused: locations by their number modulo FOCUS_CLASSES; what comes next */
    /* pct */
    uint32_t priorities[EXPLORED_THREADS_MAX], lowest;
    uint32_t change_at[CHANGES_MAX], change_count, thread_choices;
} choices;

static uint64_t draw(void)
{
    uint64_t x = choices.random += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

static uint32_t draw_below(uint32_t below)
{
    return (uint32_t)(((draw() >> 32) * below) >> 32);
}

void choices_begin(const struct explored_settings *settings, const struct explored_choice *prefix, uint32_t count)
{
    choices.settings = *settings;
    choices.count = 0;
    choices.prefix = prefix;
    choices.prefix_count = count;
    choices.random = settings->seed;
    choices.lowest = PRIORITY_YIELDED;
    choices.thread_choices = 0;
    choices.change_count = 0;
    choices.touched = 0;
    choices.focus = settings->focused ? draw_below(FOCUS_CLASSES) : 0;
    if (settings->strategy != EXPLORED_PCT)
        return;
    for (uint32_t i = 0; i < EXPLORED_THREADS_MAX; i++)
        choices.priorities[i] = PRIORITY_FIRST + draw_below(PRIORITY_FIRST);
    uint32_t length = 32u << draw_below(5);
    choices.change_count = settings->depth > CHANGES_MAX ? CHANGES_MAX : settings->depth > 0 ? settings->depth - 1 : 0;
    for (uint32_t i = 0; i < choices.change_count; i++)
        choices.change_at[i] = draw_below(length);
}

/* Records a choice; the prefix goes before what the strategy wants. */
static uint32_t record(enum explored_choice_kind kind, uint32_t count, uint32_t wanted, uint32_t cost_thread,
                       uint32_t cost_value)
{
    if (choices.count == CHOICES_MAX)
        run_broken("limit", "a run of more than %d choices", CHOICES_MAX);
    if (choices.count < choices.prefix_count) {
        wanted = choices.prefix[choices.count].chosen;
        wanted = wanted < count ? wanted : 0;
    }
    choices.made[choices.count++] = (struct explored_choice){(uint16_t)wanted, (uint16_t)count, (uint8_t)kind,
                                                             (uint8_t)cost_thread, (uint8_t)cost_value};
    return wanted;
}

/* One of this many random choices does not take option 0. */
static uint32_t rarity(enum explored_choice_kind kind)
{
    switch (kind) {
    case EXPLORED_CHOICE_VALUE:
    case EXPLORED_CHOICE_DRAIN:
        return 2;
    case EXPLORED_CHOICE_PLACE:
    case EXPLORED_CHOICE_MEMORY:
    case EXPLORED_CHOICE_STAY:
        return 4;
    default:
        return 1; /* uniform */
    }
}

uint32_t choices_make(enum explored_choice_kind kind, uint32_t count, uint32_t cost_thread, uint32_t cost_value)
{
    uint32_t wanted = 0;
    if (choices.settings.strategy != EXPLORED_EXHAUSTIVE) {
        uint32_t every = rarity(kind);
        if (every == 1)
            wanted = draw_below(count);
        else if (draw_below(every) == 0)
            wanted = 1 + draw_below(count - 1);
    }
    return record(kind, count, wanted, cost_thread, cost_value);
}

void choices_yielded(uint32_t thread)
{
    choices.priorities[thread] = choices.lowest--;
}

static uint32_t highest(const uint8_t *threads, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (choices.priorities[threads[i]] > choices.priorities[threads[best]])
            best = i;
    return best;
}

void choices_touch(uint32_t location)
{
    choices.touched = location;
}

/* Whether the strategy leaves a thread alone that could go on. */
static bool lets_go_on(uint32_t cost_thread)
{
    return choices.settings.strategy == EXPLORED_RANDOM && choices.settings.focused && cost_thread > 0 &&
           choices.touched % FOCUS_CLASSES != choices.focus && draw_below(FOCUS_STRAYS) != 0;
}

uint32_t choices_thread(const uint8_t *threads, uint32_t count, uint32_t cost_thread)
{
    if (lets_go_on(cost_thread))
        return record(EXPLORED_CHOICE_THREAD, count, 0, cost_thread, 0);
    if (choices.settings.strategy != EXPLORED_PCT)
        return choices_make(EXPLORED_CHOICE_THREAD, count, cost_thread, 0);
    for (uint32_t i = 0; i < choices.change_count; i++)
        if (choices.change_at[i] == choices.thread_choices)
            choices.priorities[threads[highest(threads, count)]] = PRIORITY_CHANGED + i;
    choices.thread_choices++;
    return record(EXPLORED_CHOICE_THREAD, count, highest(threads, count), cost_thread, 0);
}

const struct explored_choice *choices_made(uint32_t *count)
{
    *count = choices.count;
    return choices.made;
}

/* ---- the exhaustive walk ---- */

bool explored_next(const struct explored_settings *settings, const struct explored_result *result,
                   struct explored_choice *prefix, uint32_t room, uint32_t *prefix_count)
{
    /* What the choices before each one have taken from the bounds: summed once, then walked back. */
    uint32_t preemptions = 0, stale = 0;
    for (uint32_t i = 0; i < result->choice_count; i++) {
        const struct explored_choice *choice = &result->choices[i];
        preemptions += choice->chosen != 0 ? choice->cost_thread : 0;
        stale += choice->chosen != 0 ? choice->cost_value : 0;
    }
    for (uint32_t i = result->choice_count; i-- > 0;) {
        const struct explored_choice *choice = &result->choices[i];
        preemptions -= choice->chosen != 0 ? choice->cost_thread : 0;
        stale -= choice->chosen != 0 ? choice->cost_value : 0;
        if (choice->chosen + 1 >= choice->count || preemptions + choice->cost_thread > settings->preemption_bound ||
            stale + choice->cost_value > settings->stale_bound)
            continue;
        if (i + 1 > room)
            return false;
        memcpy(prefix, result->choices, (i + 1) * sizeof *prefix);
        prefix[i].chosen++;
        *prefix_count = i + 1;
        return true;
    }
    return false;
}

/* ---- as text ---- */

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static size_t write_number(uint32_t number, char *text)
{
    char reversed[8];
    size_t length = 0;
    do
        reversed[length++] = digits[number % 36];
    while ((number /= 36) > 0);
    for (size_t i = 0; i < length; i++)
        text[i] = reversed[length - 1 - i];
    return length;
}

int explored_write(const struct explored_choice *choices_list, uint32_t count, char *text, size_t room)
{
    enum { ONE_MAX = 16 };
    size_t length = 0;
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (choices_list[i].chosen == 0)
            continue;
        if (room < length + ONE_MAX)
            return -ENOSPC;
        if (length > 0)
            text[length++] = '-';
        length += write_number(i - next, text + length); /* how many quiet ones lie between */
        text[length++] = '.';
        length += write_number(choices_list[i].chosen, text + length);
        next = i + 1;
    }
    if (length == 0 && room < 2)
        return -ENOSPC;
    if (length == 0)
        text[length++] = '0';
    text[length] = '\0';
    return 0;
}

static int read_number(const char **text, uint32_t *out)
{
    uint64_t number = 0;
    const char *start = *text, *digit;
    for (; **text != '\0' && (digit = strchr(digits, **text)) != NULL; (*text)++)
        if ((number = number * 36 + (uint64_t)(digit - digits)) > CHOICES_MAX)
            return -EINVAL;
    *out = (uint32_t)number;
    return *text > start ? 0 : -EINVAL;
}

int explored_read(const char *text, struct explored_choice *choices_list, uint32_t room, uint32_t *count)
{
    uint32_t filled = 0;
    if (strcmp(text, "0") == 0) {
        *count = 0;
        return 0;
    }
    for (;;) {
        uint32_t quiet, chosen;
        if (read_number(&text, &quiet) != 0 || *text++ != '.' || read_number(&text, &chosen) != 0 || chosen == 0 ||
            chosen > UINT16_MAX)
            return -EINVAL;
        if (room - filled <= quiet)
            return -ENOSPC;
        memset(&choices_list[filled], 0, (quiet + 1) * sizeof *choices_list);
        filled += quiet + 1;
        choices_list[filled - 1].chosen = (uint16_t)chosen;
        if (*text == '\0')
            break;
        if (*text++ != '-')
            return -EINVAL;
    }
    *count = filled;
    return 0;
}
