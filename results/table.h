/* SPDX-License-Identifier: MIT
 *
 * A table of texts for people: columns as wide as their widest entry, two lines of headings.
 *
 * Texts come from outside: control characters are shown as '?', so that no label can drive the terminal.
 */
#ifndef PILFER_RESULTS_TABLE_H
#define PILFER_RESULTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
    char *heading[2];
    size_t width;
    bool right;    /* aligned to the right */
    bool attached; /* one space before it instead of two */
};

struct table {
    struct table_column *columns;
    size_t column_count;
    char ***rows; /* rows[row][column], NULL for an empty entry */
    size_t row_count;
};

enum table_flags { TABLE_RIGHT = 1, TABLE_ATTACHED = 2 };

/* Columns first, then rows. Ends the program when memory runs out. */
void table_init(struct table *table);
void table_fini(struct table *table);
/* Returns the column's number. Headings may be "". */
size_t table_add_column(struct table *table, const char *top, const char *bottom, unsigned flags);
void table_add_row(struct table *table);
/* Sets an entry of the newest row. */
__attribute__((format(printf, 3, 4))) void table_set(struct table *table, size_t column, const char *format, ...);

/* Width of a line in characters. */
size_t table_width(const struct table *table);
/* Columns without any entry are left out. */
void table_write(FILE *stream, const struct table *table);

/* A list of words on lines of at most width characters (0: 100): first line begins with head, further ones with two
 * spaces; words are joined by separator, and end follows the last one. */
struct word_list {
    char **words;
    size_t count;
};
__attribute__((format(printf, 2, 3))) void word_list_add(struct word_list *list, const char *format, ...);
void word_list_write(FILE *stream, const struct word_list *list, const char *head, const char *separator,
                     const char *end, size_t width);
void word_list_fini(struct word_list *list);

#endif
