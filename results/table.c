/* SPDX-License-Identifier: MIT
 *
 * A table of texts for people; see table.h.
 */
#include "table.h"
#include "heap.h"

#include <stdarg.h>

#define GAP 2

/* Characters of a UTF-8 text: bytes that do not continue one. */
static size_t character_count(const char *text)
{
    size_t count = 0;
    for (; *text; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static char *make_text(const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0) {
        heap_or_end(NULL);
    }
    for (char *letter = text; *letter; letter++) {
        if ((unsigned char)*letter < 0x20 || *letter == 0x7f) {
            *letter = '?';
        }
    }
    return text;
}

void table_init(struct table *table)
{
    *table = (struct table){0};
}

void table_fini(struct table *table)
{
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t column = 0; column < table->column_count; column++) {
            free(table->rows[row][column]);
        }
        free(table->rows[row]);
    }
    for (size_t column = 0; column < table->column_count; column++) {
        free(table->columns[column].heading[0]);
        free(table->columns[column].heading[1]);
    }
    free(table->rows);
    free(table->columns);
    table_init(table);
}

size_t table_add_column(struct table *table, const char *top, const char *bottom, unsigned flags)
{
    struct table_column column = {.heading = {heap_text(top), heap_text(bottom)},
                                  .right = flags & TABLE_RIGHT,
                                  .attached = flags & TABLE_ATTACHED};
    table->columns = heap_grow(table->columns, table->column_count, sizeof(column));
    table->columns[table->column_count] = column;
    return table->column_count++;
}

void table_add_row(struct table *table)
{
    table->rows = heap_grow(table->rows, table->row_count, sizeof(*table->rows));
    table->rows[table->row_count++] = heap_or_end(calloc(table->column_count, sizeof(char *)));
}

void table_set(struct table *table, size_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = make_text(format, arguments);
    va_end(arguments);
    char **entry = &table->rows[table->row_count - 1][column];
    free(*entry);
    *entry = text;
    size_t width = character_count(text);
    if (width > table->columns[column].width) {
        table->columns[column].width = width;
    }
}

/* Width with its headings; 0 if the column is left out. */
static size_t column_width(const struct table_column *column)
{
    size_t width = column->width;
    for (int i = 0; width && i < 2; i++) {
        size_t heading = character_count(column->heading[i]);
        width = heading > width ? heading : width;
    }
    return width;
}

static size_t gap_before(const struct table_column *column)
{
    return column->attached ? 1 : GAP;
}

size_t table_width(const struct table *table)
{
    size_t width = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        size_t column = column_width(&table->columns[i]);
        width += column ? column + gap_before(&table->columns[i]) : 0;
    }
    return width;
}

/* One line, without spaces at its end. */
static void write_line(FILE *stream, const struct table *table, char *const *entries)
{
    size_t owed = 0; /* spaces not yet written */
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        size_t width = column_width(column);
        if (width == 0) {
            continue;
        }
        const char *text = entries[i] ? entries[i] : "";
        size_t padding = width - character_count(text);
        owed += gap_before(column) + (column->right ? padding : 0);
        if (*text) {
            fprintf(stream, "%*s%s", (int)owed, "", text);
            owed = 0;
        }
        owed += column->right ? 0 : padding;
    }
    putc('\n', stream);
}

void table_write(FILE *stream, const struct table *table)
{
    char **headings = heap_array(table->column_count, sizeof(char *));
    for (int line = 0; line < 2; line++) {
        bool any = false;
        for (size_t i = 0; i < table->column_count; i++) {
            headings[i] = table->columns[i].heading[line];
            any = any || (table->columns[i].width > 0 && headings[i][0] != '\0');
        }
        if (any) {
            write_line(stream, table, headings);
        }
    }
    free(headings);
    for (size_t row = 0; row < table->row_count; row++) {
        write_line(stream, table, table->rows[row]);
    }
}

/* ---- words on lines ---- */

void word_list_add(struct word_list *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *word = make_text(format, arguments);
    va_end(arguments);
    list->words = heap_grow(list->words, list->count, sizeof(char *));
    list->words[list->count++] = word;
}

void word_list_write(FILE *stream, const struct word_list *list, const char *head, const char *separator,
                     const char *end, size_t width)
{
    size_t used = character_count(head), limit = width ? width : 100;
    fputs(head, stream);
    for (size_t i = 0; i < list->count; i++) {
        const char *after = i + 1 < list->count ? separator : end;
        size_t length = character_count(list->words[i]) + character_count(after);
        if (i > 0 && used + length + 1 > limit) {
            fputs("\n ", stream);
            used = 1;
        }
        fprintf(stream, " %s%s", list->words[i], after);
        used += length + 1;
    }
    putc('\n', stream);
}

void word_list_fini(struct word_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->words[i]);
    }
    free(list->words);
    *list = (struct word_list){0};
}
