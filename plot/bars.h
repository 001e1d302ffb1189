/* SPDX-License-Identifier: MIT
 *
 * A chart as bars of text: for terminals where areas are wanted (the CPU split, the map), and where there is no
 * gnuplot.
 */
#ifndef PILFER_PLOT_BARS_H
#define PILFER_PLOT_BARS_H

#include "chart.h"

/* Prints the chart and its foot, at most columns wide where that is possible. */
void bars_print(FILE *out, const struct chart *chart, const char *foot, uint32_t columns);

#endif
