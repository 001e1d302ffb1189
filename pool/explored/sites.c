/* SPDX-License-Identifier: MIT
 *
 * The sites of the program: every shared operation in its source, listed before anything runs.
 *
 * How it works. Each operation's macro puts its site into one section (ordered/explored.h); the linker marks its ends.
 * A header's site lies in every file that includes it, so sites with the same file, line and operation are one.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Named by the linker. */
extern struct explored_site __start_explored_sites[], __stop_explored_sites[];

static const struct explored_site **list;
static uint32_t list_count;

const char *explored_site_path(const struct explored_site *site)
{
    const char *path = site->file;
    for (const char *up; (up = strstr(path, "../")) != NULL;)
        path = up + strlen("../");
    return path;
}

static int compare(const struct explored_site *a, const struct explored_site *b)
{
    int files = strcmp(explored_site_path(a), explored_site_path(b));
    if (files != 0)
        return files;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    int operations = strcmp(a->operation, b->operation);
    return operations != 0 ? operations : strcmp(a->expression, b->expression);
}

static int compare_entries(const void *a, const void *b)
{
    return compare(*(const struct explored_site *const *)a, *(const struct explored_site *const *)b);
}

uint32_t explored_sites(const struct explored_site *const **out)
{
    size_t all = (size_t)(__stop_explored_sites - __start_explored_sites);
    if (list == NULL) {
        list = calloc(all + 1, sizeof *list);
        if (list == NULL)
            abort();
        for (size_t i = 0; i < all; i++)
            list[i] = &__start_explored_sites[i];
        qsort(list, all, sizeof *list, compare_entries);
        for (size_t i = 0; i < all; i++)
            if (list_count == 0 || compare(list[list_count - 1], list[i]) != 0)
                list[list_count++] = list[i];
    }
    *out = list;
    return list_count;
}

void explored_site_set(const struct explored_site *site, uint8_t order, uint8_t failure, uint8_t fence)
{
    for (struct explored_site *copy = __start_explored_sites; copy < __stop_explored_sites; copy++) {
        if (compare(copy, site) != 0)
            continue;
        copy->order = order;
        copy->failure = failure;
        copy->fence = fence;
    }
}

void explored_site_reset(const struct explored_site *site)
{
    explored_site_set(site, site->written, site->written_failure, site->written_fence);
}

bool explored_site_reached(const struct explored_site *site)
{
    for (const struct explored_site *copy = __start_explored_sites; copy < __stop_explored_sites; copy++)
        if (copy->reached != 0 && compare(copy, site) == 0)
            return true;
    return false;
}

void explored_sites_forget(void)
{
    for (struct explored_site *copy = __start_explored_sites; copy < __stop_explored_sites; copy++)
        copy->reached = 0;
}
