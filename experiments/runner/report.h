/* SPDX-License-Identifier: MIT
 *
 * What a process of a cell says of itself: "name = value" lines.
 *
 * How it works. A role writes lines to descriptor 4; the runner reads them into a struct report, a list of named texts.
 * The same form carries the configuration and the commands the other way (descriptor 3). Numbers are plain decimals
 * that read back exactly. The latency histogram travels as hexadecimal digits. A line is at most REPORT_LINE_SIZE
 * bytes.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_REPORT_H
#define PILFER_EXPERIMENTS_RUNNER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_LINE_SIZE (256 * 1024)

struct report_entry {
    char *name, *text; /* owned */
};

/* A later line of the same name replaces the earlier one. One thread. */
struct report {
    struct report_entry *entries;
    uint32_t count;
};

void report_init(struct report *report);
void report_fini(struct report *report);
void report_set(struct report *report, const char *name, const char *text);

/* Text by name, or NULL. */
const char *report_text(const struct report *report, const char *name);
/* False if there is no such line or it is no number. */
bool report_number(const struct report *report, const char *name, double *out);
bool report_integer(const struct report *report, const char *name, uint64_t *out);

/* Decodes hexadecimal digits; caller frees. NULL for anything else. */
uint8_t *report_bytes(const struct report *report, const char *name, size_t *size);

/* ---- the writing end: each writes one whole line to a descriptor; false when nobody reads it any more ---- */

bool report_write_text(int descriptor, const char *name, const char *text);
bool report_write_word(int descriptor, const char *word); /* a line without a value: "ready", "stop" */
bool report_write_number(int descriptor, const char *name, double number);
bool report_write_integer(int descriptor, const char *name, uint64_t number);
bool report_write_bytes(int descriptor, const char *name, const uint8_t *bytes, size_t size);

/* ---- the reading end ---- */

/* Bytes of a pipe on their way to whole lines. */
struct line_reader {
    int descriptor;
    char *buffer; /* owned */
    size_t length, capacity;
    bool ended; /* end of file, or a line beyond the limit */
};

void line_reader_init(struct line_reader *reader, int descriptor);
void line_reader_fini(struct line_reader *reader);

/* Reads what is there, without blocking when the descriptor does not block, and calls line for each whole line: name
 * and text are cut at " = ", text is NULL where there is none. line returns false to stop early; the rest is kept. */
void line_reader_read(struct line_reader *reader, bool (*line)(void *context, char *name, char *text), void *context);

#endif
