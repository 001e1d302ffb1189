/* SPDX-License-Identifier: MIT
 *
 * The memory of a run, and its plain accesses.
 *
 * How it works. One arena, handed out from its start in each run, so that addresses and their order are the same in
 * every run. A shadow record for each four bytes says which thread wrote last and who has read since, each with its
 * clock: an access whose predecessor does not happen before it is a data race. The accesses come from the compiler's
 * thread-sanitizer instrumentation, whose run time this file stands in for (the names and signatures are the interface
 * of gcc/sanitizer.def). The records are of four bytes, with a mask of the bytes meant; of two neighbours in one record
 * the later one is remembered. Shared operations take part: they count as reads, so that what is initialised or zeroed
 * plainly must be published before, and freed after, all others' operations on it.
 *
 * Freed memory is either never handed out again, and touching it ends the run, or at once (the settings' reuse_memory),
 * so that a stale pointer meets a new owner.
 *
 * Without instrumentation (another compiler, the address sanitizer's build) only shared operations are checked.
 *
 * Source. Flanagan & Freund 2009 (FastTrack).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum { ARENA_SIZE = 1 << 20, GRAIN = 4, ALIGNMENT = 128, BLOCKS_MAX = 4096, GUARD = 128 };

enum { MASK_ALL = (1 << GRAIN) - 1 };
enum state { NEVER_GIVEN, IN_USE, FREED };

struct shadow {
    uint32_t write_clock; /* 0: never written */
    uint8_t write_thread, write_mask, read_mask, state;
};

struct block {
    uint32_t offset, size;
    bool free;
};

static _Alignas(ALIGNMENT) unsigned char arena[ARENA_SIZE];
static struct {
    struct shadow shadows[ARENA_SIZE / GRAIN];
    uint32_t reads[ARENA_SIZE / GRAIN][EXPLORED_THREADS_MAX]; /* clocks; mean nothing while read_mask is 0 */
    struct block blocks[BLOCKS_MAX];
    uint32_t block_count, used;
    bool reuse, checks;
} plain;

void plain_begin(bool reuse, bool checks)
{
    memset(plain.shadows, 0, plain.used / GRAIN * sizeof plain.shadows[0]);
    plain.used = 0;
    plain.block_count = 0;
    plain.reuse = reuse;
    plain.checks = checks;
}

/* Zeroing a block is a write of the thread that gets it. */
static void set_state(const struct block *block, enum state state)
{
    uint32_t self = run_thread();
    const struct shadow fresh = {.state = (uint8_t)state,
                                 .write_clock = state == IN_USE ? memory_view(self)->clock[self] : 0,
                                 .write_thread = (uint8_t)self,
                                 .write_mask = MASK_ALL};
    struct shadow *shadow = &plain.shadows[block->offset / GRAIN];
    for (uint32_t i = 0; i < (block->size + GRAIN - 1) / GRAIN; i++)
        shadow[i] = fresh;
}

static struct block *reusable(uint32_t size)
{
    for (uint32_t i = plain.block_count; plain.reuse && i-- > 0;)
        if (plain.blocks[i].free && plain.blocks[i].size == size)
            return &plain.blocks[i];
    return NULL;
}

static struct block *fresh(uint32_t size)
{
    uint32_t room = (size + GUARD + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (plain.block_count == BLOCKS_MAX || plain.used + room > ARENA_SIZE)
        run_broken("limit", "a run of more than %d bytes", ARENA_SIZE);
    struct block *block = &plain.blocks[plain.block_count++];
    *block = (struct block){plain.used, size, false};
    plain.used += room;
    return block;
}

void *explored_alloc(size_t size)
{
    if (run_allocation_fails())
        return NULL;
    if (size > ARENA_SIZE)
        run_broken("limit", "an allocation of %zu bytes", size);
    struct block *block = reusable((uint32_t)size);
    if (block == NULL)
        block = fresh((uint32_t)size);
    block->free = false;
    memset(&arena[block->offset], 0, size);
    set_state(block, IN_USE);
    return &arena[block->offset];
}

static bool is_inside(const void *address)
{
    return (uintptr_t)address - (uintptr_t)arena < ARENA_SIZE;
}

static struct block *find_block(const void *address)
{
    uint32_t offset = (uint32_t)((uintptr_t)address - (uintptr_t)arena), low = 0, high = plain.block_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (plain.blocks[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return plain.block_count > 0 ? &plain.blocks[low] : NULL;
}

uint32_t explored_blocks(void)
{
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < plain.block_count; i++)
        blocks += !plain.blocks[i].free;
    return blocks;
}

bool plain_describe(const void *address, char *text, size_t room)
{
    const struct block *block = is_inside(address) ? find_block(address) : NULL;
    if (block == NULL)
        return false;
    uint32_t offset = (uint32_t)((uintptr_t)address - (uintptr_t)arena) - block->offset;
    snprintf(text, room, offset > 0 ? "block %u+%u" : "block %u", (unsigned)(block - plain.blocks) + 1, offset);
    return true;
}

static _Noreturn void report(const char *invariant, const void *address, const char *what)
{
    char where[32];
    plain_describe(address, where, sizeof where);
    run_broken(invariant, "%s at %s", what, where);
}

void plain_check_alive(const void *address)
{
    if (!is_inside(address))
        return;
    uint8_t state = plain.shadows[((uintptr_t)address - (uintptr_t)arena) / GRAIN].state;
    if (state == FREED)
        report("use after free", address, "an access to freed memory");
    if (state == NEVER_GIVEN)
        report("use after free", address, "an access outside any allocation");
}

/* ---- races ---- */

static uint8_t mask_of(uintptr_t address, size_t size, uintptr_t grain)
{
    uint8_t mask = 0;
    for (uint32_t i = 0; i < GRAIN; i++)
        if (grain + i >= address && grain + i < address + size)
            mask = (uint8_t)(mask | 1u << i);
    return mask;
}

static void check_write_before(const struct shadow *shadow, const struct view *view, uint32_t self, uint8_t mask,
                               const void *address, const char *what)
{
    if (shadow->write_clock != 0 && (shadow->write_mask & mask) != 0 && shadow->write_thread != self &&
        shadow->write_clock > view->clock[shadow->write_thread])
        report("data race", address, what);
}

static void check_reads_before(const struct shadow *shadow, const struct view *view, uint32_t self, uint8_t mask,
                               const void *address, const char *what)
{
    const uint32_t *reads = plain.reads[shadow - plain.shadows];
    for (uint32_t i = 0; (shadow->read_mask & mask) != 0 && i < EXPLORED_THREADS_MAX; i++)
        if (i != self && reads[i] > view->clock[i])
            report("data race", address, what);
}

static void note_read(struct shadow *shadow, uint32_t self, uint32_t clock, uint8_t mask)
{
    uint32_t *reads = plain.reads[shadow - plain.shadows];
    if (shadow->read_mask == 0)
        memset(reads, 0, sizeof plain.reads[0]);
    reads[self] = clock;
    shadow->read_mask |= mask;
}

static void note(const void *address, size_t size, bool write)
{
    if (!is_inside(address) || !run_is_running())
        return;
    run_step();
    if (!plain.checks)
        return;
    uint32_t self = run_thread();
    struct view *view = memory_view(self);
    uintptr_t start = (uintptr_t)address;
    for (uintptr_t grain = start & ~(uintptr_t)(GRAIN - 1); grain < start + size; grain += GRAIN) {
        struct shadow *shadow = &plain.shadows[(grain - (uintptr_t)arena) / GRAIN];
        uint8_t mask = mask_of(start, size, grain);
        if (shadow->state != IN_USE)
            plain_check_alive((const void *)grain); /* which may be another block's than the first byte's */
        check_write_before(shadow, view, self, mask, address,
                           write ? "two threads write without an order" : "a read is not ordered after a write");
        if (!write) {
            note_read(shadow, self, view->clock[self], mask);
            continue;
        }
        check_reads_before(shadow, view, self, mask, address, "a write is not ordered after a read");
        shadow->write_clock = view->clock[self];
        shadow->write_thread = (uint8_t)self;
        shadow->write_mask = mask;
        shadow->read_mask = 0;
    }
}

void plain_check_ordered(const void *address, size_t size)
{
    plain_check_alive(address);
    if (!is_inside(address) || !plain.checks || !run_is_running())
        return;
    uint32_t self = run_thread();
    const struct view *view = memory_view(self);
    for (uintptr_t grain = (uintptr_t)address; grain < (uintptr_t)address + size; grain += GRAIN) {
        struct shadow *shadow = &plain.shadows[(grain - (uintptr_t)arena) / GRAIN];
        check_write_before(shadow, view, self, MASK_ALL, address, "an operation is not ordered after a plain write");
        note_read(shadow, self, view->clock[self], MASK_ALL);
    }
}

/* A free is a write: nobody may still be about to touch the block. */
static void check_free(const struct block *block)
{
    if (!plain.checks || !run_is_running())
        return;
    uint32_t self = run_thread();
    const struct view *view = memory_view(self);
    for (uint32_t offset = block->offset; offset < block->offset + block->size; offset += GRAIN) {
        const struct shadow *shadow = &plain.shadows[offset / GRAIN];
        check_write_before(shadow, view, self, MASK_ALL, &arena[offset], "a free is not ordered after a write");
        check_reads_before(shadow, view, self, MASK_ALL, &arena[offset], "a free is not ordered after an access");
    }
}

void explored_free(void *memory)
{
    if (memory == NULL)
        return;
    struct block *block = is_inside(memory) ? find_block(memory) : NULL;
    if (block == NULL || &arena[block->offset] != (unsigned char *)memory)
        run_broken("use after free", "a block was freed that was never given");
    if (block->free)
        run_broken("use after free", "a block was freed twice");
    check_free(block);
    block->free = true;
    set_state(block, FREED);
}

/* ---- the instrumentation's run time ---- */

#define DEFINE_ACCESS(NAME, SIZE, WRITE) \
    void NAME(void *address);            \
    void NAME(void *address)             \
    {                                    \
        note(address, SIZE, WRITE);      \
    }
#define DEFINE_ACCESSES(SIZE)                     \
    DEFINE_ACCESS(__tsan_read##SIZE, SIZE, false) \
    DEFINE_ACCESS(__tsan_write##SIZE, SIZE, true)
#define DEFINE_UNALIGNED(SIZE)                              \
    DEFINE_ACCESS(__tsan_unaligned_read##SIZE, SIZE, false) \
    DEFINE_ACCESS(__tsan_unaligned_write##SIZE, SIZE, true)
DEFINE_ACCESSES(1)
DEFINE_ACCESSES(2)
DEFINE_ACCESSES(4)
DEFINE_ACCESSES(8)
DEFINE_ACCESSES(16)
DEFINE_UNALIGNED(2)
DEFINE_UNALIGNED(4)
DEFINE_UNALIGNED(8)
DEFINE_UNALIGNED(16)

void __tsan_init(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
}
void __tsan_func_exit(void *caller);
void __tsan_func_exit(void *caller)
{
}
void __tsan_read_range(void *address, long size);
void __tsan_read_range(void *address, long size)
{
    note(address, (size_t)size, false);
}
void __tsan_write_range(void *address, long size);
void __tsan_write_range(void *address, long size)
{
    note(address, (size_t)size, true);
}
