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
#include <string.h>

void words_sweeps(struct words *words)
{
    const struct builtin_sweep *sweep;
    for (uint32_t i = 0; (sweep = builtin_sweep(i)) != NULL; i++)
        words_add(words, sweep->name);
}

/* Reads what was just stored and hands it to print. An interrupted sweep that has not a single repeat prints nothing.
 */
static int print_stored(const struct invocation *invocation, int64_t sweep_id, int status,
                        void (*print)(const struct stored_sweep *stored))
{
    struct store *store;
    int reading = store_open_reading(invocation, &store);
    if (reading != EXIT_DONE)
        return status != EXIT_DONE ? status : reading;
    char selector[32];
    snprintf(selector, sizeof selector, "%lld", (long long)sweep_id);
    struct stored_sweep stored;
    reading = stored_sweep_read(invocation, store, selector, false, &stored);
    if (reading == EXIT_DONE) {
        if (stored.rows.count > 0)
            print(&stored);
        stored_sweep_fini(&stored);
    }
    store_close(store);
    return status != EXIT_DONE ? status : reading;
}

static void print_report(const struct stored_sweep *stored)
{
    struct report_options options = {.all = false};
    report_write(stdout, NULL, &stored->sweep, &stored->rows, &options);
}

static void print_cells(const struct stored_sweep *stored)
{
    struct cell_set cells;
    cell_set_init(&cells, &stored->rows);
    for (size_t i = 0; i < cells.count; i++)
        result_block_print(&cells.cells[i], stdout);
    cell_set_fini(&cells);
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
    return sweep_id != 0 ? print_stored(invocation, sweep_id, status, print_report) : status;
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
    return sweep_id != 0 ? print_stored(invocation, sweep_id, status, print_cells) : status;
}
