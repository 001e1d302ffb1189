/* SPDX-License-Identifier: MIT
 *
 * What sites.sh reads, preprocessed: one word group "@ site TYPE KIND ORDER FAILURE NAME" for each operation of the
 * lists.
 */
#define ORDERED_LISTS_ONLY
#include "../ordered.h"

/* clang-format off: no C */
#define SITE_LOAD(T, C, ORDER)               @ site T LOAD ORDER ORDER ORDER
#define SITE_STORE(T, C, ORDER)              @ site T STORE ORDER ORDER ORDER
#define SITE_EXCHANGE(T, C, ORDER)           @ site T EXCHANGE ORDER ORDER ORDER
#define SITE_CAS(T, C, NAME, ORDER, FAILURE) @ site T CAS ORDER FAILURE NAME
#define SITE_ADD(T, C, ORDER)                @ site T ADD ORDER ORDER ORDER
#define SITES(T, C)                        \
    ORDERED_LOADS(SITE_LOAD, T, C)         \
    ORDERED_STORES(SITE_STORE, T, C)       \
    ORDERED_EXCHANGES(SITE_EXCHANGE, T, C) \
    ORDERED_CASES(SITE_CAS, T, C)
#define SITES_ADDABLE(T, C) ORDERED_ADDS(SITE_ADD, T, C)
ORDERED_TYPES(SITES)
ORDERED_ADDABLE_TYPES(SITES_ADDABLE)
@ end
