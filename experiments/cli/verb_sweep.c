/* SPDX-License-Identifier: MIT
 *
 * `pilfer sweep NAME|FILE` and `pilfer run`: measure many cells, or one.
 */
#include "verbs.h"

#include "measure.h"
#include "report.h"
#include "result_block.h"
#include "store_option.h"

#include <stdio.h>

void words_sweeps(struct words *words)
{
    const struct builtin_sweep *sweep;
    for (uint32_t i = 0; (sweep = builtin_sweep(i)) != NULL; i++)
        words_add(words, sweep->name);
}

static int print_report(const struct invocation *invocation, const struct stored_sweep *stored)
{
    (void)invocation;
    report_write(stdout, NULL, &stored->sweep, &stored->rows, &(struct report_options){0});
    return EXIT_DONE; /* what went wrong with standard output is told at the end */
}

static int print_cells(const struct invocation *invocation, const struct stored_sweep *stored)
{
    struct cell_set cells;
    (void)invocation;
    cell_set_init(&cells, &stored->rows);
    for (size_t i = 0; i < cells.count; i++)
        result_block_print(&cells.cells[i], stdout);
    cell_set_fini(&cells);
    return EXIT_DONE;
}

int verb_sweep(const struct invocation *invocation)
{
    struct specification specification;
    if (specification_parse_selector(invocation->arguments[0], stderr, &specification) != 0)
        return EXIT_USAGE;
    int64_t sweep_id = 0;
    int status = EXIT_USAGE;
    if (measure_override(invocation, &specification) == 0)
        status = measure(invocation, &specification, false, &sweep_id);
    specification_fini(&specification);
    return stored_sweep_show(invocation, sweep_id, status, print_report);
}

/* run measures one cell: a list of values belongs to sweep. */
static int refuse_lists(const struct invocation *invocation, const struct specification *specification)
{
    for (uint32_t p = 0; p < parameter_count; p++) {
        const struct specification_axis *axis = specification_axis(specification, 0, p);
        if (axis != NULL && axis->count > 1)
            return complain("run: measures one cell, but %s has %u values; `%s sweep` takes lists", parameters[p].key,
                            axis->count, program_name());
    }
    return 0;
}

int verb_run(const struct invocation *invocation)
{
    struct specification specification;
    specification_init(&specification, "run");
    int64_t sweep_id = 0;
    int status = EXIT_USAGE;
    if (measure_override(invocation, &specification) == 0 && refuse_lists(invocation, &specification) == 0)
        status = measure(invocation, &specification, false, &sweep_id);
    specification_fini(&specification);
    return stored_sweep_show(invocation, sweep_id, status, print_cells);
}
