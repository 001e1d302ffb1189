/* SPDX-License-Identifier: MIT
 *
 * CPU control groups of versions 1 and 2; see cgroup.h.
 */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the CPU controller of the calling process is. */
struct place {
    char root[CGROUP_PATH_SIZE];  /* mount point */
    char group[CGROUP_PATH_SIZE]; /* path of the own group below it; "" for the root */
    bool version_2;
};

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Finds the own group in /proc/self/cgroup: "ID:CONTROLLERS:PATH", controllers empty for version 2. */
static bool find_group(struct place *place)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL)
        return false;
    char line[CGROUP_PATH_SIZE + 128];
    bool found = false, found_1 = false;
    while (!found_1 && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        found_1 = has_word(controllers + 1, "cpu");
        if (!found_1 && controllers[1] != '\0')
            continue;
        found = true;
        place->version_2 = !found_1;
        snprintf(place->group, sizeof place->group, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    fclose(file);
    return found;
}

/* Finds where that hierarchy is mounted: /proc/self/mounts, "DEVICE POINT TYPE OPTIONS ...". */
static bool find_root(struct place *place)
{
    FILE *file = fopen("/proc/self/mounts", "re");
    if (file == NULL)
        return false;
    char line[4096], point[CGROUP_PATH_SIZE], type[64], options[1024];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%*s %1023s %63s %1023s", point, type, options) != 3)
            continue;
        found =
            place->version_2 ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && has_word(options, "cpu");
    }
    fclose(file);
    if (found)
        snprintf(place->root, sizeof place->root, "%s", point);
    return found;
}

static bool find_place(struct place *place)
{
    return find_group(place) && find_root(place);
}

static bool read_file(const char *directory, const char *name, char *text, size_t size)
{
    char path[2 * CGROUP_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, size - 1);
    close(file);
    if (got < 0)
        return false;
    text[got] = '\0';
    return true;
}

static int write_file(const char *directory, const char *name, const char *text)
{
    char path[2 * CGROUP_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int error = write(file, text, strlen(text)) < 0 ? -errno : 0;
    close(file);
    return error;
}

static void remove_stale(const char *directory)
{
    DIR *listing = opendir(directory);
    if (listing == NULL)
        return;
    const struct dirent *entry;
    while ((entry = readdir(listing)) != NULL) {
        char *end;
        if (strncmp(entry->d_name, "pilfer-", 7) != 0)
            continue;
        long pid = strtol(entry->d_name + 7, &end, 10);
        if (*end == '\0' && pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(listing), entry->d_name, AT_REMOVEDIR);
    }
    closedir(listing);
}

static int set_limit(const char *path, bool version_2, double percent)
{
    char text[64];
    unsigned long long quota_us = (unsigned long long)(percent / 100 * CGROUP_PERIOD_US);
    if (version_2) {
        snprintf(text, sizeof text, "%llu %d", quota_us, CGROUP_PERIOD_US);
        return write_file(path, "cpu.max", text);
    }
    snprintf(text, sizeof text, "%d", CGROUP_PERIOD_US);
    int error = write_file(path, "cpu.cfs_period_us", text);
    if (error != 0)
        return error;
    snprintf(text, sizeof text, "%llu", quota_us);
    return write_file(path, "cpu.cfs_quota_us", text);
}

/* Tries to make the limited group below one directory. */
static int make_below(const char *directory, bool version_2, double percent, struct cgroup_quota *quota)
{
    remove_stale(directory);
    if (version_2)
        write_file(directory, "cgroup.subtree_control", "+cpu"); /* refused: making cpu.max below says so */
    int length = snprintf(quota->path, sizeof quota->path, "%s/pilfer-%ld", directory, (long)getpid());
    if (length >= (int)sizeof quota->path)
        return -ENAMETOOLONG;
    if (mkdir(quota->path, 0755) != 0 && errno != EEXIST)
        return -errno;
    int error = set_limit(quota->path, version_2, percent);
    if (error != 0)
        rmdir(quota->path);
    return error;
}

int cgroup_quota_make(struct cgroup_quota *quota, double percent, char *message, size_t size)
{
    struct place place;
    quota->path[0] = '\0';
    if (!find_place(&place)) {
        snprintf(message, size,
                 "quota-percent %g: this machine has no CPU control group mounted; leave quota-percent out", percent);
        return -ENOTSUP;
    }
    int error = -EACCES;
    for (;;) {
        char directory[CGROUP_PATH_SIZE];
        int length = snprintf(directory, sizeof directory, "%s%s", place.root, place.group);
        error = length < (int)sizeof directory ? make_below(directory, place.version_2, percent, quota) : -ENAMETOOLONG;
        char *slash = strrchr(place.group, '/');
        if (error == 0 || slash == NULL)
            break;
        *slash = '\0';
    }
    if (error != 0) {
        quota->path[0] = '\0';
        snprintf(
            message, size,
            "quota-percent %g: cannot make a CPU control group below %s: %s; run as root, or leave quota-percent out",
            percent, place.root, strerror(-error));
    }
    return error;
}

int cgroup_quota_add(const struct cgroup_quota *quota, pid_t pid)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)pid);
    return write_file(quota->path, "cgroup.procs", text);
}

void cgroup_quota_remove(struct cgroup_quota *quota)
{
    if (quota->path[0] != '\0')
        rmdir(quota->path);
    quota->path[0] = '\0';
}

/* The number after a word at the start of a line. */
static bool find_number(const char *text, const char *word, uint64_t *out)
{
    size_t length = strlen(word);
    for (const char *line = text; line != NULL; line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, word, length) == 0 && line[length] == ' ') {
            *out = strtoull(line + length + 1, NULL, 10);
            return true;
        }
    }
    return false;
}

static bool own_directory(char *directory, size_t size, bool *version_2)
{
    struct place place;
    if (!find_place(&place))
        return false;
    *version_2 = place.version_2;
    return snprintf(directory, size, "%s%s", place.root, place.group) < (int)size;
}

bool cgroup_throttling(const struct cgroup_quota *quota, struct cgroup_throttling *out)
{
    char directory[CGROUP_PATH_SIZE], text[2048];
    bool version_2;
    if (quota == NULL && !own_directory(directory, sizeof directory, &version_2))
        return false;
    if (!read_file(quota != NULL ? quota->path : directory, "cpu.stat", text, sizeof text))
        return false;
    uint64_t length;
    if (!find_number(text, "nr_throttled", &out->periods))
        return false;
    if (find_number(text, "throttled_time", &length)) /* version 1: ns */
        out->throttled_ns = length;
    else if (find_number(text, "throttled_usec", &length)) /* version 2 */
        out->throttled_ns = length * 1000;
    else
        return false;
    return true;
}

double cgroup_own_quota_percent(void)
{
    char directory[CGROUP_PATH_SIZE], text[128], period_text[64];
    bool version_2;
    double quota_us, period_us;
    if (!own_directory(directory, sizeof directory, &version_2))
        return 0;
    if (version_2)
        return read_file(directory, "cpu.max", text, sizeof text) && sscanf(text, "%lf %lf", &quota_us, &period_us) == 2
                   ? 100 * quota_us / period_us
                   : 0;
    if (!read_file(directory, "cpu.cfs_quota_us", text, sizeof text) ||
        !read_file(directory, "cpu.cfs_period_us", period_text, sizeof period_text))
        return 0;
    quota_us = strtod(text, NULL);
    period_us = strtod(period_text, NULL);
    return quota_us > 0 && period_us > 0 ? 100 * quota_us / period_us : 0;
}
