/* SPDX-License-Identifier: MIT
 *
 * Groups of a report: which cells stand together, in which order, under which heading; see report_group.h.
 */
#include "decimal.h"
#include "heap.h"
#include "report_group.h"

/* Cells of a group agree in these. */
static const char *const group_axes[] = {"machine", "workload", "target", "mode", "rate_rps"};
#define GROUP_AXIS_COUNT (sizeof(group_axes) / sizeof(*group_axes))

/* Whether a value is worth naming when it is the same everywhere: known, and not the label once more. */
static bool is_named(const struct cell *cell, const char *name)
{
    char text[AXIS_TEXT_SIZE], label[AXIS_TEXT_SIZE];
    bool again =
        strcmp(name, "scheduler") == 0 && strcmp(axis_text(cell, name, text), axis_text(cell, "label", label)) == 0;
    return axis_text(cell, name, text)[0] != '\0' && !again;
}

void grouping_write_constants(FILE *stream, const struct grouping *grouping, size_t width)
{
    struct word_list words = {0};
    char heading[AXIS_TEXT_SIZE], text[AXIS_TEXT_SIZE];
    for (size_t i = 0; i < grouping->axes.count; i++) {
        const char *name = grouping->axes.names[i];
        if (!grouping->axes.varies[i] && is_named(grouping->cells[0], name)) {
            word_list_add(&words, "%s %s", axis_heading(name, heading), axis_text(grouping->cells[0], name, text));
        }
    }
    word_list_write(stream, &words, "Same in all cells:", ",", width);
    word_list_fini(&words);
}

void group_write_heading(FILE *stream, const struct grouping *grouping, const struct group *group)
{
    const struct cell *first = group->cells[0];
    char heading[AXIS_TEXT_SIZE], text[AXIS_TEXT_SIZE], number[DECIMAL_SIZE];
    const char *mode = result_get_text(first->first, "mode");
    double value;
    putc('\n', stream);
    if (mode && strcmp(mode, "paced") == 0 && result_get_number(first->first, "rate_rps", &value)) {
        fprintf(stream, "Paced at %s requests/s", decimal_print(value, number));
    } else {
        fprintf(stream, "%s", mode && strcmp(mode, "closed") == 0 ? "Closed loop" : mode ? mode : "Cells");
    }
    if (result_get_number(first->first, "duration_s", &value)) {
        fprintf(stream, ", windows of %s s", decimal_print_fixed(value, decimal_digits(value), number));
    }
    for (size_t i = 0; i < grouping->axes.count; i++) {
        const char *name = grouping->axes.names[i];
        bool told = strcmp(name, "mode") == 0 || strcmp(name, "rate_rps") == 0;
        if (grouping->axes.varies[i] && !told && !axes_vary(&group->axes, name) && is_named(first, name)) {
            fprintf(stream, ", %s %s", axis_heading(name, heading), axis_text(first, name, text));
        }
    }
    fputs(":\n", stream);
}

static int compare_groups(const struct cell *first, const struct cell *second)
{
    int order = 0;
    for (size_t i = 0; i < GROUP_AXIS_COUNT && order == 0; i++) {
        order = axis_compare(first, second, group_axes[i]);
    }
    return order;
}

static int compare_cells(const void *first, const void *second, void *axes)
{
    const struct cell *a = *(struct cell *const *)first, *b = *(struct cell *const *)second;
    int order = compare_groups(a, b);
    order = order ? order : axes_compare(axes, a, b);
    return order ? order : strcmp(a->cell_id, b->cell_id);
}

void grouping_init(struct grouping *grouping, struct cell *const *cells, size_t count)
{
    *grouping = (struct grouping){.cells = heap_array(count, sizeof(*cells)), .count = count};
    if (count > 0) {
        memcpy(grouping->cells, cells, count * sizeof(*cells));
    }
    axes_init(&grouping->axes, cells, count);
    qsort_r(grouping->cells, count, sizeof(*cells), compare_cells, &grouping->axes);
}

void grouping_fini(struct grouping *grouping)
{
    axes_fini(&grouping->axes);
    free(grouping->cells);
}

bool grouping_next(const struct grouping *grouping, size_t *next, struct group *out)
{
    size_t first = *next, last = first;
    while (last < grouping->count && compare_groups(grouping->cells[first], grouping->cells[last]) == 0) {
        last++;
    }
    if (first < last) {
        *out = (struct group){.cells = grouping->cells + first, .count = last - first};
        axes_init(&out->axes, out->cells, out->count);
        *next = last;
    }
    return first < last;
}

void group_fini(struct group *group)
{
    axes_fini(&group->axes);
}
