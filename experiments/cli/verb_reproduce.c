/* SPDX-License-Identifier: MIT
 *
 * `pilfer reproduce`: the finding, end to end: the high-cpu sweep, its report beside the published figures, the
 * pictures.
 *
 * How it works. The sweep is the built-in one; --quick keeps its closed-loop part at spin limits 0 and default. What is
 * said about it is in reproduction.h. The pictures replace earlier ones in the store's folder; in a folder that was
 * named with --output-dir an existing file is refused before the first cell is measured, unless --force is given.
 */
#include "verbs.h"

#include "fidelity.h"
#include "measure.h"
#include "pictures.h"
#include "published_report.h"
#include "report.h"
#include "reproduction.h"
#include "runner/plan.h"
#include "runner/progress.h"
#include "runner/settings.h"
#include "store_option.h"

#include <string.h>

#define SWEEP_NAME "high-cpu"

static const enum plot_kind picture_kinds[] = {PLOT_CPU_VS_THREADS, PLOT_CPU_PER_REQUEST, PLOT_CPU_SPLIT, PLOT_HEATMAP};
static const struct pictures pictures = {picture_kinds, sizeof picture_kinds / sizeof picture_kinds[0]};

/* What --quick leaves of the sweep: the closed loop, spin limits 0 and default, and no second try of a disturbed
 * repeat, so that it ends within a minute on a busy machine as well. */
static void cut_cells(struct specification *specification)
{
    specification_keep_part(specification, "closed");
    specification_set(specification, "--quick", "tries", "1", stderr);
    specification_set(specification, "--quick", "spin-limit", "0,default", stderr);
}

static int measure_finding(const struct invocation *invocation, int64_t *sweep_id)
{
    struct specification specification;
    if (specification_parse_selector(SWEEP_NAME, stderr, &specification) != 0)
        return EXIT_USAGE;
    if (invocation->options[OPTION_quick] != NULL)
        cut_cells(&specification);
    int status = EXIT_USAGE;
    if (measure_override(invocation, &specification) == 0)
        status = measure(invocation, &specification, false, sweep_id);
    specification_fini(&specification);
    return status;
}

/* ---- the published rows ---- */

/* Says how long it will take: with the shortest warm-ups, and with the longest. */
static int announce(const struct specification *specification)
{
    struct plan plan;
    char shortest[32], longest[32];
    if (plan_build(specification, 0, false, stderr, &plan) != 0)
        return -1;
    double saved_s = 0;
    for (uint32_t i = 0; i < plan.cell_count; i++) {
        struct configuration configuration;
        plan_configuration(&plan, i, &configuration);
        saved_s +=
            plan.cells[i].repeats * (settings_warmup_max_s(&configuration) - settings_warmup_s(&configuration));
    }
    progress_format_seconds(plan.seconds - saved_s, shortest, sizeof shortest);
    progress_format_seconds(plan.seconds * (1 + PLAN_RETRY_SHARE), longest, sizeof longest);
    complain("reproduce: %u rows of %u repeats in all: %s if all goals are steady soon, %s at most", plan.cell_count,
             plan.step_count, shortest, longest);
    plan_fini(&plan);
    return 0;
}

/* Hands the sweep to use; EXIT_DONE, or EXIT_STORE after a complaint. */
static int with_sweep(const struct invocation *invocation, int64_t sweep_id,
                      int (*use)(const struct invocation *invocation, const struct stored_sweep *stored))
{
    struct stored_sweep stored;
    int status = stored_sweep_of_id(invocation, sweep_id, &stored);
    if (status != EXIT_DONE)
        return status;
    status = use(invocation, &stored);
    stored_sweep_fini(&stored);
    return status;
}

static int print_published(const struct invocation *invocation, const struct stored_sweep *stored)
{
    (void)invocation;
    published_report_print(&stored->rows, stdout);
    report_write(stdout, NULL, &stored->sweep, &stored->rows, &(struct report_options){0});
    return EXIT_DONE;
}

static int reproduce_published(const struct invocation *invocation)
{
    struct specification specification;
    int64_t sweep_id = 0;
    if (invocation->options[OPTION_output_dir] != NULL || invocation->options[OPTION_force] != NULL)
        return complain("reproduce: --published draws no pictures; leave %s out",
                        invocation->options[OPTION_output_dir] != NULL ? "--output-dir" : "--force"),
               EXIT_USAGE;
    if (specification_parse_selector(PUBLISHED_SWEEP_NAME, stderr, &specification) != 0)
        return EXIT_USAGE;
    if (invocation->options[OPTION_quick] != NULL)
        specification_set(&specification, "--quick", "tries", "1", stderr);
    int status = measure_override(invocation, &specification) == 0 ? measure_check_targets(&specification) : EXIT_USAGE;
    if (status == EXIT_DONE && invocation->options[OPTION_show_plan] == NULL && announce(&specification) != 0)
        status = EXIT_USAGE;
    if (status == EXIT_DONE)
        status = measure(invocation, &specification, false, &sweep_id);
    specification_fini(&specification);
    if (sweep_id == 0 || (status != EXIT_DONE && status != EXIT_INVALID))
        return status;
    int printed = with_sweep(invocation, sweep_id, print_published);
    return status != EXIT_DONE ? status : printed;
}

/* ---- the finding ---- */

static int print_finding(const struct invocation *invocation, const struct stored_sweep *stored)
{
    reproduction_print(&stored->sweep, &stored->rows, stdout);
    fflush(stdout);
    return pictures_draw(invocation, &pictures, stored);
}

static int reproduce_finding(const struct invocation *invocation)
{
    int64_t sweep_id = 0;
    if (pictures_check(invocation, &pictures) != 0)
        return EXIT_USAGE;
    int status = measure_finding(invocation, &sweep_id);
    if (sweep_id == 0 || (status != EXIT_DONE && status != EXIT_INVALID))
        return status;
    int printed = with_sweep(invocation, sweep_id, print_finding);
    return status != EXIT_DONE ? status : printed;
}

int verb_reproduce(const struct invocation *invocation)
{
    const bool published = invocation->options[OPTION_published] != NULL;
    if (invocation->options[OPTION_fidelity] == NULL)
        return published ? reproduce_published(invocation) : reproduce_finding(invocation);
    if (published)
        return complain("reproduce: --published and --fidelity are two sweeps; give one"), EXIT_USAGE;
    return fidelity_reproduce(invocation);
}
