/* SPDX-License-Identifier: MIT
 *
 * A chart as a gnuplot script: see script.h.
 */
#include "script_parts.h"
#include "embedded.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_GREY   10  /* the colour of a strand by itself */
#define SCRIPT_SWATCH 80  /* nothing; the next styles: a colour by itself */
#define SCRIPT_STRAND 100 /* styles of a strand: this times its number, and the colour */

/* svg takes pixels; cairo takes points, for a picture of pixels at 96 to the inch, and for PDF scaled by two thirds. */
double script_size(const struct layout *layout, const struct layout_font *font)
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
void script_quote(FILE *out, const char *text)
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

static int script_colour(struct chart_look look)
{
    return look.colour < CHART_SERIES_NAMED ? (int)look.colour + 1 : SCRIPT_STYLES;
}

int script_style(const struct chart *chart, uint32_t series)
{
    struct chart_look look = chart->series_looks[series];
    return SCRIPT_STRAND * (int)look.strand + script_colour(look);
}

static int script_key_style(struct chart_look look)
{
    return look.strand == 0                 ? SCRIPT_SWATCH + script_colour(look)
           : look.colour == CHART_NO_COLOUR ? SCRIPT_STRAND * (int)look.strand + SCRIPT_GREY
                                            : SCRIPT_STRAND * (int)look.strand + script_colour(look);
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

void script_label(FILE *out, const struct layout *layout, const char *text, const char *at, double first_up,
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

static void script_key_entry(FILE *out, uint32_t index, int style, const char *title)
{
    fprintf(out, "series_style[%u] = %d\nseries_title[%u] = ", index + 1, style, index + 1);
    script_quote(out, title);
    fputc('\n', out);
}

/* A key of two rows with a meaning each. gnuplot fills column by column: the shorter row is filled up with nothing. */
static void script_key_broken(FILE *out, const struct chart *chart)
{
    uint32_t before = chart->key_break, behind = chart->key_count - before;
    uint32_t columns = before > behind ? before : behind;
    fprintf(out, "series_count = %u\narray series_style[%u]\narray series_title[%u]\n", 2 * columns, 2 * columns,
            2 * columns);
    for (uint32_t i = 0; i < 2 * columns; i++) {
        uint32_t from = i % 2 == 0 ? 0 : before, to = i % 2 == 0 ? before : chart->key_count, entry = from + i / 2;
        const struct chart_key *key = entry < to ? &chart->keys[entry] : NULL;
        script_key_entry(out, i, key != NULL ? script_key_style(key->look) : SCRIPT_SWATCH,
                         key != NULL ? key->title : " ");
    }
}

/* The entries of the key: those that the chart names, or else its series. */
static void script_key(FILE *out, const struct chart *chart, const struct layout *layout)
{
    if (layout->key_is_broken) {
        script_key_broken(out, chart);
        return;
    }
    uint32_t named = chart->series_count < CHART_SERIES_NAMED ? chart->series_count : CHART_SERIES_NAMED;
    uint32_t more = chart->series_count - named;
    uint32_t entries = chart->key_count > 0 ? chart->key_count : named + (more > 0);
    fprintf(out, "series_count = %u\narray series_style[%u]\narray series_title[%u]\n", entries, entries + 1,
            entries + 1);
    for (uint32_t i = 0; i < entries; i++) {
        if (chart->key_count > 0) {
            script_key_entry(out, i, script_key_style(chart->keys[i].look), chart->keys[i].title);
            continue;
        }
        char *title = i < named ? text_format("%s", chart->series_titles[i]) : text_format("%u more", more);
        script_key_entry(out, i, script_style(chart, i), title);
        free(title);
    }
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
    fprintf(out, "key_rows = %u\nkey_is_broken = %d\nkey_kind = '%s'\nkey_y = %.6f\n", layout->key_rows,
            layout->key_is_broken,
            parts                  ? "parts"
            : layout->key_rows > 0 ? "series"
                                   : "none",
            script_share(layout, layout_key_middle(layout)));
    script_key(out, chart, layout);
    fprintf(out, "part_count = %d\narray part_title[%d]\n", CHART_PARTS, CHART_PARTS);
    for (uint32_t part = 0; part < CHART_PARTS; part++) {
        char name[CHART_PART_NAME_SIZE];
        chart_part_name(part, name);
        fprintf(out, "part_title[%u] = '%s'\n", part + 1, name);
    }
    fputs("load 'frame.gp'\n", out);
}

double script_round_up(double value)
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

void script_y_range(const struct chart *chart, const struct chart_panel *panel, double *low, double *high)
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
    char *title = text_wrap_phrases(layout->format == LAYOUT_TEXT ? unit : panel->title, room);
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
