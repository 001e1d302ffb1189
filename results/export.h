/* SPDX-License-Identifier: MIT
 *
 * Exports: all repeats of a set, one line or object each, for other programs.
 *
 * Columns. First the fixed ones (RESULT_COLUMNS) in their order, then further parameters, then further numbers, each
 * sorted by name over the whole set. Unknown is an empty field in CSV and Markdown and null in JSON. Numbers are plain
 * decimals that read back as the same number, in any locale. CSV is RFC 4180 with LF; text that a spreadsheet would
 * take for a formula (it begins with = + - @, tab or carriage return) gets an apostrophe in front. JSON is UTF-8; bytes
 * that are not become U+FFFD.
 */
#ifndef PILFER_RESULTS_EXPORT_H
#define PILFER_RESULTS_EXPORT_H

#include "results.h"

#include <stdio.h>

/* X(name, word) */
#define EXPORT_FORMATS(X) \
    X(CSV, "csv")         \
    X(JSON, "json")       \
    X(MARKDOWN, "markdown")

enum export_format {
#define EXPORT_ENUM(name, word) EXPORT_##name,
    EXPORT_FORMATS(EXPORT_ENUM)
#undef EXPORT_ENUM
        EXPORT_FORMAT_COUNT
};

const char *export_format_word(enum export_format format);

/* The format of this name, or -1. */
int export_format_find(const char *word);

/* Writes the set. 0, or -1 if the stream reported an error (output_commit or output_flush says which). */
int export_write(FILE *stream, enum export_format format, const struct result_set *set);

#endif
