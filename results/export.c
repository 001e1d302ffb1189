/* SPDX-License-Identifier: MIT
 *
 * Exports; see export.h.
 *
 * How it works. One pass over the set finds the names of settings and numbers; a second one writes row by row. A row's
 * own names are sorted too, so both are walked side by side. Each format is a table of five functions.
 */
#include "export.h"
#include "decimal.h"
#include "heap.h"
#include "texts.h"

#include <assert.h>

static const char *const words[EXPORT_FORMAT_COUNT] = {
#define EXPORT_WORD(name, word) [EXPORT_##name] = word,
    EXPORT_FORMATS(EXPORT_WORD)
#undef EXPORT_WORD
};

const char *export_format_word(enum export_format format)
{
    return words[format];
}

int export_format_find(const char *word)
{
    for (int format = 0; format < EXPORT_FORMAT_COUNT; format++) {
        if (strcmp(words[format], word) == 0) {
            return format;
        }
    }
    return -1;
}

/* ---- names over the whole set ---- */

struct names {
    const char **names; /* owned by pool */
    size_t count;
};

static int compare_names(const void *first, const void *second)
{
    return strcmp(*(const char *const *)first, *(const char *const *)second);
}

/* Adds a name once: the pool has one copy per text, and a name that was seen before is marked by its pointer. */
static void add_name(struct names *names, struct texts *pool, const char *name)
{
    const char *kept = texts_keep(pool, name);
    for (size_t i = 0; i < names->count; i++) {
        if (names->names[i] == kept) {
            return;
        }
    }
    names->names = heap_grow(names->names, names->count, sizeof(*names->names));
    names->names[names->count++] = kept;
}

static void collect_names(const struct result_set *set, struct texts *pool, struct names *settings,
                          struct names *numbers)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct result *row = &set->rows[i];
        for (uint32_t j = 0; j < row->setting_count; j++) {
            add_name(settings, pool, row->settings[j].name);
        }
        for (uint32_t j = 0; j < row->number_count; j++) {
            add_name(numbers, pool, row->numbers[j].name);
        }
    }
    if (settings->count) {
        qsort(settings->names, settings->count, sizeof(*settings->names), compare_names);
    }
    if (numbers->count) {
        qsort(numbers->names, numbers->count, sizeof(*numbers->names), compare_names);
    }
}

/* ---- formats ---- */

/* How a format writes; row and end may be NULL. index: of the field in its row, from 0. */
struct format {
    void (*begin)(FILE *stream, const char *const *names, size_t count);
    void (*row)(FILE *stream, size_t row); /* before a row */
    void (*field)(FILE *stream, size_t index, const char *name, const char *text, const double *number);
    void (*row_end)(FILE *stream);
    void (*end)(FILE *stream);
};

static void write_number(FILE *stream, double number)
{
    char decimal[DECIMAL_SIZE];
    fputs(decimal_print(number, decimal), stream);
}

static void csv_text(FILE *stream, const char *text)
{
    bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]);
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", stream);
    fputs(formula ? "'" : "", stream);
    for (; *text; text++) {
        fputs(*text == '"' ? "\"" : "", stream);
        putc(*text, stream);
    }
    fputs(quoted ? "\"" : "", stream);
}

static void csv_begin(FILE *stream, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", stream);
        csv_text(stream, names[i]);
    }
    putc('\n', stream);
}

static void csv_field(FILE *stream, size_t index, const char *name, const char *text, const double *number)
{
    fputs(index ? "," : "", stream);
    if (text) {
        csv_text(stream, text);
    } else if (number) {
        write_number(stream, *number);
    }
}

static void line_end(FILE *stream)
{
    putc('\n', stream);
}

/* Length of the UTF-8 sequence at text (no overlong forms, no surrogates, up to U+10FFFF), or 0. */
static int utf8_length(const unsigned char *text)
{
    unsigned char first = text[0];
    int length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : 0;
    if (first >= 0xf0 && first < 0xf5) {
        length = 4;
    }
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool surrogate = first == 0xed && text[1] >= 0xa0;
    bool beyond = first == 0xf4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static void json_text(FILE *stream, const char *text)
{
    putc('"', stream);
    while (*text) {
        int length = utf8_length((const unsigned char *)text);
        if (length == 0) {
            fputs("\xef\xbf\xbd", stream);
            length = 1;
        } else if (length == 1 && (unsigned char)*text < 0x20) {
            fprintf(stream, "\\u%04x", (unsigned)*text);
        } else {
            fputs(*text == '"' || *text == '\\' ? "\\" : "", stream);
            fwrite(text, 1, (size_t)length, stream);
        }
        text += length;
    }
    putc('"', stream);
}

static void json_begin(FILE *stream, const char *const *names, size_t count)
{
    putc('[', stream);
}

static void json_row(FILE *stream, size_t row)
{
    fputs(row ? ",\n{" : "\n{", stream);
}

static void json_field(FILE *stream, size_t index, const char *name, const char *text, const double *number)
{
    fputs(index ? ", " : "", stream);
    json_text(stream, name);
    fputs(": ", stream);
    if (text) {
        json_text(stream, text);
    } else if (number) {
        write_number(stream, *number);
    } else {
        fputs("null", stream);
    }
}

static void json_row_end(FILE *stream)
{
    putc('}', stream);
}

static void json_end(FILE *stream)
{
    fputs("\n]\n", stream);
}

/* Characters that mean something in a table cell are escaped; control characters become spaces. */
static void markdown_text(FILE *stream, const char *text)
{
    for (; *text; text++) {
        fputs(strchr("|\\`*_<>[]", *text) ? "\\" : "", stream);
        putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, stream);
    }
}

static void markdown_begin(FILE *stream, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i ? " | " : "| ", stream);
        markdown_text(stream, names[i]);
    }
    fputs(" |\n", stream);
    for (size_t i = 0; i < count; i++) {
        fputs("|---", stream);
    }
    fputs("|\n", stream);
}

static void markdown_field(FILE *stream, size_t index, const char *name, const char *text, const double *number)
{
    fputs(index ? " | " : "| ", stream);
    if (text) {
        markdown_text(stream, text);
    } else if (number) {
        write_number(stream, *number);
    }
}

static void markdown_row_end(FILE *stream)
{
    fputs(" |\n", stream);
}

static const struct format formats[EXPORT_FORMAT_COUNT] = {
    [EXPORT_CSV] = {csv_begin, NULL, csv_field, line_end, NULL},
    [EXPORT_JSON] = {json_begin, json_row, json_field, json_row_end, json_end},
    [EXPORT_MARKDOWN] = {markdown_begin, NULL, markdown_field, markdown_row_end, NULL},
};

/* ---- the walk ---- */

static void write_row(FILE *stream, const struct format *format, const struct result *row, const struct names *settings,
                      const struct names *numbers)
{
    size_t index = 0;
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        const struct result_value *value = &row->columns[i];
        format->field(stream, index++, result_column_name(i), value->text,
                      value->kind == RESULT_KNOWN_NUMBER ? &value->number : NULL);
    }
    uint32_t next = 0;
    for (size_t i = 0; i < settings->count; i++) {
        bool has = next < row->setting_count && strcmp(row->settings[next].name, settings->names[i]) == 0;
        format->field(stream, index++, settings->names[i], has ? row->settings[next].text : NULL, NULL);
        next += has;
    }
    assert(next == row->setting_count);
    next = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        bool has = next < row->number_count && strcmp(row->numbers[next].name, numbers->names[i]) == 0;
        format->field(stream, index++, numbers->names[i], NULL, has ? &row->numbers[next].number : NULL);
        next += has;
    }
    assert(next == row->number_count);
}

int export_write(FILE *stream, enum export_format format, const struct result_set *set)
{
    struct texts *pool = texts_create();
    struct names settings = {0}, numbers = {0}, all = {0};
    collect_names(set, pool, &settings, &numbers);
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        all.names = heap_grow(all.names, all.count, sizeof(*all.names));
        all.names[all.count++] = result_column_name(i);
    }
    const struct names *further[] = {&settings, &numbers};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < further[k]->count; i++) {
            all.names = heap_grow(all.names, all.count, sizeof(*all.names));
            all.names[all.count++] = further[k]->names[i];
        }
    }
    const struct format *write = &formats[format];
    write->begin(stream, all.names, all.count);
    for (size_t i = 0; i < set->count && !ferror(stream); i++) {
        if (write->row) {
            write->row(stream, i);
        }
        write_row(stream, write, &set->rows[i], &settings, &numbers);
        write->row_end(stream);
    }
    if (write->end) {
        write->end(stream);
    }
    free(settings.names);
    free(numbers.names);
    free(all.names);
    texts_destroy(pool);
    return ferror(stream) ? -1 : 0;
}
