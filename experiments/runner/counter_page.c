/* SPDX-License-Identifier: MIT
 *
 * Live counters in a mapped file; see counter_page.h.
 */
#include "counter_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ordered.h"
#include "window.h"

#define PAGE_MAGIC UINT64_C(0x3165676170666c70) /* "plfpage1": changes with the layout */
#define PREFIX     "counters-"
/* A reader that has not said for so long that it looks has gone. */
#define WATCH_NS UINT64_C(3000000000)
/* A writer that was stopped in the middle of a refresh: how often a reader tries again. */
#define READ_TRIES 1000

/* The file. Written by the process under test, but for watched_ns. */
struct layout {
    uint64_t magic;
    uint64_t pid;
    char label[COUNTER_PAGE_LABEL_SIZE], workload[COUNTER_PAGE_LABEL_SIZE];
    struct shared_u64 watched_ns;   /* written by readers: when one last looked; read by the writer */
    struct shared_u64 sequence;     /* odd while the writer writes; @P counter_page.1, .2 */
    struct shared_u64 refreshed_ns; /* this and the values: ordered by the sequence */
    struct shared_u64 count;
    struct {
        char name[COUNTER_PAGE_NAME_SIZE]; /* written before count covers it, then constant; @P counter_page.2 */
        struct shared_u64 value;
    } entries[COUNTER_PAGE_ENTRIES_MAX];
};

struct counter_page {
    struct layout *layout;
    char path[PATH_MAX];
};

struct counter_page_reader {
    struct layout *layout;
    pid_t pid;
};

static bool folder(char *path, size_t size)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    if (base == NULL || base[0] != '/')
        base = "/tmp";
    return snprintf(path, size, "%s/pilfer-%lu", base, (unsigned long)getuid()) < (int)size;
}

static bool page_path(char *path, size_t size, pid_t pid)
{
    char directory[PATH_MAX - 64];
    return folder(directory, sizeof directory) &&
           snprintf(path, size, "%s/" PREFIX "%ld", directory, (long)pid) < (int)size;
}

/* The folder must be a real one of our own that nobody else can enter: /tmp belongs to everybody. */
static bool make_folder(void)
{
    char path[PATH_MAX];
    struct stat found;
    if (!folder(path, sizeof path) || (mkdir(path, 0700) != 0 && errno != EEXIST))
        return false;
    return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == getuid() &&
           (found.st_mode & 0077) == 0;
}

static struct layout *map(int file)
{
    void *memory = mmap(NULL, sizeof(struct layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct counter_page *counter_page_create(const char *label, const char *workload)
{
    counter_page_list(NULL, 0); /* removes what dead ones left */
    struct counter_page *page = calloc(1, sizeof *page);
    if (page == NULL || !make_folder() || !page_path(page->path, sizeof page->path, getpid())) {
        free(page);
        return NULL;
    }
    unlink(page->path); /* of a dead process that had our number */
    int file = open(page->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && ftruncate(file, sizeof(struct layout)) == 0)
        page->layout = map(file);
    if (file >= 0)
        close(file);
    if (page->layout == NULL) {
        if (file >= 0)
            unlink(page->path);
        free(page);
        return NULL;
    }
    page->layout->magic = PAGE_MAGIC;
    page->layout->pid = (uint64_t)getpid();
    snprintf(page->layout->label, sizeof page->layout->label, "%s", label);
    snprintf(page->layout->workload, sizeof page->layout->workload, "%s", workload);
    return page;
}

bool counter_page_is_watched(const struct counter_page *page)
{
    uint64_t watched_ns = shared_u64_load_relaxed(&page->layout->watched_ns); /* a hint: nothing else rests on it */
    return watched_ns != 0 && window_now_ns() < watched_ns + WATCH_NS;
}

void counter_page_begin(struct counter_page *page)
{
    uint64_t sequence = shared_u64_load_relaxed(&page->layout->sequence); /* single writer */
    /* A read-modify-write with acquire: no number below is written before the sequence is odd; @P counter_page.1 */
    shared_u64_exchange_acq_rel(&page->layout->sequence, sequence + 1);
}

void counter_page_set(struct counter_page *page, uint32_t index, const char *name, uint64_t value)
{
    struct layout *layout = page->layout;
    if (index >= COUNTER_PAGE_ENTRIES_MAX)
        return;
    if (index >= shared_u64_load_relaxed(&layout->count)) { /* single writer */
        snprintf(layout->entries[index].name, COUNTER_PAGE_NAME_SIZE, "%s", name);
        shared_u64_store_relaxed(&layout->count, index + 1); /* ordered by @P counter_page.2 */
    }
    shared_u64_store_release(&layout->entries[index].value, value); /* @P counter_page.1: the sequence is odd */
}

void counter_page_end(struct counter_page *page)
{
    uint64_t sequence = shared_u64_load_relaxed(&page->layout->sequence);   /* single writer */
    shared_u64_store_relaxed(&page->layout->refreshed_ns, window_now_ns()); /* ordered by @P counter_page.2 */
    shared_u64_store_release(&page->layout->sequence, sequence + 1); /* @P counter_page.2: all numbers are written */
}

void counter_page_remove(struct counter_page *page)
{
    if (page == NULL)
        return;
    unlink(page->path);
    munmap(page->layout, sizeof *page->layout);
    free(page);
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static int compare_pids(const void *one, const void *other)
{
    pid_t first = *(const pid_t *)one, second = *(const pid_t *)other;
    return (first > second) - (first < second);
}

uint32_t counter_page_list(pid_t *pids, uint32_t capacity)
{
    char path[PATH_MAX];
    DIR *listing = make_folder() && folder(path, sizeof path) ? opendir(path) : NULL;
    uint32_t count = 0;
    const struct dirent *entry;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        char *end;
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        long pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
        if (*end != '\0' || pid <= 0 || pid > INT_MAX)
            continue;
        if (!is_alive((pid_t)pid)) {
            unlinkat(dirfd(listing), entry->d_name, 0);
            continue;
        }
        if (count < capacity)
            pids[count] = (pid_t)pid;
        count++;
    }
    if (listing != NULL)
        closedir(listing);
    if (capacity > 0)
        qsort(pids, count < capacity ? count : capacity, sizeof *pids, compare_pids);
    return count;
}

struct counter_page_reader *counter_page_open(pid_t pid)
{
    char path[PATH_MAX];
    struct stat found;
    if (!make_folder() || !page_path(path, sizeof path, pid))
        return NULL;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return NULL;
    struct counter_page_reader *reader = calloc(1, sizeof *reader);
    if (reader != NULL && fstat(file, &found) == 0 && found.st_size == (off_t)sizeof(struct layout))
        reader->layout = map(file);
    close(file);
    if (reader == NULL || reader->layout == NULL || reader->layout->magic != PAGE_MAGIC) {
        if (reader != NULL && reader->layout != NULL)
            munmap(reader->layout, sizeof *reader->layout);
        free(reader);
        return NULL;
    }
    reader->pid = pid;
    shared_u64_store_relaxed(&reader->layout->watched_ns, window_now_ns()); /* a hint: nothing else rests on it */
    return reader;
}

/* One attempt; false if the writer was at work meanwhile. */
static bool read_once(const struct layout *layout, struct counter_page_state *out)
{
    uint64_t before = shared_u64_load_acquire(&layout->sequence); /* @P counter_page.2: the numbers of this state */
    if (before % 2 != 0)
        return false;
    uint64_t count = shared_u64_load_relaxed(&layout->count); /* ordered by @P counter_page.2, re-checked below */
    out->count = count < COUNTER_PAGE_ENTRIES_MAX ? (uint32_t)count : COUNTER_PAGE_ENTRIES_MAX;
    out->refreshed_ns = shared_u64_load_relaxed(&layout->refreshed_ns); /* as count */
    for (uint32_t i = 0; i < out->count; i++) {
        memcpy(out->entries[i].name, layout->entries[i].name, COUNTER_PAGE_NAME_SIZE);
        out->entries[i].name[COUNTER_PAGE_NAME_SIZE - 1] = '\0';
        /* @P counter_page.1: who sees a number of a later state sees its odd sequence below */
        out->entries[i].value = shared_u64_load_acquire(&layout->entries[i].value);
    }
    return shared_u64_load_relaxed(&layout->sequence) == before; /* ordered by @P counter_page.1 */
}

bool counter_page_read(struct counter_page_reader *reader, struct counter_page_state *out)
{
    const struct layout *layout = reader->layout;
    if (!is_alive(reader->pid))
        return false;
    shared_u64_store_relaxed(&reader->layout->watched_ns, window_now_ns()); /* a hint: nothing else rests on it */
    memset(out, 0, sizeof *out);
    out->pid = reader->pid;
    memcpy(out->label, layout->label, sizeof out->label);
    memcpy(out->workload, layout->workload, sizeof out->workload);
    out->label[sizeof out->label - 1] = out->workload[sizeof out->workload - 1] = '\0';
    for (int tries = 0; tries < READ_TRIES; tries++) {
        if (read_once(layout, out))
            return true;
    }
    out->count = 0;
    out->refreshed_ns = 0;
    return true;
}

void counter_page_close(struct counter_page_reader *reader)
{
    munmap(reader->layout, sizeof *reader->layout);
    free(reader);
}
