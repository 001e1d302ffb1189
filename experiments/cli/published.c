/* SPDX-License-Identifier: MIT
 *
 * The published figures of the finding; see published.h.
 */
#include "published.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIELDS 7 /* max_workers,max_io,spin_limit,rps,router_cpu_low,router_cpu_high,extension_cpu */

static const char published_text[] =
#include "published_high_cpu.inc"
    ;

static double number(const char *field)
{
    return field[0] == '\0' ? NAN : strtod(field, NULL);
}

static void read_row(struct published_figures *out, char *line)
{
    char *fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = strsep(&line, ",");
        assert(fields[i] != NULL); /* the file is part of the build */
    }
    assert(out->count < PUBLISHED_FIGURES_MAX);
    struct published_figure *row = &out->rows[out->count++];
    snprintf(row->max_workers, sizeof row->max_workers, "%s", fields[0]);
    snprintf(row->max_io, sizeof row->max_io, "%s", fields[1]);
    snprintf(row->spin_limit, sizeof row->spin_limit, "%s", fields[2]);
    row->rps = number(fields[3]);
    row->router_cpu_percent_low = number(fields[4]);
    row->router_cpu_percent_high = number(fields[5]);
    row->extension_cpu_percent = number(fields[6]);
}

void published_read(struct published_figures *out)
{
    memset(out, 0, sizeof *out);
    bool header = true;
    for (const char *next = published_text; *next != '\0';) {
        size_t length = strcspn(next, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)length, next);
        next += length + (next[length] == '\n');
        if (line[0] == '#') {
            if (out->source[0] == '\0')
                snprintf(out->source, sizeof out->source, "%s", line + 1 + strspn(line + 1, " "));
        } else if (line[0] != '\0') {
            if (!header)
                read_row(out, line);
            header = false;
        }
    }
}

const struct published_figure *published_find(const struct published_figures *figures, const char *max_workers,
                                              const char *spin_limit)
{
    const struct published_figure *found = NULL;
    if (max_workers == NULL || spin_limit == NULL)
        return NULL;
    for (size_t i = 0; i < figures->count; i++) {
        const struct published_figure *row = &figures->rows[i];
        if (strcmp(row->max_workers, max_workers) != 0 || strcmp(row->spin_limit, spin_limit) != 0)
            continue;
        if (strcmp(row->max_io, "default") == 0)
            return row;
        if (found == NULL)
            found = row;
    }
    return found;
}

int published_open(char *path, size_t size)
{
    int descriptor = memfd_create("published", MFD_CLOEXEC);
    size_t length = sizeof published_text - 1;
    if (descriptor < 0 || write(descriptor, published_text, length) != (ssize_t)length) {
        if (descriptor >= 0)
            close(descriptor);
        return -1;
    }
    snprintf(path, size, "/proc/self/fd/%d", descriptor);
    return descriptor;
}
