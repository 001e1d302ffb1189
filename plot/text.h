/* SPDX-License-Identifier: MIT
 *
 * Small helpers for text that goes into pictures. All returned strings are owned by the caller; when memory runs out
 * the program ends with a message. Any thread.
 */
#ifndef PILFER_PLOT_TEXT_H
#define PILFER_PLOT_TEXT_H

#include <stddef.h>

/* Memory that is there: zeroed, or the program ends. */
void *text_allocate(size_t count, size_t size);
void *text_resize(void *memory, size_t count, size_t size);

char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A copy that is safe to draw: control characters become spaces, bytes that are not UTF-8 become '?', and what is
 * longer than limit characters is cut and ends in "...". */
char *text_clean(const char *text, size_t limit);

/* Columns that a UTF-8 text takes: its characters. */
size_t text_width(const char *text);

/* Breaks at spaces so that no line is wider than columns, unless one word is. Lines are separated by '\n'. */
char *text_wrap(const char *text, size_t columns);

/* The same, but breaks behind commas where that is enough. */
char *text_wrap_phrases(const char *text, size_t columns);

/* The same as text_wrap, but breaks also after '-', '/', '+' and ',', and within words that are still too wide. */
char *text_wrap_narrow(const char *text, size_t columns);

/* A number for people: "2,000", "2.5", never an exponent. */
char *text_number(double number);

#endif
