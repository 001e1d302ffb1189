/* SPDX-License-Identifier: MIT
 *
 * `pilfer reproduce`: something that was published, end to end: a built-in sweep is measured, reported beside the
 * figures that it is held against, and drawn. The finding itself; with --published its nine rows (published_report.h,
 * no pictures); with --fidelity models of the pool beside the runtime (fidelity.h).
 *
 * How it works. Whatever is stored when the measuring ends is reported and drawn, also after a signal or with repeats
 * that could not be measured; the exit status is that of the measuring. Of the finding, --quick keeps the closed loop
 * at spin limits 0 and default; what is said about it is in reproduction.h. Pictures replace earlier ones in the
 * store's folder; in a folder that was named with --output-dir an existing file is refused before the first cell is
 * measured, unless --force is given.
 */
#include "verbs.h"

#include "duration.h"
#include "fidelity.h"
#include "measure.h"
#include "pictures.h"
#include "published_report.h"
#include "report.h"
#include "reproduction.h"
#include "store_option.h"

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
    if (specification_parse_selector(FINDING_SWEEP_NAME, stderr, &specification) != 0)
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
    if (status == EXIT_DONE && invocation->options[OPTION_show_plan] == NULL &&
        duration_announce(&specification, "") != 0)
        status = EXIT_USAGE;
    if (status == EXIT_DONE)
        status = measure(invocation, &specification, false, &sweep_id);
    specification_fini(&specification);
    return stored_sweep_show(invocation, sweep_id, status, print_published);
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
    return stored_sweep_show(invocation, sweep_id, status, print_finding);
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
