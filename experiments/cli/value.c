/* SPDX-License-Identifier: MIT
 *
 * Strict decimal numbers; see value.h.
 */
#include "cli/value.h"

#include <stdio.h>
#include <string.h>

#define VALUE_DECIMALS 9
#define VALUE_MAX      (UINT64_C(10000000000) * VALUE_ONE) /* 10^19 billionths fit into 64 bits */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool value_read(const char *text, uint64_t *billionths, const char **rest)
{
    if (!is_digit(text[0]) || (text[0] == '0' && is_digit(text[1])))
        return false;
    uint64_t whole = 0;
    for (; is_digit(*text); text++) {
        whole = whole * 10 + (uint64_t)(*text - '0');
        if (whole > VALUE_MAX / VALUE_ONE)
            return false;
    }
    uint64_t fraction = 0;
    if (*text == '.') {
        text++;
        if (!is_digit(*text))
            return false;
        uint64_t place = VALUE_ONE / 10;
        for (int decimals = 0; is_digit(*text); text++, place /= 10) {
            if (++decimals > VALUE_DECIMALS)
                return false;
            fraction += (uint64_t)(*text - '0') * place;
        }
    }
    if (whole == VALUE_MAX / VALUE_ONE && fraction != 0)
        return false;
    *billionths = whole * VALUE_ONE + fraction;
    *rest = text;
    return true;
}

bool value_scale(uint64_t *billionths, uint64_t factor, uint64_t divisor)
{
    if (*billionths > VALUE_MAX / factor)
        return false;
    uint64_t product = *billionths * factor;
    if (product % divisor != 0)
        return false;
    *billionths = product / divisor;
    return true;
}

void value_format(uint64_t billionths, char *out)
{
    snprintf(out, VALUE_TEXT_SIZE, "%llu.%09llu", (unsigned long long)(billionths / VALUE_ONE),
             (unsigned long long)(billionths % VALUE_ONE));
    char *end = out + strlen(out);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

double value_number(uint64_t billionths)
{
    return (double)billionths / (double)VALUE_ONE;
}
