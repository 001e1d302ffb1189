/* SPDX-License-Identifier: MIT
 *
 * One cell as a readable block: everything that is known about it, a line each, under the names of the columns.
 */
#ifndef PILFER_EXPERIMENTS_CLI_RESULT_BLOCK_H
#define PILFER_EXPERIMENTS_CLI_RESULT_BLOCK_H

#include "statistics.h"

#include <stdio.h>

/* Prints parameters, figures and counters. Several repeats: medians with intervals or ranges, of undisturbed ones
 * if there are any, else of disturbed ones, else the first repeat as it stands. */
void result_block_print(const struct cell *cell, FILE *out);

#endif
