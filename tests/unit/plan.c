/* SPDX-License-Identifier: MIT
 *
 * Promise: a plan holds each cell that was asked for once, under a name that says what it is; what means the same is
 * one cell, what cannot be measured is left out with a note; the order depends on the seed only.
 *
 * Method: small sweep files against the ids that they must give. What `default` means depends on the machine, so those
 * expectations are made from its number of usable CPUs.
 */
#include "cli/parameters.h"
#include "pilfer.h"
#include "platform.h"
#include "runner/plan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct specification specification;
static struct plan plan;
static char *text;
static size_t text_size;
static FILE *stream;
static bool has_specification, has_plan;

static void setup(void)
{
    stream = open_memstream(&text, &text_size);
    has_specification = has_plan = false;
}

static void forget_plan(void)
{
    if (has_plan)
        plan_fini(&plan);
    if (has_specification)
        specification_fini(&specification);
    has_specification = has_plan = false;
}

static void teardown(void)
{
    forget_plan();
    fclose(stream);
    free(text);
}

static const char *text_now(void)
{
    fflush(stream);
    return text;
}

/* Faults of the plan. */
static int build(const char *sweep, uint64_t seed)
{
    forget_plan();
    ck_assert_msg(specification_parse_text("t.sweep", sweep, strlen(sweep), stream, &specification) == 0, "%s",
                  text_now());
    has_specification = true;
    int faults = plan_build(&specification, seed, false, stream, &plan);
    has_plan = faults == 0;
    return faults;
}

static bool has_cell(const char *id)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < plan.cell_count; i++)
        found += strcmp(plan.cells[i].id, id) == 0;
    ck_assert_uint_le(found, 1);
    return found == 1;
}

static bool has_note(const char *part)
{
    for (uint32_t i = 0; i < plan.note_count; i++) {
        if (strstr(plan.notes[i], part) != NULL)
            return true;
    }
    return false;
}

static void assert_built(const char *sweep, uint32_t cells)
{
    ck_assert_msg(build(sweep, 1) == 0, "%s", text_now());
    for (uint32_t i = 0; plan.cell_count != cells && i < plan.cell_count; i++)
        fprintf(stderr, "cell %s\n", plan.cells[i].id);
    ck_assert_uint_eq(plan.cell_count, cells);
}

START_TEST(test_ids_name_what_is_not_default)
{
    assert_built("[sweep]\nscheduler = chase-lev, global-queue\nmax-workers = 300\nspin-limit = 0, default\n"
                 "mode = paced\nrate = 3k\nduration = 100ms\n",
                 4);
    ck_assert(has_cell("scheduler=chase-lev max-workers=300 spin-limit=0 mode=paced rate=3000"));
    ck_assert(has_cell("scheduler=global-queue max-workers=300 mode=paced rate=3000"));
    struct configuration configuration;
    plan_configuration(&plan, 0, &configuration);
    ck_assert_str_eq(configuration_text(&configuration, "duration"), "0.1");
    ck_assert_str_eq(configuration_text(&configuration, "max-workers"), "300");
}
END_TEST

START_TEST(test_knobs_that_a_scheduler_lacks_collapse)
{
    assert_built(
        "[sweep]\nscheduler = inline, chase-lev\nmax-workers = 300, 301\nspin-limit = 0, 5\nlifo-slot = 0, 1\n", 1 + 8);
    ck_assert(has_cell("scheduler=inline"));
    ck_assert(has_note("max-workers has no effect with scheduler=inline"));
    ck_assert(has_note("spin-limit has no effect with scheduler=inline"));
    /* of a pool below a bound the knobs count, of a pool alone those of bounds do not */
    assert_built("[sweep]\nscheduler = fixed-concurrency, chase-lev\nmax-workers = 300\nparallelism = 1, 2\n", 3);
    ck_assert(has_cell("scheduler=fixed-concurrency max-workers=300 parallelism=2"));
    ck_assert(has_cell("scheduler=chase-lev max-workers=300"));
}
END_TEST

START_TEST(test_an_idle_policy_that_does_not_spin_has_no_spin_limit)
{
    uint32_t expected = 0;
    struct pilfer_entry entry;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_IDLE, i, &entry); i++)
        expected += (entry.knobs & PILFER_KNOB_SPIN) != 0 ? 2 : 1;
    assert_built("[sweep]\nscheduler = chase-lev\nidle = all\nspin-limit = 0, 5\nmax-workers = 300\n", expected);
}
END_TEST

START_TEST(test_parameters_of_other_modes_and_workloads_collapse)
{
    assert_built("[sweep]\nmode = closed, paced\nrate = 1k, 2500\narrivals = poisson, constant\n", 1 + 4);
    ck_assert(has_cell("scheduler=chase-lev"));
    ck_assert(has_cell("scheduler=chase-lev mode=paced arrivals=constant rate=2500"));
    ck_assert(has_note("rate has no effect with mode=closed"));
    assert_built("[sweep]\nworkload = router, spawn\nrate = 1k, 2k\nmode = paced\ntasks = 10, 20\n", 2 + 2);
    ck_assert(has_cell("scheduler=chase-lev workload=spawn tasks=20"));
    assert_built("[sweep]\nrate = 5k\n", 1); /* given in vain: said, not passed over */
    ck_assert(has_note("all points: rate has no effect with mode=closed"));
}
END_TEST

/* max-workers `default` is the number of usable CPUs under sizing fixed. */
START_TEST(test_default_collapses_into_its_number)
{
    char sweep[256], id[128], note[128];
    uint32_t cpus = platform_usable_cpus();
    snprintf(id, sizeof id, "scheduler=chase-lev max-workers=%u", cpus);
    snprintf(note, sizeof note, "1 point: max-workers=default means max-workers=%u here", cpus);
    snprintf(sweep, sizeof sweep, "[sweep]\nmax-workers = default, %u, 300\n", cpus);
    assert_built(sweep, 2);
    ck_assert(has_cell(id));
    ck_assert(has_note(note));
    snprintf(sweep, sizeof sweep, "[sweep]\nmax-workers = 300, %u, default\n", cpus);
    assert_built(sweep, 2);
    ck_assert(has_cell(id));
    assert_built("[sweep]\nmax-workers = 300, 301, default\n", 3);
    ck_assert(has_cell("scheduler=chase-lev"));
    /* several words at once: the name with most numbers stays */
    snprintf(sweep, sizeof sweep,
             "[sweep]\nmax-workers = default, %u\nidle = default, lifo-semaphore\nchannels = default, 10\n", cpus);
    assert_built(sweep, 1);
    snprintf(id, sizeof id, "scheduler=chase-lev idle=lifo-semaphore max-workers=%u channels=10", cpus);
    ck_assert_msg(has_cell(id), "found %s", plan.cells[0].id);
}
END_TEST

START_TEST(test_parts)
{
    assert_built("[sweep]\nmax-workers = 300, 301\nrepeats = 4\n[part a]\nmode = closed\n"
                 "[part b]\nmode = paced\nrate = 1k\nrepeats = 2\n[part c]\nmax-workers = 300\nrepeats = 5\n",
                 4);
    ck_assert(has_note("1 point: the same cell is in an earlier part"));
    for (uint32_t i = 0; i < plan.cell_count; i++) {
        uint32_t expected = strstr(plan.cells[i].id, "paced") != NULL ? 2 : strstr(plan.cells[i].id, "300") ? 5 : 4;
        ck_assert_uint_eq(plan.cells[i].repeats, expected);
    }
    ck_assert_uint_eq(plan.step_count, 5 + 4 + 2 + 2);
    ck_assert_int_eq(build("[part a]\nduration = 1s\n[part b]\nduration = 2s\n", 1), 1);
    ck_assert_ptr_nonnull(strstr(text_now(), "in two parts with duration 1 and 2, expected one value\n"));
}
END_TEST

START_TEST(test_what_is_not_admitted_is_left_out)
{
    ck_assert_int_eq(build("[sweep]\nmin-workers = 5\nmax-workers = 4\n", 1), 1);
    ck_assert_ptr_nonnull(strstr(text_now(), "t: found no cell that can be measured: 1 point: left out: "));
    assert_built("[sweep]\nmin-workers = 5\nmax-workers = 4, 300\n", 1);
    ck_assert(has_note("1 point: left out: "));
}
END_TEST

START_TEST(test_each_block_runs_each_cell_once)
{
    assert_built("[sweep]\nmax-workers = 300..309\nrepeats = 5\n", 10);
    ck_assert_uint_eq(plan.step_count, 50);
    bool differs = false;
    for (uint32_t block = 0; block < 5; block++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < 10; i++) {
            const struct plan_step *step = &plan.steps[block * 10 + i];
            ck_assert_uint_eq(step->repeat, block + 1);
            seen |= 1u << step->cell;
            differs |= step->cell != plan.steps[i].cell;
        }
        ck_assert_uint_eq(seen, (1u << 10) - 1);
    }
    ck_assert(differs); /* 10!^-4 that it does not by chance */
}
END_TEST

START_TEST(test_order_and_seeds_follow_the_seed)
{
    static const char sweep[] = "[sweep]\nmax-workers = 300..309\nrepeats = 3\n";
    struct plan_step steps[30];
    ck_assert_int_eq(build(sweep, 7), 0);
    memcpy(steps, plan.steps, sizeof steps);
    ck_assert_uint_eq(plan_step_seed(&plan, 1), 7);
    uint64_t second = plan_step_seed(&plan, 2);
    ck_assert_uint_ne(second, 7);
    ck_assert_uint_le(second, PLAN_SEED_MAX);
    ck_assert_int_eq(build(sweep, 8), 0);
    ck_assert_int_ne(memcmp(steps, plan.steps, sizeof steps), 0);
    plan_reorder(&plan, 7);
    ck_assert_int_eq(memcmp(steps, plan.steps, sizeof steps), 0);
    ck_assert_uint_eq(plan_step_seed(&plan, 2), second);
    assert_built("[sweep]\nmax-workers = 300..309\nrepeats = 3\norder = listed\n", 10);
    for (uint32_t i = 0; i < 30; i++)
        ck_assert_uint_eq(plan.steps[i].cell, i % 10);
}
END_TEST

/* --resume compares texts: equal for equal work whatever the seed drawn, different for any difference. */
START_TEST(test_texts_tell_plans_apart)
{
    static const char *const sweeps[] = {
        "[sweep]\nmax-workers = 300, 301\n",
        "[sweep]\nmax-workers = 300, 302\n",
        "[sweep]\nmax-workers = 301, 300\n",
        "[sweep]\nmax-workers = 300, 301\nrepeats = 2\n",
        "[sweep]\nmax-workers = 300, 301\nduration = 1s\n",
        "[sweep]\nmax-workers = 300, 301\ntries = 1\n",
        "[sweep]\nmax-workers = 300, 301\norder = listed\n",
        "[sweep]\nmax-workers = 300, 301\nname = other\n",
    };
    enum { SWEEPS = sizeof sweeps / sizeof sweeps[0] };
    char *texts[SWEEPS];
    for (int i = 0; i < SWEEPS; i++) {
        ck_assert_int_eq(build(sweeps[i], 1), 0);
        texts[i] = strdup(plan.text);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(texts[i], texts[j]);
    }
    ck_assert_int_eq(build("# the same\n[sweep]\nmax-workers = 300..301\ndescription = x\n", 2), 0);
    ck_assert_str_eq(plan.text, texts[0]);
    plan_fini(&plan);
    ck_assert_int_eq(plan_build(&specification, 2, true, stream, &plan), 0);
    ck_assert_str_ne(plan.text, texts[0]);
    for (int i = 0; i < SWEEPS; i++)
        free(texts[i]);
}
END_TEST

START_TEST(test_too_many_cells)
{
    specification_init(&specification, "t");
    has_specification = true;
    ck_assert_int_eq(specification_set(&specification, "--set", "spin-limit", "0..999", stream), 0);
    ck_assert_int_eq(specification_set(&specification, "--set", "max-workers", "1..101", stream), 1);
    ck_assert_int_eq(specification_set(&specification, "--set", "max-workers", "300", stream), 0);
    ck_assert_int_eq(plan_build(&specification, 1, false, stream, &plan), 0);
    has_plan = true;
    ck_assert_uint_eq(plan.cell_count, 1000);
}
END_TEST

START_TEST(test_print)
{
    assert_built("[sweep]\ndescription = a test\nmax-workers = 300, 301\nrepeats = 2\norder = listed\n"
                 "duration = 100ms\nwarmup = 0\nrate = 5k\n",
                 2);
    plan_print(&plan, stream);
    ck_assert_str_eq(text_now(), "t: a test\n"
                                 "2 cells, 4 repeats, seed 1, about 1 s, or 2 s on a busy machine\n"
                                 "\n"
                                 "cells:\n"
                                 "    1  2 x 0.1 s  scheduler=chase-lev max-workers=300\n"
                                 "    2  2 x 0.1 s  scheduler=chase-lev max-workers=301\n"
                                 "\n"
                                 "notes:\n"
                                 "  all points: rate has no effect with mode=closed\n"
                                 "\n"
                                 "order:\n"
                                 "  block 1: 1 2\n"
                                 "  block 2: 1 2\n");
}
END_TEST

/* What the documentation says of them, on any machine. */
START_TEST(test_built_in_sweeps)
{
    const struct builtin_sweep *sweep;
    for (uint32_t i = 0; (sweep = builtin_sweep(i)) != NULL; i++) {
        ck_assert_msg(build(sweep->text, 1) == 1 || has_plan, "%s", text_now());
        ck_assert_msg(has_plan, "%s: %s", sweep->name, text_now());
        uint32_t cells = plan.cell_count;
        ck_assert_uint_gt(cells, 1);
        ck_assert_uint_eq(plan.cells[0].repeats, 6); /* intervals need six */
        plan_fini(&plan);
        specification_quick(&specification);
        ck_assert_int_eq(plan_build(&specification, 1, false, stream, &plan), 0);
        ck_assert_uint_eq(plan.cell_count, cells); /* --quick never cuts an axis */
        if (strcmp(sweep->name, "schedulers") == 0)
            ck_assert(has_cell("scheduler=inline mode=paced rate=2000 extension-us=100"));
        if (strcmp(sweep->name, "high-cpu") == 0) {
            ck_assert(
                has_cell("scheduler=chase-lev max-workers=25 spin-limit=0 mode=paced rate=2000 extension-us=100"));
            ck_assert(has_cell("scheduler=chase-lev max-workers=12 spin-limit=5"));
            ck_assert(has_cell("scheduler=chase-lev max-workers=1 mode=paced rate=5000 extension-us=100"));
        }
    }
}
END_TEST

/* A target file, whose path is given back; more: the rest of its start line. */
static void write_target(char *path, size_t size, const char *more)
{
    snprintf(path, size, "/tmp/plan-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_gt(
        dprintf(file, "[target]\nname = mine\nwarmup = 5s\nstart = ./server {port} [-n {max-workers}]%s\n", more), 0);
    close(file);
}

/* A tunable that is no parameter could be neither set nor seen. */
START_TEST(test_every_tunable_is_a_parameter)
{
    struct pilfer_entry entry;
    struct pilfer_tunable tunable;
    uint32_t count = 0;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_SCHEDULER, i, &entry); i++) {
        for (uint32_t j = 0; pilfer_tunable(entry.name, j, &tunable); j++) {
            int index = parameter_find(tunable.name);
            ck_assert_msg(index >= 0, "%s of %s is no parameter", tunable.name, entry.name);
            const struct parameter *row = &parameters[index];
            ck_assert_msg((row->flags & PARAMETER_TUNABLE) != 0, "%s", tunable.name);
            ck_assert_msg(row->maximum == (double)tunable.maximum, "%s", tunable.name);
            if (strcmp(row->initial, "default") != 0) {
                ck_assert_msg(row->minimum == (double)tunable.minimum, "%s", tunable.name);
                ck_assert_msg(strtod(row->initial, NULL) == (double)tunable.initial, "%s", tunable.name);
            }
            count++;
        }
    }
    ck_assert_uint_gt(count, 6);
}
END_TEST

START_TEST(test_what_a_sizing_or_scheduler_lacks_collapses)
{
    assert_built("[sweep]\nscheduler = dotnet, chase-lev\nmax-workers = 3\nmax-completion-threads = 1, 2\n"
                 "hill-climbing = 0, 1\nprocessors = 12\n",
                 4 + 1);
    ck_assert(has_cell("scheduler=chase-lev max-workers=3"));
    ck_assert(has_cell("scheduler=dotnet max-workers=3 max-completion-threads=2 processors=12 hill-climbing=0"));
    ck_assert(has_note("max-completion-threads has no effect with scheduler=chase-lev"));
    assert_built("[sweep]\nscheduler = dotnet\nsizing = fixed\nmax-workers = 3\nmax-completion-threads = 1, 2\n"
                 "hill-climbing = 0, 1\n",
                 1);
    ck_assert(has_note("max-completion-threads has no effect with sizing=fixed"));
    assert_built("[sweep]\nscheduler = dotnet\nmin-workers = 0, 1\nmax-workers = 3\nprocessors = 12\n", 1);
    assert_built("[sweep]\nscheduler = dotnet\nmax-workers = default, 32767\nprocessors = 12\n", 1);
    ck_assert(has_cell("scheduler=dotnet max-workers=32767 processors=12"));
}
END_TEST

/* A window that waits is planned with its longest warm-up, and one that cannot is not. */
START_TEST(test_waiting_is_planned)
{
    char path[64], sweep[512];
    write_target(path, sizeof path, "");
    assert_built("[sweep]\nworkload = echo\nwarmup-max = 30s\nwarmup-until = cpu\n", 1);
    ck_assert(plan.seconds > 30 && plan.note_count == 0);
    assert_built("[sweep]\nworkload = echo\nwarmup-max = 30s\nscheduler = chase-lev\n", 1);
    ck_assert(plan.seconds < 30);
    assert_built("[sweep]\nworkload = echo\nwarmup-max = 30s\nscheduler = dotnet\n", 1);
    ck_assert(plan.seconds > 30);
    assert_built("[sweep]\nworkload = spawn\nwarmup-max = 30s\nwarmup-until = cpu\n", 1);
    ck_assert(plan.seconds < 30 && has_note("warmup-until has no effect with workload=spawn"));
    assert_built("[sweep]\nworkload = spawn\nwarmup-max = 30s\nscheduler = dotnet\n", 1);
    ck_assert(plan.seconds < 30);
    snprintf(sweep, sizeof sweep, "[sweep]\ntarget = %s\nwarmup-max = 30s\nwarmup-until = cpu\n", path);
    assert_built(sweep, 1);
    ck_assert(plan.seconds > 30 && plan.note_count == 0);
    specification_quick(&specification);
    plan_fini(&plan);
    has_plan = plan_build(&specification, 1, false, stream, &plan) == 0;
    ck_assert(has_plan && plan.seconds < 30);
    snprintf(sweep, sizeof sweep, "[sweep]\ntarget = %s\nwarmup-max = 30s\n", path);
    assert_built(sweep, 1);
    ck_assert(plan.seconds < 30 && has_note("warmup-max has no effect with target="));
    unlink(path);
}
END_TEST

START_TEST(test_the_published_rows)
{
    struct configuration configuration;
    has_specification = specification_parse_selector("published", stream, &specification) == 0;
    ck_assert_msg(has_specification, "%s", text_now());
    has_plan = plan_build(&specification, 1, false, stream, &plan) == 0;
    ck_assert_msg(has_plan, "%s", text_now());
    ck_assert_uint_eq(plan.cell_count, 9);
    ck_assert_uint_eq(plan.note_count, 0);
    for (uint32_t i = 0; i < plan.cell_count; i++) {
        plan_configuration(&plan, i, &configuration);
        ck_assert_str_eq(configuration_text(&configuration, "scheduler"), "dotnet");
        ck_assert_str_eq(configuration_text(&configuration, "processors"), "12");
        ck_assert_str_eq(configuration_text(&configuration, "mode"), "closed");
        ck_assert(configuration_number(&configuration, "warmup") >= 10);
        ck_assert(plan.cells[i].seconds > configuration_number(&configuration, "warmup-max"));
    }
    specification_quick(&specification);
    plan_fini(&plan);
    has_plan = plan_build(&specification, 1, false, stream, &plan) == 0;
    ck_assert(has_plan && plan.cell_count == 9 && plan.seconds < 60);
}
END_TEST

START_TEST(test_a_target_has_the_knobs_that_it_uses)
{
    char path[64], sweep[512], id[128];
    struct configuration configuration;
    write_target(path, sizeof path, "");
    snprintf(sweep, sizeof sweep,
             "[sweep]\nscheduler = inline, chase-lev\ntarget = none, %s\nmax-workers = 1, 300\nspin-limit = 0, 5\n"
             "placement = published, default\nworkload = ping, echo\n",
             path);
    /* The model: inline once, chase-lev four times, with ping and, in both placements, with echo. */
    assert_built(sweep, 2 + (1 + 4) * (1 + 2));
    snprintf(id, sizeof id, "target=%s max-workers=300", path);
    ck_assert_msg(has_cell(id), "there is no cell '%s'", id);
    snprintf(id, sizeof id, "spin-limit has no effect with target=%s", path);
    ck_assert(has_note(id));
    for (uint32_t i = 0; i < plan.cell_count; i++) {
        plan_configuration(&plan, i, &configuration);
        bool is_target = strcmp(configuration_text(&configuration, "target"), path) == 0;
        ck_assert(is_target == (strncmp(plan.cells[i].id, "target=", 7) == 0));
        ck_assert(is_target == (plan.cells[i].seconds > 5)); /* its own warm-up, if the sweep's is shorter */
    }
    unlink(path);
}
END_TEST

/* A cell is printed with what tells it from others of the plan; its stored id stays. */
START_TEST(test_print_tells_what_varies)
{
    char path[] = "/tmp/pilfer-plan-XXXXXX.ini", sweep[512], line[256];
    write_target(path, sizeof path, "");
    snprintf(sweep, sizeof sweep,
             "[sweep]\nscheduler = dotnet\ntarget = none, %s\nworkload = echo\nmax-workers = 300\n"
             "hill-climbing = 0, 1\nmode = closed, paced\nrepeats = 2\norder = listed\nduration = 100ms\nwarmup = 0\n",
             path);
    assert_built(sweep, 6);
    plan_print(&plan, stream);
    ck_assert(has_cell("scheduler=dotnet max-workers=300 workload=echo"));
    ck_assert(strstr(text_now(), "  scheduler=dotnet max-workers=300 hill-climbing=1 workload=echo mode=closed\n"));
    ck_assert(
        strstr(text_now(), "  scheduler=dotnet max-workers=300 hill-climbing=0 workload=echo mode=paced rate=2000\n"));
    snprintf(line, sizeof line, "  target=%s max-workers=300 workload=echo mode=closed\n", path);
    ck_assert(strstr(text_now(), line));
    ck_assert(strstr(text_now(), "\norder:\n  block 1: 1 2 3 4 5 6\n  block 2: 1 2 3 4 5 6\n"));
    unlink(path);
}
END_TEST

/* The order of very many repeats is for nobody to read. */
START_TEST(test_print_says_a_long_order)
{
    char *order;
    assert_built("[sweep]\nmax-workers = 300..309\nrepeats = 20\n", 10);
    plan_print(&plan, stream);
    order = strstr(text_now(), "\norder:\n");
    ck_assert(order != NULL && strncmp(order, "\norder:\n  block 1: ", 19) == 0);
    size_t before = strlen(text_now());
    assert_built("[sweep]\nmax-workers = 300..309\n[part a]\nrepeats = 20\n[part b]\nrepeats = 1\nmax-workers = 310\n",
                 11);
    plan_print(&plan, stream);
    order = strstr(text_now() + before, "\norder:\n");
    ck_assert(order != NULL);
    ck_assert_str_eq(order, "\norder:\n"
                            "  20 blocks; block N measures each cell of N repeats or more once, in an order drawn from "
                            "the seed and N\n");
}
END_TEST

/* One of the model's own numbers, which only the published pools and a target with a word for it have. */
START_TEST(test_a_target_has_the_processors_that_it_uses)
{
    char with[64], without[64], sweep[512], id[128];
    write_target(with, sizeof with, " [-p {processors}]");
    write_target(without, sizeof without, "");
    snprintf(sweep, sizeof sweep,
             "[sweep]\nscheduler = chase-lev, dotnet\ntarget = none, %s, %s\nmax-workers = 300\n"
             "processors = 12, 13\nworkload = echo\n",
             with, without);
    assert_built(sweep, 1 + 2 + 2 + 1);
    snprintf(id, sizeof id, "target=%s max-workers=300 processors=12", with);
    ck_assert_msg(has_cell(id), "there is no cell '%s'", id);
    snprintf(id, sizeof id, "target=%s max-workers=300", without);
    ck_assert_msg(has_cell(id), "there is no cell '%s'", id);
    snprintf(id, sizeof id, "processors has no effect with target=%s", without);
    ck_assert(has_note(id));
    unlink(with);
    unlink(without);
}
END_TEST

START_TEST(test_a_target_that_is_not_here_is_left_out)
{
    char path[64], sweep[256];
    write_target(path, sizeof path, "");
    FILE *file = fopen(path, "a");
    fprintf(file, "requires = no-such-program-anywhere\n");
    fclose(file);
    snprintf(sweep, sizeof sweep, "[sweep]\ntarget = none, %s\nmax-workers = 300, 301\n", path);
    assert_built(sweep, 2);
    ck_assert(has_note("2 points: left out: target mine: there is no program no-such-program-anywhere here"));
    assert_built("[sweep]\ntarget = none, command\nmax-workers = 300\n", 1);
    ck_assert(has_note("target command: it needs --command"));
    assert_built("[sweep]\ntarget = command\ncommand = ./server {port}\n", 1);
    ck_assert(has_cell("target=command command=./server {port}"));
    unlink(path);
}
END_TEST

int main(void)
{
    platform_init();
    Suite *suite = suite_create("plan");
    TCase *plans = tcase_create("plans");
    tcase_add_checked_fixture(plans, setup, teardown);
    tcase_add_test(plans, test_ids_name_what_is_not_default);
    tcase_add_test(plans, test_knobs_that_a_scheduler_lacks_collapse);
    tcase_add_test(plans, test_an_idle_policy_that_does_not_spin_has_no_spin_limit);
    tcase_add_test(plans, test_parameters_of_other_modes_and_workloads_collapse);
    tcase_add_test(plans, test_default_collapses_into_its_number);
    tcase_add_test(plans, test_parts);
    tcase_add_test(plans, test_what_is_not_admitted_is_left_out);
    tcase_add_test(plans, test_each_block_runs_each_cell_once);
    tcase_add_test(plans, test_order_and_seeds_follow_the_seed);
    tcase_add_test(plans, test_texts_tell_plans_apart);
    tcase_add_test(plans, test_too_many_cells);
    tcase_add_test(plans, test_print);
    tcase_add_test(plans, test_print_tells_what_varies);
    tcase_add_test(plans, test_print_says_a_long_order);
    tcase_add_test(plans, test_built_in_sweeps);
    tcase_add_test(plans, test_every_tunable_is_a_parameter);
    tcase_add_test(plans, test_what_a_sizing_or_scheduler_lacks_collapses);
    tcase_add_test(plans, test_waiting_is_planned);
    tcase_add_test(plans, test_the_published_rows);
    tcase_add_test(plans, test_a_target_has_the_knobs_that_it_uses);
    tcase_add_test(plans, test_a_target_has_the_processors_that_it_uses);
    tcase_add_test(plans, test_a_target_that_is_not_here_is_left_out);
    suite_add_tcase(suite, plans);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
