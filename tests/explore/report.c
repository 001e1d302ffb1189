/* SPDX-License-Identifier: MIT
 *
 * The table of a broken run: one column per thread, time downwards.
 *
 * How it works. The run is made again with traces. Columns share the width of the page; a line that is longer than its
 * column goes on below.
 */
#include "explore.h"

#include <string.h>

enum { PAGE_WIDTH = 132, COLUMN_MIN = 24, RUN_ROOM = 1 << 20 };

/* How much of the text fits into a column; breaks at a space if there is one in the last third. */
static size_t fitting(const char *text, size_t width)
{
    size_t length = strlen(text);
    if (length <= width)
        return length;
    for (size_t i = width; i > width - width / 3; i--)
        if (text[i] == ' ')
            return i;
    return width;
}

static void print_cells(FILE *to, uint32_t columns, size_t width, uint32_t column, const char *text)
{
    do {
        while (*text == ' ')
            text++;
        size_t length = fitting(text, width);
        for (uint32_t i = 0; i < column; i++)
            fprintf(to, "%*s | ", (int)width, "");
        fprintf(to, "%-*.*s%s\n", column + 1 < columns ? (int)width : 0, (int)length, text,
                column + 1 < columns ? " |" : "");
        text += length;
    } while (*text != '\0');
}

static void print_rule(FILE *to, uint32_t columns, size_t width)
{
    for (uint32_t i = 0; i < columns; i++) {
        for (size_t j = 0; j < width; j++)
            fputc('-', to);
        fputs(i + 1 < columns ? "-+-" : "\n", to);
    }
}

static void print_table(FILE *to, const struct explored_result *result, uint32_t lines_max)
{
    uint32_t columns = result->thread_count;
    size_t width = PAGE_WIDTH / columns - 3;
    if (width < COLUMN_MIN)
        width = COLUMN_MIN;
    for (uint32_t i = 0; i + 1 < columns; i++)
        fprintf(to, "%-*s | ", (int)width, result->thread_names[i]);
    fprintf(to, "%s\n", result->thread_names[columns - 1]);
    print_rule(to, columns, width);
    uint32_t first = lines_max > 0 && result->line_count > lines_max ? result->line_count - lines_max : 0;
    if (first > 0)
        fprintf(to, "(%u lines before; the replay shows all)\n", first);
    for (uint32_t i = first; i < result->line_count; i++)
        print_cells(to, columns, width, result->lines[i].thread, result->lines[i].text);
    print_rule(to, columns, width);
}

bool report_violation(FILE *to, const struct subject *subject, const struct violation *violation, uint32_t lines_max)
{
    static char run[RUN_ROOM];
    struct cell cell = violation->cell;
    cell.settings.traces = true;
    const struct explored_result *result = explore_cell(&cell, violation->choices, violation->choice_count);
    if (!result->broken)
        return false;
    fprintf(to, "%s: %s\n", result->invariant, result->text);
    fprintf(to, "scenario %s (%s), configuration %s, model %s, %u preemptions\n\n", cell.scenario->name,
            cell.scenario->promise, cell.configuration->label, explored_model_names[cell.settings.model],
            result->preemptions);
    print_table(to, result, lines_max);
    if (run_write(violation, run, sizeof run) != 0)
        return true;
    fprintf(to, "replay: ./run explore %s --replay %s\n", subject->name, run);
    fprintf(to, "under gdb: gdb --args build/tests/explore/pilfer-explore %s --replay %s\n", subject->name, run);
    return true;
}

void report_brief(FILE *to, const struct subject *subject, const struct violation *violation)
{
    static char run[RUN_ROOM];
    if (run_write(violation, run, sizeof run) == 0)
        fprintf(to, "%s: %s; replay: ./run explore %s --replay %s\n", violation->invariant, violation->text,
                subject->name, run);
}
