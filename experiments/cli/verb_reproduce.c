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

#include "measure.h"
#include "plot.h"
#include "published.h"
#include "published_report.h"
#include "report.h"
#include "reproduction.h"
#include "runner/plan.h"
#include "runner/progress.h"
#include "runner/settings.h"
#include "store_option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_NAME "high-cpu"

static const enum plot_kind pictures[] = {PLOT_CPU_VS_THREADS, PLOT_CPU_PER_REQUEST, PLOT_CPU_SPLIT, PLOT_HEATMAP};
#define PICTURE_PATH_SIZE (PATH_MAX + 64)
#define PICTURE_COUNT     (sizeof pictures / sizeof pictures[0])

/* --output-dir, else the store's folder. */
static void picture_folder(const struct invocation *invocation, char *out, size_t size)
{
    if (invocation->options[OPTION_output_dir] != NULL) {
        snprintf(out, size, "%s", invocation->options[OPTION_output_dir]);
        return;
    }
    snprintf(out, size, "%s", option_store_path(invocation));
    char *slash = strrchr(out, '/');
    if (slash == NULL)
        snprintf(out, size, ".");
    else
        slash[slash == out ? 1 : 0] = '\0';
}

static void picture_path(const char *folder, enum plot_kind kind, char out[PICTURE_PATH_SIZE])
{
    snprintf(out, PICTURE_PATH_SIZE, "%s/%s.png", folder, plot_kinds[kind].name);
}

/* Before anything is measured: 0, or -1 after a complaint. */
static int check_folder(const struct invocation *invocation, const char *folder)
{
    if (invocation->options[OPTION_output_dir] == NULL)
        return 0;
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || access(folder, W_OK | X_OK) != 0)
        return complain("reproduce: --output-dir %s is no folder that can be written to; make it first",
                        escaped(folder));
    for (size_t i = 0; invocation->options[OPTION_force] == NULL && i < PICTURE_COUNT; i++) {
        char path[PICTURE_PATH_SIZE];
        picture_path(folder, pictures[i], path);
        if (access(path, F_OK) == 0)
            return complain("reproduce: %s exists; --force replaces it", escaped(path));
    }
    return 0;
}

/* What --quick leaves of the sweep: the closed loop, spin limits 0 and default, and no second try of a disturbed
 * repeat, so that it ends within a minute on a busy machine as well. */
static void cut_cells(struct specification *specification)
{
    specification_keep_part(specification, "closed");
    specification_set(specification, "--quick", "tries", "1", stderr);
    specification_set(specification, "--quick", "spin-limit", "0,default", stderr);
}

static int reproduce(const struct invocation *invocation, int64_t *sweep_id)
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

/* Draws one picture after the other; says where they are. */
static int draw(const char *folder, const struct stored_sweep *stored)
{
    char published[64], paths[PICTURE_COUNT][PICTURE_PATH_SIZE];
    int descriptor = published_open(published, sizeof published);
    int status = EXIT_DONE;
    bool drawn[PICTURE_COUNT] = {false};
    for (size_t i = 0; i < PICTURE_COUNT; i++) {
        char message[PLOT_MESSAGE_SIZE];
        picture_path(folder, pictures[i], paths[i]);
        struct plot_request request = {
            .kind = pictures[i],
            .set = &stored->rows,
            .sweep = &stored->sweep,
            .output = paths[i],
            .force = true,
            .published = pictures[i] == PLOT_CPU_VS_THREADS && descriptor >= 0 ? published : NULL,
        };
        int result = plot_write(&request, message);
        drawn[i] = result == EXIT_DONE;
        if (result != EXIT_DONE) {
            complain("reproduce: %s", message);
            status = result;
        }
    }
    if (descriptor >= 0)
        close(descriptor);
    printf("\n");
    for (size_t i = 0; i < PICTURE_COUNT; i++) {
        if (drawn[i])
            printf("%s\n", paths[i]);
    }
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

static int print_published(const struct invocation *invocation, int64_t sweep_id)
{
    struct store *store;
    struct stored_sweep stored;
    char selector[32];
    int status = store_open_reading(invocation, &store);
    if (status != EXIT_DONE)
        return status;
    snprintf(selector, sizeof selector, "%lld", (long long)sweep_id);
    status = stored_sweep_read(invocation, store, selector, false, &stored);
    if (status == EXIT_DONE) {
        published_report_print(&stored.rows, stdout);
        report_write(stdout, NULL, &stored.sweep, &stored.rows, &(struct report_options){0});
        stored_sweep_fini(&stored);
    }
    store_close(store);
    return status;
}

static int reproduce_published(const struct invocation *invocation)
{
    struct specification specification;
    int64_t sweep_id = 0;
    if (invocation->options[OPTION_output_dir] != NULL)
        return complain("reproduce: --published draws no pictures; leave --output-dir out"), EXIT_USAGE;
    if (specification_parse_selector(PUBLISHED_SWEEP_NAME, stderr, &specification) != 0)
        return EXIT_USAGE;
    if (invocation->options[OPTION_quick] != NULL)
        specification_set(&specification, "--quick", "tries", "1", stderr);
    int status = EXIT_USAGE;
    if (measure_override(invocation, &specification) == 0 &&
        (invocation->options[OPTION_show_plan] != NULL || announce(&specification) == 0))
        status = measure(invocation, &specification, false, &sweep_id);
    specification_fini(&specification);
    if (sweep_id == 0 || (status != EXIT_DONE && status != EXIT_INVALID))
        return status;
    int printed = print_published(invocation, sweep_id);
    return status != EXIT_DONE ? status : printed;
}

int verb_reproduce(const struct invocation *invocation)
{
    if (invocation->options[OPTION_published] != NULL)
        return reproduce_published(invocation);
    char folder[PATH_MAX];
    picture_folder(invocation, folder, sizeof folder);
    if (check_folder(invocation, folder) != 0)
        return EXIT_USAGE;
    int64_t sweep_id = 0;
    int status = reproduce(invocation, &sweep_id);
    if (sweep_id == 0 || (status != EXIT_DONE && status != EXIT_INVALID))
        return status;
    struct store *store;
    int reading = store_open_reading(invocation, &store);
    if (reading != EXIT_DONE)
        return reading;
    char selector[32];
    snprintf(selector, sizeof selector, "%lld", (long long)sweep_id);
    struct stored_sweep stored;
    reading = stored_sweep_read(invocation, store, selector, false, &stored);
    if (reading == EXIT_DONE) {
        reproduction_print(&stored.sweep, &stored.rows, stdout);
        fflush(stdout);
        reading = draw(folder, &stored);
        stored_sweep_fini(&stored);
    }
    store_close(store);
    return status != EXIT_DONE ? status : reading;
}
