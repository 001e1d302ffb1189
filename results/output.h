/* SPDX-License-Identifier: MIT
 *
 * Output files that are whole or not there.
 *
 * How it works. The text goes to a file beside the wanted one; output_commit syncs and renames it. A device or a pipe
 * is written to directly. An existing file is refused unless forced, also if it appears in the meantime. A link is
 * followed.
 *
 * Worst case. A program that is killed in between leaves ".NAME.PID.part" in the folder; the wanted file is untouched.
 */
#ifndef PILFER_RESULTS_OUTPUT_H
#define PILFER_RESULTS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#define OUTPUT_MESSAGE_SIZE 512

struct output {
    FILE *stream;       /* write here ... */
    const char *beside; /* ... or let another program overwrite the file with this name */
    char *path;         /* the wanted file, links resolved; owned */
    char *part;         /* the file beside, or NULL for a device; owned */
    bool force;
};

/* Opens an output; 0, or -1 with one line in message (OUTPUT_MESSAGE_SIZE bytes): what exists, is missing or may not be
 * written. Nothing is left behind then. suffix: what beside ends with (".png", for programs that go by it), or NULL. */
int output_open(struct output *output, const char *path, const char *suffix, bool force, char *message);

/* Writes out, syncs and gives the file its name. 0, or -1 with one line in message: then the wanted file is as it was.
 */
int output_commit(struct output *output, char *message);

/* Gives up: removes the file beside. */
void output_discard(struct output *output);

/* For standard output and other open streams: flushes, and tells errors of this and all earlier writes. name: for the
 * message. 0 or -1. */
int output_flush(FILE *stream, const char *name, char *message);

#endif
