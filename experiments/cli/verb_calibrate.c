/* SPDX-License-Identifier: MIT
 *
 * `pilfer calibrate`: what the elementary operations of a thread pool cost on this machine.
 *
 * How it works. Each cost is measured in BATCHES short batches through the same two seams that the pool uses
 * (platform.h, ordered.h); printed are the median and the range over the batches. Costs between two threads are taken
 * from ping-pong: half a round trip. Nothing is pinned, as in a cell, so the kernel may put both threads on one CPU:
 * the range shows it.
 *
 * Worst case. On a busy machine the upper ends grow without limit; the medians are what to read.
 */
#include "verbs.h"

#include "account.h"
#include "statistics.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define BATCHES         15
#define ROUNDS          2000 /* of an operation of some ns per batch */
#define ROUNDS_SYSTEM   300  /* of a system call */
#define ROUNDS_TOGETHER 100  /* of a ping-pong */

struct sample {
    double ns[BATCHES];
};

static void print_row(const char *name, const struct sample *sample, const char *meaning)
{
    double low = sample->ns[0], high = sample->ns[0];
    for (int i = 1; i < BATCHES; i++) {
        low = sample->ns[i] < low ? sample->ns[i] : low;
        high = sample->ns[i] > high ? sample->ns[i] : high;
    }
    printf("%-20s %10.1f %10.1f %10.1f  %s\n", name, statistics_median(sample->ns, BATCHES), low, high, meaning);
}

/* ---- one thread ---- */

static void stamp_once(struct shared_u32 *word)
{
    platform_stamp();
}

static void pause_once(struct shared_u32 *word)
{
    platform_pause(1);
}

static void yield_once(struct shared_u32 *word)
{
    platform_yield();
}

static void clock_once(struct shared_u32 *word)
{
    platform_now_ns();
}

static void cpu_clock_once(struct shared_u32 *word)
{
    platform_thread_cpu_ns();
}

static void add_once(struct shared_u32 *word)
{
    shared_u32_add_relaxed(word, 1); /* relaxed: counter only */
}

static void fence_once(struct shared_u32 *word)
{
    ordered_fence_seq_cst();
}

static void fence_light_once(struct shared_u32 *word)
{
    ordered_fence_light();
}

static void fence_heavy_once(struct shared_u32 *word)
{
    ordered_fence_heavy();
}

static void wake_nobody_once(struct shared_u32 *word)
{
    platform_wake(word, 1);
}

static const struct alone {
    const char *name;
    void (*once)(struct shared_u32 *word);
    uint32_t rounds;
    const char *meaning;
} alone[] = {
    {"stamp", stamp_once, ROUNDS, "one reading of the clock that times a worker's activities"},
    {"clock", clock_once, ROUNDS, "one reading of the monotonic clock"},
    {"cpu-clock", cpu_clock_once, ROUNDS_SYSTEM, "one reading of the thread's CPU clock"},
    {"pause", pause_once, ROUNDS, "one unit of the back-off, 37 ns by intent"},
    {"yield", yield_once, ROUNDS_SYSTEM, "sched_yield with nobody waiting for this CPU"},
    {"add", add_once, ROUNDS, "atomic addition in the own cache"},
    {"fence", fence_once, ROUNDS, "full fence"},
    {"fence-light", fence_light_once, ROUNDS, "frequent side of the asymmetric fence"},
    {"fence-heavy", fence_heavy_once, ROUNDS_SYSTEM, "rare side of the asymmetric fence"},
    {"wake-nobody", wake_nobody_once, ROUNDS_SYSTEM, "futex wake with nobody parked"},
};

static void measure_alone(const struct alone *what, struct sample *sample)
{
    struct shared_u32 word;
    shared_u32_store_relaxed(&word, 0); /* relaxed: single writer */
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t start = platform_now_ns();
        for (uint32_t i = 0; i < what->rounds; i++)
            what->once(&word);
        sample->ns[batch] = (double)(platform_now_ns() - start) / what->rounds;
    }
}

/* ---- two threads ---- */

/* Ball is even: the main thread's turn; odd: the partner's. */
struct table {
    _Alignas(CACHE_LINE_SIZE) struct shared_u32 ball; /* written in turns; @P verb_calibrate.1 */
    _Alignas(CACHE_LINE_SIZE) bool park;              /* constant while the partner runs, as is all below but wake_ns */
    uint32_t rounds;
    int partner_cpu;
    uint64_t wake_ns; /* main thread only: time inside platform_wake */
};

static void wait_for(struct table *table, uint32_t value)
{
    uint32_t seen;
    /* @P verb_calibrate.1: the other side has made its move, and may not move again before ours. */
    while ((seen = shared_u32_load_acquire(&table->ball)) != value) {
        if (table->park)
            platform_park(&table->ball, seen, PLATFORM_FOREVER);
    }
}

static void move(struct table *table, uint32_t value, uint64_t *wake_ns)
{
    /* @P verb_calibrate.1: publishes our move. */
    shared_u32_store_release(&table->ball, value);
    if (!table->park)
        return;
    uint64_t start = platform_now_ns();
    platform_wake(&table->ball, 1);
    if (wake_ns != NULL)
        *wake_ns += platform_now_ns() - start;
}

/* The calling thread; a refusal leaves it where it is, which the range then shows. */
static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void partner(void *argument)
{
    struct table *table = argument;
    pin(table->partner_cpu);
    for (uint32_t i = 0; i < table->rounds; i++) {
        wait_for(table, 2 * i + 1);
        move(table, 2 * i + 2, NULL);
    }
}

/* Half a round trip per batch; with park also the waker's own cost. 0 or -errno. */
static int measure_together(bool park, int partner_cpu, struct sample *trip, struct sample *waker)
{
    for (int batch = 0; batch < BATCHES; batch++) {
        struct table *table = platform_alloc(sizeof *table);
        if (table == NULL)
            return -ENOMEM;
        table->park = park;
        table->rounds = ROUNDS_TOGETHER;
        table->partner_cpu = partner_cpu;
        struct platform_thread *thread;
        int error = platform_thread_start(&thread, "calibrate", partner, table);
        if (error != 0) {
            platform_free(table);
            return error;
        }
        move(table, 1, &table->wake_ns); /* the first round trip includes the start of the thread: not counted */
        wait_for(table, 2);
        table->wake_ns = 0;
        uint64_t start = platform_now_ns();
        for (uint32_t i = 1; i < table->rounds; i++) {
            move(table, 2 * i + 1, &table->wake_ns);
            wait_for(table, 2 * i + 2);
        }
        uint64_t end = platform_now_ns();
        platform_thread_join(thread);
        trip->ns[batch] = (double)(end - start) / (2.0 * (table->rounds - 1));
        waker->ns[batch] = (double)table->wake_ns / (table->rounds - 1);
        platform_free(table);
    }
    return 0;
}

/* The first two CPUs that this process may use; the second is -1 if there is only one. */
static void choose_cpus(int cpus[2])
{
    cpu_set_t set;
    int found = 0;
    cpus[0] = 0;
    cpus[1] = -1;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
        if (CPU_ISSET(cpu, &set))
            cpus[found++] = cpu;
    }
}

static int measure_pairs(void)
{
    struct sample trip, waker;
    int cpus[2];
    choose_cpus(cpus);
    pin(cpus[0]);
    if (cpus[1] >= 0) {
        int error = measure_together(false, cpus[1], &trip, &waker);
        if (error != 0)
            return error;
        print_row("line-transfer", &trip, "a cache line from one CPU to another, both spinning");
        error = measure_together(true, cpus[1], &trip, &waker);
        if (error != 0)
            return error;
        print_row("wake-to-run", &trip, "from a wake until the parked thread runs on another CPU");
        print_row("wake", &waker, "what the waking thread pays for it");
    } else {
        printf("%-20s %10s %10s %10s  %s\n", "line-transfer", "", "", "", "needs two CPUs, this process may use one");
    }
    int error = measure_together(true, cpus[0], &trip, &waker);
    if (error != 0)
        return error;
    print_row("wake-to-run-same", &trip, "the same with both on one CPU: two context switches are one round trip");
    return 0;
}

int verb_calibrate(const struct invocation *invocation)
{
    if (platform_init() != 0)
        return complain("calibrate: the clocks of this machine cannot be set up"), EXIT_SURROUNDINGS;
    printf("%-20s %10s %10s %10s  %s\n", "ns", "median", "low", "high", "of");
    struct sample sample;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        measure_alone(&alone[i], &sample);
        print_row(alone[i].name, &sample, alone[i].meaning);
    }
    int error = measure_pairs();
    if (error != 0) {
        complain("calibrate: no second thread could be started: %s; see the limits in `%s doctor`", strerror(-error),
                 program_name());
        return EXIT_SURROUNDINGS;
    }
    double stamp_ns, clock_read_ns;
    account_calibrate(&stamp_ns, &clock_read_ns);
    printf("%-20s %10.1f %10s %10s  %s\n", "transition", stamp_ns, "", "", "one change of activity in the CPU split");
    printf("%-20s %10.1f %10s %10s  %s\n", "sampled-transition", clock_read_ns, "", "",
           "what a sampled one adds: a reading of the CPU clock");
    printf("%-20s %10.1f %10s %10s  %s\n", "pause-instruction", (double)platform_pause_instruction_ps() / 1000, "", "",
           "the processor's own pause hint");
    printf("%-20s %10u %10s %10s  %s\n", "longest-pause", platform_pause_units_max(), "", "",
           "units of pause, not ns, in the longest step of a back-off");
    return EXIT_DONE;
}
