/* SPDX-License-Identifier: MIT
 *
 * The .gp files of this folder, built into the program, so that it draws without being told where they are.
 */
#ifndef PILFER_PLOT_EMBEDDED_H
#define PILFER_PLOT_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *name, *text;
};
extern const struct embedded_file embedded_files[];
extern const size_t embedded_count;

#endif
