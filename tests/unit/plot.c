/* SPDX-License-Identifier: MIT
 *
 * Promises: pictures name what was swept, never pool modes, rates or configurations, and carry their context; what
 * people wrote is drawn, not executed; whatever a sweep holds gives a plot or a sentence.
 *
 * Method: made-up sweeps drawn by the real gnuplot, where it is installed; the rest of the tests needs none.
 */
#include "plot_fixture.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is drawn ---- */

/* The words must follow each other in one line, with nothing but spaces between. */
static void expect_axis(const char *text, const char *const *words, size_t count)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        const char *at = line + (*line == '\n');
        line = at;
        size_t found = 0;
        while (found < count) {
            at += strspn(at, " ");
            size_t length = strlen(words[found]);
            if (strncmp(at, words[found], length) != 0) {
                break;
            }
            at += length;
            found++;
        }
        if (found == count) {
            return;
        }
    }
    ck_abort_msg("no axis with the swept values in:\n%s", text);
}

START_TEST(test_text_names_what_was_swept)
{
    static const char *const ticks[] = {"1", "2", "12", "25", "default"};
    made_sweep_high_cpu(&made);
    char *text = draw((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, 0);
    expect_axis(text, ticks, 5);
    static const char *const wanted[] = {"spin 0",
                                         "spin default",
                                         "Spin default is 70.",
                                         "24-25 engaged",
                                         "closed loop",
                                         "paced, 2,000 requests/s",
                                         "real machine, 2 cores",
                                         "one worker, spin 0",
                                         "max-workers",
                                         "% of one CPU"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        expect_text(text, wanted[i]);
    }
    free(text);
    ck_assert_uint_eq(entries(temporary), 0);
}
END_TEST

START_TEST(test_text_fits_the_width)
{
    made_sweep_high_cpu(&made);
    for (uint32_t width = 60; width <= 140; width += 40) {
        char *text = draw((struct plot_request){.kind = PLOT_CPU_PER_REQUEST, .width = width}, 0);
        for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            ck_assert_msg(end - line <= (ptrdiff_t)width, "a line of %td in a width of %u", end - line, width);
        }
        free(text);
    }
}
END_TEST

START_TEST(test_svg_is_complete)
{
    made_sweep_high_cpu(&made);
    char *text = draw_file((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, "a.svg");
    static const char *const wanted[] = {">closed loop<", ">paced, 2,000 requests/s<",
                                         ">1<",           ">2<",
                                         ">12<",          ">25<",
                                         ">default<",     ">24-25 engaged<",
                                         ">spin 0<",      ">spin default<",
                                         "</svg>"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        expect_text(text, wanted[i]);
    }
    ck_assert_ptr_null(strstr(text, "scale(0")); /* some viewers refuse the whole picture then */
    free(text);
}
END_TEST

START_TEST(test_formats_by_suffix)
{
    static const struct {
        const char *name, *begins;
    } formats[] = {{"a.png", "\x89PNG"}, {"a.pdf", "%PDF"}, {"a.svg", "<?xml"}};
    made_sweep_high_cpu(&made);
    for (int kind = 0; kind < PLOT_KIND_COUNT; kind++) {
        if (kind == PLOT_FIDELITY) {
            made_sweep_add_real(&made);
        }
        char *text = draw_file((struct plot_request){.kind = (enum plot_kind)kind, .force = true}, formats[_i].name);
        ck_assert_int_eq(strncmp(text, formats[_i].begins, strlen(formats[_i].begins)), 0);
        free(text);
    }
}
END_TEST

START_TEST(test_split_names_its_parts)
{
    static const char *const parts[] = {"run", "search", "spin", "yield", "wake", "park", "poll", "unaccounted"};
    made_sweep_high_cpu(&made);
    char *text = draw((struct plot_request){.kind = PLOT_CPU_SPLIT}, 0);
    char *picture = draw_file((struct plot_request){.kind = PLOT_CPU_SPLIT}, "a.svg");
    for (size_t i = 0; i < 8; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "= %s", parts[i]);
        expect_text(text, wanted);
        snprintf(wanted, sizeof wanted, ">%s<", parts[i]);
        expect_text(picture, wanted);
    }
    free(text);
    free(picture);
}
END_TEST

START_TEST(test_map_shows_each_value)
{
    made_sweep_high_cpu(&made);
    char *text = draw((struct plot_request){.kind = PLOT_HEATMAP}, 0);
    char *picture = draw_file((struct plot_request){.kind = PLOT_HEATMAP}, "a.svg");
    for (int w = 2; w <= 6; w++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, " %d.0", 20 * w);
        expect_text(text, wanted);
        snprintf(wanted, sizeof wanted, ">%d<", 20 * w);
        expect_text(picture, wanted);
    }
    free(text);
    free(picture);
}
END_TEST

/* Cells alike but for one thing; each value must be seen by itself, and what tells them apart must be named. */
START_TEST(test_nothing_is_pooled)
{
    static const struct {
        struct made_cell other;
        const char *named;
    } pairs[] = {
        {{.mode = "paced", .rate_rps = 5000}, "paced, 5,000 requests/s"},
        {{.label = "global-queue"}, "global-queue"},
        {{.spin_limit = "5"}, "spin 5"},
        {{.max_workers = "3"}, " 3 "},
        {{.setting_value = "100"}, "quota-percent 100"},
        {{.cell_id = "the-other-one"}, "cell the-other-one"},
    };
    struct made_cell cell = {.label = "chase-lev",
                             .mode = "paced",
                             .rate_rps = 2000,
                             .max_workers = "2",
                             .spin_limit = "0",
                             .setting = "quota_percent",
                             .setting_value = "50",
                             .repeats = 1,
                             .cpu_percent = 20};
    made_sweep_add(&made, cell);
    const struct made_cell *other = &pairs[_i].other;
    cell.label = other->label != NULL ? other->label : cell.label;
    cell.rate_rps = other->rate_rps > 0 ? other->rate_rps : cell.rate_rps;
    cell.spin_limit = other->spin_limit != NULL ? other->spin_limit : cell.spin_limit;
    cell.max_workers = other->max_workers != NULL ? other->max_workers : cell.max_workers;
    cell.setting_value = other->setting_value != NULL ? other->setting_value : cell.setting_value;
    cell.cell_id = other->cell_id;
    cell.cpu_percent = 80;
    made_sweep_add(&made, cell);
    without_gnuplot();
    char *text = draw((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, 3);
    expect_text(text, " 20.0\n");
    expect_text(text, " 80.0\n");
    expect_text(text, pairs[_i].named);
    ck_assert_ptr_null(strstr(text, " 50.0"));
    free(text);
}
END_TEST

START_TEST(test_several_schedulers_are_lines_in_a_panel_per_spin_limit)
{
    for (int spin = 0; spin < 2; spin++) {
        made_sweep_add(&made, (struct made_cell){.label = "chase-lev",
                                                 .max_workers = "1",
                                                 .spin_limit = spin ? "default" : "0",
                                                 .cpu_percent = 30 + spin});
        made_sweep_add(&made, (struct made_cell){.label = "global-queue",
                                                 .max_workers = "1",
                                                 .spin_limit = spin ? "default" : "0",
                                                 .cpu_percent = 20 + spin});
    }
    made_sweep_add(&made, (struct made_cell){.label = "inline", .cpu_percent = 10});
    char *text = draw_file((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, "a.svg");
    static const char *const wanted[] = {">closed loop, spin 0<", ">closed loop, spin default<", ">chase-lev<",
                                         ">global-queue<", ">one worker, global-queue, spin 0<"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        expect_text(text, wanted[i]);
    }
    const char *first = strstr(text, ">inline<"); /* the floor is drawn in both */
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, ">inline<"));
    free(text);
}
END_TEST

START_TEST(test_bars_are_named_for_what_they_are)
{
    static const struct {
        uint32_t repeats;
        const char *named;
    } kinds[] = {{6, "95 % bootstrap intervals"}, {3, "range (lowest to highest)"}, {1, "Medians of 1 repeat."}};
    made_sweep_add(&made, (struct made_cell){.label = "chase-lev",
                                             .max_workers = "1",
                                             .spin_limit = "0",
                                             .repeats = kinds[_i].repeats,
                                             .cpu_percent = 20});
    char *text = draw((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, 0);
    expect_text(text, kinds[_i].named);
    free(text);
}
END_TEST

START_TEST(test_published_figures_have_a_panel_of_their_own)
{
    FILE *file = fopen(in_folder("published.csv"), "w");
    fputs("# Figures of a test.\nmax_workers,max_io,spin_limit,rps,router_cpu_low,router_cpu_high,extension_cpu\n"
          "default,default,default,17000,700,720,94\n25,1,default,,500,600,\n1,1,5,18000,124,124,90\n2,1,5,,,,\n",
          file);
    fclose(file);
    made_sweep_high_cpu(&made);
    struct plot_request request = {.kind = PLOT_CPU_VS_THREADS, .published = in_folder("published.csv")};
    char *text = draw_file(request, "a.svg");
    expect_text(text, ">published, 17,000 to 18,000 requests/s<");
    expect_text(text, ">spin 5<");
    expect_text(text, "Open markers: Figures of a test.");
    free(text);
    without_gnuplot();
    text = draw(request, 3);
    expect_text(text, " 550.0  500.0 to 600.0\n");
    free(text);
    file = fopen(in_folder("published.csv"), "a");
    fputs("12,1,default,x,1,1,1\n", file);
    fclose(file);
    free(draw(request, 3));
    expect_text(message, "published.csv:7: ");
}
END_TEST

START_TEST(test_a_plot_without_context_is_not_written)
{
    static char *const contexts[] = {NULL, "", "governor:\n\n"};
    made_sweep_high_cpu(&made);
    made.sweep.context = contexts[_i];
    char *text = draw((struct plot_request){.kind = PLOT_HEATMAP}, 3);
    ck_assert_str_eq(text, "");
    expect_text(message, "context");
    free(text);
    free(draw((struct plot_request){.kind = PLOT_HEATMAP, .output = in_folder("a.svg")}, 3));
    ck_assert_int_ne(access(in_folder("a.svg"), F_OK), 0);
}
END_TEST

START_TEST(test_context_is_at_the_foot)
{
    made_sweep_high_cpu(&made);
    made.sweep.finished_unix_s = 0;
    made.sweep.repeats_stored = 3;
    made.sweep.repeats_planned = 9;
    for (int kind = 0; kind < PLOT_KIND_COUNT; kind++) {
        if (kind == PLOT_FIDELITY) {
            made_sweep_add_real(&made);
        }
        char *text = draw((struct plot_request){.kind = (enum plot_kind)kind, .width = 1000}, 0);
        expect_text(text, "sweep 7 (made-up), seed 42, 2023-11-14 22:13 UTC, unfinished: 3 of 9 repeats");
        expect_text(text, "cpu: Test CPU 3000; cores: 2 usable of 2; kernel: Linux 6.1.0");
        free(text);
    }
}
END_TEST

/* A locale with a decimal comma, made where localedef and its sources are installed; false if they are not. */
static bool comma_locale(void)
{
    char command[1024];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s' > /dev/null 2>&1", in_folder("de_DE.UTF-8"));
    if (system(command) != 0 || setenv("LOCPATH", folder, 1) != 0 || setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        return false;
    }
    ck_assert_str_eq(localeconv()->decimal_point, ",");
    return true;
}

START_TEST(test_numbers_have_a_point_in_any_locale)
{
    made_sweep_high_cpu(&made);
    char *plain = draw_file((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, "plain.svg");
    if (!comma_locale()) {
        fputs("no localedef here: numbers in other locales are not tested\n", stderr);
        free(plain);
        return;
    }
    char *there = draw_file((struct plot_request){.kind = PLOT_CPU_VS_THREADS}, "there.svg");
    ck_assert_str_eq(plain, there);
    ck_assert_str_eq(localeconv()->decimal_point, ","); /* the caller's locale is as it was */
    setlocale(LC_ALL, "C");
    free(plain);
    free(there);
}
END_TEST

/* ---- what a sweep may hold ---- */

START_TEST(test_nothing_to_draw_is_a_sentence)
{
    free(draw((struct plot_request){.kind = (enum plot_kind)_i}, 1));
    expect_text(message, "no repeats");
    made_sweep_add(&made,
                   (struct made_cell){.label = "chase-lev", .max_workers = "1", .cpu_percent = 20, .invalid = true});
    free(draw((struct plot_request){.kind = (enum plot_kind)_i, .output = in_folder("a.svg")}, 1));
    expect_text(message, "of 1 cells, 1 have no valid repeat");
    ck_assert_int_ne(access(in_folder("a.svg"), F_OK), 0);
}
END_TEST

START_TEST(test_what_is_left_out_is_said)
{
    made_sweep_add(&made,
                   (struct made_cell){.label = "chase-lev", .max_workers = "1", .spin_limit = "0", .cpu_percent = 20});
    made_sweep_add(
        &made, (struct made_cell){
                   .label = "chase-lev", .max_workers = "2", .spin_limit = "0", .cpu_percent = 30, .invalid = true});
    made_sweep_add(&made, (struct made_cell){.label = "chase-lev",
                                             .max_workers = "3",
                                             .spin_limit = "0",
                                             .cpu_percent = 40,
                                             .disturbed = true,
                                             .without_split = true});
    char *text = draw((struct plot_request){.kind = PLOT_CPU_VS_THREADS, .width = 400}, 0);
    expect_text(text, "1 cell without a valid repeat is left out.");
    expect_text(text, "1 cell was disturbed in all repeats and is shown with them.");
    free(text);
    text = draw((struct plot_request){.kind = PLOT_CPU_SPLIT, .width = 400}, 0);
    expect_text(text, "1 cell without this number is left out.");
    free(text);
}
END_TEST

START_TEST(test_odd_sweeps_are_drawn)
{
    enum { ONE, IDENTICAL, ZERO, MANY } what = (unsigned)_i / PLOT_KIND_COUNT;
    enum plot_kind kind = (enum plot_kind)(_i % PLOT_KIND_COUNT);
    int count = what == ONE ? 1 : what == MANY ? 200 : 5;
    for (int i = 0; i < count; i++) {
        char label[32], workers[32];
        snprintf(label, sizeof label, "label-%d", what == MANY ? i : 0);
        snprintf(workers, sizeof workers, "%d", what == MANY ? 1 + i % 5 : 1 + i);
        double cpu_percent = what == ZERO ? 0 : what == MANY ? 1 + i : 20;
        made_sweep_add(
            &made,
            (struct made_cell){
                .label = label, .max_workers = workers, .spin_limit = "0", .repeats = 1, .cpu_percent = cpu_percent});
        if (kind == PLOT_FIDELITY && i < 5) {
            made_sweep_add(&made, (struct made_cell){.target = "go",
                                                     .max_workers = workers,
                                                     .spin_limit = "0",
                                                     .repeats = 1,
                                                     .cpu_percent = cpu_percent});
        }
    }
    bool fidelity = kind == PLOT_FIDELITY;
    int refused = what == MANY && (kind == PLOT_HEATMAP || fidelity) ? 2 : 0; /* 200 maps, 40 variants */
    refused = what == ZERO && fidelity ? 1 : refused;                         /* no ratio to zero */
    free(draw((struct plot_request){.kind = kind, .output = in_folder("a.png")}, refused));
    ck_assert_int_eq(access(in_folder("a.png"), F_OK) == 0, refused == 0);
    free(draw((struct plot_request){.kind = kind, .text = stdout}, refused == 2 ? 0 : refused));
}
END_TEST

/* ---- what people wrote ---- */

static const char *const hostile[] = {
    "`touch %s`",
    "$(touch %s)",
    "'.system('touch %s').'",
    "\"; system \"touch %s\" #",
    "'\n!touch %s\n'",
    "@a{/Bold b}^c_d~e&f<g>\\n\\",
    "%%s%%n%%d",
    "\x1b[31m\a\x7f",
    "\xff\xfe\xc0\x80",
    "",
};

START_TEST(test_hostile_text_is_only_drawn)
{
    char text[1024], target[512];
    snprintf(target, sizeof target, "%s", in_folder("touched"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, hostile[_i], target);
#pragma GCC diagnostic pop
    for (int label = 0; label < 2; label++) { /* a second one, so that the labels are series */
        made_sweep_add(&made, (struct made_cell){.label = label ? "chase-lev" : text,
                                                 .mode = label ? "paced" : text,
                                                 .max_workers = label ? "2" : text,
                                                 .spin_limit = label ? "0" : text,
                                                 .setting = text,
                                                 .setting_value = text,
                                                 .cpu_percent = 20});
    }
    for (int real = 0; real < 2; real++) { /* a ratio needs a first cell, and both sides */
        made_sweep_add(&made, (struct made_cell){.label = text,
                                                 .target = real ? "go" : NULL,
                                                 .target_version = real ? text : NULL,
                                                 .mode = text,
                                                 .max_workers = "1",
                                                 .spin_limit = "0",
                                                 .cpu_percent = 20});
    }
    char context[2100];
    snprintf(context, sizeof context, "cpu: a CPU\n%s\nkernel: %s", text, text);
    made.sweep.context = context;
    made.sweep.name = text;
    for (int kind = 0; kind < PLOT_KIND_COUNT; kind++) {
        free(draw((struct plot_request){.kind = (enum plot_kind)kind}, 0));
        char *picture = draw_file((struct plot_request){.kind = (enum plot_kind)kind, .force = true}, "a.svg");
        for (const unsigned char *at = (const unsigned char *)picture; *at != '\0'; at++) {
            ck_assert_msg(*at >= 0x20 || strchr("\t\n\r", *at) != NULL, "control character %d in the picture", *at);
        }
        expect_text(picture, "</svg>");
        free(picture);
    }
    ck_assert_int_ne(access(target, F_OK), 0);
}
END_TEST

START_TEST(test_hostile_paths)
{
    made_sweep_high_cpu(&made);
    free(draw_file((struct plot_request){.kind = PLOT_HEATMAP}, "|touch touched'`touch touched`\n.svg"));
    ck_assert_uint_eq(entries(folder), 2); /* the picture and the temporary folder */
}
END_TEST

START_TEST(test_kinds_are_found_by_name)
{
    for (int kind = 0; kind < PLOT_KIND_COUNT; kind++) {
        ck_assert_int_eq(plot_kind_find(plot_kinds[kind].name), kind);
        ck_assert_int_gt((int)strlen(plot_kinds[kind].summary), 10);
    }
    ck_assert_int_eq(plot_kind_find("pie"), -1);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static void add_with_gnuplot(TCase *tests)
{
    tcase_add_test(tests, test_text_names_what_was_swept);
    tcase_add_test(tests, test_text_fits_the_width);
    tcase_add_test(tests, test_svg_is_complete);
    tcase_add_loop_test(tests, test_formats_by_suffix, 0, 3);
    tcase_add_test(tests, test_split_names_its_parts);
    tcase_add_test(tests, test_map_shows_each_value);
    tcase_add_test(tests, test_several_schedulers_are_lines_in_a_panel_per_spin_limit);
    tcase_add_loop_test(tests, test_bars_are_named_for_what_they_are, 0, 3);
    tcase_add_test(tests, test_published_figures_have_a_panel_of_their_own);
    tcase_add_test(tests, test_context_is_at_the_foot);
    tcase_add_test(tests, test_numbers_have_a_point_in_any_locale);
    tcase_add_test(tests, test_what_is_left_out_is_said);
    tcase_add_loop_test(tests, test_odd_sweeps_are_drawn, 0, 4 * PLOT_KIND_COUNT);
    tcase_add_loop_test(tests, test_hostile_text_is_only_drawn, 0, COUNT(hostile));
    tcase_add_test(tests, test_hostile_paths);
}

int main(void)
{
    Suite *suite = suite_create("plot");
    TCase *without = tcase_create("without gnuplot"), *with = tcase_create("with gnuplot");
    tcase_add_checked_fixture(without, setup, teardown);
    tcase_add_checked_fixture(with, setup, teardown);
    tcase_set_timeout(with, 60);
    tcase_add_test(without, test_kinds_are_found_by_name);
    tcase_add_loop_test(without, test_nothing_is_pooled, 0, 6);
    tcase_add_loop_test(without, test_a_plot_without_context_is_not_written, 0, 3);
    tcase_add_loop_test(without, test_nothing_to_draw_is_a_sentence, 0, PLOT_KIND_COUNT);
    suite_add_tcase(suite, without);
    if (system("gnuplot --version > /dev/null 2>&1") == 0) {
        add_with_gnuplot(with);
    } else {
        fputs("gnuplot is not installed: what it draws is not tested\n", stderr);
    }
    suite_add_tcase(suite, with);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
