/* SPDX-License-Identifier: MIT
 *
 * Broken: a required callback is missing. Refused by name when it is opened; convicted by S1.
 */
#include "honest.h"

const struct scheduler scheduler_broken_missing = {
    .name = "broken-missing",
    .summary = "lacks the callback drain",
    .idle = "lifo-semaphore",
    .sizing = "fixed",
    .pool_state_size = sizeof(struct honest),
    .submit = honest_submit,
    .next = honest_next,
    .pending = honest_pending,
};
