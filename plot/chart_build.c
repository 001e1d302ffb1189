/* SPDX-License-Identifier: MIT
 *
 * Cells into panels, series and points: see chart.h. The order and the names come from the sorted drafts (draft.h).
 */
#include "chart.h"
#include "draft.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHART_BARS_PER_PANEL 36
#define CHART_DEFAULT_GAP    0.4 /* extra distance of the category `default` from the numbers */
#define CHART_GROUP_GAP      0.8 /* between the groups of bars of two series */

/* What is the same in all panels goes into the chart's title, what differs into the panels'. */
struct chart_shared {
    bool keys[DRAFT_PANEL_KEYS];
    bool label;          /* one label */
    double spin_default; /* what spin limit `default` stands for; infinity: for several */
    const struct draft_set *set;
};

static bool chart_is_reference(const struct chart *chart, const struct draft *draft)
{
    return isnan(draft->workers.number) && chart->kind != PLOT_CPU_SPLIT;
}

static void chart_shared_init(struct chart_shared *shared, const struct draft_set *set)
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
        if (strcmp(spin->text, "default") == 0 && spin->number != shared->spin_default) {
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

/* Adds ", text" (or "text") to a string that it owns. */
static void chart_append(char **string, char *text)
{
    if (text[0] != '\0') {
        char *joined = text_format("%s%s%s", *string, (*string)[0] != '\0' ? ", " : "", text);
        free(*string);
        *string = joined;
    }
    free(text);
}

/* "default" is spelt out only where it stands for several numbers; else the notes say which (chart_notes). */
static char *chart_spin_text(const struct chart_shared *shared, const struct draft_key *spin)
{
    if (strcmp(spin->text, "default") == 0 && isfinite(spin->number) && isinf(shared->spin_default)) {
        return text_format("default (%.0f)", spin->number);
    }
    return text_format("%s", spin->text);
}

static char *chart_series_title(const struct chart *chart, const struct chart_shared *shared, const struct draft *draft)
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

/* The words for those panel keys of a draft that are (shared) or are not (!shared) the same in all panels. */
static void chart_describe(char **title, const struct chart_shared *shared, const struct draft *draft, bool same)
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
    if (shared->keys[DRAFT_TARGET] == same && panel[DRAFT_TARGET].text[0] != '\0') {
        chart_append(title, text_format("target %s", panel[DRAFT_TARGET].text));
    }
    if (shared->keys[DRAFT_CONNECTIONS] == same && panel[DRAFT_CONNECTIONS].text[0] != '\0') {
        chart_append(title, text_format("%s connections", panel[DRAFT_CONNECTIONS].text));
    }
    if ((shared->keys[DRAFT_MACHINE] && shared->keys[DRAFT_CORES]) == same) {
        chart_append(title, chart_machine_text(draft));
    }
}

static char *chart_panel_title(const struct chart_shared *shared, const struct draft *draft)
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

/* "25 engaged", or "14-25 engaged" where the cells with max-workers default differ; NULL if nobody counted. */
static char *chart_engaged_text(const struct draft *drafts, size_t count)
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

/* The ticks of an axis: the max-workers of these drafts, evenly spaced, `default` last and apart. */
static void chart_ticks_add(struct chart_panel *panel, const struct draft *drafts, size_t count)
{
    const struct draft_key **keys = text_allocate(count, sizeof *keys);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(drafts[i].workers.number)) {
            keys[used++] = &drafts[i].workers;
        }
    }
    qsort(keys, used, sizeof *keys, chart_workers_compare);
    char *engaged = chart_engaged_text(drafts, count);
    for (size_t i = 0; i < used; i++) {
        if (i > 0 && draft_key_compare(keys[i - 1], keys[i]) == 0) {
            continue;
        }
        bool is_default = isinf(keys[i]->number);
        double gap = is_default && panel->tick_count > 0 ? CHART_DEFAULT_GAP : 0;
        chart_tick_add(panel, keys[i]->text, is_default ? engaged : NULL, panel->tick_count + 1 + gap, is_default);
    }
    free(engaged);
    free(keys);
}

static uint32_t chart_tick_find(const struct chart_panel *panel, const char *text)
{
    uint32_t tick = 0;
    while (strcmp(panel->ticks[tick].text, text) != 0) {
        tick++;
    }
    return tick;
}

/* Whether one one-worker cell is the better reference: the lower spin limit, then the lower value. */
static bool chart_is_lower(const struct draft *draft, const struct draft *than)
{
    int spin = draft_key_compare(draft_spin(draft), draft_spin(than));
    return spin != 0 ? spin < 0 : draft->value.median < than->value.median;
}

/* The cheapest one-worker cell at the lowest spin limit: what the finding is measured against. */
static void chart_one_worker(const struct chart *chart, const struct chart_shared *shared, struct chart_panel *panel,
                             const struct draft *first)
{
    const struct draft *lowest = NULL;
    for (size_t i = 0; i < shared->set->count && chart->kind != PLOT_HEATMAP; i++) {
        const struct draft *draft = &shared->set->drafts[i];
        if (draft->workers.number == 1 && draft_is_beside(draft, first) &&
            (lowest == NULL || chart_is_lower(draft, lowest))) {
            lowest = draft;
        }
    }
    if (lowest == NULL) {
        return;
    }
    char *title = text_format("one worker");
    if (!shared->label) {
        chart_append(&title, text_format("%s", lowest->series[DRAFT_LABEL].text));
    }
    if (draft_spin(lowest)->text[0] != '\0') {
        char *spin = chart_spin_text(shared, draft_spin(lowest));
        chart_append(&title, text_format("spin %s", spin));
        free(spin);
    }
    chart_reference_add(panel, title, lowest->value.median);
}

/* A panel of lines or of a map from the drafts that share a panel. Ticks come from all drafts for lines, so that panels
 * can be read side by side, and from the panel's own for a map, which has no use for an empty column. */
static void chart_panel_of_ticks(struct chart *chart, const struct chart_shared *shared, const struct draft *drafts,
                                 size_t count)
{
    struct chart_panel *panel = chart_panel_add(chart, chart_panel_title(shared, drafts));
    panel->closed_loop = strcmp(drafts->panel[DRAFT_MODE].text, "closed") == 0;
    bool own = chart->kind == PLOT_HEATMAP;
    chart_ticks_add(panel, own ? drafts : shared->set->drafts, own ? count : shared->set->count);
    chart_one_worker(chart, shared, panel, drafts);
    struct chart_series *series = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct draft *draft = &drafts[i];
        char *title = chart_series_title(chart, shared, draft);
        if (chart_is_reference(chart, draft)) {
            chart_reference_add(panel, title, draft->value.median);
            continue;
        }
        if (series == NULL || draft_series_compare(draft, draft - 1) != 0) {
            series = chart_series_add(panel, chart_series_index(chart, title));
        }
        chart_point_add(series, chart_tick_find(panel, draft->workers.text), draft->value);
        free(title);
    }
}

/* Panels of bars from the drafts that share a panel: one bar per cell, grouped by series, a new panel when one is full.
 */
static void chart_panel_of_bars(struct chart *chart, const struct chart_shared *shared, const struct draft *drafts,
                                size_t count)
{
    struct chart_panel *panel = NULL;
    struct chart_series *series = NULL;
    double position = 0;
    for (size_t i = 0; i < count; i++) {
        const struct draft *draft = &drafts[i];
        if (panel == NULL || panel->tick_count == CHART_BARS_PER_PANEL) {
            char *title = chart_panel_title(shared, draft);
            if (panel != NULL) {
                chart_append(&title, text_format("continued"));
            }
            panel = chart_panel_add(chart, title);
            series = NULL;
            position = 0;
        }
        if (series == NULL || draft_series_compare(draft, draft - 1) != 0) {
            char *title = chart_series_title(chart, shared, draft);
            position += series != NULL ? CHART_GROUP_GAP : 0;
            series = chart_series_add(panel, chart_series_index(chart, title));
            free(title);
        }
        position += 1;
        bool is_default = isinf(draft->workers.number);
        uint32_t tick = chart_tick_add(panel, draft->workers.text, NULL, position, is_default);
        struct chart_point *point = chart_point_add(series, tick, draft->value);
        memcpy(point->parts, draft->parts, sizeof point->parts);
    }
}

/* Colours and markers follow the order of the series, not the order in which panels happen to have them. */
static int chart_series_order(const void *left, const void *right)
{
    return draft_series_compare(*(const struct draft *const *)left, *(const struct draft *const *)right);
}

static void chart_series_titles(struct chart *chart, const struct chart_shared *shared)
{
    const struct draft_set *set = shared->set;
    const struct draft **sorted = text_allocate(set->count, sizeof *sorted);
    for (size_t i = 0; i < set->count; i++) {
        sorted[i] = &set->drafts[i];
    }
    qsort(sorted, set->count, sizeof *sorted, chart_series_order);
    for (size_t i = 0; i < set->count; i++) {
        if (!chart_is_reference(chart, sorted[i])) {
            char *title = chart_series_title(chart, shared, sorted[i]);
            chart_series_index(chart, title);
            free(title);
        }
    }
    free(sorted);
}

static void chart_note_count(struct chart *chart, size_t count, const char *one, const char *many)
{
    if (count > 0) {
        char *text = text_format("%zu %s", count, count == 1 ? one : many);
        chart_note(chart, text);
        free(text);
    }
}

/* How many repeats stand behind each value, and what the bars are. */
static void chart_notes(struct chart *chart, const struct chart_shared *shared)
{
    const struct draft_set *set = shared->set;
    uint32_t low = UINT32_MAX, high = 0;
    bool ranges = false, intervals = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct interval *value = &set->drafts[i].value;
        low = value->count < low ? value->count : low;
        high = value->count > high ? value->count : high;
        ranges |= value->is_range;
        intervals |= !value->is_range;
    }
    bool bars = chart->kind == PLOT_CPU_VS_THREADS || chart->kind == PLOT_CPU_PER_REQUEST;
    const char *kind = !bars                 ? ""
                       : high <= 1           ? ""
                       : ranges && intervals ? "; bars: 95 % bootstrap intervals, thin ones the range of fewer than six"
                       : ranges              ? "; thin bars: range (lowest to highest)"
                                             : "; bars: 95 % bootstrap intervals";
    char *text = low == high ? text_format("Medians of %u repeat%s%s.", low, low == 1 ? "" : "s", kind)
                             : text_format("Medians of %u to %u repeats%s.", low, high, kind);
    chart_note(chart, text);
    free(text);
    if (isfinite(shared->spin_default)) {
        char *spin = text_format("Spin default is %.0f.", shared->spin_default);
        chart_note(chart, spin);
        free(spin);
    }
    chart_note_count(chart, set->disturbed_only, "cell was disturbed in all repeats and is shown with them.",
                     "cells were disturbed in all repeats and are shown with them.");
    chart_note_count(chart, set->invalid, "cell without a valid repeat is left out.",
                     "cells without a valid repeat are left out.");
    chart_note_count(chart, set->unknown, "cell without this number is left out.",
                     "cells without this number are left out.");
    chart_note_count(chart, set->off_the_map, "cell without max-workers is not on the map.",
                     "cells without max-workers are not on the map.");
    if (chart->series_count > CHART_SERIES_NAMED && bars) {
        chart_note_count(chart, chart->series_count - CHART_SERIES_NAMED, "further series is grey.",
                         "further series are grey.");
    }
}

static void chart_titles(struct chart *chart, const struct chart_shared *shared, bool plain)
{
    static const char *const what[PLOT_KIND_COUNT] = {
        [PLOT_CPU_VS_THREADS] = "Router CPU against max-workers",
        [PLOT_CPU_PER_REQUEST] = "Router CPU per request against max-workers",
        [PLOT_CPU_SPLIT] = "Where the router's CPU time went",
        [PLOT_HEATMAP] = "Router CPU by max-workers and spin limit, percent of one CPU",
    };
    chart->title = text_format("%s", what[chart->kind]);
    chart->about = text_format("%s", "");
    chart_describe(&chart->about, shared, shared->set->drafts, true);
    chart->x_title = text_format("max-workers");
    const char *per_request = plain ? "us per request" : "µs per request";
    chart->y_title = text_format("%s", chart->kind == PLOT_CPU_PER_REQUEST ? per_request
                                       : chart->kind == PLOT_HEATMAP       ? "spin limit"
                                                                           : "% of one CPU");
}

/* Per request, only equal rates compare: closed loop is drawn only where nothing was paced. */
static size_t chart_first_panel(const struct chart *chart, const struct draft_set *set)
{
    size_t first = 0;
    while (chart->kind == PLOT_CPU_PER_REQUEST && first < set->count &&
           strcmp(set->drafts[first].panel[DRAFT_MODE].text, "closed") == 0) {
        first++;
    }
    return first < set->count ? first : 0;
}

static void chart_build(struct chart *chart, const struct draft_set *drafts, bool plain)
{
    size_t skipped = chart_first_panel(chart, drafts);
    struct draft_set set = *drafts;
    set.drafts += skipped;
    set.count -= skipped;
    struct chart_shared shared;
    chart_shared_init(&shared, &set);
    chart_titles(chart, &shared, plain);
    chart_series_titles(chart, &shared);
    for (size_t first = 0, next = 0; first < set.count; first = next) {
        next = first + 1;
        while (next < set.count && draft_panel_compare(&set.drafts[first], &set.drafts[next]) == 0) {
            next++;
        }
        if (chart->kind == PLOT_CPU_SPLIT) {
            chart_panel_of_bars(chart, &shared, set.drafts + first, next - first);
        } else {
            chart_panel_of_ticks(chart, &shared, set.drafts + first, next - first);
        }
    }
    chart_notes(chart, &shared);
    if (skipped > 0) {
        chart_note(chart, "Closed-loop cells are left out: per request, only equal rates compare.");
    }
}

int chart_init(struct chart *chart, const struct plot_request *request, char *message)
{
    *chart = (struct chart){.kind = request->kind, .notes = text_format("%s", "")};
    struct cell_set cells;
    cell_set_init(&cells, request->set);
    struct draft_set drafts;
    draft_set_init(&drafts, &cells, request->kind);
    int status = drafts.count > 0 ? 0 : 1;
    if (status == 0) {
        chart_build(chart, &drafts, request->output == NULL);
    } else if (cells.count == 0) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot %s: sweep %lld has no repeats yet; run it first",
                 plot_kinds[request->kind].name, (long long)request->sweep->id);
    } else {
        snprintf(message, PLOT_MESSAGE_SIZE,
                 "plot %s: nothing to draw in sweep %lld: of %zu cells, %zu have no valid repeat, %zu lack the numbers "
                 "and %zu have no max-workers; see the report with --all",
                 plot_kinds[request->kind].name, (long long)request->sweep->id, cells.count, drafts.invalid,
                 drafts.unknown, drafts.off_the_map);
    }
    draft_set_fini(&drafts);
    cell_set_fini(&cells);
    return status;
}
