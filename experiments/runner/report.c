/* SPDX-License-Identifier: MIT
 *
 * "name = value" lines between the runner and the processes of a cell; see report.h.
 */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE          4096
#define EXIT_OUT_OF_MEMORY 3 /* the surroundings' fault */

/* A row is a few KiB: running out of memory here ends the program with a message, as results.h does. */
static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("pilfer: out of memory while reading what a process of the cell reports; free some and try again\n",
              stderr);
        exit(EXIT_OUT_OF_MEMORY);
    }
    return memory;
}

void report_init(struct report *report)
{
    report->entries = NULL;
    report->count = 0;
}

void report_fini(struct report *report)
{
    for (uint32_t i = 0; i < report->count; i++) {
        free(report->entries[i].name);
        free(report->entries[i].text);
    }
    free(report->entries);
    report_init(report);
}

static struct report_entry *find(const struct report *report, const char *name)
{
    for (uint32_t i = 0; i < report->count; i++) {
        if (strcmp(report->entries[i].name, name) == 0)
            return &report->entries[i];
    }
    return NULL;
}

void report_set(struct report *report, const char *name, const char *text)
{
    struct report_entry *entry = find(report, name);
    if (entry != NULL) {
        char *copy = checked(strdup(text));
        free(entry->text);
        entry->text = copy;
        return;
    }
    report->entries = checked(realloc(report->entries, (report->count + 1) * sizeof *report->entries));
    report->entries[report->count].name = checked(strdup(name));
    report->entries[report->count].text = checked(strdup(text));
    report->count++;
}

const char *report_text(const struct report *report, const char *name)
{
    const struct report_entry *entry = find(report, name);
    return entry != NULL ? entry->text : NULL;
}

bool report_number(const struct report *report, const char *name, double *out)
{
    const char *text = report_text(report, name);
    if (text == NULL || *text == '\0')
        return false;
    char *end;
    double number = strtod(text, &end);
    if (*end != '\0' || !isfinite(number))
        return false;
    *out = number;
    return true;
}

bool report_integer(const struct report *report, const char *name, uint64_t *out)
{
    const char *text = report_text(report, name);
    if (text == NULL || *text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0)
        return false;
    *out = number;
    return true;
}

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

uint8_t *report_bytes(const struct report *report, const char *name, size_t *size)
{
    const char *text = report_text(report, name);
    if (text == NULL || strlen(text) % 2 != 0)
        return NULL;
    size_t count = strlen(text) / 2;
    uint8_t *bytes = checked(malloc(count + 1));
    for (size_t i = 0; i < count; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    *size = count;
    return bytes;
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = send(descriptor, bytes, size, MSG_NOSIGNAL);
        if (written < 0 && errno == ENOTSOCK)
            written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

bool report_write_text(int descriptor, const char *name, const char *text)
{
    size_t size = strlen(name) + strlen(text) + 5;
    char *line = checked(malloc(size));
    int length = snprintf(line, size, "%s = %s\n", name, text);
    for (int i = 0; i < length - 1; i++) {
        if (line[i] == '\n')
            line[i] = ' ';
    }
    bool written = write_all(descriptor, line, (size_t)length);
    free(line);
    return written;
}

bool report_write_word(int descriptor, const char *word)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s\n", word);
    return write_all(descriptor, line, (size_t)length);
}

bool report_write_number(int descriptor, const char *name, double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", number);
    return report_write_text(descriptor, name, text);
}

bool report_write_integer(int descriptor, const char *name, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return report_write_text(descriptor, name, text);
}

bool report_write_bytes(int descriptor, const char *name, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *text = checked(malloc(2 * size + 1));
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\0';
    bool written = report_write_text(descriptor, name, text);
    free(text);
    return written;
}

void line_reader_init(struct line_reader *reader, int descriptor)
{
    *reader = (struct line_reader){.descriptor = descriptor};
}

void line_reader_fini(struct line_reader *reader)
{
    free(reader->buffer);
    *reader = (struct line_reader){.descriptor = -1, .ended = true};
}

/* Hands out the whole lines in the buffer; false when line asked to stop. */
static bool hand_out(struct line_reader *reader, bool (*line)(void *context, char *name, char *text), void *context)
{
    bool more = true;
    size_t begin = 0;
    char *newline;
    while (more && (newline = memchr(reader->buffer + begin, '\n', reader->length - begin)) != NULL) {
        char *name = reader->buffer + begin;
        *newline = '\0';
        begin = (size_t)(newline + 1 - reader->buffer);
        char *equals = strstr(name, " = ");
        if (equals != NULL)
            *equals = '\0';
        more = line(context, name, equals != NULL ? equals + 3 : NULL);
    }
    memmove(reader->buffer, reader->buffer + begin, reader->length - begin);
    reader->length -= begin;
    return more;
}

void line_reader_read(struct line_reader *reader, bool (*line)(void *context, char *name, char *text), void *context)
{
    if (reader->length > 0 && !hand_out(reader, line, context))
        return;
    while (!reader->ended) {
        if (reader->length + READ_SIZE > reader->capacity) {
            reader->capacity = reader->length + 2 * READ_SIZE;
            reader->buffer = checked(realloc(reader->buffer, reader->capacity));
        }
        ssize_t got = read(reader->descriptor, reader->buffer + reader->length, READ_SIZE);
        if (got < 0 && errno == EINTR)
            return;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            reader->ended = true;
            return;
        }
        reader->length += (size_t)got;
        if (!hand_out(reader, line, context))
            return;
        reader->ended = reader->length > REPORT_LINE_SIZE;
    }
}
