/* SPDX-License-Identifier: MIT
 *
 * `pilfer doctor`: what this machine can and cannot measure.
 *
 * How it works. One line per fact: a verdict ("ok", "note", "FAIL"), the fact's name, what was found, and, where it
 * matters, what follows from it. Nothing is changed or created. A FAIL means that measuring cannot work (status 3, for
 * the store 4); a note means that something is lost, and says what.
 */
#include "verbs.h"

#include "platform.h"
#include "cli/shipped.h"
#include "runner/context.h"
#include "runner/process_tree.h"
#include "runner/target_prepare.h"
#include "store_option.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum verdict { VERDICT_OK, VERDICT_NOTE, VERDICT_FAIL };

static __attribute__((format(printf, 3, 4))) void fact(enum verdict verdict, const char *name, const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "FAIL"};
    printf("%-5s %-20s ", words[verdict], name);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* ---- the kernel ---- */

/* What is stored with every sweep. */
static void print_context(void)
{
    char text[CONTEXT_SIZE];
    context_write(text, sizeof text);
    for (char *line = text, *next = text; (line = strsep(&next, "\n")) != NULL;) {
        char *value = strstr(line, ": ");
        if (value == NULL)
            continue;
        *value = '\0';
        value += 2;
        fact(strcmp(value, "unknown") == 0 ? VERDICT_NOTE : VERDICT_OK, line, "%s", escaped(value));
    }
}

/* Where a CPU quota on the process under test (--quota-percent) could be set. */
static void print_cgroup(void)
{
    static const struct {
        const char *file, *folder, *name;
    } versions[] = {
        {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu", "version 1"},
        {"/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup", "version 2"},
    };
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (access(versions[i].file, F_OK) != 0)
            continue;
        if (access(versions[i].folder, W_OK) == 0)
            fact(VERDICT_OK, "cpu-quota", "control groups %s, writable: --quota-percent works", versions[i].name);
        else
            fact(VERDICT_NOTE, "cpu-quota", "control groups %s, not writable: --quota-percent needs more rights",
                 versions[i].name);
        return;
    }
    fact(VERDICT_NOTE, "cpu-quota", "no control groups: --quota-percent cannot be used");
}

static void print_clock(void)
{
    char source[64], line[8192];
    if (!context_first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source))
        snprintf(source, sizeof source, "unknown");
    fact(strcmp(source, "tsc") == 0 || strcmp(source, "kvm-clock") == 0 ? VERDICT_OK : VERDICT_NOTE, "clock-source",
         "%s", source);
    FILE *file = fopen("/proc/cpuinfo", "re");
    bool constant = false, nonstop = false;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        constant = strstr(line, " constant_tsc") != NULL;
        nonstop = strstr(line, " nonstop_tsc") != NULL;
        break;
    }
    if (file != NULL)
        fclose(file);
    if (constant && nonstop)
        fact(VERDICT_OK, "tsc", "invariant: stamps are one instruction");
    else
        fact(VERDICT_NOTE, "tsc",
             "not invariant: stamps read the monotonic clock and cost more, see `pilfer calibrate`");
}

static void print_schedstat(void)
{
    char line[128];
    unsigned long long cpu_ns, delay_ns, slices;
    if (context_first_line("/proc/self/schedstat", line, sizeof line) &&
        sscanf(line, "%llu %llu %llu", &cpu_ns, &delay_ns, &slices) == 3)
        fact(VERDICT_OK, "schedstat", "CPU time and run delay per thread");
    else
        fact(VERDICT_NOTE, "schedstat", "absent: no run delay, run_delay_percent stays empty");
}

static void print_perf(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .disabled = 1,
        .exclude_kernel = 1,
    };
    long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor >= 0) {
        close((int)descriptor);
        fact(VERDICT_OK, "perf-counters", "hardware counters work: attach perf with --hold");
    } else {
        fact(VERDICT_NOTE, "perf-counters",
             "none (%s): instructions and cache misses cannot be counted here; not needed", strerror(errno));
    }
}

static void print_membarrier(void)
{
    if (ordered_real_heavy_is_membarrier)
        fact(VERDICT_OK, "membarrier", "private expedited: light fences cost nothing");
    else
        fact(VERDICT_NOTE, "membarrier", "absent: light fences are full fences");
}

/* ---- programs ---- */

static void print_programs(void)
{
    static const struct {
        const char *name, *without;
    } programs[] = {
        {"gnuplot", "no pictures, text instead: apt-get install gnuplot-nox"},
        {"curl", "only for a look at `pilfer serve`: apt-get install curl"},
        {"wrk", "only for a second opinion on `pilfer serve`: apt-get install wrk"},
    };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (target_find_program(programs[i].name, path, sizeof path))
            fact(VERDICT_OK, programs[i].name, "%s", escaped(path));
        else
            fact(VERDICT_NOTE, programs[i].name, "absent; %s", programs[i].without);
    }
}

/* Which of the targets that come with the program could be measured here. */
static void print_targets(void)
{
    const struct shipped_target *shipped;
    for (uint32_t i = 0; (shipped = shipped_target(i)) != NULL; i++) {
        char name[80], path[PATH_MAX], message[TARGET_MESSAGE_SIZE];
        struct target_use *use = target_find(shipped->name);
        snprintf(name, sizeof name, "target %s", shipped->name);
        if (use == NULL) {
            target_check(shipped->name, stderr);
            fact(VERDICT_NOTE, name, "%s has faults", escaped(shipped->path));
        } else if (!target_is_here(use, path, sizeof path, message)) {
            fact(VERDICT_NOTE, name, "%s", strchr(message, ':') + 2);
        } else if (path[0] == '\0') {
            fact(VERDICT_OK, name, "needs nothing else");
        } else {
            bool told = target_ask_version(use, NULL);
            fact(VERDICT_OK, name, "%s%s%s", escaped(path), told ? ", " : "", told ? use->version : "");
        }
    }
    if (!process_tree_is_known())
        fact(VERDICT_NOTE, "targets",
             "this kernel does not tell children (CONFIG_PROC_CHILDREN): none can be measured");
}

/* ---- limits ---- */

static bool print_limits(void)
{
    static const struct {
        const char *name;
        int resource;
        rlim_t wanted; /* below: a note; needed / below: a fail */
        rlim_t needed;
        const char *for_what;
    } limits[] = {
        {"limit-files", RLIMIT_NOFILE, 256, 64, "connections"},
        {"limit-processes", RLIMIT_NPROC, 256, 32, "worker threads and the processes of a cell"},
        {"limit-memory", RLIMIT_AS, (rlim_t)1 << 30, (rlim_t)256 << 20, "stacks of worker threads"},
    };
    bool sufficient = true;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i].resource, &limit) != 0) {
            fact(VERDICT_NOTE, limits[i].name, "unknown: %s", strerror(errno));
            continue;
        }
        if (limit.rlim_cur == RLIM_INFINITY) {
            fact(VERDICT_OK, limits[i].name, "none");
            continue;
        }
        enum verdict verdict = limit.rlim_cur < limits[i].needed   ? VERDICT_FAIL
                               : limit.rlim_cur < limits[i].wanted ? VERDICT_NOTE
                                                                   : VERDICT_OK;
        sufficient = sufficient && verdict != VERDICT_FAIL;
        fact(verdict, limits[i].name, "%llu%s%s", (unsigned long long)limit.rlim_cur,
             verdict == VERDICT_OK ? "" : ": little room for ", verdict == VERDICT_OK ? "" : limits[i].for_what);
    }
    return sufficient;
}

/* ---- the store ---- */

/* The store's folder, or the nearest one above it that exists. */
static void nearest_folder(const char *path, char *out, size_t size)
{
    snprintf(out, size, "%s", path);
    struct stat status;
    do {
        char *slash = strrchr(out, '/');
        if (slash == NULL) {
            snprintf(out, size, ".");
            return;
        }
        slash[slash == out ? 1 : 0] = '\0';
    } while (stat(out, &status) != 0 && strcmp(out, "/") != 0);
}

static int print_store(const struct invocation *invocation)
{
    const char *path = option_store_path(invocation);
    char folder[PATH_MAX], message[STORE_MESSAGE_SIZE];
    nearest_folder(path, folder, sizeof folder);
    bool writable = access(folder, W_OK | X_OK) == 0 && (access(path, F_OK) != 0 || access(path, W_OK) == 0);
    struct store *store;
    int status = store_open(path, STORE_READ, &store, message);
    if (status == STORE_MISSING) {
        fact(writable ? VERDICT_OK : VERDICT_FAIL, "store", "%s: not there yet, %s", escaped(path),
             writable ? "can be created" : "cannot be created; name another with --store FILE");
        return writable ? EXIT_DONE : EXIT_STORE;
    }
    if (status != STORE_OK) {
        fact(VERDICT_FAIL, "store", "%s", message);
        return EXIT_STORE;
    }
    struct store_sweep *sweeps = NULL;
    size_t count = 0;
    int result = EXIT_DONE;
    if (store_check(store) != STORE_OK || store_sweep_list(store, &sweeps, &count) != STORE_OK) {
        fact(VERDICT_FAIL, "store", "%s; `%s export` saves what can be read", store_message(store), program_name());
        result = EXIT_STORE;
    } else {
        int64_t repeats = 0;
        for (size_t i = 0; i < count; i++)
            repeats += sweeps[i].repeats_stored;
        fact(writable ? VERDICT_OK : VERDICT_NOTE, "store", "%s: sound, %zu sweeps, %lld repeats%s", escaped(path),
             count, (long long)repeats, writable ? "" : "; read-only: reports work, measuring does not");
    }
    for (size_t i = 0; i < count; i++)
        store_sweep_fini(&sweeps[i]);
    free(sweeps);
    store_close(store);
    return result;
}

/* ---- the environment ---- */

static void print_environment(void)
{
    static const struct {
        const char *name, *effect;
    } variables[] = {
        {STORE_PATH_VARIABLE, "the store when --store is not given"},
        {PROGRAM_NAME_VARIABLE, "how messages call this program"},
        {"PATH", "where gnuplot and the programs of targets are looked for"},
        {"HOME", "handed on to targets, as USER, LOGNAME and TMPDIR are, and what a target's file passes on"},
        {"XDG_RUNTIME_DIR", "where live counters are shared; else /tmp"},
        {"TERM", "whether progress is one line that is rewritten"},
        {"TMPDIR", "where a picture is prepared"},
        {"ARGP_HELP_FMT", "the layout of --help"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);
        fact(VERDICT_OK, variables[i].name, "%s (%s)", value != NULL ? escaped(value) : "not set", variables[i].effect);
    }
}

int verb_doctor(const struct invocation *invocation)
{
    if (platform_init() != 0) {
        fact(VERDICT_FAIL, "platform", "clocks and memory barriers cannot be set up");
        return EXIT_SURROUNDINGS;
    }
    uint32_t cpus = platform_usable_cpus();
    fact(cpus > 1 ? VERDICT_OK : VERDICT_NOTE, "usable-cpus", "%u%s", cpus,
         cpus > 3 ? ""
         : cpus > 1
             ? ": the load generator, the router and the extension share them; extension-mode delay is the default"
             : ": worker counts cannot be told apart on one CPU");
    print_context();
    print_cgroup();
    print_clock();
    print_schedstat();
    print_membarrier();
    print_perf();
    print_programs();
    print_targets();
    bool sufficient = print_limits();
    int status = print_store(invocation);
    print_environment();
    return status != EXIT_DONE ? status : sufficient ? EXIT_DONE : EXIT_SURROUNDINGS;
}
