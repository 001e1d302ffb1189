/* SPDX-License-Identifier: MIT
 *
 * A chart as a gnuplot script: see script.h.
 */
#include "script.h"
#include "embedded.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_DODGE  0.06 /* distance of the markers of neighbouring series, in units of the axis */
#define SCRIPT_STYLES 9    /* styles in theme.gp; the last is for series without a name */
#define SCRIPT_OPEN   10   /* the same with open markers */

/* The size by which gnuplot's terminals call a font: svg takes pixels; cairo takes points, for a picture of pixels at
 * 96 to the inch, and for PDF scaled by two thirds. */
static double script_size(const struct layout *layout, const struct layout_font *font)
{
    switch (layout->format) {
    case LAYOUT_PNG:
        return font->size * 72 / 96;
    case LAYOUT_PDF:
        return font->size * 72 / 200 * 1.5;
    default:
        return font->size;
    }
}

static const char *script_bold(const struct layout *layout)
{
    return layout->format == LAYOUT_SVG ? "sans-serif Bold" : "Sans:Bold";
}

/* Text for gnuplot: in single quotes, where nothing is special but the quote itself. That one, and the ends of lines,
 * are joined from outside: doubled, as the manual has it, a quote at the very beginning would end the string. */
static void script_quote(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            fputs("'.\"\\n\".'", out);
        } else if (*text == '\'') {
            fputs("'.\"'\".'", out);
        } else {
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
        }
    }
    fputc('\'', out);
}

/* Text of a tick, which gnuplot takes for a format of its value: '%' is doubled. */
static void script_quote_tick(FILE *out, const char *text)
{
    char *doubled = text_allocate(2 * strlen(text) + 1, 1), *end = doubled;
    for (; *text != '\0'; text++) {
        *end++ = *text;
        if (*text == '%') {
            *end++ = '%';
        }
    }
    script_quote(out, doubled);
    free(doubled);
}

static int script_style(uint32_t series)
{
    return series < CHART_SERIES_NAMED ? (int)series + 1 : SCRIPT_STYLES;
}

static void script_terminal(FILE *out, const struct layout *layout)
{
    double inches = 1 / 200.0, size = script_size(layout, &layout->font);
    switch (layout->format) {
    case LAYOUT_TEXT:
        fprintf(out, "set terminal dumb size %.0f, %.0f noenhanced\n", layout->width, layout->height);
        break;
    case LAYOUT_PNG:
        fprintf(out, "set terminal pngcairo size %.0f, %.0f noenhanced font 'Sans,%g' background '#ffffff'\n",
                layout->width, layout->height, size);
        break;
    case LAYOUT_SVG:
        fprintf(out, "set terminal svg size %.0f, %.0f dynamic noenhanced font 'sans-serif,%g' background '#ffffff'\n",
                layout->width, layout->height, size);
        break;
    case LAYOUT_PDF:
        fprintf(out, "set terminal pdfcairo size %gin, %gin noenhanced font 'Sans,%g' linewidth 0.75\n",
                layout->width * inches, layout->height * inches, size);
        break;
    }
    fputs("set output '" SCRIPT_PICTURE "'\n", out);
}

/* Canvas units upwards as a share of the canvas. On a terminal gnuplot cuts off what is left of a line: a little more
 * keeps the line that is meant. */
static double script_share(const struct layout *layout, double units)
{
    return (units + (layout->format == LAYOUT_TEXT ? copysign(0.2, units) : 0)) / layout->vertical;
}

/* Labels, one for each line of a text, because terminals differ in how far apart they set lines. at: gnuplot's words
 * for the place; first_up: distance of the first line from it, in lines of the main font; look: further words. */
static void script_label(FILE *out, const struct layout *layout, const char *text, const char *at, double first_up,
                         const struct layout_font *font, const char *look)
{
    char *copy = text_format("%s", text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) != NULL; first_up -= font->line / layout->font.line) {
        fputs("set label ", out);
        script_quote(out, line);
        fprintf(out, " at %s offset screen 0, screen %.6f %s\n", at, script_share(layout, first_up * layout->font.line),
                look);
    }
    free(copy);
}

/* Lines of text at the left edge, from a height downwards. */
static void script_lines(FILE *out, const struct layout *layout, const char *text, double top,
                         const struct layout_font *font, const char *look)
{
    double left = layout->format == LAYOUT_TEXT ? 0 : layout->font.character;
    bool text_only = layout->format == LAYOUT_TEXT;
    double first = top - (text_only ? 1 : font->line / 2);
    char *at = text_format("screen %.6f, screen %.6f", left / layout->width, script_share(layout, first));
    char *words = text_format("left %s", text_only ? "" : look);
    script_label(out, layout, text, at, 0, font, words);
    free(at);
    free(words);
}

static void script_frame(FILE *out, const struct chart *chart, const struct layout *layout)
{
    double padding = layout->format == LAYOUT_TEXT ? 0 : 0.4 * layout->font.line;
    char *bold = text_format("font '%s,%g'", script_bold(layout), script_size(layout, &layout->font));
    char *quiet = text_format("font ',%g' textcolor rgb '#666666'", script_size(layout, &layout->small));
    double top = layout->height - padding;
    script_lines(out, layout, layout->title, top, &layout->font, bold);
    script_lines(out, layout, layout->about, top - layout->title_lines * layout->font.line, &layout->font, "");
    script_lines(out, layout, layout->foot, layout_foot_top(layout), &layout->small, quiet);
    free(bold);
    free(quiet);
    bool parts = chart->kind == PLOT_CPU_SPLIT;
    fprintf(out, "key_rows = %u\nkey_kind = '%s'\nkey_y = %.6f\n", layout->key_rows,
            parts                  ? "parts"
            : layout->key_rows > 0 ? "series"
                                   : "none",
            script_share(layout, layout_key_middle(layout)));
    uint32_t named = chart->series_count < CHART_SERIES_NAMED ? chart->series_count : CHART_SERIES_NAMED;
    uint32_t more = chart->series_count - named, entries = named + (more > 0);
    fprintf(out, "series_count = %u\narray series_style[%u]\narray series_title[%u]\n", entries, entries + 1,
            entries + 1);
    for (uint32_t i = 0; i < entries; i++) {
        char *title = i < named ? text_format("%s", chart->series_titles[i]) : text_format("%u more", more);
        fprintf(out, "series_style[%u] = %d\nseries_title[%u] = ", i + 1, script_style(i), i + 1);
        script_quote(out, title);
        fputc('\n', out);
        free(title);
    }
    fprintf(out, "part_count = %d\narray part_title[%d]\n", CHART_PARTS, CHART_PARTS);
    for (uint32_t part = 0; part < CHART_PARTS; part++) {
        char name[CHART_PART_NAME_SIZE];
        chart_part_name(part, name);
        fprintf(out, "part_title[%u] = '%s'\n", part + 1, name);
    }
    fputs("load 'frame.gp'\n", out);
}

/* A round number at or a little above a value: 1, 1.2, 1.5, 2, ... times a power of ten. */
static double script_round_up(double value)
{
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (value <= steps[i] * power) {
            return steps[i] * power;
        }
    }
    return 10 * power;
}

/* The y axis starts at zero (below it only if something is negative) and ends above everything. */
static void script_y_range(const struct chart *chart, const struct chart_panel *panel, double *low, double *high)
{
    chart_panel_extent(chart, panel, low, high);
    *low = *low < 0 ? -script_round_up(-*low) : 0;
    *high = *high > 0 ? script_round_up(*high * 1.02) : 1;
}

static void script_ticks(FILE *out, const struct layout *layout, const struct chart_panel *panel)
{
    fputs(layout->tilted ? "set xtics rotate by 40 right" : "set xtics norotate", out);
    if (layout->small_ticks) {
        fprintf(out, " font ',%g'", script_size(layout, &layout->small));
    }
    fputs(" (", out);
    for (uint32_t i = 0; i < panel->tick_count; i++) {
        const struct chart_tick *tick = &panel->ticks[i];
        char *text = tick->below != NULL && !layout->tilted ? text_format("%s\n%s", tick->text, tick->below)
                                                            : text_format("%s", tick->text);
        fputs(i > 0 ? ", " : "", out);
        script_quote_tick(out, text);
        fprintf(out, " %g", tick->position);
        free(text);
    }
    fputs(panel->tick_count > 0 ? ")\n" : "'' 1)\n", out);
}

/* Title, margins, ranges and axes of a panel. */
static void script_axes(FILE *out, const struct chart *chart, const struct layout *layout, uint32_t index)
{
    const struct chart_panel *panel = &chart->panels[index];
    struct layout_area area = layout_panel_area(layout, index);
    double low, high;
    layout_x_range(chart, panel, &low, &high);
    fprintf(out, "\nreset\nload 'theme.gp'\nset lmargin at screen %.6f\nset rmargin at screen %.6f\n", area.left,
            area.right);
    fprintf(out, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n", area.top, area.bottom);
    fprintf(out, "set xrange [%g:%g]\n", low, high);
    size_t room = (size_t)((layout->width / layout->columns - layout->left) / layout->font.character);
    char *unit = text_format("%s (%s)", panel->title, chart->y_title);
    char *title = text_wrap(layout->format == LAYOUT_TEXT ? unit : panel->title, room);
    free(unit);
    double lines = 1;
    for (const char *at = title; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    bool text = layout->format == LAYOUT_TEXT;
    script_label(out, layout, title, "graph 0, graph 1", text ? lines : lines - 0.3, &layout->font, "left");
    free(title);
    script_ticks(out, layout, panel);
    double last = panel->tick_count > 0 ? panel->ticks[panel->tick_count - 1].position : 1;
    char *middle = text_format("first %g, graph 0", (1 + last) / 2);
    script_label(out, layout, chart->x_title, middle, -layout->tick_lines - layout->group_lines - (text ? 1 : 1.2),
                 &layout->font, "center");
    free(middle);
    if (area.first_column && !text) { /* a terminal cannot turn text: there it is in the title */
        char *edge = text_format("screen %.6f, graph 0.5", layout->font.line * 0.8 / layout->width);
        script_label(out, layout, chart->y_title, edge, 0, &layout->font, "center rotate by 90");
        free(edge);
    }
    fprintf(out, "data = 'panel-%u.dat'\n", index + 1);
}

struct script_label {
    const char *text;
    int style;
    double value, at; /* wanted and final height, in units of the axis */
};

static int script_label_compare(const void *left, const void *right)
{
    double a = ((const struct script_label *)left)->value, b = ((const struct script_label *)right)->value;
    return a < b ? -1 : a > b;
}

/* Moves labels apart to at least a line, each as little as possible: neighbours that would touch form a block around
 * the mean of their wanted heights (pool adjacent violators). */
static void script_spread(struct script_label *labels, uint32_t count, double line, double low, double high)
{
    qsort(labels, count, sizeof *labels, script_label_compare);
    for (uint32_t i = 0; i < count; i++) {
        labels[i].at = labels[i].value - i * line;
        uint32_t first = i;
        double sum = labels[i].at;
        while (first > 0 && labels[first - 1].at > sum / (i - first + 1)) {
            sum += labels[--first].at;
        }
        for (uint32_t block = first; block <= i; block++) {
            labels[block].at = sum / (i - first + 1);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        labels[i].at = fmin(fmax(labels[i].at + i * line, low + (i + 0.5) * line), high - (count - 1 - i) * line);
    }
}

/* Names at the right ends of the lines, pushed apart where they would overlap, and kept inside the panel. */
static void script_direct_labels(FILE *out, const struct chart *chart, const struct chart_panel *panel,
                                 const struct layout *layout, double low, double high)
{
    struct script_label *labels = text_allocate(panel->series_count, sizeof *labels);
    double line = layout->font.line * 0.95 * (high - low) / layout->plot_height;
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        uint32_t last = 0;
        for (uint32_t p = 1; p < series->count; p++) {
            last = series->points[p].tick >= series->points[last].tick ? p : last;
        }
        labels[i] = (struct script_label){.text = chart->series_titles[series->style],
                                          .style = script_style(series->style),
                                          .value = series->points[last].value.median};
    }
    script_spread(labels, panel->series_count, line, low, high);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        fputs("set label ", out);
        script_quote(out, labels[i].text);
        fprintf(out, " at graph 1, first %g offset character 0.5, 0 left textcolor rgb colour[%d]\n", labels[i].at,
                labels[i].style);
    }
    free(labels);
}

/* Whether another reference line of the panel runs through a name that stands below this one. */
static bool script_reference_below(const struct chart_panel *panel, uint32_t which, double room)
{
    for (uint32_t i = 0; i < panel->reference_count; i++) {
        double below = panel->references[which].value - panel->references[i].value;
        if (i != which && below > 0 && below < room) {
            return true;
        }
    }
    return false;
}

/* Reference lines and their names: at the right, in the middle, at the left, so that close ones do not meet; below the
 * line, where there is room and no other line. */
static void script_references(FILE *out, const struct chart_panel *panel, const struct layout *layout, double low,
                              double high)
{
    static const char *const places[][2] = {{"0.995", "right"}, {"0.5", "center"}, {"0.005", "left"}};
    uint32_t count = panel->reference_count;
    bool text = layout->format == LAYOUT_TEXT;
    fprintf(out, "reference_count = %u\narray reference_value[%u]\n", count, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct chart_reference *reference = &panel->references[i];
        double height = (reference->value - low) / (high - low) * layout->plot_height;
        double room = text ? 2 : 1.2 * layout->small.line; /* characters stand on whole lines */
        bool below = height > room && !script_reference_below(panel, i, room / layout->plot_height * (high - low));
        double up = (below ? -1 : 1) * (text ? 1 : 0.42);
        fprintf(out, "reference_value[%u] = %g\n", i + 1, reference->value);
        char *at = text_format("graph %s, first %g", places[i % 3][0], reference->value);
        char *font = text_format("font ',%g' textcolor rgb '#777777'", script_size(layout, &layout->small));
        char *look = text_format("%s %s", places[i % 3][1], text ? "" : font);
        script_label(out, layout, reference->title, at, up, &layout->font, look);
        free(at);
        free(font);
        free(look);
    }
}

static void script_data_lines(FILE *data, const struct chart *chart, const struct chart_panel *panel)
{
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        double dodge = (i - (panel->series_count - 1) / 2.0) * fmin(SCRIPT_DODGE, 0.3 / panel->series_count);
        fprintf(data, "# series %u: x, median, low, high, 1 if these are a range\n", series->style + 1);
        for (uint32_t p = 0; p < series->count; p++) {
            const struct chart_point *point = &series->points[p];
            const struct chart_tick *tick = &panel->ticks[point->tick];
            const struct interval *value = &point->value;
            fprintf(data, "%s%g %.10g %.10g %.10g %d\n", tick->is_default ? "\n" : "", tick->position + dodge,
                    value->median, value->low, value->high, value->is_range);
        }
        fputs("\n\n", data);
    }
}

static void script_panel_lines(FILE *out, FILE *data, const struct chart *chart, const struct layout *layout,
                               const struct chart_panel *panel)
{
    double low, high;
    script_y_range(chart, panel, &low, &high);
    fprintf(out, "set yrange [%g:%g]\n", low, high);
    if (layout->direct) {
        script_direct_labels(out, chart, panel, layout, low, high);
    }
    script_references(out, panel, layout, low, high);
    uint32_t count = panel->series_count;
    bool open = count > 0 && panel->series[0].open;
    fprintf(out, "series_count = %u\nline_count = %u\narray series_style[%u]\n", count, open ? 0 : count, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct chart_series *series = &panel->series[i];
        int style = script_style(series->style);
        fprintf(out, "series_style[%u] = %d\n", i + 1, series->open ? style + SCRIPT_OPEN : style);
    }
    script_data_lines(data, chart, panel);
    fputs("load 'lines.gp'\n", out);
}

static void script_data_split(FILE *data, const struct chart_panel *panel)
{
    for (uint32_t part = 0; part < CHART_PARTS; part++) {
        fprintf(data, "# part %u: x, y, left, right, bottom, top\n", part + 1);
        for (uint32_t i = 0; i < panel->series_count; i++) {
            for (uint32_t p = 0; p < panel->series[i].count; p++) {
                const struct chart_point *point = &panel->series[i].points[p];
                double x = panel->ticks[point->tick].position, base = 0, size = point->parts[part];
                for (uint32_t below = 0; below < part; below++) {
                    base += (point->parts[below] < 0) == (size < 0) ? point->parts[below] : 0;
                }
                fprintf(data, "%g %.10g %g %g %.10g %.10g\n", x, base, x - 0.38, x + 0.38, base, base + size);
            }
        }
        fputs("\n\n", data);
    }
}

static void script_panel_split(FILE *out, FILE *data, const struct chart *chart, const struct layout *layout,
                               const struct chart_panel *panel)
{
    double low, high;
    script_y_range(chart, panel, &low, &high);
    fprintf(out, "set yrange [%g:%g]\nset xtics scale 0\n", low, high);
    char *look = text_format("center font ',%g'", script_size(layout, &layout->small));
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        double first = panel->ticks[series->points[0].tick].position;
        double last = panel->ticks[series->points[series->count - 1].tick].position;
        char *text = layout_group_text(layout, chart, panel, series);
        char *at = text_format("first %g, graph 0", (first + last) / 2);
        script_label(out, layout, text, at, -layout->tick_lines - 0.9, &layout->small, look);
        free(at);
        free(text);
    }
    free(look);
    script_data_split(data, panel);
    fputs("load 'split.gp'\n", out);
}

static void script_map_extent(const struct chart_panel *panel, double *low, double *high)
{
    for (uint32_t i = 0; i < panel->series_count; i++) {
        for (uint32_t p = 0; p < panel->series[i].count; p++) {
            *low = fmin(*low, panel->series[i].points[p].value.median);
            *high = fmax(*high, panel->series[i].points[p].value.median);
        }
    }
}

static void script_panel_heatmap(FILE *out, FILE *data, const struct chart *chart, const struct chart_panel *panel)
{
    double low = INFINITY, high = -INFINITY; /* of all panels: one scale of colours for the picture */
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        script_map_extent(&chart->panels[i], &low, &high);
    }
    fputs("set ytics (", out);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        fputs(i > 0 ? ", " : "", out);
        script_quote_tick(out, chart->series_titles[series->style]);
        fprintf(out, " %u", i + 1);
        for (uint32_t p = 0; p < series->count; p++) {
            double value = series->points[p].value.median;
            char *text = text_number(value < 10 ? value : round(value));
            fprintf(data, "%g %u %.10g %s\n", panel->ticks[series->points[p].tick].position, i + 1, value, text);
            free(text);
        }
    }
    fprintf(out, ")\nset yrange [0.5:%g]\nlow = %.10g\nhigh = %.10g\n", panel->series_count + 0.5, low,
            high > low ? high : low + 1);
    fputs("load 'heatmap.gp'\n", out);
}

static FILE *script_open(const char *folder, const char *name, char *message)
{
    char *path = text_format("%s/%s", folder, name);
    FILE *file = fopen(path, "wxe");
    if (file == NULL) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot: cannot write %s: %s; set TMPDIR to a folder with space", path,
                 strerror(errno));
    }
    free(path);
    return file;
}

static int script_close(FILE *file, const char *folder, char *message)
{
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (failed) {
        snprintf(message, PLOT_MESSAGE_SIZE, "plot: cannot write into %s: %s; set TMPDIR to a folder with space",
                 folder, strerror(errno));
    }
    return failed ? 3 : 0;
}

static int script_embedded(const char *folder, char *message)
{
    int status = 0;
    for (size_t i = 0; i < embedded_count && status == 0; i++) {
        FILE *file = script_open(folder, embedded_files[i].name, message);
        if (file == NULL) {
            return 3;
        }
        fputs(embedded_files[i].text, file);
        status = script_close(file, folder, message);
    }
    return status;
}

static int script_panel(FILE *out, const char *folder, const struct chart *chart, const struct layout *layout,
                        uint32_t index, char *message)
{
    char name[32];
    snprintf(name, sizeof name, "panel-%u.dat", index + 1);
    FILE *data = script_open(folder, name, message);
    if (data == NULL) {
        return 3;
    }
    script_axes(out, chart, layout, index);
    if (chart->kind == PLOT_CPU_SPLIT) {
        script_panel_split(out, data, chart, layout, &chart->panels[index]);
    } else if (chart->kind == PLOT_HEATMAP) {
        script_panel_heatmap(out, data, chart, &chart->panels[index]);
    } else {
        script_panel_lines(out, data, chart, layout, &chart->panels[index]);
    }
    return script_close(data, folder, message);
}

int script_write(const char *folder, const struct chart *chart, const struct layout *layout, char *message)
{
    int status = script_embedded(folder, message);
    if (status != 0) {
        return status;
    }
    FILE *out = script_open(folder, SCRIPT_NAME, message);
    if (out == NULL) {
        return 3;
    }
    fputs("print GPVAL_VERSION\n", out); /* the first line of what gnuplot says: gnuplot.c reads it */
    script_terminal(out, layout);
    static const double markers[] = {[LAYOUT_TEXT] = 1, [LAYOUT_PNG] = 1.8, [LAYOUT_SVG] = 0.85, [LAYOUT_PDF] = 0.75};
    fprintf(out, "plain = %d\nmarker = %g\n", layout->format == LAYOUT_TEXT, markers[layout->format]);
    fputs("load 'theme.gp'\nset multiplot\n", out);
    script_frame(out, chart, layout);
    for (uint32_t i = 0; i < chart->panel_count && status == 0; i++) {
        status = script_panel(out, folder, chart, layout, i, message);
    }
    fputs("\nunset multiplot\nunset output\n", out);
    int closed = script_close(out, folder, message);
    return status != 0 ? status : closed;
}
