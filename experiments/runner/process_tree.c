/* SPDX-License-Identifier: MIT
 *
 * Trees of processes; see process_tree.h.
 */
#include "process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/memory.h"
#include "usage.h"

/* A tree that keeps growing while it is killed is killed this often, 5 ms apart. */
#define KILL_ROUNDS 200
/* The kernel may leave children out of a list while one of their siblings is waited for: nobody is there when so many
 * rounds in a row have found nobody. */
#define EMPTY_ROUNDS 2
/* For a list of children; it grows. What the kernel gives at a time is a page. */
#define CHILDREN_SIZE_INITIAL 4096

/* Reads a file of /proc; false when it is gone. */
static bool read_text(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t used = 0;
    ssize_t got = 1;
    while (used + 1 < size && (got = read(file, out + used, size - used - 1)) > 0)
        used += (size_t)got;
    close(file);
    out[used] = '\0';
    return got >= 0 && used > 0;
}

bool process_tree_is_known(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    return access(path, R_OK) == 0;
}

/* ---- lists ---- */

static void add_process(struct process_list *list, pid_t pid)
{
    if ((list->count & (list->count - 1)) == 0)
        list->pids = memory_resize(list->pids, list->count > 0 ? list->count * 2 : 1, sizeof *list->pids);
    list->pids[list->count++] = pid;
}

void process_list_fini(struct process_list *list)
{
    free(list->pids);
    *list = (struct process_list){NULL, 0};
}

/* Calls for each thread of a process. */
static void each_thread(pid_t process, void (*take)(void *context, pid_t process, pid_t thread), void *context)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            take(context, process, (pid_t)strtol(entry->d_name, NULL, 10));
    }
    if (folder != NULL)
        closedir(folder);
}

/* A file of /proc to its end, the caller frees; "" when it is gone, less when reading it fails. */
static char *read_whole(const char *path)
{
    size_t size = CHILDREN_SIZE_INITIAL, used = 0;
    char *text = memory_allocate(size, 1);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    while (file >= 0 && (got = read(file, text + used, size - used - 1)) > 0) {
        used += (size_t)got;
        if (used + 1 < size)
            continue;
        size *= 2;
        text = memory_resize(text, size, 1);
    }
    if (file >= 0)
        close(file);
    text[used] = '\0';
    return text;
}

/* The kernel writes a blank behind each number: one without was cut, and may be that of any process. */
static void add_children(void *context, pid_t process, pid_t thread)
{
    struct process_list *list = context;
    char path[96];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process, (long)thread);
    char *text = read_whole(path);
    for (char *at = text, *end;; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at || *end != ' ')
            break;
        add_process(list, (pid_t)pid);
    }
    free(text);
}

void process_tree_list(pid_t root, struct process_list *out)
{
    *out = (struct process_list){NULL, 0};
    each_thread(root, add_children, out);
    for (uint32_t i = 0; i < out->count; i++)
        each_thread(out->pids[i], add_children, out);
}

/* ---- CPU ---- */

struct books {
    char state;
    unsigned long long own_ticks, children_ticks;
    long threads; /* that have not ended; the first counts until the process has */
};

/* Fields 3, 14 to 17 and 20 of /proc/PID/stat: state, utime, stime, cutime, cstime, num_threads. */
static bool read_books(pid_t process, struct books *out)
{
    char path[64], text[1024];
    unsigned long long user, system, children_user, children_system;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    if (!read_text(path, text, sizeof text))
        return false;
    const char *behind_name = strrchr(text, ')');
    if (behind_name == NULL ||
        sscanf(behind_name, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %ld", &out->state,
               &user, &system, &children_user, &children_system, &out->threads) != 6)
        return false;
    out->own_ticks = user + system;
    out->children_ticks = children_user + children_system;
    return true;
}

bool process_is_alive(pid_t process)
{
    struct books books;
    if (!read_books(process, &books))
        return false;
    return (books.state != 'Z' && books.state != 'X') || books.threads > 1; /* the state is that of its first thread */
}

static uint64_t ticks_ns(unsigned long long ticks)
{
    return ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* A process that has ended and is not waited for yet has no clock any more, but its books. */
static uint64_t cpu_of_list(pid_t root, const struct process_list *list)
{
    struct books books;
    uint64_t sum_ns = read_books(root, &books) ? ticks_ns(books.children_ticks) : 0;
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t cpu_ns;
        bool has_books = read_books(list->pids[i], &books);
        if (usage_of_process(list->pids[i], &cpu_ns) == 0)
            sum_ns += cpu_ns;
        else if (has_books)
            sum_ns += ticks_ns(books.own_ticks);
        if (has_books)
            sum_ns += ticks_ns(books.children_ticks);
    }
    return sum_ns;
}

uint64_t process_tree_cpu(pid_t root)
{
    struct process_list list;
    process_tree_list(root, &list);
    uint64_t cpu_ns = cpu_of_list(root, &list);
    process_list_fini(&list);
    return cpu_ns;
}

/* ---- samples ---- */

/* The number behind "NAME:" in a status file; 0 if there is none. */
static unsigned long long status_number(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line != NULL ? strtoull(line + strlen(name), NULL, 10) : 0;
}

static void add_thread(void *context, pid_t process, pid_t thread)
{
    struct tree_sample *sample = context;
    struct tree_thread *out;
    char path[96], text[4096];
    unsigned long long run_ns = 0, delay_ns = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/status", (long)process, (long)thread);
    if (!read_text(path, text, sizeof text))
        return;
    if ((sample->thread_count & (sample->thread_count - 1)) == 0)
        sample->threads = memory_resize(sample->threads, sample->thread_count > 0 ? sample->thread_count * 2 : 1,
                                        sizeof *sample->threads);
    out = &sample->threads[sample->thread_count++];
    *out = (struct tree_thread){
        .thread = thread,
        .voluntary = status_number(text, "\nvoluntary_ctxt_switches:"),
        .involuntary = status_number(text, "\nnonvoluntary_ctxt_switches:"),
    };
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/schedstat", (long)process, (long)thread);
    if (read_text(path, text, sizeof text) && sscanf(text, "%llu %llu", &run_ns, &delay_ns) == 2) {
        out->run_ns = run_ns;
        out->delay_ns = delay_ns;
    }
}

static void add_memory(struct tree_sample *sample, pid_t process)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    if (!read_text(path, text, sizeof text))
        return;
    sample->memory_mib += (double)status_number(text, "\nVmRSS:") / 1024;
    sample->memory_peak_mib += (double)status_number(text, "\nVmHWM:") / 1024;
}

static int compare_threads(const void *a, const void *b)
{
    pid_t first = ((const struct tree_thread *)a)->thread, second = ((const struct tree_thread *)b)->thread;
    return first < second ? -1 : first > second;
}

void process_tree_sample(pid_t root, struct tree_sample *out)
{
    struct process_list list;
    *out = (struct tree_sample){0};
    process_tree_list(root, &list);
    out->cpu_ns = cpu_of_list(root, &list);
    out->process_count = list.count;
    for (uint32_t i = 0; i < list.count; i++) {
        each_thread(list.pids[i], add_thread, out);
        add_memory(out, list.pids[i]);
    }
    if (out->thread_count > 0)
        qsort(out->threads, out->thread_count, sizeof *out->threads, compare_threads);
    process_list_fini(&list);
}

void tree_sample_fini(struct tree_sample *sample)
{
    free(sample->threads);
    *sample = (struct tree_sample){0};
}

/* The figures that a thread had at the first sample; zeros if it was not there. *known: it was. */
static struct tree_thread thread_before(const struct tree_sample *first, const struct tree_thread *now, bool *known)
{
    static const struct tree_thread unborn;
    const struct tree_thread *then = first->thread_count == 0 ? NULL
                                                              : bsearch(now, first->threads, first->thread_count,
                                                                        sizeof *first->threads, compare_threads);
    *known = then != NULL && now->run_ns >= then->run_ns && now->delay_ns >= then->delay_ns &&
             now->voluntary >= then->voluntary && now->involuntary >= then->involuntary;
    return *known ? *then : unborn;
}

void tree_difference(const struct tree_sample *first, const struct tree_sample *last, struct tree_difference *out)
{
    uint32_t in_both = 0;
    *out = (struct tree_difference){.cpu_went_back = last->cpu_ns < first->cpu_ns};
    if (!out->cpu_went_back)
        out->cpu_ns = last->cpu_ns - first->cpu_ns;
    for (uint32_t i = 0; i < last->thread_count; i++) {
        const struct tree_thread *now = &last->threads[i];
        bool known;
        struct tree_thread then = thread_before(first, now, &known);
        in_both += known;
        out->run_ns += now->run_ns - then.run_ns;
        out->delay_ns += now->delay_ns - then.delay_ns;
        out->voluntary += now->voluntary - then.voluntary;
        out->involuntary += now->involuntary - then.involuntary;
    }
    out->threads_started = last->thread_count - in_both;
    out->threads_ended = first->thread_count - in_both;
}

/* ---- the end ---- */

/* Kills once; true while one was alive. */
static bool kill_round(pid_t root)
{
    struct process_list list;
    bool any = false;
    process_tree_list(root, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        if (!process_is_alive(list.pids[i]))
            continue;
        any = true;
        kill(list.pids[i], SIGKILL);
    }
    process_list_fini(&list);
    return any;
}

/* Orphans are given to the caller by the thousand, and each that has ended would still be looked at in every round, and
 * take a place among the processes that its user may have. */
static void wait_for_ended(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

bool process_tree_kill(pid_t root)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    int empty = 0;
    for (int round = 0; round < KILL_ROUNDS; round++) {
        empty = kill_round(root) ? 0 : empty + 1;
        if (root == getpid())
            wait_for_ended();
        if (empty == EMPTY_ROUNDS)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}
