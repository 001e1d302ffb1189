/* SPDX-License-Identifier: MIT
 *
 * What is known of the machine and of this program; see context.h.
 */
#include "context.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cgroup.h"
#include "platform.h"
#include "runner/build.h"
#include "runner/commit.h"

/* jemalloc's control function, where the program is linked with it. */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size) __attribute__((weak));

/* Text that is being written. */
struct lines {
    char *text;
    size_t size, length;
};

static __attribute__((format(printf, 3, 4))) void line(struct lines *lines, const char *name, const char *format, ...)
{
    char value[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    for (char *at = value; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ')
            *at = ' ';
    }
    if (lines->length >= lines->size)
        return;
    int written = snprintf(lines->text + lines->length, lines->size - lines->length, "%s: %s\n", name, value);
    lines->length += written > 0 ? (size_t)written : 0;
}

bool context_first_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = fgets(out, (int)size, file) != NULL;
    fclose(file);
    if (found)
        out[strcspn(out, "\n")] = '\0';
    return found;
}

static void cpu_model(char *out, size_t size)
{
    char text[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        char *colon = strchr(text, ':');
        if (strncmp(text, "model name", 10) != 0 || colon == NULL)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(out, size, "%s", colon);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static bool runs_in_a_machine(void)
{
    char text[4096];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && !found && fgets(text, sizeof text, file) != NULL)
        found = strncmp(text, "flags", 5) == 0 && strstr(text, " hypervisor") != NULL;
    if (file != NULL)
        fclose(file);
    return found;
}

static uint32_t numa_nodes(void)
{
    uint32_t nodes = 0;
    DIR *listing = opendir("/sys/devices/system/node");
    const struct dirent *entry;
    while (listing != NULL && (entry = readdir(listing)) != NULL)
        nodes += strncmp(entry->d_name, "node", 4) == 0 && entry->d_name[4] >= '0' && entry->d_name[4] <= '9';
    if (listing != NULL)
        closedir(listing);
    return nodes;
}

static void machine_lines(struct lines *lines)
{
    char text[256];
    cpu_model(text, sizeof text);
    line(lines, "cpu", "%s", text);
    line(lines, "cores", "%u usable of %ld", platform_usable_cpus(), sysconf(_SC_NPROCESSORS_ONLN));
    bool known = context_first_line("/sys/devices/system/cpu/smt/active", text, sizeof text);
    line(lines, "smt", "%s", !known ? "unknown" : strcmp(text, "1") == 0 ? "on" : "off");
    uint32_t nodes = numa_nodes();
    if (nodes > 0)
        line(lines, "numa-nodes", "%u", nodes);
    else
        line(lines, "numa-nodes", "unknown");
    double quota = cgroup_own_quota_percent();
    if (quota > 0)
        line(lines, "quota", "%g percent of one CPU", quota);
    else
        line(lines, "quota", "none");
    known = context_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text);
    line(lines, "governor", "%s", known ? text : "unknown");
    line(lines, "virtual", "%s", runs_in_a_machine() ? "yes" : "no");
    line(lines, "memory-mib", "%ld", sysconf(_SC_PHYS_PAGES) / 1024 * (sysconf(_SC_PAGESIZE) / 1024));
}

void context_write(char *text, size_t size)
{
    struct lines lines = {.text = text, .size = size};
    struct utsname kernel;
    text[0] = '\0';
    machine_lines(&lines);
    if (uname(&kernel) == 0)
        line(&lines, "kernel", "%s %s %s", kernel.sysname, kernel.release, kernel.machine);
    else
        line(&lines, "kernel", "unknown");
    line(&lines, "pause-ns", "%.1f", (double)platform_pause_instruction_ps() / 1000);
    line(&lines, "allocator", "%s", mallctl != NULL ? "jemalloc" : "glibc");
#ifdef __clang__
    line(&lines, "compiler", "clang %s", __clang_version__);
#else
    line(&lines, "compiler", "gcc %s", __VERSION__);
#endif
    line(&lines, "build", "%s", BUILD_TYPE);
    line(&lines, "version", "%s", BUILD_VERSION);
    line(&lines, "commit", "%s", BUILD_COMMIT);
}

bool context_find(const char *text, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = text; at != NULL && *at != '\0';
         at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && strncmp(at + length, ": ", 2) == 0) {
            const char *value = at + length + 2;
            snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            return true;
        }
    }
    return false;
}
