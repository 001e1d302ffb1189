/* SPDX-License-Identifier: MIT
 *
 * The verbs that read the store: `report`, `export` and `plot`.
 */
#include "verbs.h"

#include "fidelity.h"
#include "plot.h"
#include "published.h"
#include "published_report.h"
#include "report.h"
#include "reproduction.h"
#include "results/output.h"
#include "store_option.h"

#include <string.h>
#include <unistd.h>

void words_plot_kinds(struct words *words)
{
    for (int i = 0; i < PLOT_KIND_COUNT; i++)
        words_add(words, plot_kinds[i].name);
}

/* ---- report ---- */

static int report_rows(const struct invocation *invocation, const struct stored_sweep *stored)
{
    struct report_options options = {.all = invocation->options[OPTION_all] != NULL};
    if (strcmp(stored->sweep.name, FIDELITY_SWEEP_NAME) == 0 && !options.all)
        return fidelity_print(invocation, stored);
    bool is_published = strcmp(stored->sweep.name, PUBLISHED_SWEEP_NAME) == 0 && !options.all;
    if (is_published)
        published_report_print(&stored->rows, stdout);
    report_write(stdout, NULL, &stored->sweep, &stored->rows, &options);
    if (!is_published && published_has_completion_threads(&stored->rows)) {
        putchar('\n');
        published_say_completion_threads(stdout);
    }
    return EXIT_DONE; /* what went wrong with standard output is told at the end */
}

int verb_report(const struct invocation *invocation)
{
    return stored_sweep_with(invocation, report_rows);
}

/* ---- export ---- */

static int export_rows(const struct invocation *invocation, const struct stored_sweep *stored)
{
    const char *word = invocation->options[OPTION_format], *path = invocation->options[OPTION_output];
    enum export_format format = word != NULL ? (enum export_format)export_format_find(word) : EXPORT_CSV;
    if (path == NULL) {
        export_write(stdout, format, &stored->rows);
        return EXIT_DONE; /* what went wrong with standard output is told at the end */
    }
    struct output output;
    char message[OUTPUT_MESSAGE_SIZE];
    if (output_open(&output, path, NULL, invocation->options[OPTION_force] != NULL, message) != 0)
        return complain("export: %s", message), EXIT_USAGE;
    export_write(output.stream, format, &stored->rows);
    if (output_commit(&output, message) != 0)
        return complain("export: %s", message), EXIT_SURROUNDINGS;
    return EXIT_DONE;
}

int verb_export(const struct invocation *invocation)
{
    return stored_sweep_with(invocation, export_rows);
}

/* ---- plot ---- */

static int plot_rows(const struct invocation *invocation, const struct stored_sweep *stored)
{
    char message[PLOT_MESSAGE_SIZE], published[64];
    bool is_finding = strcmp(stored->sweep.name, FINDING_SWEEP_NAME) == 0; /* its picture holds the published points */
    int descriptor = is_finding ? published_open(published, sizeof published) : -1;
    struct plot_request request = {
        .kind = (enum plot_kind)plot_kind_find(invocation->arguments[0]),
        .set = &stored->rows,
        .sweep = &stored->sweep,
        .output = invocation->options[OPTION_output],
        .force = invocation->options[OPTION_force] != NULL,
        .published = descriptor >= 0 ? published : NULL,
    };
    int status = plot_write(&request, message);
    if (descriptor >= 0)
        close(descriptor);
    if (status != EXIT_DONE)
        complain("%s", message);
    return status;
}

int verb_plot(const struct invocation *invocation)
{
    return stored_sweep_with(invocation, plot_rows);
}
