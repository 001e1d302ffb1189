/* SPDX-License-Identifier: MIT
 *
 * Cells reduced to drafts, and the order in which a chart shows them: see draft.h.
 *
 * How it works. Mode, rate, workload, machine, cores and connections choose the panel; what executes (label or target)
 * and spin limit the series; max-workers the position. Where several executors were measured at several spin limits,
 * the spin limit chooses the panel as well, unless the model and targets can share one (strands.h). Cells that agree in
 * all of these differ in something else: the columns and settings that tell such cells apart, and only these, are added
 * to the series' name. Cells that still agree get their cell_id, so that nothing is ever pooled by accident.
 */
#include "draft.h"
#include "strands.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAFT_TEXT_LIMIT    60
#define DRAFT_VERSION_LIMIT 24

static const char *const draft_measures[PLOT_KIND_COUNT] = {
    [PLOT_CPU_VS_THREADS] = CELL_CPU_PERCENT, [PLOT_CPU_PER_REQUEST] = CELL_CPU_US,
    [PLOT_CPU_SPLIT] = CELL_CPU_PERCENT,      [PLOT_HEATMAP] = CELL_CPU_PERCENT,
    [PLOT_FIDELITY] = CELL_CPU_US,
};

/* What the names of executors depend on: all cells of the sweep. */
struct draft_executors {
    bool models, reals;
    const char *target;   /* one target */
    bool several_targets; /* or more */
};

static void draft_executors_init(struct draft_executors *executors, const struct cell_set *cells)
{
    *executors = (struct draft_executors){0};
    for (size_t i = 0; i < cells->count; i++) {
        const char *target = result_get_text(cells->cells[i].first, "target");
        bool real = result_is_of_target(cells->cells[i].first);
        executors->models |= !real;
        executors->reals |= real;
        executors->several_targets |=
            target != NULL && executors->target != NULL && strcmp(target, executors->target) != 0;
        executors->target = target != NULL ? target : executors->target;
    }
}

static double draft_parse(const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(number) ? number : NAN;
}

static struct draft_key draft_key_text(const char *text)
{
    char *clean = text_clean(text != NULL ? text : "", DRAFT_TEXT_LIMIT);
    return (struct draft_key){.text = clean, .number = draft_parse(clean)};
}

/* ".NET 10.0.12" as it is: a capital letter says that the version spells out its runtime. Else the first number in it
 * behind the target's name: "java 17.0.15". */
static char *draft_target_text(const char *target, const char *version, bool several_targets)
{
    char *cut = text_clean(version, DRAFT_VERSION_LIMIT), *text = NULL;
    size_t before = strcspn(version, "0123456789"), digits = strspn(version + before, "0123456789.");
    if (version[0] == '\0') {
        text = text_format("%s", target);
    } else if (!several_targets && strpbrk(cut, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL) {
        text = text_format("%s", cut);
    } else if (digits > 0) {
        text = text_format("%s %.*s", target, (int)digits, version + before);
    } else {
        text = text_format("%s (%s)", target, cut);
    }
    free(cut);
    return text;
}

/* A target by name and version; the model by its label, with a word before it where there are targets, too. */
static struct draft_key draft_key_executor(const struct result *row, const struct draft_executors *executors)
{
    const char *label = result_get_text(row, "label"), *version = result_get_text(row, "target_version");
    char *text = NULL;
    if (result_is_of_target(row)) {
        const char *target = result_get_text(row, "target");
        text = draft_target_text(target, version != NULL ? version : "", executors->several_targets);
    } else {
        text = text_format("%s%s", executors->reals ? "model " : "", label != NULL ? label : "");
    }
    struct draft_key key = draft_key_text(text);
    free(text);
    return key;
}

/* A column or setting by name, whatever its type. */
static struct draft_key draft_key_named(const struct result *row, const char *name)
{
    double number = 0;
    const char *text = result_get_text(row, name);
    if (text == NULL && result_get_number(row, name, &number)) {
        return (struct draft_key){.text = text_number(number), .number = number};
    }
    return draft_key_text(text);
}

/* A knob whose word may be "default"; its number is what it was resolved to. */
static struct draft_key draft_key_knob(const struct result *row, const char *name, const char *resolved)
{
    struct draft_key key = draft_key_named(row, name);
    double number = 0;
    if (result_get_number(row, resolved, &number)) {
        key.number = number;
        if (key.text[0] == '\0') {
            free(key.text);
            key.text = text_number(number);
        }
    }
    return key;
}

int draft_key_compare(const struct draft_key *left, const struct draft_key *right)
{
    bool left_known = !isnan(left->number), right_known = !isnan(right->number);
    if (left_known != right_known) {
        return left_known ? 1 : -1;
    }
    if (left_known && left->number != right->number) {
        return left->number < right->number ? -1 : 1;
    }
    return strverscmp(left->text, right->text);
}

int draft_panel_compare(const struct draft *left, const struct draft *right)
{
    int order = 0;
    for (size_t i = 0; i < DRAFT_PANEL_KEYS && order == 0; i++) {
        order = draft_key_compare(&left->panel[i], &right->panel[i]);
    }
    return order;
}

const struct draft_key *draft_spin(const struct draft *draft)
{
    bool moved = draft->panel[DRAFT_PANEL_SPIN].text[0] != '\0';
    return moved ? &draft->panel[DRAFT_PANEL_SPIN] : &draft->series[DRAFT_SPIN];
}

bool draft_is_beside(const struct draft *left, const struct draft *right)
{
    bool beside = true;
    for (size_t i = 0; i < DRAFT_PANEL_KEYS && beside; i++) {
        beside = i == DRAFT_PANEL_SPIN || draft_key_compare(&left->panel[i], &right->panel[i]) == 0;
    }
    return beside;
}

int draft_series_compare(const struct draft *left, const struct draft *right)
{
    int order = 0;
    for (size_t i = 0; i < DRAFT_SERIES_KEYS && order == 0; i++) {
        order = draft_key_compare(&left->series[i], &right->series[i]);
    }
    return order;
}

static int draft_compare(const void *left_draft, const void *right_draft)
{
    const struct draft *left = left_draft, *right = right_draft;
    int order = draft_panel_compare(left, right);
    order = order != 0 ? order : draft_series_compare(left, right);
    order = order != 0 ? order : draft_key_compare(&left->workers, &right->workers);
    return order != 0 ? order : strcmp(left->cell->cell_id, right->cell->cell_id);
}

/* Whether two drafts, neighbours in the sorted set, agree in panel, series and position. */
static bool draft_collides(const struct draft *left, const struct draft *right)
{
    return draft_panel_compare(left, right) == 0 && draft_series_compare(left, right) == 0 &&
           draft_key_compare(&left->workers, &right->workers) == 0;
}

static struct interval draft_interval(const struct cell *cell, const char *name, bool *disturbed_only)
{
    struct interval value = cell_interval(cell, name, false);
    if (value.count == 0) {
        value = cell_interval(cell, name, true);
        *disturbed_only = value.count > 0;
    }
    return value;
}

static void draft_keys(struct draft *draft, const struct draft_executors *executors)
{
    const struct result *row = draft->cell->first;
    draft->panel[DRAFT_MODE] = draft_key_named(row, "mode"); /* "closed" before "paced" */
    draft->panel[DRAFT_RATE] = draft_key_named(row, "rate_rps");
    draft->panel[DRAFT_WORKLOAD] = draft_key_named(row, "workload");
    draft->panel[DRAFT_MACHINE] = draft_key_named(row, "machine");
    draft->panel[DRAFT_CORES] = draft_key_named(row, "cores");
    draft->panel[DRAFT_CONNECTIONS] = draft_key_named(row, "connections");
    draft->panel[DRAFT_PANEL_SPIN] = draft_key_text("");
    draft->panel[DRAFT_PANEL_LABEL] = draft_key_text("");
    draft->panel[DRAFT_PANEL_OTHERS] = draft_key_text("");
    draft->is_real = result_is_of_target(row);
    draft->series[DRAFT_LABEL] = draft_key_executor(row, executors);
    draft->series[DRAFT_SPIN] = draft_key_knob(row, "spin_limit", "spin_limit_resolved");
    draft->series[DRAFT_OTHERS] = draft_key_text("");
    draft->workers = draft_key_named(row, "max_workers");
    if (strcmp(draft->workers.text, "default") == 0) {
        draft->workers.number = INFINITY;
    } else if (draft->workers.text[0] == '\0') {
        free(draft->workers.text);
        draft->workers = draft_key_named(row, "max_workers_resolved");
    }
}

/* In closed loop the rate is a result, not a setting: it must not make a panel. */
static void draft_forget_rate(struct draft *draft)
{
    if (strcmp(draft->panel[DRAFT_MODE].text, "closed") == 0) {
        free(draft->panel[DRAFT_RATE].text);
        draft->panel[DRAFT_RATE] = draft_key_text("");
    }
}

/* Fills a draft; false if it cannot be drawn, counted by the reason. */
static bool draft_init(struct draft *draft, const struct cell *cell, enum plot_kind kind,
                       const struct draft_executors *executors, struct draft_set *set)
{
    *draft = (struct draft){.cell = cell, .engaged = NAN};
    draft->value = draft_interval(cell, draft_measures[kind], &draft->disturbed_only);
    bool known = draft->value.count > 0 && isfinite(draft->value.median);
    for (uint32_t part = 0; known && kind == PLOT_CPU_SPLIT && part < CHART_PARTS; part++) {
        bool ignored = false;
        const char *name = result_column_name((enum result_column)(RESULT_run_cpu_percent + part));
        struct interval value = draft_interval(cell, name, &ignored);
        draft->parts[part] = value.median;
        known = value.count > 0 && isfinite(value.median);
    }
    if (!known) {
        bool any = false;
        for (uint32_t i = 0; i < cell->count; i++) {
            any |= result_is_used(cell->rows[i], true);
        }
        bool foreign = kind == PLOT_CPU_SPLIT && result_is_of_target(cell->first);
        set->unstamped += any && foreign;
        set->unknown += any && !foreign;
        set->invalid += !any;
        return false;
    }
    bool ignored = false;
    draft->engaged = draft_interval(cell, "workers_max", &ignored).median;
    draft_keys(draft, executors);
    draft_forget_rate(draft);
    return true;
}

static void draft_fini(struct draft *draft)
{
    for (size_t i = 0; i < DRAFT_PANEL_KEYS; i++) {
        free(draft->panel[i].text);
    }
    for (size_t i = 0; i < DRAFT_SERIES_KEYS; i++) {
        free(draft->series[i].text);
    }
    free(draft->workers.text);
}

static void draft_append(struct draft *draft, const char *name, const char *value)
{
    struct draft_key *others = &draft->series[DRAFT_OTHERS];
    char *option = text_format("%s", name); /* as people write it: with hyphens */
    for (char *at = option; *at != '\0'; at++) {
        *at = *at == '_' ? '-' : *at;
    }
    char *text = text_format("%s%s%s %s", others->text, others->text[0] != '\0' ? ", " : "", option, value);
    free(option);
    free(others->text);
    *others = draft_key_text(text);
    others->number = NAN;
    free(text);
}

/* Whether some cells that would collide differ in this column or setting. */
static bool draft_set_varies(const struct draft_set *set, const char *name)
{
    bool varies = false;
    for (size_t i = 1; i < set->count && !varies; i++) {
        if (draft_collides(&set->drafts[i - 1], &set->drafts[i])) {
            struct draft_key left = draft_key_named(set->drafts[i - 1].cell->first, name);
            struct draft_key right = draft_key_named(set->drafts[i].cell->first, name);
            varies = strcmp(left.text, right.text) != 0;
            free(left.text);
            free(right.text);
        }
    }
    return varies;
}

/* A candidate for telling cells apart: a column, or a setting of any row. */
struct draft_names {
    const char **names;
    size_t count;
};

static void draft_names_add(struct draft_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) == 0) {
            return;
        }
    }
    names->names = text_resize(names->names, names->count + 1, sizeof *names->names);
    names->names[names->count++] = name;
}

static void draft_set_distinguish(struct draft_set *set)
{
    struct draft_names candidates = {0}, names = {0};
    draft_names_add(&candidates, "parallelism");
    draft_names_add(&candidates, "min_workers");
    for (size_t i = 0; i < set->count; i++) {
        const struct result *row = set->drafts[i].cell->first;
        for (uint32_t s = 0; s < row->setting_count; s++) {
            draft_names_add(&candidates, row->settings[s].name);
        }
    }
    for (size_t i = 0; i < candidates.count; i++) {
        if (draft_set_varies(set, candidates.names[i])) {
            draft_names_add(&names, candidates.names[i]);
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        for (size_t n = 0; n < names.count; n++) {
            struct draft_key value = draft_key_named(set->drafts[i].cell->first, names.names[n]);
            if (value.text[0] != '\0') {
                draft_append(&set->drafts[i], names.names[n], value.text);
            }
            free(value.text);
        }
    }
    free(candidates.names);
    free(names.names);
}

/* What still collides gets its cell_id. */
static void draft_set_separate(struct draft_set *set)
{
    bool *collides = text_allocate(set->count + 1, sizeof *collides);
    for (size_t i = 1; i < set->count; i++) {
        bool both = draft_collides(&set->drafts[i - 1], &set->drafts[i]);
        collides[i - 1] |= both;
        collides[i] |= both;
    }
    for (size_t i = 0; i < set->count; i++) {
        if (collides[i]) {
            draft_append(&set->drafts[i], "cell", set->drafts[i].cell->cell_id);
        }
    }
    free(collides);
}

/* Makes a key of the series one of the panel. */
static void draft_move(struct draft *draft, enum draft_series_key from, enum draft_panel_key to)
{
    free(draft->panel[to].text);
    draft->panel[to] = draft->series[from];
    draft->series[from] = draft_key_text("");
}

static void draft_set_split_by_label(struct draft_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        draft_move(&set->drafts[i], DRAFT_LABEL, DRAFT_PANEL_LABEL);
        draft_move(&set->drafts[i], DRAFT_OTHERS, DRAFT_PANEL_OTHERS);
    }
}

/* Whether there are several labels, and one of them at several spin limits. */
static bool draft_set_crosses(const struct draft_set *set)
{
    bool labels = false, spins = false;
    for (size_t i = 1; i < set->count; i++) {
        const struct draft *left = &set->drafts[i - 1], *right = &set->drafts[i];
        bool same = strcmp(left->series[DRAFT_LABEL].text, right->series[DRAFT_LABEL].text) == 0;
        labels |= !same;
        spins |= same && draft_panel_compare(left, right) == 0 &&
                 draft_key_compare(&left->series[DRAFT_SPIN], &right->series[DRAFT_SPIN]) != 0;
    }
    return labels && spins;
}

static struct draft_key draft_key_copy(const struct draft_key *key)
{
    return (struct draft_key){.text = text_format("%s", key->text), .number = key->number};
}

/* Adds a copy of a draft to the panel of another one beside it. */
static void draft_set_add_copy(struct draft_set *set, size_t from, size_t beside)
{
    set->drafts = text_resize(set->drafts, set->count + 1, sizeof *set->drafts);
    struct draft *copy = &set->drafts[set->count++];
    *copy = set->drafts[from];
    for (size_t i = 0; i < DRAFT_PANEL_KEYS; i++) {
        copy->panel[i] = draft_key_copy(&set->drafts[beside].panel[i]);
    }
    for (size_t i = 0; i < DRAFT_SERIES_KEYS; i++) {
        copy->series[i] = draft_key_copy(&set->drafts[from].series[i]);
    }
    copy->workers = draft_key_copy(&set->drafts[from].workers);
}

/* A variant without a spin limit appears in the panel of each. */
static void draft_set_spread_spinless(struct draft_set *set, size_t from)
{
    bool placed = false;
    size_t count = set->count;
    for (size_t i = 0; i < count; i++) {
        const struct draft_key *spin = &set->drafts[i].panel[DRAFT_PANEL_SPIN];
        bool seen = spin->text[0] == '\0' || !draft_is_beside(&set->drafts[from], &set->drafts[i]);
        for (size_t earlier = 0; earlier < i && !seen; earlier++) {
            seen = draft_panel_compare(&set->drafts[earlier], &set->drafts[i]) == 0;
        }
        if (!seen) {
            draft_set_add_copy(set, from, i);
            placed = true;
        }
    }
    if (placed) {
        draft_fini(&set->drafts[from]);
        set->drafts[from] = set->drafts[--set->count];
    }
}

static void draft_set_split_by_spin(struct draft_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->drafts[i].series[DRAFT_SPIN].text[0] != '\0') {
            draft_move(&set->drafts[i], DRAFT_SPIN, DRAFT_PANEL_SPIN);
        }
    }
    for (size_t i = set->count; i-- > 0;) {
        if (set->drafts[i].panel[DRAFT_PANEL_SPIN].text[0] == '\0') {
            draft_set_spread_spinless(set, i);
        }
    }
}

/* What `default` means to a target only its runtime knows: it is sorted, and coloured, with the model's `default` if
 * that is one number, else after all numbers. */
static void draft_set_place_defaults(struct draft_set *set)
{
    double known = NAN;
    for (size_t i = 0; i < set->count; i++) {
        const struct draft_key *spin = &set->drafts[i].series[DRAFT_SPIN];
        if (strcmp(spin->text, "default") == 0 && !isnan(spin->number) && spin->number != known) {
            known = isnan(known) ? spin->number : INFINITY;
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        struct draft_key *spin = &set->drafts[i].series[DRAFT_SPIN];
        if (strcmp(spin->text, "default") == 0 && isnan(spin->number)) {
            spin->number = isnan(known) ? INFINITY : known;
        }
    }
}

/* Where the spin limit, and in a map what executes, is a matter of the panel. */
static void draft_set_arrange(struct draft_set *set, enum plot_kind kind)
{
    if (kind == PLOT_HEATMAP) {
        draft_set_split_by_label(set);
        return;
    }
    bool lines = kind == PLOT_CPU_VS_THREADS || kind == PLOT_CPU_PER_REQUEST;
    set->stranded = set->mixed && (kind == PLOT_FIDELITY || (lines && strands_fit(set)));
    if (!set->stranded && draft_set_crosses(set)) {
        draft_set_split_by_spin(set);
    }
}

void draft_set_init(struct draft_set *set, const struct cell_set *cells, enum plot_kind kind)
{
    struct draft_executors executors;
    draft_executors_init(&executors, cells);
    *set = (struct draft_set){.drafts = text_allocate(cells->count, sizeof *set->drafts),
                              .mixed = executors.models && executors.reals};
    for (size_t i = 0; i < cells->count; i++) {
        struct draft *draft = &set->drafts[set->count];
        if (!draft_init(draft, &cells->cells[i], kind, &executors, set)) {
            continue;
        }
        if ((kind == PLOT_HEATMAP || kind == PLOT_FIDELITY) && isnan(draft->workers.number)) {
            draft_fini(draft);
            set->off_the_map++;
            continue;
        }
        set->disturbed_only += draft->disturbed_only;
        set->count++;
    }
    draft_set_place_defaults(set);
    qsort(set->drafts, set->count, sizeof *set->drafts, draft_compare);
    draft_set_distinguish(set);
    qsort(set->drafts, set->count, sizeof *set->drafts, draft_compare);
    draft_set_separate(set);
    draft_set_arrange(set, kind);
    qsort(set->drafts, set->count, sizeof *set->drafts, draft_compare);
}

void draft_set_remove(struct draft_set *set, size_t index)
{
    draft_fini(&set->drafts[index]);
    set->count--;
    memmove(&set->drafts[index], &set->drafts[index + 1], (set->count - index) * sizeof *set->drafts);
}

void draft_set_fini(struct draft_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        draft_fini(&set->drafts[i]);
    }
    free(set->drafts);
}
