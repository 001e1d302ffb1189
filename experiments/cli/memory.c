/* SPDX-License-Identifier: MIT
 *
 * Memory or the end; see memory.h.
 */
#include "cli/memory.h"

#include "cli/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void memory_end(void)
{
    complain("out of memory; what was stored is kept. Free some memory or ask for fewer cells");
    exit(EXIT_SURROUNDINGS);
}

static void *or_end(void *memory)
{
    if (memory == NULL)
        memory_end();
    return memory;
}

void *memory_allocate(size_t count, size_t size)
{
    return or_end(calloc(count > 0 ? count : 1, size));
}

void *memory_resize(void *memory, size_t count, size_t size)
{
    return or_end(reallocarray(memory, count > 0 ? count : 1, size));
}

char *memory_copy_text(const char *text)
{
    return or_end(strdup(text));
}

char *memory_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return or_end(length >= 0 ? text : NULL);
}
