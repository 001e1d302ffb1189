/* SPDX-License-Identifier: MIT
 *
 * One cell as a readable block; see result_block.h.
 */
#include "result_block.h"

#include "decimal.h"
#include "output.h"
#include "reproduction.h"

#include <math.h>
#include <string.h>

#define ROW "  %-28s %s\n"

/* The columns before this one describe, those from it on are measured. */
#define FIRST_FIGURE RESULT_rps

static bool is_bookkeeping(enum result_column column)
{
    return column == RESULT_sweep_id || column == RESULT_cell_id || column == RESULT_repeat || column == RESULT_valid ||
           column == RESULT_disturbed || column == RESULT_tries || column == RESULT_seed;
}

static void print_parameters(const struct cell *cell, FILE *out)
{
    fprintf(out, "Parameters\n");
    for (uint32_t i = 0; i < FIRST_FIGURE; i++) {
        const struct result_value *value = &cell->first->columns[i];
        char number[DECIMAL_SIZE];
        if (is_bookkeeping(i) || value->kind == RESULT_UNKNOWN)
            continue;
        fprintf(out, ROW, result_column_name(i),
                value->kind == RESULT_KNOWN_TEXT ? escaped(value->text) : decimal_print(value->number, number));
    }
    for (uint32_t i = 0; i < cell->first->setting_count; i++) {
        const struct result_setting *setting = &cell->first->settings[i];
        if (setting->text[0] != '\0')
            fprintf(out, ROW, escaped(setting->name), escaped(setting->text));
    }
}

enum repeats { REPEATS_UNDISTURBED, REPEATS_DISTURBED, REPEATS_INVALID };

static bool is_whole(const struct interval *interval)
{
    return interval->median == floor(interval->median) && interval->low == floor(interval->low) &&
           interval->high == floor(interval->high);
}

/* Of the first repeat as it stands, valid or not. */
static struct interval first_alone(const struct cell *cell, const char *name)
{
    struct interval interval = {.count = 0};
    double number;
    if (result_get_number(cell->first, name, &number))
        interval = (struct interval){number, number, number, 1, true};
    return interval;
}

static void print_figure(const struct cell *cell, const char *name, enum repeats repeats, FILE *out)
{
    struct interval interval =
        repeats == REPEATS_INVALID ? first_alone(cell, name) : cell_interval(cell, name, repeats == REPEATS_DISTURBED);
    if (interval.count == 0)
        return;
    char text[160];
    reproduction_interval(&interval, is_whole(&interval) ? 0 : decimal_digits(interval.median), text, sizeof text);
    if (interval.count == 1)
        text[strcspn(text, " ")] = '\0'; /* a range of one value says nothing */
    fprintf(out, ROW, escaped(name), text);
}

/* Which repeats the figures are taken from: the best that there are. */
static enum repeats print_state(const struct cell *cell, FILE *out)
{
    uint32_t invalid = 0, disturbed = 0;
    const char *reason = NULL;
    for (uint32_t i = 0; i < cell->count; i++) {
        double number;
        bool valid = result_get_number(cell->rows[i], "valid", &number) && number != 0;
        if (!valid && reason == NULL)
            reason = cell->rows[i]->invalid_reason;
        invalid += !valid;
        disturbed += valid && result_get_number(cell->rows[i], "disturbed", &number) && number != 0;
    }
    enum repeats repeats = invalid == cell->count               ? REPEATS_INVALID
                           : invalid + disturbed == cell->count ? REPEATS_DISTURBED
                                                                : REPEATS_UNDISTURBED;
    static const char *const remarks[] = {
        [REPEATS_UNDISTURBED] = "",
        [REPEATS_DISTURBED] = ": the figures are those of disturbed repeats, there are no others",
        [REPEATS_INVALID] = ": the figures are those of the first repeat and prove nothing",
    };
    fprintf(out, "%s\n%u repeat%s, %u invalid, %u disturbed%s\n", escaped(cell->cell_id), cell->count,
            cell->count == 1 ? "" : "s", invalid, disturbed, remarks[repeats]);
    if (reason != NULL)
        fprintf(out, "invalid: %s\n", escaped(reason));
    return repeats;
}

void result_block_print(const struct cell *cell, FILE *out)
{
    enum repeats repeats = print_state(cell, out);
    print_parameters(cell, out);
    fprintf(out, "Figures\n");
    for (uint32_t i = FIRST_FIGURE; i < RESULT_COLUMN_COUNT; i++)
        print_figure(cell, result_column_name(i), repeats, out);
    fprintf(out, "Counters\n");
    for (uint32_t i = 0; i < cell->first->number_count; i++)
        print_figure(cell, cell->first->numbers[i].name, repeats, out);
}
