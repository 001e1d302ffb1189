/* SPDX-License-Identifier: MIT
 *
 * Faults of a text that a person wrote, each with its place: "origin:line: what was found, what was expected, the
 * nearest valid word". All faults of a text are told at once.
 */
#ifndef PILFER_EXPERIMENTS_CLI_FAULTS_H
#define PILFER_EXPERIMENTS_CLI_FAULTS_H

#include "cli/output.h"

#include <stdint.h>
#include <stdio.h>

#define FAULT_MESSAGE_SIZE 512

/* Where faults are written and counted. line 0: the origin has no lines. */
struct faults {
    FILE *stream;
    char origin[OUTPUT_ESCAPED_MAX + 8]; /* escaped */
    uint32_t line, count;
};

void faults_init(struct faults *faults, FILE *stream, const char *origin);

/* Writes one line. From a flood of faults only the first FAULTS_SHOWN_MAX are shown, and that there are more; all are
 * counted. */
#define FAULTS_SHOWN_MAX 100
void fault(struct faults *faults, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
