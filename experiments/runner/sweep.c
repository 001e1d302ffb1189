/* SPDX-License-Identifier: MIT
 *
 * Sweeps; see sweep.h.
 *
 * How it works. The store says which repeats there are; the plan says which there should be. So a sweep that is resumed
 * and a sweep that begins are the same loop, and at the end both are summed up from the store.
 */
#include "runner/sweep.h"

#include "cli/memory.h"
#include "cli/output.h"
#include "platform.h"
#include "runner/cell.h"
#include "runner/context.h"
#include "runner/effect.h"
#include "runner/progress.h"
#include "runner/settings.h"
#include "store.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_HUNG_UP         129
#define CLOSES_ABOVE_PERCENT 10 /* connections opened anew in 100 answers, from which on a sweep says so */

/* The signal that asked for the end, or 0. Written by the handler, read by the loop and by the cell. */
static volatile int stop_signal;

static void on_signal(int number)
{
    if (number == SIGINT && stop_signal == SIGINT)
        _exit(EXIT_INTERRUPTED);
    stop_signal = number;
}

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define STOP_SIGNALS (sizeof stop_signals / sizeof stop_signals[0])

/* Signals that were ignored before (nohup, a background job) stay ignored. */
static void catch_signals(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits of the cell end at once */
    sigemptyset(&action.sa_mask);
    stop_signal = 0;
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        sigaction(stop_signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(stop_signals[i], &action, NULL);
    }
}

static void release_signals(const struct sigaction *before)
{
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        sigaction(stop_signals[i], &before[i], NULL);
}

struct run {
    struct plan *plan;
    const struct sweep_options *options;
    struct store *store;
    struct store_sweep sweep;
    struct progress progress;
    uint32_t surroundings_in_a_row, surroundings;
    bool store_failed;
    bool measures_once; /* the time for repeats of disturbed measurements is used up */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- one repeat ---- */

/* Every parameter in effect stands in a column or a setting, as the person wrote it. */
static void add_parameters(const struct configuration *configuration, struct result *result)
{
    for (uint32_t i = 0; i < parameter_count; i++) {
        const char *column = parameters[i].column, *text = configuration->values[i];
        double number;
        bool is_set = result_column_find(column) >= 0 || result_get_text(result, column) != NULL ||
                      result_get_number(result, column, &number);
        if (!is_set && text[0] != '\0' && effect_taken_by(configuration, i, result) == NULL)
            result_add_setting(result, column, text);
    }
}

static int insert(struct run *run, uint32_t index, const struct configuration *configuration, struct result *result)
{
    const struct plan_step *step = &run->plan->steps[index];
    result_set_number(result, RESULT_sweep_id, (double)run->sweep.id);
    result_set_text(result, RESULT_cell_id, run->plan->cells[step->cell].id);
    result_set_number(result, RESULT_repeat, step->repeat);
    result_add_number(result, "position", index + 1.0);
    add_parameters(configuration, result);
    if (store_insert(run->store, result) == STORE_OK)
        return 0;
    progress_clear(&run->progress);
    complain("%s", store_message(run->store));
    run->store_failed = true;
    return -1;
}

static void complain_of_cell(struct run *run, const struct plan_step *step, const char *what, const char *message)
{
    progress_clear(&run->progress);
    complain("%s: %s, repeat %u: %s", what, run->plan->cells[step->cell].id, step->repeat,
             message[0] != '\0' ? message : "its processes gave no reason");
}

static void watch_the_time(struct run *run)
{
    const struct progress *progress = &run->progress;
    double behind = progress->seconds_spent - progress->seconds_done;
    if (run->measures_once || behind < PLAN_RETRY_SHARE * progress->seconds_total)
        return;
    run->measures_once = true;
    progress_clear(&run->progress);
    complain("this machine is busy: from now on each repeat is measured once, disturbed or not");
}

/* The count of failures in a row to which a step belongs: a target has its own, so that what can be measured beside it
 * does not hide that it cannot. */
static uint32_t *failures_of(struct run *run, const struct configuration *configuration)
{
    struct target_use *target = settings_target(configuration);
    return target != NULL ? &target->failures_in_a_row : &run->surroundings_in_a_row;
}

/* Whether nothing more is expected of the step's target. */
static bool is_given_up(struct run *run, uint32_t index)
{
    struct configuration configuration;
    plan_configuration(run->plan, run->plan->steps[index].cell, &configuration);
    const struct target_use *target = settings_target(&configuration);
    return target != NULL && target->failures_in_a_row >= SWEEP_SURROUNDINGS_MAX;
}

/* It could not be measured here. False: the sweep ends. */
static bool count_failure(struct run *run, const struct configuration *configuration)
{
    struct target_use *target = settings_target(configuration);
    const uint32_t in_a_row = ++*failures_of(run, configuration);
    run->surroundings++;
    if (target == NULL)
        return in_a_row < SWEEP_SURROUNDINGS_MAX;
    if (in_a_row == SWEEP_SURROUNDINGS_MAX)
        complain("%u repeats in a row of target %s cannot be measured here: its others are left out", in_a_row,
                 target->target.name);
    return true;
}

/* A server that closes connections after its answers is measured all the same; but opening and closing them is then
 * most of what its figures hold. Of an invalid repeat it is not said: the clients close, too, behind an answer that is
 * none. */
static void tell_of_closing(struct run *run, const struct configuration *configuration, const struct result *result)
{
    struct target_use *target = settings_target(configuration);
    double reopened;
    if (target == NULL || target->closing_was_told || result->invalid_reason != NULL ||
        !result_get_number(result, "reopened_percent", &reopened) || reopened < CLOSES_ABOVE_PERCENT)
        return;
    target->closing_was_told = true;
    progress_clear(&run->progress);
    complain("note: target %s closes its connections, %.0f of them in 100 answers: its figures hold what that costs",
             target->target.name, reopened);
}

/* False: the sweep ends here. */
static bool measure_step(struct run *run, uint32_t index)
{
    const struct plan_step *step = &run->plan->steps[index];
    struct configuration configuration;
    plan_configuration(run->plan, step->cell, &configuration);
    struct cell_options options = {
        .foreign_limit_percent = configuration_number(&configuration, "foreign-limit"),
        .tries_max = run->measures_once ? 1 : (uint32_t)configuration_number(&configuration, "tries"),
        .stop = &stop_signal,
        .hold = run->options->hold,
        .trace_path = run->options->trace_path,
    };
    struct result result;
    char message[CELL_MESSAGE_SIZE] = "";
    result_init(&result);
    bool go_on = true;
    enum cell_status status =
        cell_measure(&configuration, plan_step_seed(run->plan, step->repeat), &options, &result, message);
    switch (status) {
    case CELL_FAILED:
        complain_of_cell(run, step, "a cell failed and is stored as invalid", message);
        /* fallthrough */
    case CELL_MEASURED:
        *failures_of(run, &configuration) = 0;
        tell_of_closing(run, &configuration, &result);
        go_on = insert(run, index, &configuration, &result) == 0;
        break;
    case CELL_SURROUNDINGS:
        complain_of_cell(run, step, "a cell cannot be measured here", message);
        go_on = count_failure(run, &configuration);
        break;
    case CELL_INTERRUPTED:
        go_on = false;
        break;
    }
    result_fini(&result);
    return go_on;
}

/* What is done once, before the time of the repeats is taken. */
static void prepare(struct run *run, uint32_t cell)
{
    struct configuration configuration;
    plan_configuration(run->plan, cell, &configuration);
    cell_prepare(&configuration, &stop_signal);
}

static void measure_all(struct run *run)
{
    const struct plan *plan = run->plan;
    uint32_t left = 0;
    double seconds = 0;
    bool *is_stored = memory_allocate(plan->step_count, sizeof *is_stored);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct plan_cell *cell = &plan->cells[plan->steps[i].cell];
        is_stored[i] = store_has(run->store, run->sweep.id, cell->id, plan->steps[i].repeat);
        left += !is_stored[i];
        seconds += is_stored[i] ? 0 : cell->seconds;
        if (!is_stored[i] && stop_signal == 0)
            prepare(run, plan->steps[i].cell);
    }
    progress_begin(&run->progress, stderr, left, seconds);
    run->measures_once = run->options->hold; /* nobody wants to attach three times, and their time says nothing */
    for (uint32_t i = 0; i < plan->step_count && stop_signal == 0; i++) {
        const struct plan_cell *cell = &plan->cells[plan->steps[i].cell];
        if (is_stored[i] || is_given_up(run, i))
            continue;
        double start = now_s();
        if (!run->options->hold)
            progress_step(&run->progress, cell->id);
        if (!measure_step(run, i))
            break;
        progress_done(&run->progress, cell->seconds, now_s() - start);
        watch_the_time(run);
    }
    progress_clear(&run->progress);
    free(is_stored);
}

/* ---- begin and end ---- */

static int complain_of_store(const char *message)
{
    complain("%s", message);
    return EXIT_STORE;
}

/* The sweep to continue, or a new one. *nothing_to_do: it is finished. */
static int begin(struct run *run, bool *nothing_to_do)
{
    struct store_sweep *sweep = &run->sweep;
    *nothing_to_do = false;
    if (run->options->resume) {
        int status = store_sweep_with_plan(run->store, run->plan->text, sweep);
        if (status == STORE_OK) {
            *nothing_to_do = sweep->finished_unix_s != 0;
            if (*nothing_to_do)
                complain("sweep %lld (%s) of this plan is finished: nothing to measure", (long long)sweep->id,
                         sweep->name);
            else
                complain("continuing sweep %lld (%s): %lld of %lld repeats are stored", (long long)sweep->id,
                         sweep->name, (long long)sweep->repeats_stored, (long long)sweep->repeats_planned);
            plan_reorder(run->plan, sweep->seed);
            return EXIT_DONE;
        }
        if (status != STORE_MISSING)
            return complain_of_store(store_message(run->store));
        complain("no sweep of this plan is stored: a new one begins");
    }
    char context[CONTEXT_SIZE];
    platform_init(); /* measures the pause instruction, a line of the context */
    context_write(context, sizeof context);
    *sweep = (struct store_sweep){
        .name = memory_copy_text(run->plan->specification->name),
        .plan = memory_copy_text(run->plan->text),
        .context = memory_copy_text(context),
        .seed = run->plan->seed,
        .repeats_planned = run->plan->step_count,
        .extra = run->options->extra,
    };
    if (store_sweep_begin(run->store, sweep) != STORE_OK)
        return complain_of_store(store_message(run->store));
    return EXIT_DONE;
}

struct summary {
    uint32_t stored, invalid, disturbed;
};

static int sum_up(struct run *run, struct summary *out)
{
    struct result_set set;
    *out = (struct summary){0};
    if (store_read(run->store, run->sweep.id, false, &set) != STORE_OK)
        return complain_of_store(store_message(run->store));
    out->stored = (uint32_t)set.count;
    for (size_t i = 0; i < set.count; i++) {
        const struct result_value *columns = set.rows[i].columns;
        out->invalid += columns[RESULT_valid].kind != RESULT_KNOWN_NUMBER || columns[RESULT_valid].number == 0;
        out->disturbed +=
            columns[RESULT_disturbed].kind == RESULT_KNOWN_NUMBER && columns[RESULT_disturbed].number != 0;
    }
    result_set_fini(&set);
    return EXIT_DONE;
}

static void print_summary(struct run *run, const struct summary *summary, double seconds)
{
    char spent[32];
    progress_format_seconds(seconds, spent, sizeof spent);
    complain("sweep %lld (%s): %u of %u repeats stored in %s, %u invalid, %u disturbed; %s spent",
             (long long)run->sweep.id, run->plan->specification->name, summary->stored, run->plan->step_count,
             escaped(run->options->store_path), summary->invalid, summary->disturbed, spent);
    if (summary->invalid > 0)
        complain("why they are invalid: %s report --sweep %lld", program_name(), (long long)run->sweep.id);
    if (summary->stored < run->plan->step_count && run->options->again != NULL)
        complain("what is missing can be measured with: %s", run->options->again);
}

static int signal_status(int number)
{
    return number == SIGINT ? EXIT_INTERRUPTED : number == SIGTERM ? EXIT_TERMINATED : EXIT_HUNG_UP;
}

/* Measures what is missing and says how it went. */
static int measure_and_finish(struct run *run)
{
    struct sigaction before[STOP_SIGNALS];
    struct summary summary;
    double start = now_s();
    catch_signals(before);
    measure_all(run);
    release_signals(before);
    if (run->store_failed)
        return EXIT_STORE;
    if (run->surroundings_in_a_row == SWEEP_SURROUNDINGS_MAX)
        complain("%d repeats in a row cannot be measured here: the sweep ends", SWEEP_SURROUNDINGS_MAX);
    int status = sum_up(run, &summary);
    if (status != EXIT_DONE)
        return status;
    if (summary.stored == run->plan->step_count && store_sweep_finish(run->store, run->sweep.id) != STORE_OK)
        return complain_of_store(store_message(run->store));
    print_summary(run, &summary, now_s() - start);
    if (stop_signal != 0)
        return signal_status(stop_signal);
    if (run->surroundings > 0)
        return EXIT_SURROUNDINGS;
    return summary.invalid > 0 ? EXIT_INVALID : EXIT_DONE;
}

int sweep_run(struct plan *plan, const struct sweep_options *options, int64_t *sweep_id)
{
    struct run run = {.plan = plan, .options = options};
    for (uint32_t i = 0; i < plan->note_count; i++)
        complain("note: %s", plan->notes[i]);
    char message[STORE_MESSAGE_SIZE] = "";
    bool nothing_to_do;
    *sweep_id = 0;
    if (store_open(options->store_path, STORE_WRITE, &run.store, message) != STORE_OK)
        return complain_of_store(message);
    if (store_notice(run.store)[0] != '\0')
        complain("note: %s", store_notice(run.store));
    int status = begin(&run, &nothing_to_do);
    if (status == EXIT_DONE) {
        *sweep_id = run.sweep.id;
        if (!nothing_to_do)
            status = measure_and_finish(&run);
    }
    store_sweep_fini(&run.sweep);
    store_close(run.store);
    return status;
}
