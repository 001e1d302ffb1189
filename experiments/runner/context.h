/* SPDX-License-Identifier: MIT
 *
 * The context of a measurement: on what machine and with what program figures were taken.
 *
 * Lines "name: value", stored with every sweep, printed under every plot, shown by `pilfer doctor`.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_CONTEXT_H
#define PILFER_EXPERIMENTS_RUNNER_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#define CONTEXT_SIZE 4096

/* Writes the lines into text (CONTEXT_SIZE bytes). What the machine does not tell says "unknown". platform_init() must
 * have been called (the pause cost is measured there). Any thread. */
void context_write(char *text, size_t size);

/* The value of one line of a context; false if there is none. */
bool context_find(const char *text, const char *name, char *out, size_t size);

/* First line of a file without its newline; false if it cannot be read, and then out is unchanged. Any thread. */
bool context_first_line(const char *path, char *out, size_t size);

#endif
