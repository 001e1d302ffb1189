/* SPDX-License-Identifier: MIT
 *
 * A chart as a gnuplot script with its data files, in a folder of their own.
 *
 * How it works. The layout (layout.h) says where everything goes; the script sets it and loads the project's .gp files,
 * which know how things look. Text reaches the script only through script_quote: cleaned, in single quotes, in which
 * gnuplot expands nothing, with enhanced text off. File names in the script are constants; gnuplot runs in the folder.
 */
#ifndef PILFER_PLOT_SCRIPT_H
#define PILFER_PLOT_SCRIPT_H

#include "layout.h"

#define SCRIPT_NAME    "plot.gp" /* what gnuplot runs */
#define SCRIPT_PICTURE "picture" /* what it writes */

/* Writes everything into the folder. 0, or 3 with one line in message. */
int script_write(const char *folder, const struct chart *chart, const struct layout *layout, char *message);

#endif
