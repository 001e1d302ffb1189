/* SPDX-License-Identifier: MIT
 *
 * Broken: the table carries another name than the list. Refused by name when it is opened; convicted by S1.
 */
#include "honest.h"

const struct scheduler scheduler_broken_name = {
    .name = "skeleton",
    .summary = "a copy whose name was forgotten",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .submit = honest_submit,
    .next = honest_next,
    .pending = honest_pending,
    .drain = honest_drain,
};
