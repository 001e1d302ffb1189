/* SPDX-License-Identifier: MIT
 *
 * Strict decimal numbers, independent of the locale.
 *
 * How it works. A number is digits, perhaps a point and up to nine more digits; no sign, exponent, hex, space or
 * leading zero. It is held as an integer count of billionths, so nothing is rounded on the way in or out.
 */
#ifndef PILFER_EXPERIMENTS_CLI_VALUE_H
#define PILFER_EXPERIMENTS_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_ONE       UINT64_C(1000000000)
#define VALUE_TEXT_SIZE 24

/* Reads the number at the start of text: true with its billionths and what stands behind it; false if there is none, it
 * has more than nine decimals, or it is above 10^10. */
bool value_read(const char *text, uint64_t *billionths, const char **rest);

/* value * factor / divisor: false unless it is exact and at most 10^10. */
bool value_scale(uint64_t *billionths, uint64_t factor, uint64_t divisor);

/* Shortest plain decimal. out holds VALUE_TEXT_SIZE bytes. */
void value_format(uint64_t billionths, char *out);

/* Correctly rounded below 2^53 billionths. */
double value_number(uint64_t billionths);

#endif
