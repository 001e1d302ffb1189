/* SPDX-License-Identifier: MIT
 *
 * A sweep by what executed it; see executor_parts.h.
 */
#include "executor_parts.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST         "dotnet" /* the model of the published pool */
#define TARGET_PREFIX "target "

/* The caller frees. */
static char *name_of(const struct result *row)
{
    const char *label = result_get_text(row, "label");
    if (result_is_of_target(row))
        return memory_format(TARGET_PREFIX "%s", result_get_text(row, "target"));
    return memory_copy_text(label != NULL ? label : "");
}

/* 0: the model of the published pool, 1: another model, 2: a target. */
static int rank(const struct executor_part *part)
{
    if (strcmp(part->name, FIRST) == 0)
        return 0;
    return strncmp(part->name, TARGET_PREFIX, strlen(TARGET_PREFIX)) == 0 ? 2 : 1;
}

static int compare_parts(const void *left, const void *right)
{
    const struct executor_part *a = left, *b = right;
    return rank(a) != rank(b) ? rank(a) - rank(b) : strcmp(a->name, b->name);
}

/* Takes the name over. */
static struct executor_part *part_of(struct executor_parts *parts, char *name)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp(parts->parts[i].name, name) == 0) {
            free(name);
            return &parts->parts[i];
        }
    }
    parts->parts = memory_resize(parts->parts, parts->count + 1, sizeof *parts->parts);
    struct executor_part *part = &parts->parts[parts->count++];
    *part = (struct executor_part){.name = name};
    return part;
}

void executor_parts_init(struct executor_parts *parts, const struct result_set *set)
{
    *parts = (struct executor_parts){0};
    for (size_t i = 0; i < set->count; i++)
        part_of(parts, name_of(&set->rows[i]))->rows.count++;
    if (set->count == 0)
        part_of(parts, memory_copy_text(""));
    qsort(parts->parts, parts->count, sizeof *parts->parts, compare_parts);
    for (size_t i = 0; i < parts->count; i++) {
        struct result_set *rows = &parts->parts[i].rows;
        rows->rows = memory_allocate(rows->count + 1, sizeof *rows->rows);
        rows->count = 0;
    }
    for (size_t i = 0; i < set->count; i++) {
        struct result_set *rows = &part_of(parts, name_of(&set->rows[i]))->rows;
        rows->rows[rows->count++] = set->rows[i];
    }
}

void executor_parts_fini(struct executor_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free(parts->parts[i].name);
        free(parts->parts[i].rows.rows);
    }
    free(parts->parts);
    *parts = (struct executor_parts){0};
}
