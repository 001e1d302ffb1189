/* SPDX-License-Identifier: MIT
 *
 * The parts of a chart, put together and taken apart: see chart.h. What goes into them is decided in chart_build.c.
 */
#include "chart.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void chart_part_name(uint32_t part, char *out)
{
    const char *column = result_column_name((enum result_column)(RESULT_run_cpu_percent + part));
    snprintf(out, CHART_PART_NAME_SIZE, "%.*s", (int)(strlen(column) - strlen("_cpu_percent")), column);
}

uint32_t chart_series_index(struct chart *chart, const char *title)
{
    for (uint32_t i = 0; i < chart->series_count; i++) {
        if (strcmp(chart->series_titles[i], title) == 0) {
            return i;
        }
    }
    chart->series_titles = text_resize(chart->series_titles, chart->series_count + 1, sizeof *chart->series_titles);
    chart->series_looks = text_resize(chart->series_looks, chart->series_count + 1, sizeof *chart->series_looks);
    chart->series_titles[chart->series_count] = text_format("%s", title);
    chart->series_looks[chart->series_count] = (struct chart_look){.colour = chart->series_count};
    return chart->series_count++;
}

void chart_key_add(struct chart *chart, char *title, struct chart_look look)
{
    chart->keys = text_resize(chart->keys, chart->key_count + 1, sizeof *chart->keys);
    chart->keys[chart->key_count++] = (struct chart_key){.title = title, .look = look};
}

struct chart_panel *chart_panel_add(struct chart *chart, char *title)
{
    chart->panels = text_resize(chart->panels, chart->panel_count + 1, sizeof *chart->panels);
    struct chart_panel *panel = &chart->panels[chart->panel_count++];
    *panel = (struct chart_panel){.title = title};
    return panel;
}

struct chart_panel *chart_panel_insert(struct chart *chart, uint32_t index, char *title)
{
    chart_panel_add(chart, NULL);
    struct chart_panel *panel = &chart->panels[index];
    memmove(panel + 1, panel, (chart->panel_count - 1 - index) * sizeof *panel);
    *panel = (struct chart_panel){.title = title};
    return panel;
}

struct chart_series *chart_series_add(struct chart_panel *panel, uint32_t style)
{
    panel->series = text_resize(panel->series, panel->series_count + 1, sizeof *panel->series);
    struct chart_series *series = &panel->series[panel->series_count++];
    *series = (struct chart_series){.style = style};
    return series;
}

struct chart_point *chart_point_add(struct chart_series *series, uint32_t tick, struct interval value)
{
    series->points = text_resize(series->points, series->count + 1, sizeof *series->points);
    struct chart_point *point = &series->points[series->count++];
    *point = (struct chart_point){.tick = tick, .value = value};
    return point;
}

uint32_t chart_tick_add(struct chart_panel *panel, const char *text, const char *below, double position,
                        bool is_default)
{
    panel->ticks = text_resize(panel->ticks, panel->tick_count + 1, sizeof *panel->ticks);
    panel->ticks[panel->tick_count] = (struct chart_tick){.text = text_format("%s", text),
                                                          .below = below != NULL ? text_format("%s", below) : NULL,
                                                          .position = position,
                                                          .is_default = is_default};
    return panel->tick_count++;
}

void chart_note(struct chart *chart, const char *text)
{
    char *joined = text_format("%s%s%s", chart->notes, chart->notes[0] != '\0' ? " " : "", text);
    free(chart->notes);
    chart->notes = joined;
}

void chart_reference_add(struct chart_panel *panel, char *title, double value)
{
    panel->references = text_resize(panel->references, panel->reference_count + 1, sizeof *panel->references);
    panel->references[panel->reference_count++] = (struct chart_reference){.title = title, .value = value};
}

static void chart_panel_fini(struct chart_panel *panel)
{
    free(panel->title);
    for (uint32_t i = 0; i < panel->tick_count; i++) {
        free(panel->ticks[i].text);
        free(panel->ticks[i].below);
    }
    for (uint32_t i = 0; i < panel->series_count; i++) {
        free(panel->series[i].points);
    }
    for (uint32_t i = 0; i < panel->reference_count; i++) {
        free(panel->references[i].title);
    }
    free(panel->ticks);
    free(panel->series);
    free(panel->references);
}

void chart_fini(struct chart *chart)
{
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        chart_panel_fini(&chart->panels[i]);
    }
    for (uint32_t i = 0; i < chart->series_count; i++) {
        free(chart->series_titles[i]);
    }
    for (uint32_t i = 0; i < chart->key_count; i++) {
        free(chart->keys[i].title);
    }
    free(chart->panels);
    free(chart->series_titles);
    free(chart->series_looks);
    free(chart->keys);
    free(chart->title);
    free(chart->about);
    free(chart->x_title);
    free(chart->y_title);
    free(chart->notes);
}

static void chart_point_extent(const struct chart *chart, const struct chart_point *point, double *low, double *high)
{
    if (chart->kind != PLOT_CPU_SPLIT) {
        *low = fmin(*low, fmin(point->value.low, point->value.median));
        *high = fmax(*high, fmax(point->value.high, point->value.median));
        return;
    }
    double above = 0, below = 0;
    for (uint32_t part = 0; part < CHART_PARTS; part++) {
        above += fmax(point->parts[part], 0);
        below += fmin(point->parts[part], 0);
    }
    *low = fmin(*low, below);
    *high = fmax(*high, above);
}

void chart_panel_extent(const struct chart *chart, const struct chart_panel *panel, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (uint32_t i = 0; i < panel->series_count; i++) {
        for (uint32_t p = 0; p < panel->series[i].count; p++) {
            chart_point_extent(chart, &panel->series[i].points[p], low, high);
        }
    }
    for (uint32_t i = 0; i < panel->reference_count; i++) {
        *low = fmin(*low, panel->references[i].value);
        *high = fmax(*high, panel->references[i].value);
    }
}
