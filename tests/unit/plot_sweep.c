/* SPDX-License-Identifier: MIT
 *
 * Sweeps made up for the tests of plot/: see plot_sweep.h.
 */
#include "plot_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void made_sweep_init(struct made_sweep *made)
{
    *made = (struct made_sweep){
        .sweep = {.id = 7,
                  .name = "made-up",
                  .context = "cpu: Test CPU 3000\ncores: 2 usable of 2\nkernel: Linux 6.1.0\ngovernor: unknown\n",
                  .seed = 42,
                  .started_unix_s = 1700000000,
                  .finished_unix_s = 1700000060},
    };
}

void made_sweep_fini(struct made_sweep *made)
{
    result_set_fini(&made->set);
}

static void set_text(struct result *row, enum result_column column, const char *text)
{
    if (text != NULL) {
        result_set_text(row, column, text);
    }
}

static void fill_numbers(struct result *row, const struct made_cell *cell, double cpu_percent)
{
    result_set_number(row, RESULT_valid, !cell->invalid);
    result_set_number(row, RESULT_disturbed, cell->disturbed);
    result_set_number(row, RESULT_router_cpu_percent, cpu_percent);
    result_set_number(row, RESULT_router_cpu_us_per_request, cpu_percent * 5);
    if (cell->workers_engaged > 0) {
        result_set_number(row, RESULT_workers_max, cell->workers_engaged);
    }
    bool stamped = !cell->without_split && cell->target == NULL;
    for (int part = RESULT_run_cpu_percent; part <= RESULT_unaccounted_cpu_percent && stamped; part++) {
        result_set_number(row, (enum result_column)part, cpu_percent / 8);
    }
}

void made_sweep_add(struct made_sweep *made, struct made_cell cell)
{
    cell.mode = cell.mode != NULL ? cell.mode : "closed";
    cell.repeats = cell.repeats > 0 ? cell.repeats : 6;
    char id[512];
    cell.label = cell.target != NULL ? cell.target : cell.label;
    snprintf(id, sizeof id, "%s|%s|%s|%g|%s|%s|%s", cell.target != NULL ? "target" : "", cell.label, cell.mode,
             cell.rate_rps, cell.max_workers != NULL ? cell.max_workers : "",
             cell.spin_limit != NULL ? cell.spin_limit : "", cell.setting_value != NULL ? cell.setting_value : "");
    for (uint32_t repeat = 0; repeat < cell.repeats; repeat++) {
        made->set.rows = reallocarray(made->set.rows, made->set.count + 1, sizeof *made->set.rows);
        struct result *row = &made->set.rows[made->set.count++];
        result_init(row);
        result_set_number(row, RESULT_sweep_id, (double)made->sweep.id);
        result_set_text(row, RESULT_cell_id, cell.cell_id != NULL ? cell.cell_id : id);
        result_set_number(row, RESULT_repeat, repeat);
        result_set_text(row, RESULT_machine, "real");
        result_set_number(row, RESULT_cores, 2);
        set_text(row, RESULT_label, cell.label);
        result_set_text(row, RESULT_workload, "router");
        result_set_text(row, RESULT_mode, cell.mode);
        if (cell.rate_rps > 0) {
            result_set_number(row, RESULT_rate_rps, cell.rate_rps);
        }
        set_text(row, RESULT_max_workers, cell.max_workers);
        set_text(row, RESULT_spin_limit, cell.spin_limit);
        bool is_default = cell.spin_limit != NULL && strcmp(cell.spin_limit, "default") == 0;
        if (cell.spin_limit != NULL && !(is_default && cell.target != NULL)) {
            result_set_number(row, RESULT_spin_limit_resolved, is_default ? 70 : strtod(cell.spin_limit, NULL));
        }
        if (cell.setting != NULL) {
            result_add_setting(row, cell.setting, cell.setting_value);
        }
        set_text(row, RESULT_target, cell.target);
        if (cell.target_version != NULL) {
            result_add_setting(row, "target_version", cell.target_version);
        }
        fill_numbers(row, &cell, cell.cpu_percent * (1 + ((double)repeat - (cell.repeats - 1) / 2.0) / 100));
    }
}

static void made_sweep_add_all(struct made_sweep *made, bool real)
{
    static const char *const workers[] = {"1", "2", "12", "25", "default"};
    static const double engaged[] = {1, 2, 12, 25, 25};
    for (int w = 4; w >= 0; w--) { /* not in the order of the axis: the plot must sort */
        for (int spin = 0; spin < 2; spin++) {
            struct made_cell cell = {.label = "chase-lev",
                                     .target = real ? "dotnet" : NULL,
                                     .target_version = real ? ".NET 10.0.12" : NULL,
                                     .max_workers = workers[w],
                                     .spin_limit = spin ? "default" : "0",
                                     .workers_engaged = real ? 0 : engaged[w] - (w == 4 && spin ? 1 : 0),
                                     .cpu_percent = (w + 2) * (spin ? 20 : 10) * (real ? 4 : 1)};
            made_sweep_add(made, cell);
            cell.mode = "paced";
            cell.rate_rps = 2000;
            cell.cpu_percent *= 0.5;
            made_sweep_add(made, cell);
        }
    }
}

void made_sweep_high_cpu(struct made_sweep *made)
{
    made_sweep_add_all(made, false);
}

void made_sweep_add_real(struct made_sweep *made)
{
    made_sweep_add_all(made, true);
}
