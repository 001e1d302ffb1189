/* SPDX-License-Identifier: MIT
 *
 * Columns and further numbers of a result; see cell_numbers.h.
 *
 * How it works. Rates of CPU come from the two readings that whoever reads has taken at the edges, divided by the time
 * between them; the runner reads the processes, the process under test its own threads and activities. Requests are
 * those of the planned window, which the load generator counts by itself. CPU per request is the ratio of the two
 * rates.
 */
#include "cell_numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "histogram.h"
#include "settings.h"
#include "usage.h"
#include "validity.h"

/* Paced: by how much the answers inside the window may differ from those to its arrivals. */
#define BACKLOG_SHARE_MAX 0.02

/* Shorthand while one result is filled. */
struct filling {
    const struct cell_measurement *measurement;
    const struct report *router, *load; /* load: what has the clients' counts; the router itself without clients */
    struct result *result;
    double elapsed_ns;       /* between the runner's readings */
    double inner_elapsed_ns; /* between the router's own */
    double router_percent;
    double requests; /* paced: answers to the window's arrivals, whenever they came; closed: in the window */
    double answered; /* in the window, whenever they were due: what its CPU and its counters belong to */
};

static double reported(const struct report *report, const char *name)
{
    double number;
    return report_number(report, name, &number) ? number : NAN;
}

static uint64_t counted(const struct report *report, const char *name)
{
    uint64_t number;
    return report_integer(report, name, &number) ? number : 0;
}

/* Sets a column or number unless the figure is not known. */
static void set(struct filling *filling, enum result_column column, double number)
{
    if (isfinite(number))
        result_set_number(filling->result, column, number);
}

static void add(struct filling *filling, const char *name, double number)
{
    if (isfinite(number))
        result_add_number(filling->result, name, number);
}

/* CPU of the thread that watches inside the process under test: it is the harness's own, as that of a target's keeper
 * is. */
static double watching_cpu_percent(const struct filling *filling)
{
    uint64_t watching_ns = counted(filling->router, "window.watching_cpu_ns");
    return watching_ns != 0 ? 100 * (double)watching_ns / filling->inner_elapsed_ns : 0;
}

/* Between two readings of a clock; 0 if it went back. */
static uint64_t used_ns(uint64_t first_ns, uint64_t last_ns)
{
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* That of a tree does when a process of it ends whose parent does not wait for it. */
static bool router_cpu_went_back(const struct filling *filling)
{
    return filling->measurement->last.router_ns < filling->measurement->first.router_ns ||
           counted(filling->router, "window.cpu_went_back") != 0;
}

static void fill_rates(struct filling *filling)
{
    const struct cell_measurement *measurement = filling->measurement;
    double duration_s = (double)(measurement->window.end_ns - measurement->window.start_ns) / 1e9;
    filling->requests = reported(filling->load, "load.requests");
    set(filling, RESULT_requests, filling->requests);
    filling->answered = reported(filling->load, "load.completions");
    if (isnan(filling->answered))
        filling->answered = filling->requests; /* without clients */
    set(filling, RESULT_rps, filling->answered / duration_s);
    add(filling, "arrivals", reported(filling->load, "load.arrivals"));
    if (!measurement->edges_known)
        return;
    const struct cell_edge *first = &measurement->first, *last = &measurement->last;
    double watching_percent = watching_cpu_percent(filling);
    double router_percent =
        100 * (double)used_ns(first->router_ns, last->router_ns) / filling->elapsed_ns - watching_percent;
    if (!router_cpu_went_back(filling) && router_percent >= 0)
        filling->router_percent = router_percent;
    set(filling, RESULT_router_cpu_percent, filling->router_percent);
    if (filling->answered > 0)
        set(filling, RESULT_router_cpu_us_per_request,
            filling->router_percent / 100 * 1e6 / (filling->answered / duration_s));
    if (measurement->processes->extension != NULL)
        set(filling, RESULT_extension_cpu_percent,
            100 * (double)used_ns(first->extension_ns, last->extension_ns) / filling->elapsed_ns);
    if (measurement->processes->load != NULL)
        set(filling, RESULT_load_cpu_percent,
            100 * (double)used_ns(first->load_ns, last->load_ns) / filling->elapsed_ns);
    add(filling, "runner_cpu_percent",
        100 * (double)used_ns(first->runner_ns, last->runner_ns) / filling->elapsed_ns + watching_percent);
}

static void fill_latency(struct filling *filling)
{
    const struct configuration *configuration = filling->measurement->configuration;
    bool known = settings_is_networked(configuration)
                     ? settings_is_paced(configuration)
                     : in_process_has_latency(configuration_text(configuration, "workload"));
    size_t size = 0;
    uint8_t *bytes = known ? report_bytes(filling->load, "latencies", &size) : NULL;
    struct histogram *histogram = bytes != NULL ? malloc(sizeof *histogram) : NULL;
    if (histogram == NULL || histogram_decode(histogram, bytes, size) != 0) {
        free(bytes);
        free(histogram);
        return;
    }
    static const struct {
        enum result_column column;
        double quantile;
    } quantiles[] = {
        {RESULT_latency_us_p50, 0.5},
        {RESULT_latency_us_p90, 0.9},
        {RESULT_latency_us_p99, 0.99},
        {RESULT_latency_us_p999, 0.999},
    };
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        double ns = histogram_quantile_ns(histogram, quantiles[i].quantile);
        if (ns >= 0)
            set(filling, quantiles[i].column, ns / 1000);
    }
    if (histogram->count > 0) {
        add(filling, "latency_us_max", (double)histogram->max_ns / 1000);
        add(filling, "latencies_over", (double)histogram->over);
    }
    filling->result->histogram = bytes;
    filling->result->histogram_size = size;
    free(histogram);
}

/* The parts of the router's CPU, in percent of one CPU; the rest is unaccounted. */
static void fill_split(struct filling *filling)
{
    static const enum result_column columns[ACTIVITY_COUNT] = {
#define SPLIT_COLUMN(name, cut_ns, bound, every, meaning) RESULT_##name##_cpu_percent,
        ACTIVITIES(SPLIT_COLUMN)
#undef SPLIT_COLUMN
    };
    double parts = 0;
    for (int i = 0; i < ACTIVITY_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "activity.%s_cpu_ns", activity_name(i));
        double percent = 100 * reported(filling->router, name) / filling->inner_elapsed_ns;
        set(filling, columns[i], percent);
        parts += percent;
    }
    double unaccounted = filling->router_percent - parts;
    set(filling, RESULT_unaccounted_cpu_percent, unaccounted);
    if (isfinite(unaccounted))
        add(filling, "split_valid", fabs(unaccounted) <= CELL_UNACCOUNTED_MAX * filling->router_percent);
    double stamps = reported(filling->router, "window.stamps");
    double clock_reads = reported(filling->router, "window.clock_reads");
    double cost_ns =
        stamps * reported(filling->router, "stamp_ns") + clock_reads * reported(filling->router, "clock_read_ns");
    add(filling, "stamp_cost_percent", 100 * cost_ns / reported(filling->router, "window.process_cpu_ns"));
    if (filling->answered > 0)
        add(filling, "stamps_per_request", stamps / filling->answered);
    add(filling, "stamps", stamps);
    add(filling, "clock_reads", clock_reads);
    add(filling, "stamp_ns", reported(filling->router, "stamp_ns"));
    add(filling, "clock_read_ns", reported(filling->router, "clock_read_ns"));
}

static void fill_threads(struct filling *filling)
{
    const struct report *router = filling->router;
    set(filling, RESULT_workers_started, reported(router, "workers_started"));
    set(filling, RESULT_workers_max, reported(router, "workers_max"));
    set(filling, RESULT_run_delay_percent, 100 * reported(router, "window.run_delay_ns") / filling->inner_elapsed_ns);
    add(filling, "voluntary_switches", reported(router, "window.voluntary_switches"));
    add(filling, "involuntary_switches", reported(router, "window.involuntary_switches"));
    add(filling, "router_self_cpu_percent",
        100 * reported(router, "window.process_cpu_ns") / filling->inner_elapsed_ns);
    add(filling, "threads_cpu_percent", 100 * reported(router, "window.thread_cpu_ns") / filling->inner_elapsed_ns);
    add(filling, "router_memory_peak_mib", reported(router, "memory_peak_mib"));
    double sleep_ns = reported(router, "first.monotonic_ns") - (double)filling->measurement->window.start_ns;
    add(filling, "router_late_us", sleep_ns / 1000);
}

/* Counters that a role reports by name: all lines that begin with a prefix. */
static void fill_by_prefix(struct filling *filling, const struct report *report, const char *prefix,
                           const char *new_prefix)
{
    for (uint32_t i = 0; i < report->count; i++) {
        const char *name = report->entries[i].name;
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        char column[128];
        snprintf(column, sizeof column, "%s%s", new_prefix, name + strlen(prefix));
        for (char *at = column; *at != '\0'; at++) {
            if (*at == '-')
                *at = '_';
        }
        add(filling, column, reported(report, name));
    }
}

/* Of a window that waited. */
static void fill_warm_up(struct filling *filling)
{
    const struct cell_measurement *measurement = filling->measurement;
    const bool awaits_goal = settings_awaits_goal(measurement->configuration);
    const bool awaits_cpu = settings_awaits_cpu(measurement->configuration);
    if (awaits_goal)
        add(filling, "goal_steady", counted(filling->router, "steady") != 0);
    if (awaits_cpu)
        add(filling, "cpu_steady", measurement->cpu_steady);
    if ((awaits_goal || awaits_cpu) && measurement->warmup_ns != 0)
        set(filling, RESULT_warmup_s, (double)measurement->warmup_ns / 1e9);
}

static void fill_counters(struct filling *filling)
{
    const struct report *router = filling->router;
    fill_by_prefix(filling, router, "counter.", "");
    fill_by_prefix(filling, router, "extra.", "");
    if (filling->answered > 0)
        add(filling, "tasks_per_request", reported(router, "counter.tasks_run") / filling->answered);
    if (filling->measurement->processes->load == NULL)
        return;
    fill_by_prefix(filling, router, "items.", "items_");
    add(filling, "items_inline", reported(router, "window.items_inline"));
    add(filling, "polls", reported(router, "window.polls"));
    if (filling->answered > 0)
        add(filling, "items_per_request", reported(router, "window.items") / filling->answered);
    if (reported(router, "window.received") > 0)
        add(filling, "waited_percent", 100 * reported(router, "window.waited") / reported(router, "window.received"));
    fill_by_prefix(filling, filling->load, "load.failed_", "failed_");
    add(filling, "unsent", reported(filling->load, "load.unsent"));
    add(filling, "connections_failed", reported(filling->load, "load.connections_failed"));
    add(filling, "connections_reopened", reported(filling->load, "load.connections_reopened"));
    if (reported(filling->load, "load.answered") > 0)
        add(filling, "reopened_percent",
            100 * reported(filling->load, "load.connections_reopened") / reported(filling->load, "load.answered"));
    add(filling, "load_late_us_max", reported(filling->load, "load.late_ns_max") / 1000);
    if (filling->measurement->processes->extension != NULL)
        add(filling, "schedule_restarts",
            reported(&filling->measurement->processes->extension->report, "extension.schedule_restarts"));
}

/* ---- judging ---- */

/* In which way most requests failed that were not refused; NULL if none did, or nobody says. */
static const char *failure_of_most(const struct report *load)
{
    const char *most = NULL;
    uint64_t most_count = 0;
    for (int kind = 0; kind < LOAD_FAILURE_COUNT; kind++) {
        char name[48];
        snprintf(name, sizeof name, "load.failed_%s", load_failure_name(kind));
        uint64_t count = counted(load, name);
        if (kind == LOAD_FAILURE_refused || count <= most_count)
            continue;
        most_count = count;
        most = load_failure_name(kind);
    }
    return most;
}

static void read_client(const struct filling *filling, struct validity_client *out)
{
    const struct report *load = filling->load;
    bool networked = filling->measurement->processes->load != NULL;
    *out = (struct validity_client){
        .sent = counted(load, "load.sent"),
        .answered = counted(load, "load.answered"),
        .failed = counted(load, "load.failed"),
        .in_flight = counted(load, "load.in_flight"),
        .refused = counted(load, networked ? "load.failed_refused" : "load.failed"),
        .failure = failure_of_most(load),
        .arrivals = counted(load, "load.arrivals"),
        .requests = counted(load, "load.requests"),
        .window_failures = networked ? counted(load, "load.window_failures")
                                     : counted(load, "load.arrivals") - counted(load, "load.requests"),
        .unsent = counted(load, "load.unsent"),
        .connections_achieved = counted(load, "load.connections_achieved"),
        .connections_asked =
            networked ? (uint64_t)configuration_number(filling->measurement->configuration, "connections") : 0,
    };
}

/* Behind a target, whose own count is not known. */
static bool extension_is_sound(const struct filling *filling, const struct validity_client *client, char *reason,
                               size_t size)
{
    const struct child *extension = filling->measurement->processes->extension;
    if (extension == NULL)
        return true;
    struct validity_extension counts = {
        .received = counted(&extension->report, "extension.received"),
        .answered = counted(&extension->report, "extension.answered"),
    };
    return validity_of_extension(client, &counts, reason, size);
}

static bool server_is_sound(const struct filling *filling, const struct validity_client *client, char *reason,
                            size_t size)
{
    const struct processes *processes = filling->measurement->processes;
    const struct report *router = filling->router;
    if (processes->load == NULL)
        return true;
    if (processes->router->keeps_tree)
        return extension_is_sound(filling, client, reason, size);
    struct validity_server server = {
        .received = counted(router, "total.received"),
        .answered = counted(router, "total.answered"),
        .relayed = counted(router, "total.relayed"),
        .refused = counted(router, "total.requests_refused"),
        .lost = counted(router, "total.requests_lost"),
        .markers = counted(router, "total.markers"),
    };
    if (processes->extension != NULL) {
        server.has_extension = true;
        server.extension_received = counted(&processes->extension->report, "extension.received");
        server.extension_answered = counted(&processes->extension->report, "extension.answered");
    } else {
        server.relayed =
            server.answered - server.refused - server.lost; /* echo relays nothing: its answers are its own */
    }
    return validity_of_server(client, &server, reason, size);
}

static bool tasks_are_sound(const struct filling *filling, char *reason, size_t size)
{
    const char *over = result_get_text(filling->result, "over");
    struct validity_tasks tasks = {
        .accepted = counted(filling->router, "total.accepted"),
        .run = counted(filling->router, "total.run"),
        .drained = counted(filling->router, "total.drained"),
        /* below a bound, its readers are tasks too */
        .submitted = over == NULL ? counted(filling->router, "load.submitted") : 0,
    };
    return validity_of_tasks(&tasks, reason, size);
}

/* The runner reads the clock of the process, the process that of its watching thread, and on a busy machine at times
 * that lie far apart. */
static bool watching_is_within(const struct filling *filling, char *reason, size_t size)
{
    if (isfinite(filling->router_percent) || router_cpu_went_back(filling) || !filling->measurement->edges_known)
        return true;
    snprintf(reason, size, "CPU of the %s is less than that of the thread that watches it: they were read apart",
             filling->measurement->processes->router->role);
    return false;
}

/* One that first got a CPU behind the window has figures of another time. */
static bool has_seen_window(const struct filling *filling, const struct window_edge *first, char *reason, size_t size)
{
    const struct cell_measurement *measurement = filling->measurement;
    if (first->monotonic_ns < measurement->window.end_ns)
        return true;
    snprintf(reason, size, "the %s was held up until %.3f ms after the window",
             measurement->processes->router->role, (double)(first->monotonic_ns - measurement->window.end_ns) / 1e6);
    return false;
}

/* The runner must have been in time. The process under test may be late where it saturates its CPUs or its quota; its
 * own rates are taken over the time between its own readings. */
static bool times_are_sane(const struct filling *filling, char *reason, size_t size)
{
    const struct cell_measurement *measurement = filling->measurement;
    const struct report *router = filling->router;
    struct window_edge inner_first = {counted(router, "first.monotonic_ns"), counted(router, "first.boot_ns")};
    struct window_edge inner_last = {counted(router, "last.monotonic_ns"), counted(router, "last.boot_ns")};
    return window_clocks_agree(&inner_first, &inner_last, reason, size) &&
           has_seen_window(filling, &inner_first, reason, size) &&
           window_is_sane(&measurement->window, &measurement->first.machine.edge, &measurement->last.machine.edge,
                          reason, size) &&
           watching_is_within(filling, reason, size);
}

/* Doing it again would not help: so it counts as something that vanished. */
static bool cpu_is_known(const struct filling *filling, char *reason, size_t size)
{
    if (!router_cpu_went_back(filling))
        return true;
    snprintf(reason, size, "CPU of the %s went back: a process ended whose parent did not wait for it",
             filling->measurement->processes->router->role);
    return false;
}

static bool is_conserved(struct filling *filling, char *reason, size_t size)
{
    struct validity_client client;
    read_client(filling, &client);
    return validity_of_client(&client, settings_is_paced(filling->measurement->configuration), reason, size) &&
           server_is_sound(filling, &client, reason, size) && tasks_are_sound(filling, reason, size) &&
           cpu_is_known(filling, reason, size);
}

static bool is_disturbed(struct filling *filling, double foreign_limit_percent)
{
    const struct cell_edge *first = &filling->measurement->first, *last = &filling->measurement->last;
    uint64_t ours_ns = used_ns(first->router_ns, last->router_ns) + used_ns(first->extension_ns, last->extension_ns) +
                       used_ns(first->load_ns, last->load_ns) + used_ns(first->runner_ns, last->runner_ns);
    struct disturbance disturbance;
    disturbance_judge(&first->machine, &last->machine, ours_ns, foreign_limit_percent, &disturbance);
    if (disturbance.foreign_known) {
        add(filling, "foreign_cpu_percent", disturbance.foreign_cpu_percent);
        add(filling, "foreign_resolution_percent", disturbance.resolution_percent);
    }
    if (disturbance.suspended_ns > 0)
        add(filling, "suspended_ms", (double)disturbance.suspended_ns / 1e6);
    add(filling, "throttled_periods",
        (double)(disturbance.throttled_periods + last->quota.periods - first->quota.periods));
    add(filling, "throttled_ms",
        (double)(disturbance.throttled_ns + last->quota.throttled_ns - first->quota.throttled_ns) / 1e6);
    return disturbance.disturbed;
}

/* Paced, requests and their latency are those of the window's arrivals, rate, CPU and counters those of what was
 * answered inside it: if that was much more or less, a backlog grew or shrank, and the load was another than asked. */
static bool is_backlogged(struct filling *filling)
{
    double completions = reported(filling->load, "load.completions");
    if (!settings_is_paced(filling->measurement->configuration) || isnan(completions))
        return false;
    add(filling, "completions", completions);
    return fabs(completions - filling->requests) > BACKLOG_SHARE_MAX * filling->requests;
}

static bool judge(struct filling *filling, double foreign_limit_percent)
{
    char reason[256];
    bool conserved = is_conserved(filling, reason, sizeof reason);
    bool timely = conserved && times_are_sane(filling, reason, sizeof reason);
    bool backlogged = is_backlogged(filling);
    bool disturbed = is_disturbed(filling, foreign_limit_percent) || backlogged || (conserved && !timely);
    result_set_number(filling->result, RESULT_valid, conserved && timely);
    result_set_number(filling->result, RESULT_disturbed, disturbed);
    if (!conserved || !timely)
        filling->result->invalid_reason = strdup(reason);
    return disturbed && conserved;
}

bool cell_fill(const struct cell_measurement *measurement, double foreign_limit_percent, struct result *result)
{
    const struct processes *processes = measurement->processes;
    struct filling filling = {
        .measurement = measurement,
        .router = &processes->router->report,
        .load = processes->load != NULL ? &processes->load->report : &processes->router->report,
        .result = result,
        .router_percent = NAN,
    };
    filling.elapsed_ns =
        (double)(measurement->last.machine.edge.monotonic_ns - measurement->first.machine.edge.monotonic_ns);
    filling.inner_elapsed_ns =
        reported(filling.router, "last.monotonic_ns") - reported(filling.router, "first.monotonic_ns");
    const char *label = report_text(filling.router, "label");
    const struct target_use *use = settings_target(measurement->configuration);
    if (label != NULL)
        result_set_text(result, RESULT_label, label);
    if (use != NULL && use->version[0] != '\0')
        result_add_setting(result, "target_version", use->version);
    fill_rates(&filling);
    fill_latency(&filling);
    fill_split(&filling);
    fill_threads(&filling);
    fill_counters(&filling);
    fill_by_prefix(&filling, filling.router, "goal.", ""); /* of a sizing that moves */
    fill_warm_up(&filling);
    return measurement->edges_known && judge(&filling, foreign_limit_percent);
}
