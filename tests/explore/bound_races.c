/* SPDX-License-Identifier: MIT
 *
 * The watch on `readers`, and the names of what the published protocol (pool/bound/published.c) does wrong.
 *
 * How it works. Every change of `readers` is kept with the number of readers that there were in truth: a swap by a
 * submitter adds one, whatever it wrote; a reader that leaves takes one. Loads are told apart by their place in the
 * submit: the first is step b, then c, then d. So each fault's cause is looked up, not guessed from what it looks like:
 *
 *   race R1  an item waits whose submitter gave up at step b at a right count, and all the readers that it counted have
 *            left since
 *   race R2  an item waits whose submitter lost its swap, because a reader left between steps c and e
 *   race R3  a swap raised a right count that had reached the bound after its submitter's step b
 *   race R4  a swap changed `readers` by something else than one: the count is wrong from there on
 *
 * What has another cause, or is found in a bound that is not a specimen, is B2, B3 or B4.
 *
 * Source. FixedConcurrencyTaskScheduler of akkadotnet/akka.net 1.4.19 to 1.4.28.
 */
#include "bound_course.h"

enum { STEP_B, STEP_C, STEP_D };

static int64_t true_readers(const struct course *course)
{
    return course->changes > 0 ? course->readers[course->changes - 1] : 0;
}

/* `readers` was what it should be after so many changes. */
static bool was_right(const struct course *course, uint32_t changes)
{
    return changes == 0 || course->values[changes - 1] == course->readers[changes - 1];
}

static bool reader_left_between(const struct course *course, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (course->readers[i] < (i > 0 ? course->readers[i - 1] : 0))
            return true;
    return false;
}

/* ---- the watch ---- */

static struct attempt *attempt_of(struct course *course, uint32_t thread)
{
    const uint32_t number = course->submitting[thread];
    return number > 0 ? &course->records[number - 1].attempt : NULL;
}

/* A load, or a swap that lost. */
static void sees_read(struct course *course, struct attempt *attempt, const struct explored_event *event)
{
    static const char steps[] = "bcd";
    if (attempt->end != ATTEMPT_OPEN)
        *attempt = (struct attempt){0}; /* the submit tries again */
    if (attempt->reads == sizeof attempt->read / sizeof attempt->read[0]) {
        attempt->end = ATTEMPT_LOST;
        attempt->end_at = course->changes;
        explored_note("(step e) gives up: readers has changed");
        return;
    }
    attempt->read[attempt->reads] = (int64_t)event->found;
    attempt->read_at[attempt->reads] = course->changes - event->age;
    if (attempt->reads == STEP_B && (int64_t)event->found >= course->limit) {
        attempt->end = ATTEMPT_AT_BOUND;
        explored_note("(step b) gives up: at the bound");
    } else {
        explored_note("(step %c)", steps[attempt->reads]);
    }
    attempt->reads++;
}

static _Noreturn void too_many(const struct course *course, const struct attempt *attempt)
{
    const long long readers = true_readers(course), limit = course->limit;
    const uint32_t before = course->changes - 1;
    if (course->specimen && attempt != NULL && was_right(course, before) && attempt->read[STEP_C] >= course->limit)
        explored_fail("race R3",
                      "%lld readers, the bound is %lld: the count reached %lld between a submit's steps b and c",
                      readers, limit, (long long)attempt->read[STEP_C]);
    if (course->specimen && !was_right(course, before))
        explored_fail("race R4", "%lld readers, the bound is %lld: the count was wrong before", readers, limit);
    explored_fail("B2", "%lld readers, the bound is %lld", readers, limit);
}

void course_sees_readers(void *context, const struct explored_event *event)
{
    struct course *course = context;
    struct attempt *attempt = attempt_of(course, event->thread);
    if (!event->changes) {
        if (course->specimen && attempt != NULL)
            sees_read(course, attempt, event);
        return;
    }
    if (course->changes == CHANGES_MAX)
        explored_fail("limit", "a run with more than %d changes of readers", CHANGES_MAX);
    /* A swap writes what it likes; only taking one away is an addition. In a specimen a swap that lowers the value or
     * leaves it alone is a reader more all the same. */
    const bool swapped = course->specimen ? attempt != NULL && attempt->reads == 3 && attempt->end == ATTEMPT_OPEN
                                          : (int64_t)event->left > (int64_t)event->found;
    const int64_t readers = true_readers(course) + (swapped ? 1 : -1);
    course->values[course->changes] = (int64_t)event->left;
    course->readers[course->changes++] = readers;
    if (course->specimen && swapped) {
        attempt->end = ATTEMPT_SWAPPED;
        attempt->end_at = course->changes;
        explored_note("(step e) starts a reader: %lld now", (long long)readers);
        if (attempt->read[STEP_D] != attempt->read[STEP_C] && course->wrong_item == 0) {
            course->wrong_swap = *attempt;
            course->wrong_item = course->submitting[event->thread];
        }
    } else if (course->specimen) {
        explored_note("a reader leaves: %lld now", (long long)readers);
    }
    if (readers > course->limit)
        too_many(course, attempt);
}

/* ---- at rest ---- */

void course_miscounted(const struct course *course, int64_t readers)
{
    const long long c = course->wrong_swap.read[STEP_C], d = course->wrong_swap.read[STEP_D];
    if (course->wrong_item > 0)
        explored_fail("race R4",
                      "the count is %lld for good, with no reader: item %u's submit read %lld at step c and "
                      "%lld at d, and swapped %lld for %lld",
                      (long long)readers, course->wrong_item, c, d, c, d + 1);
    explored_fail("B4", "the count is %lld, with no reader", (long long)readers);
}

static void name_stranded(const struct course *course, uint32_t number)
{
    const struct attempt *attempt = &course->records[number].attempt;
    const uint32_t item = number + 1;
    if (attempt->end == ATTEMPT_AT_BOUND && !was_right(course, attempt->read_at[STEP_B]))
        explored_fail("race R4", "item %u waits for ever: its submit gave up at the bound, by a wrong count", item);
    if (attempt->end == ATTEMPT_AT_BOUND && reader_left_between(course, attempt->read_at[STEP_B], course->changes))
        explored_fail("race R1",
                      "item %u waits for ever: its submit gave up at the bound (step b) while the last reader, which "
                      "had seen no item, was about to leave",
                      item);
    if (attempt->end == ATTEMPT_LOST && reader_left_between(course, attempt->read_at[STEP_C], attempt->end_at))
        explored_fail("race R2",
                      "item %u waits for ever: a reader left between steps c and e of its submit, so that the swap "
                      "was lost",
                      item);
}

void course_stranded(const struct course *course)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < course->count; i++) {
        const struct record *record = &course->records[i];
        if (!record->accepted || record->runs > 0)
            continue;
        waiting++;
        if (course->specimen)
            name_stranded(course, i);
    }
    explored_fail("B3", "%u items wait and no reader exists", waiting);
}
