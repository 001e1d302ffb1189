/* SPDX-License-Identifier: MIT
 *
 * A library to preload: the n-th allocation fails, the k-th thread cannot be started.
 *
 * How it works. It stands before the C library's malloc, calloc, realloc, posix_memalign, aligned_alloc, free and
 * pthread_create, and counts the calls of the whole process, those of the C library itself included. It also keeps
 * which blocks that the program itself asked for are alive, so that a leak shows without a second tool.
 *
 * Control. A program that knows it calls the functions of preload.h. Any other one is told by environment variables,
 * read when the library is loaded:
 *
 *   PILFER_FAULT_ALLOCATION=n   the n-th allocation from the start fails
 *   PILFER_FAULT_THREAD=k       the k-th pthread_create from the start fails
 *   PILFER_FAULT_FOLLOWING=1    and all later ones
 *   PILFER_FAULT_ERROR=EAGAIN   or ENOMEM: what pthread_create answers
 *   PILFER_FAULT_REPORT=FILE    when the process ends, "hit" or "missed" is appended to this file
 */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library's own, under the names that it exports for libraries like this one. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static struct {
    _Atomic uint64_t allocation, thread; /* 0: none is to fail */
    _Atomic bool following;
    _Atomic int error;
    _Atomic uint64_t allocations, threads, hits;
} fault = {.error = EAGAIN};

/* ---- which blocks of the program are alive ---- */

#define LIVE_SLOTS 1048576 /* a power of two; more blocks than that are not followed */
#define REMOVED    ((void *)1)

static struct {
    _Atomic(void *) slots[LIVE_SLOTS];
    _Atomic int64_t count;
    uintptr_t start, end; /* the program's own text; constant after the library has been loaded */
} live;

static size_t first_slot(const void *memory)
{
    return (size_t)((uintptr_t)memory >> 4) * 0x9E3779B97F4A7C15ull >> 44;
}

static void *note_allocated(void *memory, const void *caller)
{
    if (memory == NULL || (uintptr_t)caller < live.start || (uintptr_t)caller >= live.end)
        return memory;
    for (size_t i = first_slot(memory), tries = 0; tries < LIVE_SLOTS; i = (i + 1) % LIVE_SLOTS, tries++) {
        void *found = atomic_load(&live.slots[i]);
        if ((found == NULL || found == REMOVED) && atomic_compare_exchange_strong(&live.slots[i], &found, memory)) {
            atomic_fetch_add(&live.count, 1);
            break;
        }
    }
    return memory;
}

static void note_freed(void *memory)
{
    for (size_t i = first_slot(memory), tries = 0; memory != NULL && tries < LIVE_SLOTS;
         i = (i + 1) % LIVE_SLOTS, tries++) {
        void *found = atomic_load(&live.slots[i]);
        if (found == NULL)
            return;
        if (found == memory) {
            atomic_store(&live.slots[i], REMOVED);
            atomic_fetch_sub(&live.count, 1);
            return;
        }
    }
}

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            live.start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            live.end = live.start + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the program comes first */
}

/* ---- deciding ---- */

static bool must_fail(_Atomic uint64_t *counter, _Atomic uint64_t *wanted)
{
    const uint64_t number = atomic_fetch_add(counter, 1) + 1, first = atomic_load(wanted);
    const bool fails = first != 0 && (number == first || (number > first && atomic_load(&fault.following)));
    if (fails)
        atomic_fetch_add(&fault.hits, 1);
    return fails;
}

static bool allocation_must_fail(void)
{
    const bool fails = must_fail(&fault.allocations, &fault.allocation);
    if (fails)
        errno = ENOMEM;
    return fails;
}

void fault_arm(const struct fault_plan *plan)
{
    atomic_store(&fault.allocation, 0);
    atomic_store(&fault.thread, 0);
    atomic_store(&fault.allocations, 0);
    atomic_store(&fault.threads, 0);
    atomic_store(&fault.hits, 0);
    atomic_store(&fault.following, plan->following);
    atomic_store(&fault.error, plan->error != 0 ? plan->error : EAGAIN);
    atomic_store(&fault.thread, plan->thread);
    atomic_store(&fault.allocation, plan->allocation);
}

uint64_t fault_hits(void)
{
    return atomic_load(&fault.hits);
}

int64_t fault_live(void)
{
    return atomic_load(&live.count);
}

/* ---- what stands before the C library ---- */

void *malloc(size_t size)
{
    return allocation_must_fail() ? NULL : note_allocated(__libc_malloc(size), __builtin_return_address(0));
}

void *calloc(size_t count, size_t size)
{
    return allocation_must_fail() ? NULL : note_allocated(__libc_calloc(count, size), __builtin_return_address(0));
}

void *realloc(void *memory, size_t size)
{
    if (allocation_must_fail())
        return NULL;
    note_freed(memory);
    void *moved = __libc_realloc(memory, size);
    const bool kept = moved == NULL && size != 0;
    note_allocated(kept ? memory : moved, __builtin_return_address(0));
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return allocation_must_fail() ? NULL
                                  : note_allocated(__libc_memalign(alignment, size), __builtin_return_address(0));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (allocation_must_fail())
        return ENOMEM;
    void *memory = note_allocated(__libc_memalign(alignment, size), __builtin_return_address(0));
    if (memory == NULL)
        return ENOMEM;
    *out = memory;
    return 0;
}

void free(void *memory)
{
    note_freed(memory);
    __libc_free(memory);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return must_fail(&fault.threads, &fault.thread) ? atomic_load(&fault.error)
                                                    : real(thread, attributes, body, argument);
}

/* ---- by environment ---- */

static uint64_t number_from(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *error = getenv("PILFER_FAULT_ERROR");
    dl_iterate_phdr(find_program, NULL);
    fault_arm(&(struct fault_plan){.allocation = number_from("PILFER_FAULT_ALLOCATION"),
                                   .thread = number_from("PILFER_FAULT_THREAD"),
                                   .following = number_from("PILFER_FAULT_FOLLOWING") != 0,
                                   .error = error != NULL && strcmp(error, "ENOMEM") == 0 ? ENOMEM : EAGAIN});
}

__attribute__((destructor)) static void write_report(void)
{
    const char *path = getenv("PILFER_FAULT_REPORT");
    const int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    const char *word = fault_hits() > 0 ? "hit\n" : "missed\n";
    if (file < 0)
        return;
    if (write(file, word, strlen(word)) < 0)
        _exit(3);
    close(file);
}
