/* SPDX-License-Identifier: MIT
 *
 * Strands: see strands.h.
 */
#include "strands.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

#define STRANDS_LINES_MAX 9 /* more lines than this in one panel cannot be followed */

static int strands_executor_compare(const void *left_draft, const void *right_draft)
{
    const struct draft *left = *(const struct draft *const *)left_draft;
    const struct draft *right = *(const struct draft *const *)right_draft;
    int order = (int)right->is_real - (int)left->is_real;
    order = order != 0 ? order : draft_key_compare(&left->series[DRAFT_LABEL], &right->series[DRAFT_LABEL]);
    return order != 0 ? order : draft_key_compare(&left->series[DRAFT_OTHERS], &right->series[DRAFT_OTHERS]);
}

static int strands_spin_compare(const void *left_draft, const void *right_draft)
{
    const struct draft_key *left = draft_spin(*(const struct draft *const *)left_draft);
    const struct draft_key *right = draft_spin(*(const struct draft *const *)right_draft);
    int order = (left->text[0] == '\0') - (right->text[0] == '\0');
    return order != 0 ? order : draft_key_compare(left, right);
}

/* One draft of each kind that a comparison tells apart, sorted. */
static size_t strands_distinct(const struct draft **out, const struct draft_set *set,
                               int (*compare)(const void *, const void *))
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        out[i] = &set->drafts[i];
    }
    qsort(out, set->count, sizeof *out, compare);
    for (size_t i = 0; i < set->count; i++) {
        if (count == 0 || compare(&out[count - 1], &out[i]) != 0) {
            out[count++] = out[i];
        }
    }
    return count;
}

bool strands_is_executor(const struct draft *left, const struct draft *right)
{
    return strands_executor_compare(&left, &right) == 0;
}

void strands_init(struct strands *strands, const struct draft_set *set)
{
    strands->executors = text_allocate(set->count, sizeof *strands->executors);
    strands->spins = text_allocate(set->count, sizeof *strands->spins);
    strands->executor_count = strands_distinct(strands->executors, set, strands_executor_compare);
    strands->spin_count = strands_distinct(strands->spins, set, strands_spin_compare);
}

void strands_fini(struct strands *strands)
{
    free(strands->executors);
    free(strands->spins);
}

bool strands_fit(const struct draft_set *set)
{
    struct strands strands;
    strands_init(&strands, set);
    size_t real = 0;
    for (size_t i = 0; i < strands.executor_count; i++) {
        real += strands.executors[i]->is_real;
    }
    bool fit = real <= CHART_STRANDS && strands.executor_count - real <= CHART_STRANDS &&
               strands.executor_count * strands.spin_count <= STRANDS_LINES_MAX;
    strands_fini(&strands);
    return fit;
}

static size_t strands_find(const struct draft *const *among, const struct draft *draft,
                           int (*compare)(const void *, const void *))
{
    size_t index = 0;
    while (compare(&among[index], &draft) != 0) {
        index++;
    }
    return index;
}

struct chart_look strands_look(const struct strands *strands, const struct draft *draft)
{
    size_t executor = strands_find(strands->executors, draft, strands_executor_compare);
    size_t spin = strands_find(strands->spins, draft, strands_spin_compare), real = 0;
    while (real < strands->executor_count && strands->executors[real]->is_real) {
        real++;
    }
    size_t number = draft->is_real ? executor % CHART_STRANDS : CHART_STRANDS + (executor - real) % CHART_STRANDS;
    return (struct chart_look){.colour = (uint32_t)(strands->spin_count > 1 ? spin : executor),
                               .strand = (uint32_t)number + 1};
}

void strands_key(struct chart *chart, const struct strands *strands, const struct chart_shared *shared)
{
    bool apart = strands->spin_count > 1;
    for (size_t i = 0; i < strands->executor_count; i++) {
        const struct draft *draft = strands->executors[i];
        const char *others = draft->series[DRAFT_OTHERS].text;
        struct chart_look look = strands_look(strands, draft);
        look.colour = apart ? CHART_NO_COLOUR : look.colour;
        chart_key_add(
            chart, text_format("%s%s%s", draft->series[DRAFT_LABEL].text, others[0] != '\0' ? ", " : "", others), look);
    }
    chart->key_break = apart ? chart->key_count : 0;
    for (size_t i = 0; i < strands->spin_count && apart; i++) {
        if (i < CHART_SERIES_NAMED) {
            char *spin = chart_spin_text(shared, draft_spin(strands->spins[i]));
            char *title = spin[0] != '\0' ? text_format("spin %s", spin) : text_format("no spin limit");
            chart_key_add(chart, title, (struct chart_look){.colour = (uint32_t)i});
            free(spin);
        }
    }
}
