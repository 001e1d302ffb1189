/* SPDX-License-Identifier: MIT
 *
 * One cell as a readable block: everything that is known about it, a line each, under the names of the columns.
 */
#ifndef PILFER_EXPERIMENTS_CLI_RESULT_BLOCK_H
#define PILFER_EXPERIMENTS_CLI_RESULT_BLOCK_H

#include "statistics.h"

#include <stdio.h>

/* Prints parameters, figures and counters. Several repeats: medians with intervals or ranges, disturbed ones included
 * when there are no others. */
void result_block_print(const struct cell *cell, FILE *out);

#endif
