/* SPDX-License-Identifier: MIT
 *
 * Faults with their place; see faults.h.
 */
#include "cli/faults.h"

#include <stdarg.h>
#include <string.h>

void faults_init(struct faults *faults, FILE *stream, const char *origin)
{
    *faults = (struct faults){.stream = stream};
    snprintf(faults->origin, sizeof faults->origin, "%s", escaped(origin));
}

/* What to say behind the origin: an option that names its parameter already does not name it twice. */
static const char *without_origin(const struct faults *faults, const char *text)
{
    const char *key = faults->origin + strspn(faults->origin, "-");
    size_t length = strlen(key);
    bool again = key != faults->origin && strncmp(text, key, length) == 0 && strncmp(text + length, ": ", 2) == 0;
    return again ? text + length + 2 : text;
}

void fault(struct faults *faults, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    if (++faults->count > FAULTS_SHOWN_MAX) {
        if (faults->count == FAULTS_SHOWN_MAX + 1)
            fprintf(faults->stream, "%s: more faults than these %d are not shown\n", faults->origin, FAULTS_SHOWN_MAX);
        return;
    }
    if (faults->line > 0)
        fprintf(faults->stream, "%s:%u: ", faults->origin, faults->line);
    else
        fprintf(faults->stream, "%s: ", faults->origin);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(faults->stream, "%s\n", without_origin(faults, text));
}
