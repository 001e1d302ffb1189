/* SPDX-License-Identifier: MIT
 *
 * The list of historic bugs, and what their programs share (historic.h).
 *
 * Each entry stands for two subjects: the name people know the bug by, which must be found broken, and the name with
 * "-mended", which must not. The summary says in which of the models sc, tso, ra the bug shows; sc means in all
 * three. One bug is kept in the schedulers that model the .NET pools, since these have it (../pool_urgent.c): there the
 * second subject is the way that does not lead to it.
 */
#include "historic.h"

void taker_note(struct taker *taker, uint64_t task)
{
    if (taker->count == sizeof(taker->tasks) / sizeof(taker->tasks[0]))
        explored_fail("exactly once", "a thread took more tasks than there are");
    taker->tasks[taker->count++] = (uint32_t)task;
}

void takers_check(const struct taker *const *takers, uint32_t taker_count, uint32_t task_count)
{
    uint32_t times[16] = {0};
    for (uint32_t i = 0; i < taker_count; i++) {
        for (uint32_t k = 0; k < takers[i]->count; k++) {
            uint32_t task = takers[i]->tasks[k];
            if (task == 0 || task > task_count)
                explored_fail("exactly once", "task %u was taken, which nobody pushed", task);
            if (++times[task] == 2)
                explored_fail("exactly once", "task %u was taken twice", task);
        }
    }
    for (uint32_t task = 1; task <= task_count; task++)
        if (times[task] == 0)
            explored_fail("exactly once", "task %u was lost", task);
}

void *historic_alloc(size_t size)
{
    void *memory = platform_alloc(size);
    if (memory == NULL)
        explored_fail("program", "no memory");
    return memory;
}

struct platform_thread *historic_start(const char *name, void (*body)(void *argument), void *argument)
{
    struct platform_thread *thread;
    if (platform_thread_start(&thread, name, body, argument) != 0)
        explored_fail("program", "no thread");
    return thread;
}

extern const struct scenario historic_growth[], historic_unsigned_indices[], historic_plain_cells[], historic_batch[],
    historic_read_after_cas[], historic_free_at_growth[];
extern const struct scenario historic_half_one_cas[], historic_narrow_index[], historic_abp_tag[],
    historic_abp_relaxed[];
extern const struct scenario historic_kept_slot[], historic_node_reuse[];
extern const struct scenario historic_brpc_2907[], historic_brpc_3539[], historic_zio_610_a[], historic_zio_610_b[],
    historic_zio_610_c[], historic_zio_610_c_loads[], historic_tokio_621[];
extern const struct scenario historic_poissonrecon_6[], historic_villa_1688[], historic_weave_27[];
extern const struct scenario historic_tokio_8056[], historic_tokio_8056_leave[], historic_tokio_525[],
    historic_spice_10[], historic_tokio_local_shutdown[];
extern const struct scenario historic_coreclr_14015[], historic_dotnet_100506_unfenced[], historic_dotnet_121608[],
    historic_dotnet_local_queue_missed[], historic_dotnet_high_priority[];

/* Name, summary, program, what breaks. */
#define BUG(NAME, SUMMARY, PROGRAM, BREAKS)                                               \
    {NAME, SUMMARY, &historic_##PROGRAM[HISTORIC_PUBLISHED], 1, BREAKS},                  \
    {                                                                                     \
        NAME "-mended", SUMMARY ": mended", &historic_##PROGRAM[HISTORIC_MENDED], 1, NULL \
    }

const struct code_subject historic_subjects[] = {
    BUG("chase-lev-2013-growth", "grown array published relaxed (ra)", growth, "data race"),
    BUG("chase-lev-unsigned", "pop of a fresh deque with unsigned indices (sc)", unsigned_indices, "exactly once"),
    BUG("chase-lev-plain-cells", "slots in plain memory (sc, ra)", plain_cells, "data race"),
    BUG("crossbeam-726", "batch steal from an outgrown array, CVE-2021-32810 (sc)", batch, "exactly once"),
    BUG("crossbeam-149", "slot read after the CAS that gives it away (sc)", read_after_cas, "exactly once"),
    BUG("deque-free-at-growth", "outgrown array freed under a thief (sc)", free_at_growth, "use after free"),
    BUG("steal-half-one-cas", "half of a Chase-Lev deque taken with one CAS (sc)", half_one_cas, "exactly once"),
    BUG("tokio-5041", "narrow index comes back under a thief (sc)", narrow_index, "exactly once"),
    BUG("abp-tag", "ABP deque emptied without a new tag (sc)", abp_tag, "exactly once"),
    BUG("abp-relaxed", "ABP thief without orders (ra)", abp_relaxed, "exactly once"),
    BUG("ck-e78c421", "FIFO says empty after its node was used again (sc)", node_reuse, "false empty"),
    BUG("brpc-2907", "futex word unchanged when nobody waits (sc)", brpc_2907, "S3"),
    BUG("brpc-3539", "waiter counter read relaxed (ra)", brpc_3539, "S3"),
    BUG("zio-610-a", "wake token wiped out by a plain store (tso, ra)", zio_610_a, "S3"),
    BUG("zio-610-b", "second waker writes nothing (ra)", zio_610_b, "S3"),
    BUG("zio-610-c", "idle mask announced without a full order (tso, ra)", zio_610_c, "S3"),
    BUG("zio-610-c-loads", "idle mask with seq_cst loads alone (tso, ra)", zio_610_c_loads, "S3"),
    BUG("tokio-621", "notified overwritten by asleep (sc)", tokio_621, "S3"),
    BUG("poissonrecon-6", "wait without a condition (sc)", poissonrecon_6, "S3"),
    BUG("villa-1688", "stop flag set without the mutex (sc)", villa_1688, "S3"),
    BUG("weave-27", "shutdown between look and sleep (sc)", weave_27, "S3"),
    BUG("tokio-8056", "one idle thread stands for two tasks (sc)", tokio_8056, "S3"),
    BUG("tokio-8056-leave", "a thread that is counted on times out (sc)", tokio_8056_leave, "S3"),
    BUG("tokio-525", "private inbox of a busy worker (sc)", tokio_525, "S3"),
    BUG("spice-10", "waiting for a thief beside new work (sc)", spice_10, "S3"),
    BUG("tokio-local-shutdown", "task woken after the drain (sc)", tokio_local_shutdown, "exactly once"),
    BUG("coreclr-14015", "request withdrawn after the scan (sc)", coreclr_14015, "S3"),
    BUG("dotnet-100506-unfenced", "stage stored without a fence before the scan (tso, ra)", dotnet_100506_unfenced,
        "S3"),
    BUG("dotnet-121608", "item waits for the next item (sc)", dotnet_121608, "S3"),
    BUG("dotnet-local-queue-missed", "head put back without a fence (tso, ra)", dotnet_local_queue_missed, "S3"),
    {"dotnet-high-priority", "the pools themselves: high-priority task waits for the next (sc)",
     &historic_dotnet_high_priority[HISTORIC_PUBLISHED], 1, "S3"},
    {"dotnet-high-priority-public", "the pools themselves: the same tasks by public submits",
     &historic_dotnet_high_priority[HISTORIC_MENDED], 1, NULL},
    BUG("deque-kept-slot", "a taken cell keeps its task (sc)", kept_slot, "kept task"),
};
const uint32_t historic_subject_count = sizeof(historic_subjects) / sizeof(historic_subjects[0]);
