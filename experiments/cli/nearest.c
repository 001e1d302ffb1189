/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": the word of a list that is nearest to what was typed; see nearest.h.
 *
 * How it works. Optimal string alignment distance: insertions, deletions, changes and swaps of neighbours cost one
 * each. A word counts as near when at most a third of its letters (at least one) are wrong, so that a hint is never a
 * guess out of nowhere. Words over 64 bytes are near to nothing; that bounds memory and time.
 *
 * Source: F. Damerau, "A technique for computer detection and correction of spelling errors", CACM 7 (1964).
 */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_LENGTH_MAX 64

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint32_t rows[3][WORD_LENGTH_MAX + 1];
    uint32_t *before = rows[0], *previous = rows[1], *current = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        previous[j] = (uint32_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        current[0] = (uint32_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            uint32_t change = previous[j - 1] + (a[i - 1] != b[j - 1]);
            current[j] = least(change, least(previous[j], current[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = least(current[j], before[j - 2] + 1);
        }
        uint32_t *free_row = before;
        before = previous;
        previous = current;
        current = free_row;
    }
    return previous[b_length];
}

const char *nearest_word(const char *word, const char *const *words, size_t count)
{
    size_t length = strlen(word);
    if (length == 0 || length > WORD_LENGTH_MAX)
        return NULL;
    const char *nearest = NULL;
    uint32_t distance_min = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t other_length = strlen(words[i]);
        if (other_length == 0 || other_length > WORD_LENGTH_MAX)
            continue;
        uint32_t distance = edit_distance(word, length, words[i], other_length);
        size_t longer = length > other_length ? length : other_length;
        uint32_t limit = longer < 3 ? 1 : (uint32_t)(longer / 3);
        if (distance <= limit && distance < longer && distance < distance_min) {
            distance_min = distance;
            nearest = words[i];
        }
    }
    return nearest;
}
