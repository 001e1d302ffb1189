/* SPDX-License-Identifier: MIT
 *
 * Small helpers for text that goes into pictures: see text.h.
 */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *text_require(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "pilfer: out of memory while drawing; free some and draw again\n");
        exit(3);
    }
    return memory;
}

void *text_allocate(size_t count, size_t size)
{
    return text_require(calloc(count > 0 ? count : 1, size));
}

void *text_resize(void *memory, size_t count, size_t size)
{
    return text_require(reallocarray(memory, count > 0 ? count : 1, size));
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *out = NULL;
    if (vasprintf(&out, format, arguments) < 0) {
        out = NULL;
    }
    va_end(arguments);
    return text_require(out);
}

/* Bytes of the UTF-8 character at text, or 0 if there is none (overlong forms, surrogates and the C1 controls count as
 * none). */
static size_t text_character(const unsigned char *text)
{
    if (text[0] < 0x80) {
        return 1;
    }
    size_t size = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    uint32_t point = text[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        point = point << 6 | (text[i] & 0x3f);
    }
    static const uint32_t lowest[] = {0, 0, 0xa0, 0x800, 0x10000};
    if (text[0] < 0xc2 || text[0] > 0xf4 || point < lowest[size] || point > 0x10ffff) {
        return 0;
    }
    bool drawable = (point < 0xd800 || point > 0xdfff) && (point & 0xfffe) != 0xfffe;
    return drawable ? size : 0;
}

char *text_clean(const char *text, size_t limit)
{
    size_t length = strlen(text), used = 0, characters = 0, cut = 0;
    char *out = text_allocate(length + 4, 1);
    for (size_t i = 0; i < length; characters++) {
        if (characters + 3 == limit) {
            cut = used;
        }
        if (characters == limit) {
            memcpy(out + cut, "...", sizeof "...");
            return out;
        }
        size_t size = text_character((const unsigned char *)text + i);
        if (size > 1) {
            memcpy(out + used, text + i, size);
            used += size;
            i += size;
            continue;
        }
        unsigned char byte = (unsigned char)text[i++];
        out[used++] = size == 0 ? '?' : byte < 0x20 || byte == 0x7f ? ' ' : (char)byte;
    }
    out[used] = '\0';
    return out;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

char *text_wrap(const char *text, size_t columns)
{
    char *out = text_format("%s", text);
    char *line = out, *space = NULL;
    for (char *at = out; *at != '\0'; at++) {
        char end = *at;
        if (end != '\n' && end != ' ') {
            continue;
        }
        *at = '\0';
        bool fits = text_width(line) <= columns;
        *at = end;
        if (!fits && space != NULL) {
            *space = '\n';
            line = space + 1;
        }
        space = end == ' ' ? at : NULL;
        line = end == ' ' ? line : at + 1;
    }
    if (space != NULL && text_width(line) > columns) {
        *space = '\n';
    }
    return out;
}

char *text_wrap_phrases(const char *text, size_t columns)
{
    static const char kept = '\1'; /* a space that is no place to break */
    char *marked = text_format("%s", text);
    for (char *at = marked; *at != '\0'; at++) {
        *at = *at == ' ' && at != marked && at[-1] != ',' ? kept : *at;
    }
    char *phrases = text_wrap(marked, columns);
    for (char *at = phrases; *at != '\0'; at++) {
        *at = *at == kept ? ' ' : *at;
    }
    char *out = text_wrap(phrases, columns);
    free(marked);
    free(phrases);
    return out;
}

char *text_wrap_narrow(const char *text, size_t columns)
{
    size_t length = strlen(text), used = 0, width = 0, room = 0; /* room: where the line may be broken, 0 if nowhere */
    char *out = text_allocate(2 * length + 1, 1);
    for (size_t i = 0; i < length; i++) {
        bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;
        if (begins && width == columns) {
            size_t at = room > 0 ? room : used;
            memmove(out + at + 1, out + at, used - at);
            out[at] = '\n';
            used++;
            width = 0;
            for (size_t moved = at + 1; moved < used; moved++) {
                width += ((unsigned char)out[moved] & 0xc0) != 0x80;
            }
            room = 0;
        }
        if (text[i] == ' ' && width == 0) {
            continue;
        }
        out[used++] = text[i];
        width += begins;
        room = strchr(" -/+,", text[i]) != NULL ? used : room;
    }
    return out;
}

char *text_number(double number)
{
    char *plain = text_format("%.*f", fabs(number) < 100 && number != round(number) ? 1 : 0, number);
    size_t length = strlen(plain), whole = strcspn(plain, ".");
    size_t sign = plain[0] == '-', used = 0;
    char *out = text_allocate(length + length / 3 + 2, 1);
    for (size_t i = 0; i < length; i++) {
        if (i < whole && i > sign && (whole - i) % 3 == 0) {
            out[used++] = ',';
        }
        out[used++] = plain[i];
    }
    free(plain);
    return out;
}
