/* SPDX-License-Identifier: MIT
 *
 * A chart as bars of text: see bars.h.
 *
 * How it works. One line per cell: series, max-workers, bar, value, interval. The parts of the CPU split are runs of
 * one letter each. A map is a table of numbers.
 */
#include "bars.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BARS_NAME_LIMIT 32
#define BARS_BAR_MIN    10

/* A letter for each part of the split: its first letter that no earlier part has, in upper case if all are taken. */
static void bars_letters(char letters[CHART_PARTS])
{
    for (uint32_t part = 0; part < CHART_PARTS; part++) {
        char name[CHART_PART_NAME_SIZE];
        chart_part_name(part, name);
        letters[part] = (char)(name[0] - 'a' + 'A');
        for (const char *at = name; *at != '\0'; at++) {
            if (memchr(letters, *at, part) == NULL) {
                letters[part] = *at;
                break;
            }
        }
    }
}

/* Text in a field: padded on the right to a width counted in characters. */
static void bars_field(FILE *out, const char *text, size_t width)
{
    size_t used = text_width(text);
    fprintf(out, "%s%*s", text, used < width ? (int)(width - used) : 0, "");
}

struct bars {
    FILE *out;
    const struct chart *chart;
    size_t series_width, tick_width, bar_width;
    double high; /* of the panel: a full bar */
};

static void bars_widths(struct bars *bars, uint32_t columns)
{
    const struct chart *chart = bars->chart;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        const struct chart_panel *panel = &chart->panels[i];
        for (uint32_t t = 0; t < panel->tick_count; t++) {
            size_t width = text_width(panel->ticks[t].text);
            bars->tick_width = width > bars->tick_width ? width : bars->tick_width;
        }
        for (uint32_t r = 0; r < panel->reference_count; r++) {
            size_t width = text_width(panel->references[r].title);
            bars->series_width = width > bars->series_width ? width : bars->series_width;
        }
    }
    for (uint32_t i = 0; i < chart->series_count; i++) {
        size_t width = text_width(chart->series_titles[i]);
        bars->series_width = width > bars->series_width ? width : bars->series_width;
    }
    bars->series_width = bars->series_width > BARS_NAME_LIMIT ? BARS_NAME_LIMIT : bars->series_width;
    size_t beside = 2 + bars->series_width + 2 + bars->tick_width + 2 + 28;
    bars->bar_width = columns > beside + BARS_BAR_MIN ? columns - beside : BARS_BAR_MIN;
}

static void bars_value(const struct bars *bars, const struct interval *value)
{
    int digits = bars->chart->kind == PLOT_FIDELITY ? 2 : 1;
    fprintf(bars->out, " %8.*f", digits, value->median);
    if (value->count > 1 || value->low < value->high) {
        fprintf(bars->out, "  %s%.*f to %.*f%s", value->is_range ? "" : "[", digits, value->low, digits, value->high,
                value->is_range ? "" : "]");
    }
    fputc('\n', bars->out);
}

static int bars_columns(const struct bars *bars, double value)
{
    return bars->high > 0 ? (int)lround(fmax(value, 0) / bars->high * (double)bars->bar_width) : 0;
}

static void bars_names(const struct bars *bars, const char *series, const char *tick)
{
    char *cut = text_clean(series, BARS_NAME_LIMIT);
    fputs("  ", bars->out);
    bars_field(bars->out, cut, bars->series_width + 2);
    bars_field(bars->out, tick, bars->tick_width + 1);
    fputc('|', bars->out);
    free(cut);
}

static void bars_point(const struct bars *bars, const struct chart_panel *panel, const struct chart_series *series,
                       const struct chart_point *point, const char letters[CHART_PARTS])
{
    bars_names(bars, bars->chart->series_titles[series->style], panel->ticks[point->tick].text);
    int used = 0;
    if (bars->chart->kind == PLOT_CPU_SPLIT) {
        double sum = 0;
        for (uint32_t part = 0; part < CHART_PARTS; part++) {
            sum += fmax(point->parts[part], 0);
            for (int end = bars_columns(bars, sum); used < end; used++) {
                fputc(letters[part], bars->out);
            }
        }
    } else {
        for (int end = bars_columns(bars, point->value.median); used < end; used++) {
            fputc(series->open ? 'o' : '#', bars->out);
        }
    }
    fprintf(bars->out, "%*s", (int)bars->bar_width - used, "");
    bars_value(bars, &point->value);
}

static void bars_panel(struct bars *bars, const struct chart_panel *panel, const char letters[CHART_PARTS])
{
    double low = 0;
    chart_panel_extent(bars->chart, panel, &low, &bars->high);
    bars->high = fmax(bars->high, 0);
    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct chart_series *series = &panel->series[i];
        for (uint32_t p = 0; p < series->count; p++) {
            bars_point(bars, panel, series, &series->points[p], letters);
        }
    }
    for (uint32_t i = 0; i < panel->reference_count; i++) {
        const struct chart_reference *reference = &panel->references[i];
        if (reference->title[0] == '\0') {
            continue;
        }
        bars_names(bars, reference->title, "");
        int used = bars_columns(bars, reference->value);
        for (int column = 0; column < (int)bars->bar_width; column++) {
            fputc(column < used ? '-' : ' ', bars->out);
        }
        bars_value(bars, &(struct interval){.median = reference->value});
    }
}

/* A map: a line per spin limit, highest first as on a y axis, a column per max-workers. */
static void bars_map(const struct bars *bars, const struct chart_panel *panel)
{
    size_t cell = bars->tick_width > 7 ? bars->tick_width : 7;
    for (uint32_t i = panel->series_count; i-- > 0;) {
        const struct chart_series *series = &panel->series[i];
        fputs("  spin ", bars->out);
        bars_field(bars->out, bars->chart->series_titles[series->style], bars->series_width + 1);
        for (uint32_t t = 0; t < panel->tick_count; t++) {
            uint32_t p = 0;
            while (p < series->count && series->points[p].tick != t) {
                p++;
            }
            if (p < series->count) {
                fprintf(bars->out, " %*.1f", (int)cell, series->points[p].value.median);
            } else {
                fprintf(bars->out, " %*s", (int)cell, "-");
            }
        }
        fputc('\n', bars->out);
    }
    fprintf(bars->out, "  ");
    bars_field(bars->out, bars->chart->x_title, bars->series_width + 6);
    for (uint32_t t = 0; t < panel->tick_count; t++) {
        fprintf(bars->out, " %*s", (int)cell, panel->ticks[t].text);
    }
    fputc('\n', bars->out);
}

static void bars_legend(const struct bars *bars, const char letters[CHART_PARTS])
{
    fputs("  ", bars->out);
    for (uint32_t part = 0; part < CHART_PARTS; part++) {
        char name[CHART_PART_NAME_SIZE];
        chart_part_name(part, name);
        fprintf(bars->out, "%s%c = %s", part > 0 ? ", " : "", letters[part], name);
    }
    fputc('\n', bars->out);
}

static void bars_wrapped(FILE *out, const char *text, uint32_t columns)
{
    char *wrapped = text_wrap(text, columns);
    fprintf(out, "%s\n", wrapped);
    free(wrapped);
}

void bars_print(FILE *out, const struct chart *chart, const char *foot, uint32_t columns)
{
    struct bars bars = {.out = out, .chart = chart, .tick_width = 1};
    char letters[CHART_PARTS];
    bars_letters(letters);
    bars_widths(&bars, columns);
    bars_wrapped(out, chart->title, columns);
    bars_wrapped(out, chart->about, columns);
    if (chart->kind == PLOT_CPU_SPLIT) {
        bars_legend(&bars, letters);
    }
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        const char *unit = chart->kind == PLOT_HEATMAP ? "% of one CPU" : chart->y_title;
        char *title = text_format("\n%s (%s)", chart->panels[i].title, unit);
        bars_wrapped(out, title, columns);
        free(title);
        if (chart->kind == PLOT_HEATMAP) {
            bars_map(&bars, &chart->panels[i]);
        } else {
            bars_panel(&bars, &chart->panels[i], letters);
        }
    }
    fputc('\n', out);
    bars_wrapped(out, foot, columns);
}
