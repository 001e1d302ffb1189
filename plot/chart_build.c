/* SPDX-License-Identifier: MIT
 *
 * Cells into panels, series and points: see chart.h. The order and the names come from the sorted drafts (draft.h).
 */
#include "fidelity.h"
#include "strands.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHART_BARS_PER_PANEL 36
#define CHART_GROUP_GAP      0.8 /* between the groups of bars of two series */
#define CHART_NO_KNOB        "(no knob)"

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
    const struct draft *among = own ? drafts : shared->set->drafts;
    size_t among_count = own ? count : shared->set->count;
    char *engaged = chart_engaged_text(among, among_count);
    chart_ticks_add(panel, among, among_count, shared->set->mixed ? NULL : engaged); /* nobody counts a target's */
    free(engaged);
    if (!shared->set->stranded) { /* where dashes are executors, a dashed line would be taken for one */
        chart_one_worker(chart, shared, panel, drafts);
    }
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

/* Colours and markers follow the order of the series, not the order in which panels happen to have them; with strands,
 * what they stand for. */
static int chart_series_order(const void *left, const void *right)
{
    return draft_series_compare(*(const struct draft *const *)left, *(const struct draft *const *)right);
}

static void chart_series_titles(struct chart *chart, const struct chart_shared *shared, const struct strands *strands)
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
            uint32_t index = chart_series_index(chart, title);
            if (set->stranded) {
                chart->series_looks[index] = strands_look(strands, sorted[i]);
            }
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

/* Where nothing has max-workers, lines across would stand before an axis without a tick: all are points at one. */
static void chart_place_knobless(const struct chart *chart, struct draft_set *set)
{
    bool placed = chart->kind == PLOT_CPU_SPLIT; /* its bars need no number */
    for (size_t i = 0; i < set->count && !placed; i++) {
        placed = !isnan(set->drafts[i].workers.number);
    }
    for (size_t i = 0; i < set->count && !placed; i++) {
        free(set->drafts[i].workers.text);
        set->drafts[i].workers = (struct draft_key){.text = text_format("%s", CHART_NO_KNOB), .number = 0};
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
    bool bars = chart->kind != PLOT_CPU_SPLIT && chart->kind != PLOT_HEATMAP;
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
        char *spin = text_format("Spin default is %.0f%s.", shared->spin_default, set->mixed ? " in the model" : "");
        chart_note(chart, spin);
        free(spin);
    }
    chart_note_count(chart, set->disturbed_only, "cell was disturbed in all repeats and is shown with them.",
                     "cells were disturbed in all repeats and are shown with them.");
    chart_note_count(chart, set->invalid, "cell without a valid repeat is left out.",
                     "cells without a valid repeat are left out.");
    chart_note_count(chart, set->unknown, "cell without this number is left out.",
                     "cells without this number are left out.");
    chart_note_count(chart, set->unstamped, "cell of a target is left out: nobody stamps what a foreign process does.",
                     "cells of targets are left out: nobody stamps what a foreign process does.");
    chart_note_count(chart, set->baseless,
                     "cell is left out, for want of one of the same executor with one worker at spin 0.",
                     "cells are left out, for want of one of the same executor with one worker at spin 0.");
    chart_note_count(chart, set->alone, "cell is left out, as only one side was measured there.",
                     "cells are left out, as only one side was measured there.");
    chart_note_count(chart, set->off_the_map, "cell without max-workers is left out.",
                     "cells without max-workers are left out.");
    if (chart->series_count > CHART_SERIES_NAMED && bars && !set->stranded) {
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
        [PLOT_FIDELITY] = "Model beside real runtime: CPU per request, as ratio to one worker at spin limit 0",
    };
    chart->title = text_format("%s", what[chart->kind]);
    chart->about = text_format("%s", "");
    chart_describe(&chart->about, shared, shared->set->drafts, true);
    chart->x_title = text_format("max-workers");
    const char *per_request = plain ? "us per request" : "µs per request";
    chart->y_title = text_format("%s", chart->kind == PLOT_CPU_PER_REQUEST ? per_request
                                       : chart->kind == PLOT_HEATMAP       ? "spin limit"
                                       : chart->kind == PLOT_FIDELITY      ? "times one worker at spin 0"
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

/* Maps of the model and of targets stand side by side, a row for each mode and rate, where they fit; else 0. */
static uint32_t chart_map_columns(const struct draft_set *set)
{
    uint32_t columns = 1;
    for (size_t i = 1; i < set->count; i++) {
        const struct draft *left = &set->drafts[i - 1], *right = &set->drafts[i];
        bool changed = draft_panel_compare(left, right) != 0;
        bool same_row = true;
        for (size_t key = 0; key < DRAFT_PANEL_LABEL; key++) {
            same_row &= draft_key_compare(&left->panel[key], &right->panel[key]) == 0;
        }
        if (changed && !same_row) {
            break;
        }
        columns += changed;
    }
    return columns <= 3 ? columns : 0;
}

/* A panel, or several of bars, from each run of drafts that share one. */
static void chart_panels(struct chart *chart, const struct chart_shared *shared)
{
    const struct draft_set *set = shared->set;
    if (chart->kind == PLOT_HEATMAP && set->mixed) {
        chart->columns = chart_map_columns(set);
    }
    for (size_t first = 0, next = 0; first < set->count; first = next) {
        next = first + 1;
        while (next < set->count && draft_panel_compare(&set->drafts[first], &set->drafts[next]) == 0) {
            next++;
        }
        if (chart->kind == PLOT_CPU_SPLIT) {
            chart_panel_of_bars(chart, shared, set->drafts + first, next - first);
        } else {
            chart_panel_of_ticks(chart, shared, set->drafts + first, next - first);
        }
    }
}

static void chart_build(struct chart *chart, const struct draft_set *drafts, bool plain)
{
    size_t skipped = chart_first_panel(chart, drafts);
    struct draft_set set = *drafts;
    set.drafts += skipped;
    set.count -= skipped;
    chart_place_knobless(chart, &set);
    struct chart_shared shared;
    chart_shared_init(&shared, &set);
    chart_titles(chart, &shared, plain);
    struct strands strands;
    strands_init(&strands, &set);
    chart_series_titles(chart, &shared, &strands);
    if (set.stranded) {
        strands_key(chart, &strands, &shared);
    }
    if (chart->kind == PLOT_FIDELITY) {
        fidelity_build(chart, &shared, &strands);
    } else {
        chart_panels(chart, &shared);
    }
    strands_fini(&strands);
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
        status = request->kind == PLOT_FIDELITY ? fidelity_relate(&drafts, request, message) : 0;
        if (status == 0) {
            chart_build(chart, &drafts, request->output == NULL);
        }
    } else if (cells.count == 0) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot %s: sweep %lld has no repeats yet; run it first",
                 plot_kinds[request->kind].name, (long long)request->sweep->id);
    } else {
        snprintf(message, PLOT_MESSAGE_SIZE,
                 "plot %s: nothing to draw in sweep %lld: of %zu cells, %zu have no valid repeat, %zu lack the numbers "
                 "and %zu have no max-workers; see the report with --all",
                 plot_kinds[request->kind].name, (long long)request->sweep->id, cells.count, drafts.invalid,
                 drafts.unknown + drafts.unstamped, drafts.off_the_map);
    }
    draft_set_fini(&drafts);
    cell_set_fini(&cells);
    return status;
}
