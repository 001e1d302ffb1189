/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": the word of a list that is nearest to what was typed.
 */
#ifndef PILFER_EXPERIMENTS_CLI_NEAREST_H
#define PILFER_EXPERIMENTS_CLI_NEAREST_H

#include <stddef.h>

/* The nearest of count words, or NULL if none is near (edit distance over a third of the length). */
const char *nearest_word(const char *word, const char *const *words, size_t count);

#endif
