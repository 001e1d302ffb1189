/* SPDX-License-Identifier: MIT
 *
 * Reading one parameter value: strict, with a message that helps; see parameter_parse in parameters.h.
 *
 * How it works. One reader per type writes the normalised text or returns false; the message is then made from the same
 * row of the table, so that it cannot disagree with the check.
 */
#include "cli/parameters.h"

#include "cli/output.h"
#include "cli/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CHOICES_MAX 64
#define CPUS_MAX    1024

struct unit {
    const char *suffix;
    uint64_t factor, divisor; /* to the unit of the column */
};

static const struct unit duration_units[] = {
    {"s", 1, 1}, {"ms", 1, 1000}, {"us", 1, 1000000}, {"", 1, 1}, {NULL, 0, 0}};
static const struct unit rate_units[] = {{"", 1, 1}, {"k", 1000, 1}, {NULL, 0, 0}};
static const struct unit percent_units[] = {{"", 1, 1}, {"%", 1, 1}, {NULL, 0, 0}};

static bool in_range(const struct parameter *parameter, uint64_t billionths)
{
    double number = value_number(billionths);
    return number >= parameter->minimum && number <= parameter->maximum;
}

static bool read_count(const struct parameter *parameter, const char *text, char *out)
{
    uint64_t billionths;
    const char *rest;
    if (text[strspn(text, "0123456789")] != '\0' || !value_read(text, &billionths, &rest) ||
        !in_range(parameter, billionths))
        return false;
    value_format(billionths, out);
    return true;
}

static bool read_with_unit(const struct parameter *parameter, const struct unit *units, const char *text, char *out)
{
    uint64_t billionths;
    const char *rest;
    if (!value_read(text, &billionths, &rest))
        return false;
    while (units->suffix != NULL && strcmp(units->suffix, rest) != 0)
        units++;
    if (units->suffix == NULL || !value_scale(&billionths, units->factor, units->divisor) ||
        !in_range(parameter, billionths))
        return false;
    value_format(billionths, out);
    return true;
}

static bool read_cpu(const char **text, uint32_t *out)
{
    uint32_t number = 0;
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 4 || (digits > 1 && **text == '0'))
        return false;
    for (; digits > 0; digits--, (*text)++)
        number = number * 10 + (uint32_t)(**text - '0');
    *out = number;
    return number < CPUS_MAX;
}

/* "3,0-1" becomes "0-1,3". */
static bool read_cpu_list(const char *text, char *out)
{
    bool cpus[CPUS_MAX + 1] = {false};
    for (;;) {
        uint32_t first, last;
        if (!read_cpu(&text, &first))
            return false;
        last = first;
        if (*text == '-') {
            text++;
            if (!read_cpu(&text, &last) || last < first)
                return false;
        }
        for (uint32_t cpu = first; cpu <= last; cpu++)
            cpus[cpu] = true;
        if (*text == '\0')
            break;
        if (*text++ != ',')
            return false;
    }
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!cpus[cpu])
            continue;
        uint32_t last = cpu;
        while (cpus[last + 1])
            last++;
        char range[16];
        snprintf(range, sizeof range, last > cpu ? "%s%u-%u" : "%s%u", used > 0 ? "," : "", cpu, last);
        size_t length = strlen(range);
        if (used + length >= PARAMETER_TEXT_SIZE)
            return false;
        memcpy(out + used, range, length + 1);
        used += length;
        cpu = last;
    }
    return true;
}

/* A path that fits into lists and into the names of cells. */
static bool read_path(const char *text, char *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./_-+~@%";
    if (strpbrk(text, "/.") == NULL || text[strspn(text, letters)] != '\0' || strlen(text) >= PARAMETER_TEXT_SIZE)
        return false;
    snprintf(out, PARAMETER_TEXT_SIZE, "%s", text);
    return true;
}

static bool read_line(const char *text, char *out)
{
    if (text[0] == '\0' || strlen(text) >= PARAMETER_TEXT_SIZE || !is_printable(text))
        return false;
    snprintf(out, PARAMETER_TEXT_SIZE, "%s", text);
    return true;
}

static bool read_choice(const struct parameter *parameter, const char *text, char *out)
{
    struct parameter_choice choice;
    for (uint32_t i = 0; parameter_choice_at(parameter, i, &choice); i++) {
        if (strcmp(choice.name, text) == 0) {
            snprintf(out, PARAMETER_TEXT_SIZE, "%s", choice.name);
            return true;
        }
    }
    return (parameter->flags & PARAMETER_FILE) != 0 && read_path(text, out);
}

static bool read_value(const struct parameter *parameter, const char *text, char *out)
{
    if ((parameter->flags & PARAMETER_DEFAULT_WORD) && strcmp(text, "default") == 0) {
        snprintf(out, PARAMETER_TEXT_SIZE, "default");
        return true;
    }
    switch (parameter->type) {
    case PARAMETER_WORD:
    case PARAMETER_NAME:
        return read_choice(parameter, text, out);
    case PARAMETER_COUNT_OF:
        return read_count(parameter, text, out);
    case PARAMETER_RATE:
        return read_with_unit(parameter, rate_units, text, out);
    case PARAMETER_DURATION:
        return read_with_unit(parameter, duration_units, text, out);
    case PARAMETER_PERCENT:
        return read_with_unit(parameter, percent_units, text, out);
    case PARAMETER_CPU_LIST:
        return read_cpu_list(text, out);
    case PARAMETER_LINE:
        return read_line(text, out);
    }
    return false;
}

/* ---- messages ---- */

struct message {
    char *text;
    size_t size, used;
};

static void append(struct message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct message *message, const char *format, ...)
{
    if (message->used >= message->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message->text + message->used, message->size - message->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        message->used += (size_t)length;
}

/* Limits of the table are whole numbers of billionths. */
static void append_limit(struct message *message, const struct parameter *parameter, double limit)
{
    char text[VALUE_TEXT_SIZE];
    const char *unit = "";
    if (parameter->type == PARAMETER_DURATION) {
        unit = limit == 0 || limit >= 1 ? "s" : limit >= 0.001 ? "ms" : "us";
        limit *= unit[0] == 'm' ? 1000 : unit[0] == 'u' ? 1000000 : 1;
    }
    value_format((uint64_t)(limit * (double)VALUE_ONE + 0.5), text);
    append(message, "%s%s", text, unit);
}

static void append_choices(struct message *message, const struct parameter *parameter, const char *text)
{
    struct parameter_choice choice;
    const char *names[CHOICES_MAX + 1];
    uint32_t count = 0, shown = 0;
    while (count < CHOICES_MAX && parameter_choice_at(parameter, count, &choice)) {
        if (!choice.hidden)
            append(message, "%s%s", shown++ > 0 ? ", " : "one of ", choice.name);
        names[count++] = choice.name;
    }
    if (shown == 0)
        append(message, "a name, of which there are none yet");
    if (parameter->flags & PARAMETER_FILE)
        append(message, " or the path of a file (letters, digits and ./_-+~@%%)");
    if (parameter->flags & PARAMETER_DEFAULT_WORD) {
        append(message, " or default");
        names[count++] = "default";
    }
    const char *nearest = nearest_word(text, names, count);
    if (nearest != NULL)
        append(message, "; did you mean '%s'?", nearest);
}

static void describe_fault(const struct parameter *parameter, const char *text, struct message *message)
{
    if (text[0] == '\0')
        append(message, "found no value, expected ");
    else
        append(message, "found '%s', expected ", escaped(text));
    static const char *const kinds[] = {
        [PARAMETER_COUNT_OF] = "a whole number",
        [PARAMETER_RATE] = "a rate per second such as 2000 or 2k,",
        [PARAMETER_DURATION] = "a time such as 200ms, 2s or 50us,",
        [PARAMETER_PERCENT] = "a percentage such as 12.5,",
    };
    switch (parameter->type) {
    case PARAMETER_WORD:
    case PARAMETER_NAME:
        append_choices(message, parameter, text);
        return;
    case PARAMETER_LINE:
        append(message, "1 to %d bytes of text; what is longer belongs in a file", PARAMETER_TEXT_SIZE - 1);
        return;
    case PARAMETER_CPU_LIST:
        append(message, "CPU numbers such as 0-3,5, from 0 to %d", CPUS_MAX - 1);
        return;
    default:
        append(message, "%s from ", kinds[parameter->type]);
        append_limit(message, parameter, parameter->minimum);
        append(message, " to ");
        append_limit(message, parameter, parameter->maximum);
        append(message, "%s", parameter->flags & PARAMETER_DEFAULT_WORD ? ", or default" : "");
    }
}

int parameter_parse(const struct parameter *parameter, const char *text, char *out, char *message, size_t message_size)
{
    if (read_value(parameter, text, out))
        return 0;
    struct message buffer = {message, message_size, 0};
    describe_fault(parameter, text, &buffer);
    return -1;
}
