/* SPDX-License-Identifier: MIT
 *
 * INI texts: sweep files and target files are both read through here.
 *
 * How it works. libinih splits lines into key and value; it pulls them through a reader hook of ours, which counts
 * lines and refuses what libinih would silently misread: NUL and other control bytes, lines that do not fit its buffer,
 * indented lines (it would append them to the value before), comments behind a value (it would cut the value), text
 * behind a section's bracket, a colon for an equals sign. A refused line is handed on as an empty one, so that parsing
 * goes on and all faults of a text are found at once.
 */
#ifndef PILFER_EXPERIMENTS_CLI_INI_TEXT_H
#define PILFER_EXPERIMENTS_CLI_INI_TEXT_H

#include "cli/faults.h"

#define INI_LINE_LENGTH_MAX 190 /* what libinih takes, less the line's end */
#define INI_FILE_SIZE_MAX   (1 << 20)

struct ini_text {
    struct faults *faults; /* its line is that of what is being read */
    const char *sections;  /* what may stand in brackets, for messages: "[sweep] or [part NAME]" */
    const char *first;     /* the section that comes first: "[sweep]" */
    void *context;         /* of the three below */

    /* A section begins: what stands between the brackets; NULL when the line is faulty or a key stands before any
     * section. */
    void (*section)(void *context, const char *name);
    /* A key of the section. */
    void (*key)(void *context, const char *key, const char *value);
    /* A line inside a section was refused; may be NULL. */
    void (*refused)(void *context);
};

/* Reads a text of size bytes, a byte order mark first or not. True if there was a section. */
bool ini_text_read(const struct ini_text *ini, const char *text, size_t size);

/* Reads a regular file of at most INI_FILE_SIZE_MAX bytes. what: "sweep file"; elsewhere: behind a message that it
 * cannot be read, or "". NULL after a fault; the caller frees. */
char *ini_text_file(const char *path, const char *what, const char *elsewhere, size_t *size, struct faults *faults);

#endif
