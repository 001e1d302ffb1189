/* SPDX-License-Identifier: MIT
 *
 * Published figures as a panel of their own: their levels belong to another machine, so they share the picture and the
 * kind of axis with what was measured, but not the scale.
 */
#ifndef PILFER_PLOT_PUBLISHED_H
#define PILFER_PLOT_PUBLISHED_H

#include "chart.h"

/* Adds the panel, and the file's first comment line to the notes. The file is CSV: comment lines begin with '#', then a
 * header with at least max_workers, spin_limit, router_cpu_low and router_cpu_high (rps where known), then the rows; a
 * range is drawn as a bar, rows without a figure are left out. 0, or 3 with one line in message. */
int published_add(struct chart *chart, const char *path, char *message);

#endif
