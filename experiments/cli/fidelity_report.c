/* SPDX-License-Identifier: MIT
 *
 * Models of a pool beside the runtime itself; see fidelity_report.h.
 */
#include "fidelity_report.h"

#include "decimal.h"
#include "fidelity_cells.h"
#include "pilfer.h"
#include "report.h"
#include "reproduction.h"

#include <math.h>
#include <string.h>

#define RATIO_WIDTH 18

/* ---- tables ---- */

static const char *fixed(double number, int digits, char out[DECIMAL_SIZE])
{
    return isfinite(number) ? decimal_print_fixed(number, digits, out) : "-";
}

static void print_setting(const char *max_workers, const char *spin_limit, FILE *out)
{
    fprintf(out, "%-11s  %-10s", max_workers, spin_limit);
}

/* The column of a model is as wide as its label. */
static int ratio_width(const char *label)
{
    int length = (int)strlen(label);
    return length > RATIO_WIDTH ? length : RATIO_WIDTH;
}

/* "1.92 [1.71 2.10]", with "~" where it stands on disturbed repeats alone. */
static void print_ratio(const struct fidelity_group *group, const struct fidelity_row *row, size_t executor, int width,
                        FILE *out)
{
    char text[REPORT_RATIO_SIZE], marked[REPORT_RATIO_SIZE + 1];
    bool disturbed;
    struct interval ratio = fidelity_ratio(group, row, executor, &disturbed);
    report_ratio_text(&ratio, text);
    snprintf(marked, sizeof marked, "%s%s", disturbed ? "~" : "", text);
    fprintf(out, "  %-*s", width, marked);
}

static void print_ratios(const struct fidelity_cells *fidelity, const struct fidelity_group *group, FILE *out)
{
    print_setting("max-workers", "spin-limit", out);
    fprintf(out, "  %9s  %-*s", "real us", RATIO_WIDTH, "real");
    for (size_t i = 1; i < fidelity->executor_count; i++)
        fprintf(out, "  %-*s  %6s", ratio_width(fidelity->executors[i]), fidelity->executors[i], "x real");
    fprintf(out, "\n");
    for (size_t i = 0; i < group->count; i++) {
        char text[DECIMAL_SIZE], us[32];
        const struct fidelity_row *row = &group->rows[i];
        print_setting(row->max_workers, row->spin_limit, out);
        snprintf(us, sizeof us, "%s%.24s", fidelity_is_disturbed(row->cells[0]) ? "~" : "",
                 fixed(fidelity_cpu_us(row->cells[0]), 1, text));
        fprintf(out, "  %9s", us);
        print_ratio(group, row, 0, RATIO_WIDTH, out);
        for (size_t executor = 1; executor < fidelity->executor_count; executor++) {
            print_ratio(group, row, executor, ratio_width(fidelity->executors[executor]), out);
            fprintf(out, "  %6s", fixed(fidelity_factor(group, row, executor), 2, text));
        }
        fprintf(out, "\n");
    }
    fprintf(out, "\n");
}

/* What explains a difference: a counter that one side has too much of. The real runtime's are those of the kernel. */
static const struct {
    const char *name, *head;
    bool real_too;
} counters[] = {
    {"voluntary_switches", "blocked", true},
    {"involuntary_switches", "preempted", true},
    {"yields", "yields", false},
    {"wakes_sent", "wakes", false},
    {"dispatches_empty", "empty turns", false},
};
#define COUNTERS (sizeof counters / sizeof counters[0])

static int counter_width(size_t counter)
{
    return counters[counter].real_too ? 15 : 11;
}

/* A counter of all executors in their order, "3.83/2.78". */
static void print_counter(const struct fidelity_cells *fidelity, const struct fidelity_row *row, size_t counter,
                          FILE *out)
{
    char texts[FIDELITY_EXECUTORS_MAX * 16], text[DECIMAL_SIZE];
    size_t used = 0;
    for (size_t i = counters[counter].real_too ? 0 : 1; i < fidelity->executor_count; i++) {
        double number = fidelity_median(row->cells[i], counters[counter].name, true);
        used += (size_t)snprintf(texts + used, sizeof texts - used, "%s%.12s", used > 0 ? "/" : "",
                                 fixed(number, number < 10 ? 2 : 1, text));
    }
    fprintf(out, "  %*s", counter_width(counter), used > 0 ? texts : "-");
}

static void print_counters(const struct fidelity_cells *fidelity, const struct fidelity_group *group, FILE *out)
{
    fprintf(out, "Per request, real");
    for (size_t i = 1; i < fidelity->executor_count; i++)
        fprintf(out, "/%s", fidelity->executors[i]);
    fprintf(out, "; yields, wakes and empty turns are known of models only\n\n");
    print_setting("max-workers", "spin-limit", out);
    for (size_t i = 0; i < COUNTERS; i++)
        fprintf(out, "  %*s", counter_width(i), counters[i].head);
    fprintf(out, "\n");
    for (size_t i = 0; i < group->count; i++) {
        print_setting(group->rows[i].max_workers, group->rows[i].spin_limit, out);
        for (size_t counter = 0; counter < COUNTERS; counter++)
            print_counter(fidelity, &group->rows[i], counter, out);
        fprintf(out, "\n");
    }
    fprintf(out, "\n");
}

/* ---- what follows ---- */

/* Of two orders without a relation the rank correlation has mean 0 and variance 1 / (count - 1) (Kendall, Rank
 * Correlation Methods): one-sided, 5 %. */
static bool is_beyond_chance(double correlation, size_t count)
{
    return correlation * sqrt((double)count - 1) > 1.645;
}

static void say_correlation(const char *label, const struct fidelity_group *group, size_t executor, FILE *out)
{
    char own[DECIMAL_SIZE], ceiling[DECIMAL_SIZE], share[DECIMAL_SIZE];
    const struct fidelity_agreement agreement = fidelity_agree(group, executor);
    if (!isfinite(agreement.correlation) || !isfinite(agreement.ceiling)) {
        reproduction_say(out,
                         "%s: no rank correlation: it takes three settings, measured on both, and two repeats each.",
                         label);
        return;
    }
    fixed(agreement.correlation, 2, own);
    fixed(agreement.ceiling, 2, ceiling);
    if (!is_beyond_chance(agreement.ceiling, agreement.count)) {
        reproduction_say(out,
                         "%s: rank correlation %s over %zu settings, but the runtime does not repeat its own order "
                         "better than chance would (%s, odd repeats against even ones): no model can be judged by it "
                         "here.",
                         label, own, agreement.count, ceiling);
        return;
    }
    const double of_ceiling = agreement.correlation / agreement.ceiling;
    char aim[64];
    snprintf(aim, sizeof aim, "%s the aim of %g", of_ceiling >= FIDELITY_CEILING_SHARE ? "which meets" : "below",
             FIDELITY_CEILING_SHARE);
    reproduction_say(out,
                     "%s: rank correlation %s over %zu settings; noise ceiling %s (odd repeats of the real runtime "
                     "against even ones): %s of it, %s.",
                     label, own, agreement.count, ceiling, fixed(of_ceiling, 2, share),
                     agreement.disturbed > 0 ? "which judges nothing" : aim);
    if (agreement.disturbed > 0)
        reproduction_say(out, "%s: %zu of these settings stand on disturbed repeats alone.", label,
                         agreement.disturbed);
}

/* Returns how many ratios there are. */
static size_t say_factors(const char *label, const struct fidelity_group *group, size_t executor, FILE *out)
{
    size_t count = 0, near = 0;
    const struct fidelity_row *farthest = NULL;
    double most = 0;
    for (size_t i = 0; i < group->count; i++) {
        double distance = fabs(log(fidelity_factor(group, &group->rows[i], executor)));
        if (!isfinite(distance) || cell_is_base(group->rows[i].cells[executor]))
            continue;
        count++;
        near += distance <= log(FIDELITY_FACTOR);
        if (distance >= most) {
            most = distance;
            farthest = &group->rows[i];
        }
    }
    if (farthest == NULL)
        return 0;
    char text[DECIMAL_SIZE];
    reproduction_say(out,
                     "%s: %zu of %zu ratios are within a factor %g of the real one%s. The farthest: max-workers %s, "
                     "spin-limit %s, %s times the real ratio.",
                     label, near, count, FIDELITY_FACTOR,
                     group->rate_rps == 0 ? "" : near == count ? ", as aimed at" : "; the aim is all",
                     farthest->max_workers, farthest->spin_limit,
                     fixed(fidelity_factor(group, farthest, executor), 2, text));
    return count;
}

static size_t print_group(const struct fidelity_cells *fidelity, const struct fidelity_group *group, FILE *out)
{
    size_t count = 0;
    char rate[DECIMAL_SIZE];
    if (group->rate_rps > 0)
        fprintf(out, "Paced at %s requests/s", decimal_print(group->rate_rps, rate));
    else
        fprintf(out, "Closed loop");
    fprintf(out, ": CPU per request as ratio to one worker with spin limit 0\n\n");
    print_ratios(fidelity, group, out);
    print_counters(fidelity, group, out);
    for (size_t executor = 1; executor < fidelity->executor_count; executor++) {
        say_correlation(fidelity->executors[executor], group, executor, out);
        count += say_factors(fidelity->executors[executor], group, executor, out);
    }
    fprintf(out, "\n");
    return count;
}

/* ---- what was measured ---- */

/* What the list says of the scheduler of this name; "" for others. */
static const char *summary_of(const char *scheduler)
{
    struct pilfer_entry entry;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_SCHEDULER, i, &entry); i++) {
        if (strcmp(entry.name, scheduler) == 0)
            return entry.summary;
    }
    return "";
}

static const struct cell *first_of(const struct fidelity_cells *fidelity, size_t executor)
{
    for (size_t i = 0; i < fidelity->cells.count; i++) {
        const struct cell *cell = &fidelity->cells.cells[i];
        if (result_is_of_target(cell->first) == (executor == 0) &&
            strcmp(fidelity_text(cell, "label"), fidelity->executors[executor]) == 0)
            return cell;
    }
    return NULL;
}

static void say_executors(const struct fidelity_cells *fidelity, const char *origin, FILE *out)
{
    const char *version = fidelity_text(first_of(fidelity, 0), "target_version");
    fprintf(out, "Models beside the real runtime: target %s%s%s\n\n", fidelity->executors[0],
            version[0] != '\0' ? ", " : "", version);
    for (size_t i = 1; i < fidelity->executor_count; i++) {
        const struct cell *cell = first_of(fidelity, i);
        reproduction_say(out, "%s: %s. Its items cost %s %% of the published estimates, %s.", fidelity->executors[i],
                         summary_of(fidelity_text(cell, "scheduler")), fidelity_text(cell, "item_cost_percent"),
                         origin);
    }
}

/* Whether the windows waited for what they should wait for, and what has no place in the tables. */
static void say_doubts(const struct fidelity_cells *fidelity, const struct result_set *set, FILE *out)
{
    size_t waited = 0, steady = 0;
    for (size_t i = 0; i < set->count; i++) {
        double is_steady;
        if (result_get_number(&set->rows[i], "cpu_steady", &is_steady)) {
            waited++;
            steady += is_steady != 0;
        }
    }
    if (waited == 0)
        reproduction_say(out, "No window waited for steady CPU per request: a runtime that compiles while it runs may "
                              "still have been at it.");
    else
        reproduction_say(out,
                         "The window of %zu of %zu repeats began with steady CPU per request, the others after the "
                         "longest warm-up.",
                         steady, waited);
    if (fidelity->left_over > 0)
        reproduction_say(out,
                         "%zu of %zu cells are in none of these tables: they differ in something else, or belong to a "
                         "further target.",
                         fidelity->left_over, fidelity->cells.count);
    reproduction_say(out, "~ stands on disturbed repeats alone.");
    fprintf(out, "\n");
}

size_t fidelity_report_print(const struct result_set *set, const char *origin, FILE *out)
{
    struct fidelity_cells fidelity;
    size_t count = 0;
    fidelity_cells_init(&fidelity, set);
    if (fidelity.executors[0] != NULL) {
        say_executors(&fidelity, origin, out);
        say_doubts(&fidelity, set, out);
        for (size_t i = 0; i < fidelity.group_count; i++)
            count += print_group(&fidelity, &fidelity.groups[i], out);
    } else {
        reproduction_say(out, "No real runtime was measured in this sweep: nothing to hold the models against.");
    }
    fidelity_cells_fini(&fidelity);
    return count;
}
