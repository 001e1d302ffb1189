/* SPDX-License-Identifier: MIT
 *
 * The foot of a picture: see foot.h.
 */
#include "foot.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FOOT_FACT_LIMIT 160

static void foot_append(char **foot, const char *separator, const char *fact)
{
    char *clean = text_clean(fact, FOOT_FACT_LIMIT);
    char *joined = text_format("%s%s%s", *foot, (*foot)[0] != '\0' ? separator : "", clean);
    free(*foot);
    free(clean);
    *foot = joined;
}

/* The stored lines "name: value" that have a value, in their order. */
static char *foot_context(const char *context, const char *separator)
{
    char *foot = text_format("%s", ""), *copy = text_format("%s", context), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *value = strchr(line, ':');
        value = value != NULL ? value + 1 : line;
        if (value[strspn(value, " \t\r")] != '\0') {
            foot_append(&foot, separator, line);
        }
    }
    free(copy);
    return foot;
}

static char *foot_sweep(const struct store_sweep *sweep)
{
    time_t started = (time_t)sweep->started_unix_s;
    struct tm date = {0};
    char day[32] = "";
    if (gmtime_r(&started, &date) != NULL) {
        strftime(day, sizeof day, "%Y-%m-%d %H:%M UTC", &date);
    }
    char *partly = sweep->finished_unix_s == 0
                       ? text_format(", unfinished: %lld of %lld repeats", (long long)sweep->repeats_stored,
                                     (long long)sweep->repeats_planned)
                       : text_format("%s", "");
    char *text = text_format("sweep %lld (%s), seed %llu, %s%s", (long long)sweep->id,
                             sweep->name != NULL ? sweep->name : "", (unsigned long long)sweep->seed, day, partly);
    free(partly);
    return text;
}

char *foot_text(const struct chart *chart, const struct store_sweep *sweep, const char *separator)
{
    char *context = foot_context(sweep->context != NULL ? sweep->context : "", separator);
    if (context[0] == '\0') {
        free(context);
        return NULL;
    }
    char *described = foot_sweep(sweep);
    char *foot = text_format("%s", chart->notes);
    char *clean = text_clean(described, FOOT_FACT_LIMIT);
    char *text = text_format("%s\n%s%s%s", foot, clean, separator, context);
    free(context);
    free(described);
    free(foot);
    free(clean);
    return text;
}
