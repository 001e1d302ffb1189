/* SPDX-License-Identifier: MIT
 *
 * What the parts of the script (script.h) share among themselves.
 */
#ifndef PILFER_PLOT_SCRIPT_PARTS_H
#define PILFER_PLOT_SCRIPT_PARTS_H

#include "script.h"

#include <stdio.h>

/* Styles in theme.gp for series by themselves; the last is for those without a name. */
#define SCRIPT_STYLES 9

/* The size by which gnuplot's terminals call a font. */
double script_size(const struct layout *layout, const struct layout_font *font);

/* Writes text as gnuplot takes it, so that nothing in it is special. */
void script_quote(FILE *out, const char *text);

/* Labels, one for each line of a text, because terminals differ in how far apart they set lines. at: gnuplot's words
 * for the place; first_up: distance of the first line from it, in lines of the main font; look: further words. */
void script_label(FILE *out, const struct layout *layout, const char *text, const char *at, double first_up,
                  const struct layout_font *font, const char *look);

/* The line style of a series: a number in theme.gp. */
int script_style(const struct chart *chart, uint32_t series);

/* A round number at or a little above a value: 1, 1.2, 1.5, 2, ... times a power of ten. */
double script_round_up(double value);

/* The y axis starts at zero (below it only if something is negative) and ends above everything. */
void script_y_range(const struct chart *chart, const struct chart_panel *panel, double *low, double *high);

/* A panel of lines: what is particular to it, and its data. */
void script_panel_lines(FILE *out, FILE *data, const struct chart *chart, const struct layout *layout,
                        const struct chart_panel *panel);

#endif
