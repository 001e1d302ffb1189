/* SPDX-License-Identifier: MIT
 *
 * The processes under test: router, echo, and the workloads without clients.
 *
 * How it works. The main thread opens the executor, starts the workload on it and from then on only sleeps: until the
 * window's edges, where it reads counters, CPU split and clocks itself, a few times a second while somebody watches the
 * counter page, and more often in the window while a goal is watched. Its CPU is the harness's own, and said apart. The
 * end goes in steps, each with a time limit: no new work, all accepted tasks run, figures reported, executor closed. A
 * task that is lost or stuck shows as accepted but not run, is reported, and the process leaves without closing an
 * executor that might hang.
 */
#include "role.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "account.h"
#include "counter_page.h"
#include "goal_watch.h"
#include "settings.h"
#include "window.h"
#include "workloads/echo.h"

/* How long accepted tasks and sent requests may take to end after the window. */
#define PATIENCE_NS UINT64_C(2000000000)
/* Numbers that a bound or scheduler declares beside the common counters. */
#define EXTRAS_MAX      32
#define EXTRA_NAME_SIZE 48

struct extra {
    char name[EXTRA_NAME_SIZE];
    double value;
};

/* Everything that is read at one edge of the window. */
struct snapshot {
    struct window_edge edge;
    uint64_t process_cpu_ns;  /* without watching_cpu_ns */
    uint64_t watching_cpu_ns; /* of the thread that reads this, which is the harness's own */
    struct account_totals totals;
    struct router_totals server; /* all zero without clients */
    struct extra extras[EXTRAS_MAX];
    uint32_t extra_count;
};

/* What runs on the executor: one of the three is set. */
struct subject {
    struct pilfer_executor *executor;
    struct router *router;
    struct echo *echo;
    struct in_process *in_process;
    struct counter_page *page;
    struct goal_watch goal;
};

static void take_extra(void *context, const char *name, double value)
{
    struct snapshot *snapshot = context;
    if (snapshot->extra_count == EXTRAS_MAX)
        return;
    struct extra *extra = &snapshot->extras[snapshot->extra_count++];
    snprintf(extra->name, sizeof extra->name, "%s", name);
    extra->value = value;
}

static void server_totals(struct subject *subject, struct router_totals *out)
{
    if (subject->router != NULL)
        router_totals(subject->router, out);
    else if (subject->echo != NULL)
        echo_totals(subject->echo, out);
}

static void take_snapshot(struct subject *subject, struct snapshot *out)
{
    memset(out, 0, sizeof *out);
    out->edge = window_edge_now();
    out->watching_cpu_ns = platform_thread_cpu_ns();
    out->process_cpu_ns = platform_process_cpu_ns() - out->watching_cpu_ns;
    pilfer_totals(subject->executor, &out->totals);
    server_totals(subject, &out->server);
    pilfer_extras(subject->executor, take_extra, out);
}

/* ---- the counter page ---- */

static void refresh_page(struct subject *subject)
{
    struct account_totals totals;
    struct router_totals server = {0};
    uint32_t index = 0;
    pilfer_totals(subject->executor, &totals);
    server_totals(subject, &server);
    counter_page_begin(subject->page);
    counter_page_set(subject->page, index++, "requests", server.requests_answered);
    counter_page_set(subject->page, index++, "cpu_ns", platform_process_cpu_ns() - platform_thread_cpu_ns());
    counter_page_set(subject->page, index++, "workers_started", totals.workers_started);
    counter_page_set(subject->page, index++, "voluntary_switches", totals.voluntary_switches);
    counter_page_set(subject->page, index++, "involuntary_switches", totals.involuntary_switches);
    for (int i = 0; i < COUNTER_COUNT; i++)
        counter_page_set(subject->page, index++, counter_name(i), totals.counters[i]);
    counter_page_end(subject->page);
}

static void look_at_page(struct subject *subject)
{
    if (subject->page != NULL && counter_page_is_watched(subject->page))
        refresh_page(subject);
}

/* Waits for a word, with an eye on the counter page. */
static void wait_watched(struct role *role, struct subject *subject, const char *word)
{
    while (!role_wait(role, word, window_now_ns() + COUNTER_PAGE_PERIOD_NS))
        look_at_page(subject);
}

/* Sleeps until an edge of the window, with an eye on the counter page, and inside the window on the goal. Commands are
 * left for later: the runner may be a little earlier at the edge and say `stop` before this thread has read its figures
 * there. */
static void sleep_watched(struct subject *subject, uint64_t deadline_ns, bool in_window)
{
    const uint64_t period_ns = in_window && subject->goal.moves ? GOAL_PERIOD_NS : COUNTER_PAGE_PERIOD_NS;
    for (;;) {
        uint64_t now_ns = window_now_ns();
        if (now_ns >= deadline_ns)
            return;
        bool last = deadline_ns - now_ns <= period_ns;
        uint64_t until_ns = last ? deadline_ns : now_ns + period_ns;
        struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if (in_window)
            goal_watch_window(&subject->goal);
        if (!last)
            look_at_page(subject);
    }
}

/* Until the window, or until the runner has moved it ahead because the goal is steady. */
static void await_goal(struct role *role, struct subject *subject)
{
    bool said = false;
    for (uint64_t now_ns = window_now_ns(); now_ns < role_fact(role, "window-start-ns"); now_ns = window_now_ns()) {
        if (now_ns >= role_fact(role, "start-ns"))
            goal_watch_warm_up(&subject->goal);
        if (!said && goal_history_is_steady(&subject->goal.history)) {
            role_say_integer("steady", 1);
            said = true;
        }
        uint64_t next_ns = now_ns + GOAL_PERIOD_NS, start_ns = role_fact(role, "window-start-ns");
        if (role_wait(role, "window", next_ns < start_ns ? next_ns : start_ns))
            return;
    }
}

/* The same where the runner looks at the CPU. */
static void await_cpu(struct role *role, struct subject *subject)
{
    for (uint64_t now_ns = window_now_ns(); now_ns < role_fact(role, "window-start-ns"); now_ns = window_now_ns()) {
        uint64_t next_ns = now_ns + COUNTER_PAGE_PERIOD_NS, start_ns = role_fact(role, "window-start-ns");
        if (role_wait(role, "window", next_ns < start_ns ? next_ns : start_ns))
            return;
        look_at_page(subject);
    }
}

/* ---- reporting ---- */

static void say_counted(const char *prefix, const char *name, uint64_t number)
{
    char line[96];
    snprintf(line, sizeof line, "%s%s", prefix, name);
    role_say_integer(line, number);
}

static void say_split(const struct account_totals *window)
{
    for (int i = 0; i < ACTIVITY_COUNT; i++) {
        char line[96];
        snprintf(line, sizeof line, "activity.%s_cpu_ns", activity_name(i));
        role_say_number(line, account_cpu_ns(&window->activities[i], i));
    }
    double stamp_ns, clock_read_ns;
    account_calibrate(&stamp_ns, &clock_read_ns);
    role_say_integer("window.stamps", window->stamps);
    role_say_integer("window.clock_reads", window->clock_reads);
    role_say_number("stamp_ns", stamp_ns);
    role_say_number("clock_read_ns", clock_read_ns);
}

/* A largest value is no sum: it has no difference over the window, and stands for the whole run. So do a goal and a
 * limit: they stand as they are at the window's end. */
static bool is_level(const char *name)
{
    size_t length = strlen(name);
    return (length >= 4 && strcmp(name + length - 4, "_max") == 0) || strcmp(name, "goal") == 0 ||
           strncmp(name, "limit_", 6) == 0;
}

static void say_extras(const struct snapshot *first, const struct snapshot *last)
{
    for (uint32_t i = 0; i < last->extra_count; i++) {
        const struct extra *extra = &last->extras[i];
        double before = 0;
        for (uint32_t j = 0; j < first->extra_count; j++) {
            if (!is_level(extra->name) && strcmp(first->extras[j].name, extra->name) == 0)
                before = first->extras[j].value;
        }
        char line[96];
        snprintf(line, sizeof line, "extra.%s", extra->name);
        role_say_number(line, extra->value - before);
    }
}

static void say_server_window(const struct router_totals *first, const struct router_totals *last)
{
    uint64_t items = 0;
    for (int i = 0; i < ROUTER_ITEM_COUNT; i++) {
        say_counted("items.", router_item_name(i), last->items[i] - first->items[i]);
        items += last->items[i] - first->items[i];
    }
    role_say_integer("window.items", items);
    role_say_integer("window.items_inline", last->items_inline - first->items_inline);
    role_say_integer("window.polls", last->polls - first->polls);
    role_say_integer("window.received", last->requests_received - first->requests_received);
    role_say_integer("window.waited", last->requests_waited - first->requests_waited);
}

static void say_window(const struct snapshot *first, const struct snapshot *last)
{
    struct account_totals window;
    account_difference(&last->totals, &first->totals, &window);
    role_say_integer("first.monotonic_ns", first->edge.monotonic_ns);
    role_say_integer("first.boot_ns", first->edge.boot_ns);
    role_say_integer("last.monotonic_ns", last->edge.monotonic_ns);
    role_say_integer("last.boot_ns", last->edge.boot_ns);
    role_say_integer("window.process_cpu_ns", last->process_cpu_ns - first->process_cpu_ns);
    role_say_integer("window.watching_cpu_ns", last->watching_cpu_ns - first->watching_cpu_ns);
    role_say_integer("window.thread_cpu_ns", window.thread_cpu_ns);
    role_say_integer("window.run_delay_ns", window.run_delay_ns);
    role_say_integer("window.voluntary_switches", window.voluntary_switches);
    role_say_integer("window.involuntary_switches", window.involuntary_switches);
    role_say_integer("workers_started", window.workers_started);
    role_say_integer("workers_max", window.workers_max);
    for (int i = 0; i < COUNTER_COUNT; i++)
        say_counted("counter.", counter_name(i), window.counters[i]);
    say_split(&window);
    say_extras(first, last);
    say_server_window(&first->server, &last->server);
}

static void say_goal(const struct goal_watch *watch)
{
    struct goal_summary summary;
    if (watch->samples == 0)
        return;
    goal_watch_summary(watch, &summary);
    role_say_integer("goal.goal_median", summary.median);
    role_say_integer("goal.goal_lowest", summary.min);
    role_say_integer("goal.goal_highest", summary.max);
    role_say_number("goal.workers_engaged_mean", summary.engaged_mean);
    role_say_integer("goal.workers_engaged_highest", summary.engaged_max);
}

static void say_tasks(const struct account_totals *totals)
{
    role_say_integer("total.accepted", totals->counters[COUNTER_tasks_accepted]);
    role_say_integer("total.run", totals->counters[COUNTER_tasks_run]);
    role_say_integer("total.drained", totals->counters[COUNTER_tasks_drained]);
    role_say_integer("total.refused", totals->counters[COUNTER_submits_refused]);
    role_say_integer("total.thread_failures", totals->counters[COUNTER_thread_failures]);
}

static void say_server(const struct router_totals *totals)
{
    role_say_integer("total.received", totals->requests_received);
    role_say_integer("total.answered", totals->requests_answered);
    role_say_integer("total.relayed", totals->requests_relayed);
    role_say_integer("total.requests_refused", totals->requests_refused);
    role_say_integer("total.requests_unheard", totals->requests_unheard);
    role_say_integer("total.requests_lost", totals->requests_lost);
    role_say_integer("total.requests_invalid", totals->requests_invalid);
    role_say_integer("total.markers", totals->markers);
    role_say_integer("total.connections_accepted", totals->connections_accepted);
    role_say_integer("total.connections_rejected", totals->connections_rejected);
}

static void say_memory(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        role_say_number("memory_peak_mib", (double)usage.ru_maxrss / 1024);
}

/* ---- the steps ---- */

static void open_executor(struct role *role, struct subject *subject)
{
    struct executor_settings settings;
    struct pilfer_resolved resolved;
    char message[PILFER_MESSAGE_SIZE];
    if (settings_executor(&role->configuration, role_fact(role, "seed"), &settings, message) != 0 ||
        settings_resolve(&settings, &resolved, message) != 0 ||
        pilfer_open(&settings.options, &subject->executor, message) != 0)
        role_refuse("opening the executor", message);
    int error = settings_apply_limits(&settings, subject->executor);
    if (error != 0)
        role_refuse("setting the limits of the executor", strerror(-error));
    role_say_text("label", resolved.label);
    role_say_integer("max_workers_resolved", resolved.max_workers);
    goal_watch_init(&subject->goal, subject->executor);
    subject->page = counter_page_create(resolved.label, configuration_text(&role->configuration, "workload"));
}

/* A server that runs out of descriptors would serve fewer connections than were asked for: it is refused before. */
static void check_descriptors(struct role *role)
{
    struct rlimit limit;
    int lowest_free = fcntl(0, F_DUPFD, 0); /* as many are open: descriptors are given out without gaps */
    if (lowest_free >= 0)
        close(lowest_free);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || report_text(&role->facts, "serve") != NULL)
        return;
    rlim_t open_now = lowest_free < 0 ? limit.rlim_cur : (rlim_t)lowest_free;
    double connections = configuration_number(&role->configuration, "connections");
    rlim_t wanted = open_now + (rlim_t)connections + settings_has_extension(&role->configuration);
    if (wanted <= limit.rlim_cur)
        return;
    char text[128];
    snprintf(text, sizeof text, "%g connections need %llu open files, the limit is %llu; raise it (ulimit -n)",
             connections, (unsigned long long)wanted, (unsigned long long)limit.rlim_cur);
    role_refuse("starting the server under test", text);
}

static void start_server(struct role *role, struct subject *subject)
{
    struct router_options options;
    char message[PILFER_MESSAGE_SIZE];
    settings_router(&role->configuration, (uint16_t)role_fact(role, "port"), &options);
    int error = settings_has_extension(&role->configuration)
                    ? router_start(&options, subject->executor, &subject->router, message)
                    : echo_start(&options, subject->executor, &subject->echo, message);
    if (error != 0)
        role_refuse("starting the server under test", message);
    check_descriptors(role);
    role_say_integer("port", subject->router != NULL ? router_port(subject->router) : echo_port(subject->echo));
    if (subject->router != NULL)
        role_say_integer("control-port", router_control_port(subject->router));
}

/* Waits for the runner's window, takes the snapshots at its edges, and waits for `stop`. A server has no window. */
static void measure(struct role *role, struct subject *subject)
{
    static struct snapshot first, last;
    if (report_text(&role->facts, "serve") == NULL) {
        wait_watched(role, subject, "window");
        if (settings_awaits_goal(&role->configuration))
            await_goal(role, subject);
        else if (settings_awaits_cpu(&role->configuration))
            await_cpu(role, subject);
        uint64_t start_ns = role_fact(role, "window-start-ns"), end_ns = role_fact(role, "window-end-ns");
        if (subject->in_process != NULL)
            in_process_window(subject->in_process, start_ns, end_ns);
        sleep_watched(subject, start_ns, false);
        take_snapshot(subject, &first);
        sleep_watched(subject, end_ns, true);
        take_snapshot(subject, &last);
        say_window(&first, &last);
        say_goal(&subject->goal);
    }
    wait_watched(role, subject, "stop");
}

/* Waits until every accepted task has ended; true if so. Nothing submits any more. */
static bool settle(struct subject *subject, struct account_totals *totals)
{
    uint64_t deadline_ns = window_now_ns() + PATIENCE_NS;
    const struct timespec pause = {.tv_nsec = 1000000};
    for (;;) {
        pilfer_totals(subject->executor, totals);
        uint64_t ended = totals->counters[COUNTER_tasks_run] + totals->counters[COUNTER_tasks_drained];
        if (ended == totals->counters[COUNTER_tasks_accepted])
            return true;
        if (window_now_ns() >= deadline_ns)
            return false;
        nanosleep(&pause, NULL);
    }
}

static void write_trace(struct role *role, struct subject *subject)
{
    const char *path = report_text(&role->facts, "trace-path");
    if (path == NULL)
        return;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int error = file < 0 ? -errno : pilfer_write_trace(subject->executor, file);
    if (file >= 0 && close(file) != 0 && error == 0)
        error = -errno;
    if (error != 0) {
        char text[512];
        snprintf(text, sizeof text, "writing the trace to %s: %s", path, strerror(-error));
        role_say_text("warning", text);
    }
}

/* After the last submit: reports the sums, and takes the executor down if it is whole. */
static int finish(struct role *role, struct subject *subject, bool whole)
{
    struct account_totals totals;
    whole = settle(subject, &totals) && whole;
    say_tasks(&totals);
    struct router_totals server = {0};
    server_totals(subject, &server);
    say_server(&server);
    say_memory();
    counter_page_remove(subject->page);
    if (!whole) {
        role_say_word("done"); /* the runner sees by the sums what is missing */
        _exit(ROLE_DONE);      /* closing might wait for a task that never ends */
    }
    write_trace(role, subject);
    pilfer_close(subject->executor, PILFER_CLOSE_RUN, NULL);
    return ROLE_DONE;
}

int role_router(struct role *role)
{
    static struct subject subject;
    open_executor(role, &subject);
    start_server(role, &subject);
    role_say_word("ready");
    measure(role, &subject);
    if (subject.router != NULL)
        router_stop(subject.router);
    else
        echo_stop(subject.echo);
    int status = finish(role, &subject, true);
    if (subject.router != NULL)
        router_free(subject.router);
    else
        echo_free(subject.echo);
    return status;
}

static void say_in_process(const struct in_process_counts *counts, const struct histogram *latencies)
{
    role_say_integer("load.sent", counts->sent);
    role_say_integer("load.answered", counts->answered);
    role_say_integer("load.failed", counts->failed);
    role_say_integer("load.in_flight", counts->in_flight);
    role_say_integer("load.arrivals", counts->arrivals);
    role_say_integer("load.requests", counts->requests);
    role_say_integer("load.submitted", counts->submitted);
    role_say_histogram("latencies", latencies);
}

int role_in_process(struct role *role)
{
    static struct subject subject;
    static struct histogram latencies;
    struct in_process_options options;
    struct in_process_counts counts;
    open_executor(role, &subject);
    settings_in_process(&role->configuration, &options);
    int error = in_process_start(subject.executor, &options, &subject.in_process);
    if (error != 0)
        role_refuse("starting the submitters", strerror(-error));
    role_say_word("ready");
    measure(role, &subject);
    bool whole = in_process_stop(subject.in_process, PATIENCE_NS, &counts, &latencies);
    say_in_process(&counts, &latencies);
    return finish(role, &subject, whole);
}
