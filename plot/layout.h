/* SPDX-License-Identifier: MIT
 *
 * Where things go in a picture: title, key, panels in rows, foot.
 *
 * How it works. Everything is measured in canvas units: pixels at 200 per inch, so that 700 pixels are the column of a
 * paper, or characters and lines of a terminal. Widths of texts are estimated from their characters; margins that
 * depend on them are generous.
 */
#ifndef PILFER_PLOT_LAYOUT_H
#define PILFER_PLOT_LAYOUT_H

#include "chart.h"

enum layout_format { LAYOUT_TEXT, LAYOUT_PNG, LAYOUT_SVG, LAYOUT_PDF };

/* Heights and widths of characters, in canvas units. */
struct layout_font {
    double size, character, line; /* size: as gnuplot takes it */
};

struct layout {
    enum layout_format format;
    double width, height; /* of the canvas */
    double vertical; /* canvas units from gnuplot's screen 0 to screen 1: a terminal's last line is 1, not beyond */
    struct layout_font font, small;
    uint32_t columns, rows; /* of panels */
    double plot_height;     /* of the area inside the axes of each panel */
    double left, right;     /* margins of each panel */
    uint32_t title_lines, about_lines, panel_title_lines, key_rows, foot_lines;
    bool key_is_broken;             /* into two rows, where the chart wants it */
    double tick_lines, group_lines; /* of tick labels, and of the names of groups of bars below them */
    bool direct;                    /* series are named at the right end of their lines, not in a key */
    bool small_ticks;               /* tick labels fit side by side only in the small font */
    bool tilted;                    /* or not even so */
    char *title, *about, *foot;     /* wrapped */
};

/* Rectangle of a panel's plot area: shares of the canvas, y upwards, as gnuplot takes them. */
struct layout_area {
    double left, right, bottom, top;
    bool first_column;
};

/* Lays a chart out. width and height: wanted canvas, 0: what suits. 0, or 2 with one line
 * in message if the chart does not fit. Free with layout_fini. */
int layout_init(struct layout *layout, const struct chart *chart, enum layout_format format, uint32_t width,
                uint32_t height, const char *foot, char *message);
void layout_fini(struct layout *layout);

struct layout_area layout_panel_area(const struct layout *layout, uint32_t panel);

/* Upwards from the bottom of the canvas to the first line of the foot, and to the middle of the key. */
double layout_foot_top(const struct layout *layout);
double layout_key_middle(const struct layout *layout);

/* The name of a group of bars, wrapped so that it stays below them. */
char *layout_group_text(const struct layout *layout, const struct chart *chart, const struct chart_panel *panel,
                        const struct chart_series *series);

/* Units of a panel's x axis that its plot area spans, and where it begins. */
void layout_x_range(const struct chart *chart, const struct chart_panel *panel, double *low, double *high);

#endif
