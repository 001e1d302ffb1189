/* SPDX-License-Identifier: MIT
 *
 * `pilfer top`: live counters of a running cell or server, from its shared counter page.
 *
 * How it works. The process under test refreshes its page a few times a second while somebody looks (counter_page.h);
 * here two states are read, a second apart on a terminal, and printed as totals and rates. On a terminal the table is
 * redrawn, and when a cell of a sweep ends the next one is waited for; elsewhere it is printed once.
 */
#include "verbs.h"

#include "runner/counter_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGES_MAX        64
#define REDRAW_NS        1000000000
#define NEXT_CELL_ROUNDS 20 /* of COUNTER_PAGE_PERIOD_NS: how long the next cell of a sweep is waited for */

static void rest(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

/* Reads until the page has been refreshed after since_ns; false when the process has ended. */
static bool read_refreshed(struct counter_page_reader *reader, uint64_t since_ns, struct counter_page_state *out)
{
    for (;;) {
        if (!counter_page_read(reader, out))
            return false;
        if (out->refreshed_ns > since_ns)
            return true;
        rest(COUNTER_PAGE_PERIOD_NS / 4);
    }
}

static void print_table(const struct counter_page_state *earlier, const struct counter_page_state *later)
{
    double seconds = (double)(later->refreshed_ns - earlier->refreshed_ns) / 1e9;
    printf("%s on %s, process %d\n\n%-24s %16s %16s\n", escaped(later->workload), escaped(later->label),
           (int)later->pid, "", "total", "per second");
    for (uint32_t i = 0; i < later->count; i++) {
        uint64_t now = later->entries[i].value;
        uint64_t before = i < earlier->count ? earlier->entries[i].value : 0;
        printf("%-24s %16llu %16.0f\n", escaped(later->entries[i].name), (unsigned long long)now,
               now > before ? (double)(now - before) / seconds : 0);
    }
    fflush(stdout);
}

/* Shows one process; returns when it has ended, or at once behind the first table if once. False: nothing shown. */
static bool show(pid_t pid, bool once)
{
    struct counter_page_reader *reader = counter_page_open(pid);
    if (reader == NULL)
        return false;
    struct counter_page_state earlier, later;
    bool shown = false;
    bool running = read_refreshed(reader, 0, &earlier);
    while (running && read_refreshed(reader, earlier.refreshed_ns, &later)) {
        if (!once)
            printf("\033[H\033[J"); /* home, and clear what is below */
        print_table(&earlier, &later);
        shown = true;
        if (once || ferror(stdout))
            break;
        earlier = later;
        rest(REDRAW_NS);
    }
    counter_page_close(reader);
    return shown;
}

/* " 4711 (router on chase-lev), ..." in text, "" if there is none. */
static void name_processes(const pid_t *pids, uint32_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        struct counter_page_reader *reader = counter_page_open(pids[i]);
        struct counter_page_state state;
        if (reader == NULL)
            continue;
        if (counter_page_read(reader, &state))
            used += (size_t)snprintf(text + used, size - used, "%s %d (%s on %s)", used > 0 ? "," : "", (int)pids[i],
                                     escaped(state.workload), escaped(state.label));
        counter_page_close(reader);
    }
}

static int complain_several(const pid_t *pids, uint32_t count)
{
    char text[1024];
    name_processes(pids, count, text, sizeof text);
    complain("top: %u processes have counters, name one:%s", count, text);
    return EXIT_USAGE;
}

static int complain_none(const char *pid)
{
    char text[1024];
    pid_t pids[PAGES_MAX];
    uint32_t count = counter_page_list(pids, PAGES_MAX);
    name_processes(pids, count < PAGES_MAX ? count : PAGES_MAX, text, sizeof text);
    if (text[0] != '\0')
        complain("top: process %s has no counters to show; there are some of%s", pid, text);
    else
        complain("top: process %s has no counters to show; start one with `%s serve router`", pid, program_name());
    return EXIT_SURROUNDINGS;
}

int verb_top(const struct invocation *invocation)
{
    bool once = invocation->options[OPTION_once] != NULL || isatty(STDOUT_FILENO) == 0;
    if (invocation->argument_count > 0) {
        const char *text = invocation->arguments[0];
        if (text[0] == '\0' || strlen(text) > 9 || text[strspn(text, "0123456789")] != '\0')
            return complain("top: '%s' is no process id", escaped(text)), EXIT_USAGE;
        if (!show((pid_t)strtol(text, NULL, 10), once))
            return complain_none(text);
        return EXIT_DONE;
    }
    bool shown = false;
    for (uint32_t round = 0; round < NEXT_CELL_ROUNDS; round++) {
        pid_t pids[PAGES_MAX];
        uint32_t count = counter_page_list(pids, PAGES_MAX);
        if (count > 1 && !shown)
            return complain_several(pids, count < PAGES_MAX ? count : PAGES_MAX);
        if (count > 0 && show(pids[0], once)) {
            if (once || ferror(stdout))
                return EXIT_DONE;
            shown = true;
            round = 0;
        }
        if (!shown && count == 0)
            break;
        rest(COUNTER_PAGE_PERIOD_NS);
    }
    if (!shown)
        return complain("top: nothing of yours is running; start a sweep or `%s serve router` first", program_name()),
               EXIT_SURROUNDINGS;
    return EXIT_DONE;
}
