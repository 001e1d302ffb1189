/* SPDX-License-Identifier: MIT
 *
 * What fuzz targets have in common: a claim that ends the program, and what the lines about the faults of a text are.
 */
#ifndef PILFER_TESTS_FUZZ_CLAIMS_H
#define PILFER_TESTS_FUZZ_CLAIMS_H

#include "cli/faults.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

/* As many lines as faults, of a flood as many as are shown and one more; each with the file's name in front and nothing
 * that drives a terminal. */
static inline void check_faults(const char *origin, int count, const char *text, size_t size)
{
    int lines = 0;
    for (size_t i = 0, start = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        HOLDS(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
        if (byte != '\n')
            continue;
        HOLDS(strncmp(text + start, origin, strlen(origin)) == 0 && text[start + strlen(origin)] == ':');
        start = i + 1;
        lines++;
    }
    HOLDS(count > 0 ? lines == (count <= FAULTS_SHOWN_MAX ? count : FAULTS_SHOWN_MAX + 1) : size == 0);
}

#endif
