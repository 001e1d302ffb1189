/* SPDX-License-Identifier: MIT
 *
 * Numbers as plain decimals; see decimal.h.
 *
 * How it works. printf and strtod follow the locale only in the sign between whole and fraction, so the digits are
 * taken out of a %e text, skipping that sign, and laid out by hand. A double that survives 15 significant digits has no
 * shorter form than those digits without their trailing zeros (subnormal numbers excepted: there the form is right but
 * may be longer than needed); else 16 or 17 digits do.
 */
#include "decimal.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER_MAX 9007199254740992.0 /* 2^53: below it a double holds every integer */

/* Splits "[-]D<point>DDDe[+-]XX" into digits without trailing zeros and an exponent of ten. */
static void split(const char *text, char *digits, int *exponent)
{
    size_t count = 0;
    for (; *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9') {
            digits[count++] = *text;
        }
    }
    *exponent = (int)strtol(text + 1, NULL, 10);
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    digits[count] = '\0';
}

const char *decimal_print(double number, char out[DECIMAL_SIZE])
{
    if (number > -INTEGER_MAX && number < INTEGER_MAX && number == (double)(int64_t)number) {
        snprintf(out, DECIMAL_SIZE, "%lld", (long long)number);
        return out;
    }
    char text[64], digits[32];
    int exponent;
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision - 1, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    split(text, digits, &exponent);
    int count = (int)strlen(digits);
    char *end = out;
    if (number < 0) {
        *end++ = '-';
    }
    for (int place = exponent > 0 ? exponent : 0; place >= exponent - count + 1 || place >= 0; place--) {
        if (place == -1) {
            *end++ = '.';
        }
        int index = exponent - place;
        *end++ = index >= 0 && index < count ? digits[index] : '0';
    }
    *end = '\0';
    return out;
}

const char *decimal_print_fixed(double number, int digits, char out[DECIMAL_SIZE])
{
    if (!isfinite(number)) {
        memcpy(out, "-", 2);
        return out;
    }
    snprintf(out, DECIMAL_SIZE, "%.*f", digits, number);
    const char *point = localeconv()->decimal_point;
    char *found = strstr(out, point);
    if (found && digits > 0) {
        size_t length = strlen(point);
        *found = '.';
        memmove(found + 1, found + length, strlen(found + length) + 1);
    }
    return out;
}

int decimal_digits(double number)
{
    double size = fabs(number);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || size == 0 ? 2 : 3;
}

bool decimal_parse(const char *text, double *out)
{
    size_t sign = text[0] == '-';
    size_t whole = strspn(text + sign, "0123456789");
    size_t point = text[sign + whole] == '.';
    size_t fraction = point ? strspn(text + sign + whole + 1, "0123456789") : 0;
    size_t length = sign + whole + point + fraction;
    if (whole == 0 || (point && fraction == 0) || text[length] != '\0' || length >= DECIMAL_SIZE) {
        return false;
    }
    const char *local_point = localeconv()->decimal_point;
    char local[DECIMAL_SIZE + 16];
    snprintf(local, sizeof(local), "%.*s%s%s", (int)(sign + whole), text, point ? local_point : "",
             text + sign + whole + point);
    *out = strtod(local, NULL);
    return isfinite(*out);
}
