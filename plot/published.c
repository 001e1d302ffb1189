/* SPDX-License-Identifier: MIT
 *
 * Reads published figures and adds them to a chart: see published.h.
 */
#include "published.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PUBLISHED_FIELDS_MAX 32

enum published_field {
    PUBLISHED_WORKERS,
    PUBLISHED_SPIN,
    PUBLISHED_RPS,
    PUBLISHED_LOW,
    PUBLISHED_HIGH,
    PUBLISHED_FIELDS,
};
static const char *const published_fields[PUBLISHED_FIELDS] = {"max_workers", "spin_limit", "rps", "router_cpu_low",
                                                               "router_cpu_high"};

struct published_row {
    char *workers, *spin;
    double rps, low, high; /* NaN: not published */
};

struct published {
    char *source; /* first comment line, or "" */
    struct published_row *rows;
    size_t count;
};

/* Cuts a line at its commas, in place; the number of fields. */
static size_t published_split(char *line, char *fields[PUBLISHED_FIELDS_MAX])
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *field; count < PUBLISHED_FIELDS_MAX && (field = strsep(&line, ",")) != NULL;) {
        fields[count++] = field;
    }
    return count;
}

/* A number, NaN if the field is empty; false if it is something else. */
static bool published_number(const char *text, double *out)
{
    char *end = NULL;
    *out = NAN;
    if (text[0] == '\0') {
        return true;
    }
    double number = strtod(text, &end);
    if (*end != '\0' || !isfinite(number)) {
        return false;
    }
    *out = number;
    return true;
}

static bool published_header(char *line, int columns[PUBLISHED_FIELDS])
{
    char *fields[PUBLISHED_FIELDS_MAX];
    size_t count = published_split(line, fields);
    bool complete = true;
    for (size_t want = 0; want < PUBLISHED_FIELDS; want++) {
        columns[want] = -1;
        for (size_t i = 0; i < count; i++) {
            if (strcmp(fields[i], published_fields[want]) == 0) {
                columns[want] = (int)i;
            }
        }
        complete &= columns[want] >= 0 || want == PUBLISHED_RPS;
    }
    return complete;
}

static bool published_row(struct published *published, char *line, const int columns[PUBLISHED_FIELDS])
{
    char *fields[PUBLISHED_FIELDS_MAX];
    size_t count = published_split(line, fields);
    const char *values[PUBLISHED_FIELDS];
    for (size_t want = 0; want < PUBLISHED_FIELDS; want++) {
        values[want] = columns[want] >= 0 && (size_t)columns[want] < count ? fields[columns[want]] : "";
    }
    struct published_row row;
    if (!published_number(values[PUBLISHED_RPS], &row.rps) || !published_number(values[PUBLISHED_LOW], &row.low) ||
        !published_number(values[PUBLISHED_HIGH], &row.high)) {
        return false;
    }
    if (isnan(row.low) || isnan(row.high)) {
        return true;
    }
    row.workers = text_clean(values[PUBLISHED_WORKERS], 20);
    row.spin = text_clean(values[PUBLISHED_SPIN], 20);
    published->rows = text_resize(published->rows, published->count + 1, sizeof *published->rows);
    published->rows[published->count++] = row;
    return true;
}

static void published_fini(struct published *published)
{
    for (size_t i = 0; i < published->count; i++) {
        free(published->rows[i].workers);
        free(published->rows[i].spin);
    }
    free(published->rows);
    free(published->source);
}

static int published_read(struct published *published, const char *path, char *message)
{
    *published = (struct published){.source = text_format("%s", "")};
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(message, PLOT_MESSAGE_SIZE,
                 "plot: cannot open the published figures %s: %s; give the path of a CSV file", path, strerror(errno));
        return 3;
    }
    char *line = NULL;
    size_t size = 0;
    int columns[PUBLISHED_FIELDS], status = 0;
    bool header = false;
    for (unsigned number = 1; status == 0 && getline(&line, &size, file) >= 0; number++) {
        if (line[0] == '#') {
            if (published->source[0] == '\0') {
                free(published->source);
                published->source = text_clean(line + 1 + strspn(line + 1, " "), 200);
            }
        } else if (!header) {
            header = published_header(line, columns);
            status = header ? 0 : 3;
        } else if (line[strspn(line, " \r\n")] != '\0') {
            status = published_row(published, line, columns) ? 0 : 3;
        }
        if (status != 0) {
            snprintf(message, PLOT_MESSAGE_SIZE,
                     "%s:%u: found no usable %s; expected CSV with max_workers, spin_limit, rps, router_cpu_low and "
                     "router_cpu_high",
                     path, number, header ? "row" : "header");
        }
    }
    if (status == 0 && (ferror(file) || published->count == 0)) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot: no published figures could be read from %s; expected rows of CSV",
                 path);
        status = 3;
    }
    free(line);
    fclose(file);
    return status;
}

/* Numbers in order, the rest ("default") after them. */
static int published_workers_compare(const void *left, const void *right)
{
    double numbers[2];
    const char *texts[2] = {*(char *const *)left, *(char *const *)right};
    for (size_t i = 0; i < 2; i++) {
        if (!published_number(texts[i], &numbers[i]) || isnan(numbers[i])) {
            numbers[i] = INFINITY;
        }
    }
    return numbers[0] != numbers[1] ? (numbers[0] < numbers[1] ? -1 : 1) : strcmp(texts[0], texts[1]);
}

static void published_ticks(struct chart_panel *panel, const struct published *published)
{
    char **sorted = text_allocate(published->count, sizeof *sorted);
    for (size_t i = 0; i < published->count; i++) {
        sorted[i] = published->rows[i].workers;
    }
    qsort(sorted, published->count, sizeof *sorted, published_workers_compare);
    for (size_t i = 0; i < published->count; i++) {
        if (i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0) {
            double number;
            bool is_default = !published_number(sorted[i], &number) || isnan(number);
            chart_tick_add(panel, sorted[i], NULL, panel->tick_count + (is_default ? 1.4 : 1), is_default);
        }
    }
    free(sorted);
}

/* Where the key names spin limits by their colours: the colour of this one, in the key from now on. */
static uint32_t published_colour(struct chart *chart, const char *title)
{
    uint32_t colour = chart->key_count - chart->key_break;
    for (uint32_t i = chart->key_break; i < chart->key_count; i++) {
        if (strcmp(chart->keys[i].title, title) == 0) {
            return chart->keys[i].look.colour;
        }
    }
    chart_key_add(chart, text_format("%s", title), (struct chart_look){.colour = colour});
    return colour;
}

/* The measured series with this spin limit, so that both have one colour; else a series of its own. */
static uint32_t published_style(struct chart *chart, const char *spin)
{
    char *exact = text_format("spin %s", spin);
    char *resolved = text_format("spin %s (", spin);
    for (uint32_t i = 0; i < chart->series_count; i++) {
        const char *title = chart->series_titles[i];
        if (strcmp(title, exact) == 0 || strncmp(title, resolved, strlen(resolved)) == 0) {
            free(exact);
            free(resolved);
            return i;
        }
    }
    uint32_t style = chart_series_index(chart, exact);
    if (chart->key_count > 0) {
        chart->series_looks[style] =
            (struct chart_look){.colour = published_colour(chart, exact), .strand = 2 * CHART_STRANDS};
    }
    free(exact);
    free(resolved);
    return style;
}

static char *published_title(const struct published *published)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < published->count; i++) {
        low = fmin(low, published->rows[i].rps);
        high = fmax(high, published->rows[i].rps);
    }
    if (low > high) {
        return text_format("published figures");
    }
    char *lowest = text_number(low), *highest = text_number(high);
    char *title = low == high ? text_format("published, %s requests/s", lowest)
                              : text_format("published, %s to %s requests/s", lowest, highest);
    free(lowest);
    free(highest);
    return title;
}

static void published_series(struct chart *chart, struct chart_panel *panel, const struct published *published)
{
    for (size_t i = 0; i < published->count; i++) {
        const struct published_row *row = &published->rows[i];
        uint32_t style = published_style(chart, row->spin), tick = 0, index = 0;
        while (strcmp(panel->ticks[tick].text, row->workers) != 0) {
            tick++;
        }
        while (index < panel->series_count && panel->series[index].style != style) {
            index++;
        }
        struct chart_series *series =
            index < panel->series_count ? &panel->series[index] : chart_series_add(panel, style);
        series->open = true;
        chart_point_add(series, tick,
                        (struct interval){.median = (row->low + row->high) / 2,
                                          .low = row->low,
                                          .high = row->high,
                                          .count = 1,
                                          .is_range = true});
    }
}

int published_add(struct chart *chart, const char *path, char *message)
{
    struct published published;
    int status = published_read(&published, path, message);
    if (status == 0) {
        uint32_t index = 0; /* beside what was measured in closed loop, as the published figures were */
        while (index < chart->panel_count && chart->panels[index].closed_loop) {
            index++;
        }
        index = index > 0 ? index : chart->panel_count;
        struct chart_panel *panel = chart_panel_insert(chart, index, published_title(&published));
        published_ticks(panel, &published);
        published_series(chart, panel, &published);
        const char *which =
            chart->key_count > 0 ? "Published panel" : "Open markers"; /* the model's are open as well */
        char *note = text_format("%s: %s", which, published.source);
        chart_note(chart, note);
        free(note);
    }
    published_fini(&published);
    return status;
}
