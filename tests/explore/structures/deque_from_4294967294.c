/* SPDX-License-Identifier: MIT
 *
 * The deque with its indices from 2^32 - 2: the same sources with another constant, and names of their own.
 */
#define DEQUE_INDEX_START INT64_C(4294967294)
#define deque_init        deque_init_from_4294967294
#define deque_fini        deque_fini_from_4294967294
#define deque_grow        deque_grow_from_4294967294
#include "deque.c"

#define DEQUE_STRUCTURE structure_deque_from_4294967294
#include "structures/deque_structure.h"
