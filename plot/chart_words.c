/* SPDX-License-Identifier: MIT
 *
 * The words of a chart: see chart_words.h.
 */
#include "chart_words.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHART_DEFAULT_GAP 0.4 /* extra distance of the category `default` from the numbers */

bool chart_is_reference(const struct chart *chart, const struct draft *draft)
{
    return isnan(draft->workers.number) && chart->kind != PLOT_CPU_SPLIT;
}

void chart_shared_init(struct chart_shared *shared, const struct draft_set *set)
{
    *shared = (struct chart_shared){.label = true, .spin_default = NAN, .set = set};
    for (size_t key = 0; key < DRAFT_PANEL_KEYS; key++) {
        shared->keys[key] = true;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct draft *draft = &set->drafts[i], *first = &set->drafts[0];
        for (size_t key = 0; key < DRAFT_PANEL_KEYS; key++) {
            shared->keys[key] &= draft_key_compare(&draft->panel[key], &first->panel[key]) == 0;
        }
        shared->label &= strcmp(draft->series[DRAFT_LABEL].text, first->series[DRAFT_LABEL].text) == 0;
        const struct draft_key *spin = draft_spin(draft);
        if (strcmp(spin->text, "default") == 0 && isfinite(spin->number) && spin->number != shared->spin_default) {
            shared->spin_default = isnan(shared->spin_default) ? spin->number : INFINITY;
        }
    }
}

static bool chart_spin_varies(const struct chart_shared *shared, const struct draft *draft)
{
    bool varies = shared->label;
    for (size_t i = 0; i < shared->set->count && !varies; i++) {
        const struct draft *other = &shared->set->drafts[i];
        varies = strcmp(other->series[DRAFT_LABEL].text, draft->series[DRAFT_LABEL].text) == 0 &&
                 draft_key_compare(&other->series[DRAFT_SPIN], &draft->series[DRAFT_SPIN]) != 0;
    }
    return varies;
}

void chart_append(char **string, char *text)
{
    if (text[0] != '\0') {
        char *joined = text_format("%s%s%s", *string, (*string)[0] != '\0' ? ", " : "", text);
        free(*string);
        *string = joined;
    }
    free(text);
}

char *chart_spin_text(const struct chart_shared *shared, const struct draft_key *spin)
{
    if (strcmp(spin->text, "default") == 0 && isfinite(spin->number) && isinf(shared->spin_default)) {
        return text_format("default (%.0f)", spin->number);
    }
    return text_format("%s", spin->text);
}

char *chart_series_title(const struct chart *chart, const struct chart_shared *shared, const struct draft *draft)
{
    char *title = text_format("%s", "");
    const struct draft_key *spin = &draft->series[DRAFT_SPIN];
    if (!shared->label) {
        chart_append(&title, text_format("%s", draft->series[DRAFT_LABEL].text));
    }
    if (spin->text[0] != '\0' && chart_spin_varies(shared, draft)) {
        char *text = chart_spin_text(shared, spin);
        chart_append(&title, text_format(chart->kind == PLOT_HEATMAP ? "%s" : "spin %s", text));
        free(text);
    }
    chart_append(&title, text_format("%s", draft->series[DRAFT_OTHERS].text));
    if (title[0] == '\0') {
        chart_append(&title, text_format("%s", draft->series[DRAFT_LABEL].text));
    }
    return title;
}

static char *chart_machine_text(const struct draft *draft)
{
    const char *machine = draft->panel[DRAFT_MACHINE].text, *cores = draft->panel[DRAFT_CORES].text;
    if (machine[0] == '\0') {
        return text_format("%s", "");
    }
    const char *noun = strcmp(machine, "real") == 0 ? " machine" : "";
    const char *plural = strcmp(cores, "1") == 0 ? "" : "s";
    return cores[0] != '\0' ? text_format("%s%s, %s core%s", machine, noun, cores, plural)
                            : text_format("%s%s", machine, noun);
}

void chart_describe(char **title, const struct chart_shared *shared, const struct draft *draft, bool same)
{
    const struct draft_key *panel = draft->panel;
    if (shared->keys[DRAFT_PANEL_SPIN] == same && panel[DRAFT_PANEL_SPIN].text[0] != '\0') {
        char *spin = chart_spin_text(shared, &panel[DRAFT_PANEL_SPIN]);
        chart_append(title, text_format("spin %s", spin));
        free(spin);
    }
    if (shared->keys[DRAFT_PANEL_LABEL] == same) {
        chart_append(title, text_format("%s", panel[DRAFT_PANEL_LABEL].text));
    }
    if (shared->keys[DRAFT_PANEL_OTHERS] == same) {
        chart_append(title, text_format("%s", panel[DRAFT_PANEL_OTHERS].text));
    }
    if (same && shared->label) {
        chart_append(title, text_format("%s", draft->series[DRAFT_LABEL].text));
    }
    if (shared->keys[DRAFT_WORKLOAD] == same && panel[DRAFT_WORKLOAD].text[0] != '\0') {
        chart_append(title, text_format("workload %s", panel[DRAFT_WORKLOAD].text));
    }
    if (shared->keys[DRAFT_CONNECTIONS] == same && panel[DRAFT_CONNECTIONS].text[0] != '\0') {
        chart_append(title, text_format("%s connections", panel[DRAFT_CONNECTIONS].text));
    }
    if ((shared->keys[DRAFT_MACHINE] && shared->keys[DRAFT_CORES]) == same) {
        chart_append(title, chart_machine_text(draft));
    }
}

char *chart_panel_title(const struct chart_shared *shared, const struct draft *draft)
{
    const char *mode = draft->panel[DRAFT_MODE].text;
    const struct draft_key *rate = &draft->panel[DRAFT_RATE];
    char *title = text_format("%s", "");
    if (strcmp(mode, "closed") == 0) {
        chart_append(&title, text_format("closed loop"));
    } else if (isfinite(rate->number)) {
        char *number = text_number(rate->number);
        chart_append(&title, text_format("%s, %s requests/s", mode, number));
        free(number);
    } else {
        chart_append(&title, text_format("%s", mode));
    }
    chart_describe(&title, shared, draft, false);
    if (title[0] == '\0') { /* one panel, and no load generator */
        chart_append(&title, text_format("%s", draft->panel[DRAFT_WORKLOAD].text));
    }
    return title;
}

char *chart_engaged_text(const struct draft *drafts, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (isinf(drafts[i].workers.number) && isfinite(drafts[i].engaged)) {
            low = fmin(low, drafts[i].engaged);
            high = fmax(high, drafts[i].engaged);
        }
    }
    if (low > high) {
        return NULL;
    }
    char *lowest = text_number(low), *highest = text_number(high);
    char *text = strcmp(lowest, highest) == 0 ? text_format("%s engaged", lowest)
                                              : text_format("%s-%s engaged", lowest, highest);
    free(lowest);
    free(highest);
    return text;
}

static int chart_workers_compare(const void *left, const void *right)
{
    return draft_key_compare(*(const struct draft_key *const *)left, *(const struct draft_key *const *)right);
}

void chart_ticks_add(struct chart_panel *panel, const struct draft *drafts, size_t count, const char *below)
{
    const struct draft_key **keys = text_allocate(count, sizeof *keys);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(drafts[i].workers.number)) {
            keys[used++] = &drafts[i].workers;
        }
    }
    qsort(keys, used, sizeof *keys, chart_workers_compare);
    for (size_t i = 0; i < used; i++) {
        if (i > 0 && draft_key_compare(keys[i - 1], keys[i]) == 0) {
            continue;
        }
        bool is_default = isinf(keys[i]->number);
        double gap = is_default && panel->tick_count > 0 ? CHART_DEFAULT_GAP : 0;
        chart_tick_add(panel, keys[i]->text, is_default ? below : NULL, panel->tick_count + 1 + gap, is_default);
    }
    free(keys);
}

uint32_t chart_tick_find(const struct chart_panel *panel, const char *text)
{
    uint32_t tick = 0;
    while (strcmp(panel->ticks[tick].text, text) != 0) {
        tick++;
    }
    return tick;
}
