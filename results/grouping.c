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

/* What is the same in cells and worth naming: known, and not the label once more. */
static enum axis_extent constant_text(struct cell *const *cells, size_t count, const char *name,
                                      char out[AXIS_TEXT_SIZE])
{
    char label[AXIS_TEXT_SIZE];
    enum axis_extent extent = axis_common_text(cells, count, name, out);
    bool again = strcmp(name, "scheduler") == 0 && strcmp(out, axis_text(cells[0], "label", label)) == 0;
    return again ? AXIS_NOWHERE : extent;
}

void grouping_write_constants(FILE *stream, const struct grouping *grouping, size_t width)
{
    struct word_list everywhere = {0}, somewhere = {0};
    char heading[AXIS_TEXT_SIZE], text[AXIS_TEXT_SIZE];
    for (size_t i = 0; i < grouping->axes.count; i++) {
        const char *name = grouping->axes.names[i];
        enum axis_extent extent =
            grouping->axes.varies[i] ? AXIS_NOWHERE : constant_text(grouping->cells, grouping->count, name, text);
        if (extent != AXIS_NOWHERE) {
            word_list_add(extent == AXIS_EVERYWHERE ? &everywhere : &somewhere, "%s %s", axis_heading(name, heading),
                          text);
        }
    }
    word_list_write(stream, &everywhere, "Same in all cells:", ",", "", width);
    if (somewhere.count > 0) {
        word_list_write(stream, &somewhere, "Same in all cells that have it:", ",", "", width);
    }
    word_list_fini(&everywhere);
    word_list_fini(&somewhere);
}

/* "Paced at 2000 requests/s", "Closed loop", or what else tells the group's mode. */
static void tell_mode(const struct cell *first, char out[AXIS_TEXT_SIZE])
{
    const char *mode = result_get_text(first->first, "mode");
    char number[DECIMAL_SIZE];
    double rate;
    if (mode && strcmp(mode, "paced") == 0 && result_get_number(first->first, "rate_rps", &rate)) {
        snprintf(out, AXIS_TEXT_SIZE, "Paced at %s requests/s", decimal_print(axis_number(rate), number));
    } else {
        const char *other = mode ? mode : "Cells";
        snprintf(out, AXIS_TEXT_SIZE, "%s", strcmp(other, "closed") == 0 ? "Closed loop" : other);
    }
}

void group_write_heading(FILE *stream, const struct grouping *grouping, const struct group *group, size_t width)
{
    const struct cell *first = group->cells[0];
    char mode[AXIS_TEXT_SIZE], head[AXIS_TEXT_SIZE + 1], heading[AXIS_TEXT_SIZE], text[AXIS_TEXT_SIZE];
    char number[DECIMAL_SIZE];
    struct word_list facts = {0};
    double duration_s;
    if (result_get_number(first->first, "duration_s", &duration_s)) {
        word_list_add(&facts, "windows of %s s", decimal_print_fixed(duration_s, decimal_digits(duration_s), number));
    }
    for (size_t i = 0; i < grouping->axes.count; i++) {
        const char *name = grouping->axes.names[i];
        bool told = strcmp(name, "mode") == 0 || strcmp(name, "rate_rps") == 0;
        if (grouping->axes.varies[i] && !told && !axes_vary(&group->axes, name) &&
            constant_text(group->cells, group->count, name, text) != AXIS_NOWHERE) {
            word_list_add(&facts, "%s %s", axis_heading(name, heading), text);
        }
    }
    tell_mode(first, mode);
    snprintf(head, sizeof head, "%s%s", mode, facts.count > 0 ? "," : ":");
    putc('\n', stream);
    word_list_write(stream, &facts, head, ",", ":", width);
    word_list_fini(&facts);
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
