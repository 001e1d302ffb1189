/* SPDX-License-Identifier: MIT
 *
 * The other programs of the build: what checks and explores must not be in the program that measures.
 */
#ifndef PILFER_EXPERIMENTS_CLI_SIBLING_H
#define PILFER_EXPERIMENTS_CLI_SIBLING_H

#include <stddef.h>

/* Where a program lies: beside this one, or where the build puts it, in a folder of tests/. out holds room bytes. 0,
 * -ENOENT, or why this program's own place cannot be found. */
int sibling_find(const char *program, const char *folder, char *out, size_t room);

/* Goes on as that program, with the words behind its name (ended by NULL). Returns only if that fails: an exit status,
 * after a complaint that begins with the verb's name. */
int sibling_become(const char *verb, const char *program, const char *folder, char *const *words);

#endif
