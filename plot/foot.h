/* SPDX-License-Identifier: MIT
 *
 * The foot of a picture: what was drawn, and the context in which it was measured.
 */
#ifndef PILFER_PLOT_FOOT_H
#define PILFER_PLOT_FOOT_H

#include "chart.h"

/* The chart's notes and the sweep's context as two lines of any length; wrap them with text_wrap. NULL if the sweep
 * has no context: then no picture may be written. separator stands between two facts (" · "). Owned by the caller. */
char *foot_text(const struct chart *chart, const struct store_sweep *sweep, const char *separator);

#endif
