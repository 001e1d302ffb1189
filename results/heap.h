/* SPDX-License-Identifier: MIT
 *
 * Memory for results: every row is small and cannot be left out, so running out of memory ends the program with one
 * line.
 */
#ifndef PILFER_RESULTS_HEAP_H
#define PILFER_RESULTS_HEAP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns memory if it is there; else ends the program (status 3: surroundings). */
static inline void *heap_or_end(void *memory)
{
    if (!memory) {
        fputs("pilfer: out of memory while handling results; finished repeats are stored\n", stderr);
        exit(3);
    }
    return memory;
}

/* Uninitialised memory for count items of size bytes (at least one byte); overflow counts as no memory. */
static inline void *heap_array(size_t count, size_t size)
{
    return heap_or_end(reallocarray(NULL, count ? count : 1, size ? size : 1));
}

/* Grows an array so that it has room for one more item than count: doubles whenever count is 0 or a power of two. */
static inline void *heap_grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1)) {
        return array;
    }
    return heap_or_end(reallocarray(array, count ? count * 2 : 1, size));
}

static inline char *heap_text(const char *text)
{
    return heap_or_end(strdup(text));
}

#endif
