/* SPDX-License-Identifier: MIT
 *
 * A pool of texts in which equal texts are kept once; see texts.h.
 *
 * Source. Fowler, Noll, Vo: FNV-1a. Each step is a bijection of the state, so a change of one byte always changes the
 * hash.
 */
#include "texts.h"
#include "heap.h"

struct texts {
    char **slots; /* NULL: free */
    size_t capacity, count;
};

uint64_t texts_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

struct texts *texts_create(void)
{
    struct texts *texts = heap_array(1, sizeof(*texts));
    *texts = (struct texts){.capacity = 256};
    texts->slots = heap_or_end(calloc(texts->capacity, sizeof(char *)));
    return texts;
}

void texts_destroy(struct texts *texts)
{
    if (!texts) {
        return;
    }
    for (size_t i = 0; i < texts->capacity; i++) {
        free(texts->slots[i]);
    }
    free(texts->slots);
    free(texts);
}

/* The slot that holds text, or the free one where it belongs. */
static char **texts_slot(const struct texts *texts, const char *text)
{
    size_t i = texts_hash(TEXTS_HASH_START, text, strlen(text)) & (texts->capacity - 1);
    while (texts->slots[i] && strcmp(texts->slots[i], text) != 0) {
        i = (i + 1) & (texts->capacity - 1);
    }
    return &texts->slots[i];
}

static void texts_double(struct texts *texts)
{
    struct texts old = *texts;
    texts->capacity = old.capacity * 2;
    texts->slots = heap_or_end(calloc(texts->capacity, sizeof(char *)));
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i]) {
            *texts_slot(texts, old.slots[i]) = old.slots[i];
        }
    }
    free(old.slots);
}

char *texts_keep(struct texts *texts, const char *text)
{
    char **slot = texts_slot(texts, text);
    if (!*slot) {
        if (texts->count * 2 >= texts->capacity) {
            texts_double(texts);
            slot = texts_slot(texts, text);
        }
        *slot = heap_text(text);
        texts->count++;
    }
    return *slot;
}
