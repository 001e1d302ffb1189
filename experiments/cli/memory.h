/* SPDX-License-Identifier: MIT
 *
 * Memory for small things of the program itself: what cannot be had ends the program with one line and status 3.
 */
#ifndef PILFER_EXPERIMENTS_CLI_MEMORY_H
#define PILFER_EXPERIMENTS_CLI_MEMORY_H

#include <stddef.h>

/* Says that there is no memory and ends the program with status 3. */
void memory_end(void) __attribute__((noreturn));

/* Zeroed; the caller frees. Any thread. */
void *memory_allocate(size_t count, size_t size);

/* As realloc for count * size bytes; what is new is not zeroed. */
void *memory_resize(void *memory, size_t count, size_t size);

char *memory_copy_text(const char *text);

/* As asprintf. */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
