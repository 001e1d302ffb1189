/* SPDX-License-Identifier: MIT
 *
 * Axes: what was varied between the cells of a sweep; see axes.h.
 */
#include "axes.h"
#include "decimal.h"
#include "heap.h"

#include <math.h>

/* Columns that describe a cell, in the order in which they are shown. Settings come between the two lists. */
static const enum result_column columns_first[] = {
    RESULT_machine,  RESULT_cores,       RESULT_workload,    RESULT_target,      RESULT_mode,
    RESULT_rate_rps, RESULT_connections, RESULT_label,       RESULT_scheduler,   RESULT_over,
    RESULT_idle,     RESULT_sizing,      RESULT_min_workers, RESULT_parallelism,
};
static const enum result_column columns_last[] = {RESULT_spin_limit, RESULT_max_workers};

/* Columns that the label stands for. */
static const enum result_column label_parts[] = {RESULT_scheduler, RESULT_over, RESULT_idle, RESULT_sizing};

#define RESOLVED_SUFFIX "_resolved"

/* What the word of the user meant: column, number or setting NAME_resolved of the first repeat that knows it. Returns
 * out,
 * "" if none does. */
static const char *resolved_text(const struct cell *cell, const char *name, char out[AXIS_TEXT_SIZE])
{
    char resolved[AXIS_TEXT_SIZE], decimal[DECIMAL_SIZE];
    snprintf(resolved, sizeof(resolved), "%.64s" RESOLVED_SUFFIX, name);
    out[0] = '\0';
    for (uint32_t i = 0; i < cell->count && out[0] == '\0'; i++) {
        double number;
        const char *text = result_get_text(cell->rows[i], resolved);
        if (text) {
            snprintf(out, AXIS_TEXT_SIZE, "%s", text);
        } else if (result_get_number(cell->rows[i], resolved, &number)) {
            snprintf(out, AXIS_TEXT_SIZE, "%.*s", AXIS_TEXT_SIZE - 1, decimal_print(number, decimal));
        }
    }
    return out;
}

/* A setting that only says what another one meant. */
static bool is_resolved_name(const char *name)
{
    size_t length = strlen(name), suffix = sizeof(RESOLVED_SUFFIX) - 1;
    return length > suffix && strcmp(name + length - suffix, RESOLVED_SUFFIX) == 0;
}

static bool same_text(const char *first, const char *second)
{
    return first && second ? strcmp(first, second) == 0 : first == second;
}

static bool same_value(const struct cell *first, const struct cell *second, const char *name)
{
    int column = result_column_find(name);
    if (column < 0) {
        return same_text(result_get_text(first->first, name), result_get_text(second->first, name));
    }
    const struct result_value *a = &first->first->columns[column], *b = &second->first->columns[column];
    return a->kind == b->kind && same_text(a->text, b->text) && a->number == b->number;
}

static void add_axis(struct axes *axes, const char *name)
{
    axes->names = heap_grow(axes->names, axes->count, sizeof(*axes->names));
    axes->names[axes->count++] = name;
}

static int compare_names(const void *first, const void *second)
{
    return strcmp(*(const char *const *)first, *(const char *const *)second);
}

/* Names of all settings, sorted. Most cells have the same ones as the cell before: those are skipped at once. */
static void add_settings(struct axes *axes, struct cell *const *cells, size_t count)
{
    size_t first = axes->count;
    for (size_t i = 0; i < count; i++) {
        const struct result *row = cells[i]->first;
        for (uint32_t j = 0; j < row->setting_count; j++) {
            const char *name = row->settings[j].name;
            bool known = is_resolved_name(name) || (i > 0 && result_get_text(cells[i - 1]->first, name) != NULL);
            for (size_t k = first; !known && k < axes->count; k++) {
                known = strcmp(axes->names[k], name) == 0;
            }
            if (!known) {
                add_axis(axes, name);
            }
        }
    }
    if (axes->count > first) {
        qsort(axes->names + first, axes->count - first, sizeof(*axes->names), compare_names);
    }
}

static bool is_known(const struct cell *cell, const char *name)
{
    int column = result_column_find(name);
    return column < 0 ? result_get_text(cell->first, name) != NULL
                      : cell->first->columns[column].kind != RESULT_UNKNOWN;
}

struct labelled {
    const char *label, *value;
};

static int compare_labelled(const void *first, const void *second)
{
    const struct labelled *a = first, *b = second;
    int order = strcmp(a->label, b->label);
    return order ? order : strcmp(a->value, b->value);
}

/* Whether cells with the same label always have the same value in this column, or (by_presence) either all have a value
 * or all have none. */
static bool label_tells(struct cell *const *cells, size_t count, const char *name, bool by_presence)
{
    struct labelled *pairs = heap_array(count, sizeof(*pairs));
    for (size_t i = 0; i < count; i++) {
        const char *label = result_get_text(cells[i]->first, "label"), *text = result_get_text(cells[i]->first, name);
        pairs[i].label = label ? label : "";
        pairs[i].value = by_presence ? (is_known(cells[i], name) ? "known" : "") : text ? text : "";
    }
    qsort(pairs, count, sizeof(*pairs), compare_labelled);
    bool tells = true;
    for (size_t i = 1; i < count && tells; i++) {
        tells = strcmp(pairs[i].label, pairs[i - 1].label) != 0 || strcmp(pairs[i].value, pairs[i - 1].value) == 0;
    }
    free(pairs);
    return tells;
}

/* Whether values differ; a cell without one differs too, unless it is a matter of the label. */
static bool varies(struct cell *const *cells, size_t count, const char *name)
{
    const struct cell *known = NULL;
    bool everywhere = true;
    for (size_t i = 0; i < count; i++) {
        if (!is_known(cells[i], name)) {
            everywhere = false;
        } else if (known && !same_value(known, cells[i], name)) {
            return true;
        } else {
            known = cells[i];
        }
    }
    return known && !everywhere && !label_tells(cells, count, name, true);
}

void axes_init(struct axes *axes, struct cell *const *cells, size_t count)
{
    *axes = (struct axes){0};
    for (size_t i = 0; i < sizeof(columns_first) / sizeof(*columns_first); i++) {
        add_axis(axes, result_column_name(columns_first[i]));
    }
    add_settings(axes, cells, count);
    for (size_t i = 0; i < sizeof(columns_last) / sizeof(*columns_last); i++) {
        add_axis(axes, result_column_name(columns_last[i]));
    }
    axes->varies = heap_array(axes->count, sizeof(bool));
    for (size_t i = 0; i < axes->count; i++) {
        axes->varies[i] = varies(cells, count, axes->names[i]);
        for (size_t k = 0; axes->varies[i] && k < sizeof(label_parts) / sizeof(*label_parts); k++) {
            if (strcmp(axes->names[i], result_column_name(label_parts[k])) == 0) {
                axes->varies[i] = !label_tells(cells, count, axes->names[i], false);
            }
        }
    }
}

void axes_fini(struct axes *axes)
{
    free(axes->names);
    free(axes->varies);
    *axes = (struct axes){0};
}

bool axes_vary(const struct axes *axes, const char *name)
{
    for (size_t i = 0; i < axes->count; i++) {
        if (strcmp(axes->names[i], name) == 0) {
            return axes->varies[i];
        }
    }
    return false;
}

double axis_number(double number)
{
    return fabs(number) >= 1 ? round(number * 1e3) / 1e3 : number;
}

const char *axis_text(const struct cell *cell, const char *name, char out[AXIS_TEXT_SIZE])
{
    char decimal[DECIMAL_SIZE], resolved[AXIS_TEXT_SIZE];
    double number;
    const char *text = result_get_text(cell->first, name);
    out[0] = '\0';
    if (text && resolved_text(cell, name, resolved)[0] != '\0' && strcmp(text, resolved) != 0) {
        snprintf(out, AXIS_TEXT_SIZE, "%.48s (%.32s)", text, resolved);
    } else if (text) {
        snprintf(out, AXIS_TEXT_SIZE, "%s", text);
    } else if (result_get_number(cell->first, name, &number)) {
        snprintf(out, AXIS_TEXT_SIZE, "%.*s", AXIS_TEXT_SIZE - 1, decimal_print(axis_number(number), decimal));
    }
    return out;
}

enum axis_extent axis_common_text(struct cell *const *cells, size_t count, const char *name, char out[AXIS_TEXT_SIZE])
{
    char text[AXIS_TEXT_SIZE];
    enum axis_extent extent = AXIS_EVERYWHERE;
    const struct cell *known = NULL;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!is_known(cells[i], name)) {
            extent = AXIS_SOMEWHERE;
        } else if (!known) {
            known = cells[i];
            axis_text(known, name, out);
        } else if (!same_value(known, cells[i], name)) {
            out[0] = '\0';
            return AXIS_NOWHERE;
        } else if (strcmp(axis_text(cells[i], name, text), out) != 0) {
            const char *word = result_get_text(known->first, name); /* one word that meant different things */
            snprintf(out, AXIS_TEXT_SIZE, "%.48s", word ? word : "");
        }
    }
    return out[0] ? extent : AXIS_NOWHERE;
}

const char *axis_heading(const char *name, char out[AXIS_TEXT_SIZE])
{
    snprintf(out, AXIS_TEXT_SIZE, "%s", name);
    for (char *letter = out; *letter; letter++) {
        *letter = *letter == '_' ? '-' : *letter;
    }
    return out;
}

/* Class of a value in sorting (unknown, number, word, "default") and its number. */
static int sort_class(const struct cell *cell, const char *name, double *number)
{
    const char *text = result_get_text(cell->first, name);
    if (text) {
        return decimal_parse(text, number) ? 1 : strcmp(text, "default") == 0 ? 3 : 2;
    }
    return result_get_number(cell->first, name, number);
}

int axis_compare(const struct cell *first, const struct cell *second, const char *name)
{
    double a = 0, b = 0;
    int a_class = sort_class(first, name, &a), b_class = sort_class(second, name, &b);
    if (a_class != b_class) {
        return a_class < b_class ? -1 : 1;
    }
    return a_class == 1   ? (a > b) - (a < b)
           : a_class == 2 ? strcmp(result_get_text(first->first, name), result_get_text(second->first, name))
                          : 0;
}

int axes_compare(const struct axes *axes, const struct cell *first, const struct cell *second)
{
    int order = 0;
    for (size_t i = 0; i < axes->count && order == 0; i++) {
        order = axes->varies[i] ? axis_compare(first, second, axes->names[i]) : 0;
    }
    return order;
}

bool axes_are_neighbours(const struct axes *axes, const struct cell *first, const struct cell *second,
                         const char *but_for)
{
    bool same = true;
    for (size_t i = 0; i < axes->count && same; i++) {
        same = !axes->varies[i] || strcmp(axes->names[i], but_for) == 0 || same_value(first, second, axes->names[i]);
    }
    return same;
}

char *axes_describe(const struct axes *axes, const struct cell *cell, const char *but_for)
{
    char *out = NULL, heading[AXIS_TEXT_SIZE], text[AXIS_TEXT_SIZE];
    size_t size;
    FILE *stream = heap_or_end(open_memstream(&out, &size));
    const char *separator = "";
    for (size_t i = 0; i < axes->count; i++) {
        if (!axes->varies[i] || (but_for && strcmp(axes->names[i], but_for) == 0)) {
            continue;
        }
        axis_text(cell, axes->names[i], text);
        if (strcmp(axes->names[i], "label") == 0) {
            fprintf(stream, "%s%s", separator, text);
        } else {
            fprintf(stream, "%s%s %s", separator, axis_heading(axes->names[i], heading), text[0] ? text : "unset");
        }
        separator = ", ";
    }
    heap_or_end(fclose(stream) == 0 ? out : NULL);
    if (out[0] == '\0') {
        free(out);
        out = heap_text("the only cell");
    }
    return out;
}
