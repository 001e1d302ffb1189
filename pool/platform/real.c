/* SPDX-License-Identifier: MIT
 *
 * The real back end of platform.h: pthreads, futex, the invariant TSC, /proc.
 *
 * How it works. A park is FUTEX_WAIT_BITSET with an absolute monotonic deadline, a wake FUTEX_WAKE. The stamp is the
 * TSC where the CPU calls it invariant, else the monotonic clock; its rate is measured over 10 ms at start and again,
 * over the time since then, when a longer interval is to be converted. The pause unit is measured like the published
 * runtime does it, as the best of several short runs.
 *
 * The file-scope variables here describe the machine; they are written once by platform_init() before any thread.
 *
 * Sources. futex(2), membarrier(2), proc(5) (schedstat, status), sched_setaffinity(2), cgroups(7); Drepper, "Futexes
 * are tricky", 2011.
 */
#include "platform/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

bool ordered_real_heavy_is_membarrier;
#ifdef ORDERED_REAL_SANITIZED
_Atomic(uint32_t) ordered_real_fence_word;
#endif

static bool stamp_is_tsc;
static double stamp_ns_per_tick = 1.0;
static uint64_t pause_instruction_ps = 10000;
static uint32_t pauses_per_unit = 1, units_max = 1;
static uint64_t thread_cpu_read_ns;

static _Thread_local void *self_pointer;

struct platform_thread {
    pthread_t handle;
    pid_t id; /* kernel thread id; set before the starter returns */
    bool joinable;
    char name[16];
    void (*body)(void *argument);
    void *argument;
    struct shared_u32 started; /* 0, then 1 by the new thread; @P real.1 */
};

/* ---- clocks ---- */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t platform_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t platform_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t platform_process_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t platform_stamp(void)
{
#if defined(__x86_64__)
    if (stamp_is_tsc)
        return __rdtsc();
#endif
    return platform_now_ns();
}

uint64_t platform_stamp_ns(uint64_t ticks)
{
    return (uint64_t)((double)ticks * stamp_ns_per_tick);
}

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
    return false;
#endif
}

/* The rate over 10 ms; an interruption between the two readings of an edge would distort it, so the tightest edge of
 * several is taken. */
static uint64_t tsc_edge(uint64_t *now_ns)
{
    uint64_t best_width = UINT64_MAX, stamp = 0;
    for (int i = 0; i < 20; i++) {
        uint64_t before = platform_stamp();
        uint64_t now = platform_now_ns();
        uint64_t after = platform_stamp();
        if (after - before < best_width) {
            best_width = after - before;
            stamp = before + (after - before) / 2;
            *now_ns = now;
        }
    }
    return stamp;
}

static void measure_stamp(void)
{
    stamp_is_tsc = tsc_is_invariant();
    if (!stamp_is_tsc)
        return;
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t begin = tsc_edge(&begin_ns);
    while (platform_now_ns() - begin_ns < 10000000)
        ;
    uint64_t end = tsc_edge(&end_ns);
    stamp_ns_per_tick = (double)(end_ns - begin_ns) / (double)(end - begin);
}

static void measure_thread_cpu_read(void)
{
    thread_cpu_read_ns = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        uint64_t first_ns = platform_thread_cpu_ns();
        uint64_t cost_ns = platform_thread_cpu_ns() - first_ns;
        if (cost_ns < thread_cpu_read_ns)
            thread_cpu_read_ns = cost_ns;
    }
}

uint64_t platform_thread_cpu_read_ns(void)
{
    return thread_cpu_read_ns;
}

/* ---- pause ---- */

static void measure_pause(void)
{
    enum { PAUSES = 1000, ROUNDS = 8 };
    uint64_t best_ns = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = platform_now_ns();
        for (int i = 0; i < PAUSES; i++)
            pause_instruction();
        uint64_t ns = platform_now_ns() - begin;
        if (ns < best_ns)
            best_ns = ns;
    }
    pause_instruction_ps = best_ns * 1000 / PAUSES;
    if (pause_instruction_ps == 0)
        pause_instruction_ps = 1;
    pauses_per_unit = pause_instructions_per_unit(pause_instruction_ps);
    units_max = pause_units_max(pause_instruction_ps);
}

void platform_pause(uint32_t count)
{
    for (uint64_t i = (uint64_t)count * pauses_per_unit; i > 0; i--)
        pause_instruction();
}

uint32_t platform_pause_units_max(void)
{
    return units_max;
}

uint64_t platform_pause_instruction_ps(void)
{
    return pause_instruction_ps;
}

void platform_yield(void)
{
    sched_yield();
}

/* ---- barriers ---- */

void ordered_real_membarrier(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static void register_membarrier(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    ordered_real_heavy_is_membarrier = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
                                       syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

int platform_init(void)
{
    measure_stamp();
    measure_pause();
    measure_thread_cpu_read();
    register_membarrier();
    return 0;
}

/* ---- threads ---- */

static void *thread_main(void *argument)
{
    struct platform_thread *thread = argument;
    thread->id = (pid_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), thread->name);
    void (*body)(void *) = thread->body;
    void *body_argument = thread->argument;
    /* @P real.1: publishes id to the starter. */
    shared_u32_store_release(&thread->started, 1);
    platform_wake(&thread->started, 1);
    body(body_argument);
    return NULL;
}

int platform_thread_start(struct platform_thread **out, const char *name, void (*body)(void *argument), void *argument)
{
    struct platform_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return -ENOMEM;
    snprintf(thread->name, sizeof(thread->name), "%.15s", name);
    thread->body = body;
    thread->argument = argument;
    thread->joinable = true;

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread->handle, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        free(thread);
        return error == ENOMEM ? -ENOMEM : -EAGAIN;
    }
    /* @P real.1: relies on id being set. */
    while (shared_u32_load_acquire(&thread->started) == 0)
        platform_park(&thread->started, 0, PLATFORM_FOREVER);
    *out = thread;
    return 0;
}

void platform_thread_join(struct platform_thread *thread)
{
    if (thread->joinable)
        pthread_join(thread->handle, NULL);
    free(thread);
}

struct platform_thread *platform_thread_self(void)
{
    struct platform_thread *thread = calloc(1, sizeof(*thread));
    if (thread != NULL)
        thread->id = (pid_t)syscall(SYS_gettid);
    return thread;
}

void platform_thread_forget(struct platform_thread *thread)
{
    free(thread);
}

void *platform_self(void)
{
    return self_pointer;
}

void platform_self_set(void *self)
{
    self_pointer = self;
}

/* Reads a small file into text, terminated; 0 or -errno. */
static int read_small_file(const char *path, char *text, size_t size)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    size_t length = 0;
    for (;;) {
        ssize_t n = read(descriptor, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    close(descriptor);
    text[length] = '\0';
    return length > 0 ? 0 : -EIO;
}

static uint64_t status_field(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line != NULL ? strtoull(line + strlen(name), NULL, 10) : 0;
}

int platform_thread_schedule(const struct platform_thread *thread, struct platform_schedule *out)
{
    char path[64], text[4096];
    struct platform_schedule schedule = {0};
    snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)thread->id);
    int status = read_small_file(path, text, sizeof(text));
    if (status != 0)
        return status == -ENOENT ? -ESRCH : status;
    char *end;
    schedule.cpu_ns = strtoull(text, &end, 10);
    schedule.run_delay_ns = strtoull(end, NULL, 10);
    snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread->id);
    status = read_small_file(path, text, sizeof(text));
    if (status != 0)
        return status == -ENOENT ? -ESRCH : status;
    schedule.voluntary_switches = status_field(text, "\nvoluntary_ctxt_switches:");
    schedule.involuntary_switches = status_field(text, "\nnonvoluntary_ctxt_switches:");
    *out = schedule;
    return 0;
}

/* ---- waiting ---- */

int platform_park(struct shared_u32 *word, uint32_t expected, uint64_t deadline_ns)
{
    struct timespec deadline = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
    long result = syscall(SYS_futex, &word->cell, FUTEX_WAIT_BITSET_PRIVATE, expected,
                          deadline_ns == PLATFORM_FOREVER ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    return result != 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

uint32_t platform_wake(struct shared_u32 *word, uint32_t count)
{
    long woken =
        syscall(SYS_futex, &word->cell, FUTEX_WAKE_PRIVATE, count > INT32_MAX ? INT32_MAX : (int)count, NULL, NULL, 0);
    return woken > 0 ? (uint32_t)woken : 0;
}

/* ---- work, memory, machine ---- */

void platform_charge(uint64_t ns)
{
    enum { GAP_NS = 2000 };
    uint64_t gap_ticks = (uint64_t)(GAP_NS / stamp_ns_per_tick);
    uint64_t wanted = (uint64_t)((double)ns / stamp_ns_per_tick), done = 0;
    uint64_t last = platform_stamp();
    while (done < wanted) {
        uint64_t now = platform_stamp();
        uint64_t step = now - last;
        if (step < gap_ticks)
            done += step;
        last = now;
    }
}

void *platform_alloc(size_t size)
{
    void *memory;
    size_t rounded = (size + CACHE_LINE_SIZE - 1) / CACHE_LINE_SIZE * CACHE_LINE_SIZE;
    if (rounded < size || posix_memalign(&memory, CACHE_LINE_SIZE, rounded > 0 ? rounded : CACHE_LINE_SIZE) != 0)
        return NULL;
    memset(memory, 0, rounded);
    return memory;
}

void platform_free(void *memory)
{
    free(memory);
}

/* CPUs granted by "quota period" or by two files with one number each; 0: no limit. */
static uint32_t quota_cpus(double quota, double period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    uint32_t whole = (uint32_t)(quota / period);
    return whole * period < quota ? whole + 1 : whole;
}

static uint32_t cgroup_v2_cpus(void)
{
    char text[4096], path[4200], limit[64];
    double quota, period;
    if (read_small_file("/proc/self/cgroup", text, sizeof(text)) != 0)
        return 0;
    char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL)
        return 0;
    char *name = strchr(line, '/');
    if (name == NULL)
        return 0;
    name[strcspn(name, "\n")] = '\0';
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", name);
    if (read_small_file(path, limit, sizeof(limit)) != 0 || sscanf(limit, "%lf %lf", &quota, &period) != 2)
        return 0;
    return quota_cpus(quota, period);
}

static uint32_t cgroup_v1_cpus(void)
{
    char text[4096], path[4300], quota[64], period[64];
    if (read_small_file("/proc/self/cgroup", text, sizeof(text)) != 0)
        return 0;
    for (char *save, *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':');
        char *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (name == NULL)
            continue;
        *name++ = '\0';
        if (strcmp(controllers + 1, "cpu") != 0 && strcmp(controllers + 1, "cpu,cpuacct") != 0)
            continue;
        snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", name);
        if (read_small_file(path, quota, sizeof(quota)) != 0)
            continue;
        snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", name);
        if (read_small_file(path, period, sizeof(period)) == 0)
            return quota_cpus(strtod(quota, NULL), strtod(period, NULL));
    }
    return 0;
}

uint32_t platform_usable_cpus(void)
{
    cpu_set_t set;
    uint32_t cpus = 1;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        cpus = (uint32_t)CPU_COUNT(&set);
    uint32_t quota = cgroup_v2_cpus();
    if (quota == 0)
        quota = cgroup_v1_cpus();
    return quota > 0 && quota < cpus ? quota : cpus;
}
