/* SPDX-License-Identifier: MIT
 *
 * Panels of lines in a gnuplot script: see script_parts.h.
 *
 * How it works. Names stand at the right ends of the lines, pushed apart where they would overlap; reference lines are
 * named where nothing runs through the name. Ratios have an axis of their own, logarithmic where they span much.
 */
#include "script_parts.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_DODGE       0.06 /* distance of the markers of neighbouring series, in units of the axis */
#define SCRIPT_DODGE_TICKS 5.0  /* on an axis of as many; with fewer ones a unit is longer, and the distance is not */
#define SCRIPT_OPEN        10   /* the styles of theme.gp with open markers */

struct script_name {
    const char *text;
    int style;
    double value, at; /* wanted and final height, in units of the axis */
};

static int script_name_compare(const void *left, const void *right)
{
    double a = ((const struct script_name *)left)->value, b = ((const struct script_name *)right)->value;
    return a < b ? -1 : a > b;
}

/* Moves labels apart to at least a line, each as little as possible: neighbours that would touch form a block around
 * the mean of their wanted heights (pool adjacent violators). */
static void script_spread(struct script_name *labels, uint32_t count, double line, double low, double high)
{
    qsort(labels, count, sizeof *labels, script_name_compare);
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
    struct script_name *labels = text_allocate(panel->series_count, sizeof *labels);
    double line = layout->font.line * 0.95 * (high - low) / layout->plot_height;
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        uint32_t last = 0;
        for (uint32_t p = 1; p < series->count; p++) {
            last = series->points[p].tick >= series->points[last].tick ? p : last;
        }
        labels[i] = (struct script_name){.text = chart->series_titles[series->style],
                                         .style = script_style(chart, series->style),
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
        if (reference->title[0] == '\0') {
            continue;
        }
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
    double low, high;
    layout_x_range(chart, panel, &low, &high);
    double step = fmin(SCRIPT_DODGE, 0.3 / panel->series_count) * fmin(1, (high - low) / SCRIPT_DODGE_TICKS);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        double dodge = (i - (panel->series_count - 1) / 2.0) * step;
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

/* The scale of ratios: all panels of a group have the same one; 1 is on it. */
static void script_ratio_axis(FILE *out, const struct chart *chart, const struct chart_panel *panel, double *low,
                              double *high)
{
    static const double fine[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, middle[] = {1, 1.5, 2, 3, 5, 7},
                        coarse[] = {1, 2, 5};
    *low = 0.8;
    *high = 1.25;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        double lowest, highest;
        chart_panel_extent(chart, &chart->panels[i], &lowest, &highest);
        if (chart->panels[i].group == panel->group) {
            *low = fmin(*low, lowest);
            *high = fmax(*high, highest);
        }
    }
    if (!chart->logarithmic) {
        *low = floor(*low * 10) / 10;
        *high = script_round_up(*high);
        return;
    }
    *low /= 1.1;
    *high *= 1.1;
    bool narrow = *high / *low<5, wide = *high / *low> 30;
    const double *steps = narrow ? fine : wide ? coarse : middle;
    size_t step_count = (narrow ? sizeof fine : wide ? sizeof coarse : sizeof middle) / sizeof *steps;
    fputs("set logscale y\nset ytics (", out);
    const char *comma = "";
    for (double power = pow(10, floor(log10(*low))); power <= *high; power *= 10) {
        for (size_t i = 0; i < step_count; i++) {
            double step = steps[i] * power;
            if (step >= *low && step <= *high) {
                fprintf(out, "%s'%g' %g", comma, step, step);
                comma = ", ";
            }
        }
    }
    fputs(")\n", out);
}

void script_panel_lines(FILE *out, FILE *data, const struct chart *chart, const struct layout *layout,
                        const struct chart_panel *panel)
{
    double low, high;
    if (chart->kind == PLOT_FIDELITY) {
        script_ratio_axis(out, chart, panel, &low, &high);
    } else {
        script_y_range(chart, panel, &low, &high);
    }
    fprintf(out, "set yrange [%g:%g]\nfirst_reference = %d\n", low, high, chart->kind == PLOT_FIDELITY ? 23 : 21);
    if (layout->direct) {
        script_direct_labels(out, chart, panel, layout, low, high);
    }
    script_references(out, panel, layout, low, high);
    uint32_t count = panel->series_count;
    bool open = count > 0 && panel->series[0].open;
    fprintf(out, "series_count = %u\nline_count = %u\narray series_style[%u]\n", count, open ? 0 : count, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct chart_series *series = &panel->series[i];
        int style = script_style(chart, series->style);
        fprintf(out, "series_style[%u] = %d\n", i + 1,
                series->open && style <= SCRIPT_STYLES ? style + SCRIPT_OPEN : style);
    }
    script_data_lines(data, chart, panel);
    fputs("load 'lines.gp'\n", out);
}
