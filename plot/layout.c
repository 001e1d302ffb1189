/* SPDX-License-Identifier: MIT
 *
 * Where things go in a picture: see layout.h.
 */
#include "layout.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT_SERIES_DIRECT 8  /* more series than this go into a key */
#define LAYOUT_TITLE_DIRECT  18 /* and so do longer names */
#define LAYOUT_PANELS_MAX    16
#define LAYOUT_WIDE_EXTRA    0.7 /* of a character: what a wide letter takes beyond one */

static const struct layout_font layout_font_picture = {.size = 22, .character = 12.9, .line = 29};
static const struct layout_font layout_font_small = {.size = 17, .character = 9.0, .line = 22};
static const struct layout_font layout_font_text = {.size = 1, .character = 1, .line = 1};

static uint32_t layout_line_count(const char *text)
{
    uint32_t lines = 1;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static double layout_series_width(const struct chart *chart)
{
    size_t widest = 0;
    for (uint32_t i = 0; i < chart->key_count; i++) {
        size_t width = text_width(chart->keys[i].title);
        widest = width > widest ? width : widest;
    }
    if (chart->key_count > 0) {
        return (double)widest;
    }
    for (uint32_t i = 0; i < chart->series_count; i++) {
        size_t width = text_width(chart->series_titles[i]);
        widest = width > widest ? width : widest;
    }
    return (double)widest;
}

static uint32_t layout_tick_count_max(const struct chart *chart)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        most = chart->panels[i].tick_count > most ? chart->panels[i].tick_count : most;
    }
    return most;
}

static uint32_t layout_series_count_max(const struct chart *chart)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        most = chart->panels[i].series_count > most ? chart->panels[i].series_count : most;
    }
    return most;
}

static void layout_columns(struct layout *layout, const struct chart *chart, uint32_t width)
{
    bool wide = chart->kind == PLOT_CPU_SPLIT && layout_tick_count_max(chart) > 8;
    uint32_t columns = layout->format == LAYOUT_TEXT || wide ? 1 : chart->panel_count < 2 ? 1 : 2;
    columns = layout->format != LAYOUT_TEXT && chart->columns > 0 ? chart->columns : columns;
    double panel = wide ? 1400 : chart->panel_count == 1 ? 860 : columns > 2 ? 1600.0 / columns : 700;
    if (layout->format == LAYOUT_TEXT) {
        panel = 100;
    }
    while (width > 0 && columns > 1 && width < 500 * columns) {
        columns--;
    }
    layout->columns = columns;
    layout->rows = (chart->panel_count + columns - 1) / columns;
    layout->width = width > 0 ? width : columns * panel;
}

/* Characters that the longest name at the end of a line takes; wide letters take more than one. */
static double layout_direct_width(const struct chart *chart)
{
    double widest = 0;
    for (uint32_t i = 0; i < chart->series_count; i++) {
        double width = (double)text_width(chart->series_titles[i]);
        for (const char *at = chart->series_titles[i]; (at = strpbrk(at, "mwMW")) != NULL; at++) {
            width += LAYOUT_WIDE_EXTRA;
        }
        widest = fmax(widest, width);
    }
    return widest;
}

static void layout_margins(struct layout *layout, const struct chart *chart)
{
    double character = layout->font.character;
    bool lines = chart->kind == PLOT_CPU_VS_THREADS || chart->kind == PLOT_CPU_PER_REQUEST;
    layout->direct = lines && chart->key_count == 0 && layout->format != LAYOUT_TEXT &&
                     chart->series_count <= LAYOUT_SERIES_DIRECT && layout_series_width(chart) <= LAYOUT_TITLE_DIRECT;
    double tick = chart->kind == PLOT_HEATMAP ? fmax(layout_series_width(chart), 2) : 5;
    layout->left = (tick + (layout->format == LAYOUT_TEXT ? 7 : 3.5)) * character;
    layout->right = (layout->direct ? layout_direct_width(chart) + 1 : chart->kind == PLOT_HEATMAP ? 4 : 2) * character;
}

/* Rows of a key that is set out in columns as wide as its widest entry. */
static uint32_t layout_key_rows(struct layout *layout, const struct chart *chart)
{
    uint32_t entries = chart->key_count > 0 ? chart->key_count : chart->series_count;
    double widest = layout_series_width(chart);
    if (chart->kind == PLOT_CPU_SPLIT) {
        entries = CHART_PARTS;
        widest = strlen("unaccounted");
    } else if (chart->kind == PLOT_HEATMAP || layout->direct) {
        return 0;
    }
    entries = chart->key_count == 0 && entries > CHART_SERIES_NAMED ? CHART_SERIES_NAMED + 1 : entries;
    double columns = floor(layout->width / ((widest + 6) * layout->font.character));
    uint32_t before = chart->key_break, behind = chart->key_count - chart->key_break;
    layout->key_is_broken = before > 0 && before <= columns && behind <= columns;
    return layout->key_is_broken ? 2 : (uint32_t)ceil(entries / fmax(columns, 1));
}

/* Canvas units that one unit of a panel's x axis takes. */
static double layout_x_unit(const struct layout *layout, const struct chart *chart, const struct chart_panel *panel)
{
    double low, high;
    layout_x_range(chart, panel, &low, &high);
    return (layout->width / layout->columns - layout->left - layout->right) / (high - low);
}

char *layout_group_text(const struct layout *layout, const struct chart *chart, const struct chart_panel *panel,
                        const struct chart_series *series)
{
    double room = (series->count + 0.7) * layout_x_unit(layout, chart, panel) / layout->small.character;
    return text_wrap_narrow(chart->series_titles[series->style], (size_t)fmax(room, 4));
}

/* Whether the labels of an axis would touch each other. */
static bool layout_ticks_touch(const struct layout *layout, const struct chart *chart, const struct chart_panel *panel,
                               double character)
{
    double unit = layout_x_unit(layout, chart, panel);
    for (uint32_t i = 1; i < panel->tick_count; i++) {
        double room = (panel->ticks[i].position - panel->ticks[i - 1].position) * unit;
        double wanted = (text_width(panel->ticks[i].text) + text_width(panel->ticks[i - 1].text)) / 2.0 + 0.8;
        if (wanted * character > room) {
            return true;
        }
    }
    return false;
}

/* Lines below an axis: the labels, what stands below them, and the axis' title in the last row. */
static void layout_ticks(struct layout *layout, const struct chart *chart)
{
    size_t longest = 1;
    layout->tick_lines = 1;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        const struct chart_panel *panel = &chart->panels[i];
        bool picture = layout->format != LAYOUT_TEXT;
        layout->small_ticks |= picture && layout_ticks_touch(layout, chart, panel, layout->font.character);
        layout->tilted |= picture && layout_ticks_touch(layout, chart, panel, layout->small.character);
        for (uint32_t t = 0; t < panel->tick_count; t++) {
            size_t width = text_width(panel->ticks[t].text);
            longest = width > longest ? width : longest;
            layout->tick_lines = panel->ticks[t].below != NULL ? 2 : layout->tick_lines;
        }
    }
    if (layout->tilted) {
        layout->tick_lines = ceil(0.7 * (double)longest * layout->small.character / layout->font.line);
    }
}

static void layout_groups(struct layout *layout, const struct chart *chart)
{
    double most = 0;
    for (uint32_t i = 0; i < chart->panel_count && chart->kind == PLOT_CPU_SPLIT; i++) {
        for (uint32_t g = 0; g < chart->panels[i].series_count; g++) {
            char *text = layout_group_text(layout, chart, &chart->panels[i], &chart->panels[i].series[g]);
            most = fmax(most, layout_line_count(text));
            free(text);
        }
    }
    layout->group_lines = most * layout->small.line / layout->font.line;
}

static double layout_row_height(const struct layout *layout)
{
    double lines = layout->panel_title_lines + 0.6 + layout->tick_lines + layout->group_lines + 2.2;
    if (layout->format == LAYOUT_TEXT) {
        lines = layout->panel_title_lines + layout->tick_lines + 3;
    }
    return layout->plot_height + lines * layout->font.line;
}

static double layout_key_lines(const struct layout *layout)
{
    return layout->key_rows * (layout->format == LAYOUT_TEXT ? 1 : 1.15);
}

static double layout_head_lines(const struct layout *layout)
{
    return layout->title_lines + layout->about_lines;
}

/* Height of everything but the panels. */
static double layout_frame_height(const struct layout *layout)
{
    double padding = layout->format == LAYOUT_TEXT ? 0 : 0.5;
    double gap = layout->format == LAYOUT_TEXT ? 1 : padding;
    return (layout_head_lines(layout) + padding + layout_key_lines(layout) + gap) * layout->font.line +
           layout->foot_lines * layout->small.line + padding * layout->small.line;
}

static double layout_plot_height(const struct layout *layout, const struct chart *chart)
{
    if (layout->format == LAYOUT_TEXT) {
        return 14;
    }
    if (chart->kind == PLOT_HEATMAP) {
        return fmax(120, layout_series_count_max(chart) * 70.0);
    }
    return 340;
}

/* Lines that a text takes in a width, and the text itself. */
static uint32_t layout_wrap(const char *text, double width, double character, char **out)
{
    *out = text_wrap(text, (size_t)fmax(width / character, 8));
    return layout_line_count(*out);
}

static void layout_panel_titles(struct layout *layout, const struct chart *chart)
{
    double room = layout->width / layout->columns - layout->left;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        char *title = text_wrap_phrases(chart->panels[i].title, (size_t)fmax(room / layout->font.character, 8));
        uint32_t lines = layout_line_count(title);
        layout->panel_title_lines = lines > layout->panel_title_lines ? lines : layout->panel_title_lines;
        free(title);
    }
}

int layout_init(struct layout *layout, const struct chart *chart, enum layout_format format, uint32_t width,
                uint32_t height, const char *foot, char *message)
{
    bool text = format == LAYOUT_TEXT;
    *layout = (struct layout){.format = format,
                              .font = text ? layout_font_text : layout_font_picture,
                              .small = text ? layout_font_text : layout_font_small};
    if (chart->panel_count > LAYOUT_PANELS_MAX) {
        snprintf(message, PLOT_MESSAGE_SIZE,
                 "plot: %u panels do not fit one picture (at most %d); plot a sweep with fewer "
                 "modes, rates or schedulers",
                 chart->panel_count, LAYOUT_PANELS_MAX);
        return 2;
    }
    layout_columns(layout, chart, width);
    layout_margins(layout, chart);
    layout_ticks(layout, chart);
    layout_groups(layout, chart);
    layout->key_rows = layout_key_rows(layout, chart);
    double panel = layout->width / layout->columns, inner = layout->width - 2 * layout->font.character;
    layout->title_lines = layout_wrap(chart->title, inner, layout->font.character, &layout->title);
    layout->about_lines = layout_wrap(chart->about, inner, layout->font.character, &layout->about);
    layout->foot_lines = layout_wrap(foot, inner, layout->small.character, &layout->foot);
    layout_panel_titles(layout, chart);
    layout->plot_height = layout_plot_height(layout, chart);
    double wanted = layout->rows * layout_row_height(layout) + layout_frame_height(layout);
    layout->height = height > 0 ? height : ceil(wanted);
    layout->vertical = text ? layout->height - 1 : layout->height;
    layout->plot_height += (layout->height - wanted) / layout->rows;
    double plot_width = panel - layout->left - layout->right;
    if (layout->plot_height < 4 * layout->font.line || plot_width < 12 * layout->font.character) {
        snprintf(
            message, PLOT_MESSAGE_SIZE,
            "plot: %.0f x %.0f is too small for %u panel%s; give at least %.0f x %.0f or leave width and height out",
            layout->width, layout->height, chart->panel_count, chart->panel_count == 1 ? "" : "s",
            ceil(layout->columns * (layout->left + layout->right + 12 * layout->font.character)),
            ceil(layout->height + layout->rows * fmax(4 * layout->font.line - layout->plot_height, 0)));
        layout_fini(layout);
        return 2;
    }
    return 0;
}

void layout_fini(struct layout *layout)
{
    free(layout->title);
    free(layout->about);
    free(layout->foot);
}

/* All panels of bars get the widest one's range, so that a bar is as wide in each. */
void layout_x_range(const struct chart *chart, const struct chart_panel *panel, double *low, double *high)
{
    double last = 1;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        const struct chart_panel *other = &chart->panels[i];
        if (other->tick_count > 0 && (other == panel || chart->kind == PLOT_CPU_SPLIT)) {
            last = fmax(last, other->ticks[other->tick_count - 1].position);
        }
    }
    *low = 0.5;
    *high = last + 0.5;
}

static double layout_padding(const struct layout *layout)
{
    return layout->format == LAYOUT_TEXT ? 0 : 0.5 * layout->font.line;
}

double layout_foot_top(const struct layout *layout)
{
    double padding = layout->format == LAYOUT_TEXT ? 0 : 0.5 * layout->small.line;
    return padding + layout->foot_lines * layout->small.line;
}

double layout_key_middle(const struct layout *layout)
{
    double title = layout_padding(layout) + layout_head_lines(layout) * layout->font.line;
    double middle =
        layout->format == LAYOUT_TEXT ? (layout->key_rows + 1) / 2.0 : layout_key_lines(layout) * layout->font.line / 2;
    return layout->height - title - middle;
}

struct layout_area layout_panel_area(const struct layout *layout, uint32_t panel)
{
    uint32_t column = panel % layout->columns, row = panel / layout->columns;
    double panel_width = layout->width / layout->columns;
    double top = layout_padding(layout) + (layout_head_lines(layout) + layout_key_lines(layout)) * layout->font.line +
                 row * layout_row_height(layout) +
                 (layout->panel_title_lines + (layout->format == LAYOUT_TEXT ? 1 : 0.6)) * layout->font.line;
    return (struct layout_area){
        .left = (column * panel_width + layout->left) / layout->width,
        .right = ((column + 1) * panel_width - layout->right) / layout->width,
        .top = 1 - top / layout->vertical,
        .bottom = 1 - (top + layout->plot_height) / layout->vertical,
        .first_column = column == 0,
    };
}
