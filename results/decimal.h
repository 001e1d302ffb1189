/* SPDX-License-Identifier: MIT
 *
 * Numbers as plain decimals: never an exponent, always a point, whatever the locale.
 */
#ifndef PILFER_RESULTS_DECIMAL_H
#define PILFER_RESULTS_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

/* Enough for every finite double written without an exponent, sign and NUL included. */
#define DECIMAL_SIZE 352

/* Writes the shortest decimal that reads back as the same number; integers without a point. number must be finite.
 * Returns out. Any thread. */
const char *decimal_print(double number, char out[DECIMAL_SIZE]);

/* Writes number with the given count of digits after the point (0 to 9), for people. NaN and infinities become "-". */
const char *decimal_print_fixed(double number, int digits, char out[DECIMAL_SIZE]);

/* Digits after the point with which a number of this size reads well: three significant ones. */
int decimal_digits(double number);

/* Reads a plain decimal as decimal_print writes it (sign, digits, at most one point, digits), in any locale. False for
 * anything else, exponents and leading or trailing spaces included. */
bool decimal_parse(const char *text, double *out);

#endif
