/* SPDX-License-Identifier: MIT
 *
 * A pool of texts in which equal texts are kept once.
 *
 * How it works. Open addressing with linear probing over FNV-1a hashes, at most half full. A sweep of a million rows
 * has a few hundred different texts (labels, counter names, words of axes); keeping each once makes such a set fit in
 * memory.
 */
#ifndef PILFER_RESULTS_TEXTS_H
#define PILFER_RESULTS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct texts;

/* Ends the program when memory runs out, as all of results/ does. One thread. */
struct texts *texts_create(void);
void texts_destroy(struct texts *texts);

/* The pool's copy of text; valid until texts_destroy. */
char *texts_keep(struct texts *texts, const char *text);

/* FNV-1a, 64 bits: hash of size bytes that goes on from hash; start with TEXTS_HASH_START. */
#define TEXTS_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t texts_hash(uint64_t hash, const void *bytes, size_t size);

#endif
