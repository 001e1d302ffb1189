/* SPDX-License-Identifier: MIT
 *
 * How long a sweep will take, told before it begins: for those that take long and whose windows wait.
 */
#ifndef PILFER_EXPERIMENTS_CLI_DURATION_H
#define PILFER_EXPERIMENTS_CLI_DURATION_H

#include "runner/specification.h"

/* Says on standard error how many cells and repeats there are, and how long they take with the shortest warm-ups and
 * with the longest, disturbed repeats included. what: words before it ("first, to set a number, "), or "". 0, or -1
 * after the faults of a specification from which no plan can be made. */
int duration_announce(const struct specification *specification, const char *what);

#endif
