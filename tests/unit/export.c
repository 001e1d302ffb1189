/* SPDX-License-Identifier: MIT
 *
 * Promise: an export is what design promises, to the byte, in any locale: the columns and their order, unknown values,
 * numbers that read back as themselves, text that no spreadsheet and no parser takes for something else. And an output
 * file is whole or not there.
 */
#include "decimal.h"
#include "export.h"
#include "results/output.h"

#include <check.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIXED_COLUMNS                                                                                              \
    "sweep_id,cell_id,repeat,machine,cores,label,scheduler,idle,sizing,over,workload,target,mode,rate_rps,"        \
    "connections,"                                                                                                 \
    "min_workers,max_workers,max_workers_resolved,spin_limit,spin_limit_resolved,parallelism,duration_s,warmup_s," \
    "seed,"                                                                                                        \
    "valid,disturbed,tries,rps,requests,router_cpu_percent,router_cpu_us_per_request,extension_cpu_percent,"       \
    "load_cpu_percent,latency_us_p50,latency_us_p90,latency_us_p99,latency_us_p999,workers_started,workers_max,"   \
    "run_cpu_percent,search_cpu_percent,spin_cpu_percent,yield_cpu_percent,wake_cpu_percent,park_cpu_percent,"     \
    "poll_cpu_percent,unaccounted_cpu_percent,run_delay_percent"

/* Two rows that have different settings and numbers. */
static void make_set(struct result_set *set)
{
    *set = (struct result_set){.rows = calloc(2, sizeof(struct result)), .count = 2};
    struct result *first = &set->rows[0], *second = &set->rows[1];
    result_init(first);
    result_init(second);
    result_set_number(first, RESULT_sweep_id, 3);
    result_set_text(first, RESULT_cell_id, "a");
    result_set_text(first, RESULT_label, "=1+2, \"x\"");
    result_set_number(first, RESULT_rate_rps, 2000);
    result_set_number(first, RESULT_rps, 1999.5);
    result_add_setting(first, "zeta", "on");
    result_add_number(first, "parks", 12);
    result_set_number(second, RESULT_sweep_id, 3);
    result_set_text(second, RESULT_cell_id, "b\nc");
    result_set_text(second, RESULT_label, "chase-lev");
    result_set_number(second, RESULT_rps, 1e-7);
    result_add_setting(second, "alpha", "");
    result_add_number(second, "yields", 0.1 + 0.2);
    result_add_number(second, "foreign_cpu_percent", -1.25);
}

static char *export_text(enum export_format format, const struct result_set *set)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_int_eq(export_write(stream, format, set), 0);
    fclose(stream);
    return text;
}

static const char expected_csv[] =
    FIXED_COLUMNS ",alpha,zeta,foreign_cpu_percent,parks,yields\n"
                  "3,a,,,,\"'=1+2, \"\"x\"\"\",,,,,,,,2000,,,,,,,,,,,,,,1999.5,,,,,,,,,,,,,,,,,,,,,,on,,12,\n"
                  "3,\"b\nc\",,,,chase-lev,,,,,,,,,,,,,,,,,,,,,,0.0000001,,,,,,,,,,,,,,,,,,,,,,,-1.25,,"
                  "0.30000000000000004\n";

START_TEST(csv_to_the_byte)
{
    struct result_set set, none = {0};
    make_set(&set);
    char *text = export_text(EXPORT_CSV, &set);
    ck_assert_str_eq(text, expected_csv);
    free(text);
    text = export_text(EXPORT_CSV, &none);
    ck_assert_str_eq(text, FIXED_COLUMNS "\n");
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(csv_escapes_formulas)
{
    static const char *const cases[][2] = {
        {"=A1", "'=A1"},    {"+1", "'+1"},  {"-1", "'-1"},         {"@SUM(1)", "'@SUM(1)"},
        {"\tx", "'\tx"},    {"a=b", "a=b"}, {"\rx", "\"'\rx\""},   {"", ""},
        {"a,b", "\"a,b\""}, {"'x", "'x"},   {"a\"b", "\"a\"\"b\""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct result_set set = {.rows = calloc(1, sizeof(struct result)), .count = 1};
        char expected[64];
        result_set_text(&set.rows[0], RESULT_cell_id, cases[i][0]);
        char *text = export_text(EXPORT_CSV, &set);
        snprintf(expected, sizeof(expected), "\n,%s,,", cases[i][1]);
        ck_assert_msg(strstr(text, expected) != NULL, "'%s' became %s", cases[i][0], strchr(text, '\n'));
        free(text);
        result_set_fini(&set);
    }
}
END_TEST

START_TEST(json_is_json)
{
    struct result_set set, none = {0};
    make_set(&set);
    result_set_text(&set.rows[0], RESULT_label, "a\"\\\x01\xc3\xa4\xff\xed\xa0\x80z");
    char *text = export_text(EXPORT_JSON, &set);
    json_error_t error;
    json_t *array = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(array != NULL, "%s in line %d", error.text, error.line);
    ck_assert_uint_eq(json_array_size(array), 2);
    json_t *first = json_array_get(array, 0), *second = json_array_get(array, 1);
    ck_assert_uint_eq(json_object_size(first), RESULT_COLUMN_COUNT + 5);
    ck_assert_uint_eq(json_object_size(second), RESULT_COLUMN_COUNT + 5);
    ck_assert_str_eq(json_string_value(json_object_get(first, "label")),
                     "a\"\\\x01\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    ck_assert_int_eq(json_integer_value(json_object_get(first, "parks")), 12);
    ck_assert(json_is_null(json_object_get(first, "yields")));
    ck_assert(json_is_null(json_object_get(first, "machine")));
    ck_assert_str_eq(json_string_value(json_object_get(second, "alpha")), "");
    ck_assert(json_real_value(json_object_get(second, "yields")) == 0.1 + 0.2);
    json_decref(array);
    free(text);
    text = export_text(EXPORT_JSON, &none);
    array = json_loads(text, 0, &error);
    ck_assert_uint_eq(json_array_size(array), 0);
    json_decref(array);
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(markdown_is_a_table)
{
    struct result_set set;
    make_set(&set);
    result_set_text(&set.rows[0], RESULT_label, "a|b");
    char *text = export_text(EXPORT_MARKDOWN, &set);
    int lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        int bars = 0;
        for (const char *letter = line; *letter; letter++) {
            bars += *letter == '|' && (letter == line || letter[-1] != '\\');
        }
        ck_assert_int_eq(bars, RESULT_COLUMN_COUNT + 5 + 1);
    }
    ck_assert_int_eq(lines, 4);
    free(text);
    result_set_fini(&set);
}
END_TEST

START_TEST(formats_have_names)
{
    ck_assert_int_eq(export_format_find("csv"), EXPORT_CSV);
    ck_assert_int_eq(export_format_find("json"), EXPORT_JSON);
    ck_assert_int_eq(export_format_find("CSV"), -1);
    ck_assert_int_eq(export_format_find(""), -1);
    ck_assert_str_eq(export_format_word(EXPORT_MARKDOWN), "markdown");
}
END_TEST

/* ---- decimals ---- */

START_TEST(decimals_are_plain_short_and_exact)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {-1, "-1"},
                 {0.1, "0.1"},
                 {1e-5, "0.00001"},
                 {123.456, "123.456"},
                 {1e21, "1000000000000000000000"},
                 {9007199254740991, "9007199254740991"},
                 {1e15 + 0.5, "1000000000000000.5"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {-2.5, "-2.5"}};
    char text[DECIMAL_SIZE];
    double back;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_str_eq(decimal_print(cases[i].number, text), cases[i].text);
    }
    srandom(7);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
        double number;
        memcpy(&number, &bits, sizeof(number));
        if (!isfinite(number)) {
            continue;
        }
        ck_assert_msg(decimal_parse(decimal_print(number, text), &back) && back == number, "%a became %s", number,
                      text);
        ck_assert_uint_eq(strspn(text, "-0123456789."), strlen(text));
    }
}
END_TEST

START_TEST(only_plain_decimals_are_read)
{
    static const char *const wrong[] = {"",   "-",  ".",   "1.",  ".5",  "1e3", "+1",
                                        " 1", "1 ", "0x1", "1,5", "nan", "inf", "1.2.3"};
    double number;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ck_assert_msg(!decimal_parse(wrong[i], &number), "'%s' was read", wrong[i]);
    }
    ck_assert(decimal_parse("-12.50", &number) && number == -12.5);
}
END_TEST

/* A locale with a decimal comma is made here, since few machines have one. */
START_TEST(the_locale_changes_no_byte)
{
    char folder[] = "/tmp/pilfer-locale-XXXXXX", command[256];
    struct result_set set;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    int made = system(command);
    setenv("LOCPATH", folder, 1);
    bool comma = setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    if (!comma) {
        printf("skipped: no locale with a decimal comma here (localedef ended with %d)\n", made);
        return;
    }
    char text[DECIMAL_SIZE];
    double number;
    snprintf(text, sizeof(text), "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5"); /* the locale is on */
    make_set(&set);
    char *csv = export_text(EXPORT_CSV, &set);
    ck_assert_str_eq(csv, expected_csv);
    free(csv);
    ck_assert_str_eq(decimal_print_fixed(1234.56, 1, text), "1234.6");
    ck_assert(decimal_parse("2.5", &number) && number == 2.5);
    ck_assert(!decimal_parse("2,5", &number));
    result_set_fini(&set);
}
END_TEST

/* ---- output files ---- */

static char folder[32], path[64], message[OUTPUT_MESSAGE_SIZE];

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "%s", "/tmp/pilfer-output-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.csv", folder);
    message[0] = '\0';
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void expect_content(const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    fclose(file);
    ck_assert_str_eq(text, expected);
}

static int file_count(void)
{
    char command[96];
    snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
    FILE *list = popen(command, "r");
    int count = -1;
    ck_assert_int_eq(fscanf(list, "%d", &count), 1);
    pclose(list);
    return count;
}

static void write_whole(const char *text, bool force)
{
    struct output output;
    ck_assert_msg(output_open(&output, path, NULL, force, message) == 0, "%s", message);
    fputs(text, output.stream);
    ck_assert_msg(output_commit(&output, message) == 0, "%s", message);
}

START_TEST(a_file_is_whole_or_not_there)
{
    struct output output;
    ck_assert_int_eq(output_open(&output, path, ".csv", false, message), 0);
    ck_assert_str_eq(output.beside + strlen(output.beside) - 4, ".csv");
    fputs("half", output.stream);
    fflush(output.stream);
    ck_assert_int_ne(access(path, F_OK), 0);
    output_discard(&output);
    ck_assert_int_eq(file_count(), 0);
    write_whole("whole", false);
    expect_content("whole");
    ck_assert_int_eq(file_count(), 1);
}
END_TEST

START_TEST(an_existing_file_is_kept_without_force)
{
    struct output output;
    write_whole("first", false);
    ck_assert_int_eq(output_open(&output, path, NULL, false, message), -1);
    ck_assert_ptr_nonnull(strstr(message, path));
    ck_assert_ptr_nonnull(strstr(message, "--force"));
    expect_content("first");
    ck_assert_int_eq(output_open(&output, path, NULL, true, message), 0);
    fputs("second", output.stream);
    expect_content("first"); /* until the commit */
    ck_assert_int_eq(output_commit(&output, message), 0);
    expect_content("second");
}
END_TEST

START_TEST(a_file_that_appears_meanwhile_is_kept)
{
    struct output output;
    ck_assert_int_eq(output_open(&output, path, NULL, false, message), 0);
    fputs("ours", output.stream);
    FILE *other = fopen(path, "w");
    fputs("theirs", other);
    fclose(other);
    ck_assert_int_eq(output_commit(&output, message), -1);
    ck_assert_ptr_nonnull(strstr(message, path));
    expect_content("theirs");
    ck_assert_int_eq(file_count(), 1);
}
END_TEST

START_TEST(places_that_cannot_be_written_are_told)
{
    struct output output;
    ck_assert_int_eq(output_open(&output, folder, NULL, true, message), -1);
    ck_assert_ptr_nonnull(strstr(message, "directory"));
    snprintf(path, sizeof(path), "%s/none/x.csv", folder);
    ck_assert_int_eq(output_open(&output, path, NULL, false, message), -1);
    ck_assert_ptr_nonnull(strstr(message, path));
    ck_assert_int_eq(output_open(&output, "", NULL, false, message), -1);
}
END_TEST

START_TEST(a_full_device_is_told)
{
    struct output output;
    ck_assert_msg(output_open(&output, "/dev/full", NULL, false, message) == 0, "%s", message);
    fputs("text", output.stream);
    ck_assert_int_eq(output_commit(&output, message), -1);
    ck_assert_ptr_nonnull(strstr(message, "/dev/full"));
    ck_assert_ptr_nonnull(strstr(message, "No space left"));
    FILE *stream = fopen("/dev/full", "w");
    fputs("text", stream);
    ck_assert_int_eq(output_flush(stream, "standard output", message), -1);
    ck_assert_ptr_nonnull(strstr(message, "standard output"));
    fclose(stream);
}
END_TEST

START_TEST(a_link_is_followed)
{
    struct stat status;
    char target[64];
    snprintf(target, sizeof(target), "%s/target.csv", folder);
    write_whole("first", false);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink("target.csv", path), 0);
    write_whole("second", true);
    expect_content("second");
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export");
    TCase *exports = tcase_create("exports"), *outputs = tcase_create("outputs");
    tcase_set_timeout(exports, 60);
    tcase_add_test(exports, csv_to_the_byte);
    tcase_add_test(exports, csv_escapes_formulas);
    tcase_add_test(exports, json_is_json);
    tcase_add_test(exports, markdown_is_a_table);
    tcase_add_test(exports, formats_have_names);
    tcase_add_test(exports, decimals_are_plain_short_and_exact);
    tcase_add_test(exports, only_plain_decimals_are_read);
    tcase_add_test(exports, the_locale_changes_no_byte);
    tcase_add_checked_fixture(outputs, set_up, tear_down);
    tcase_add_test(outputs, a_file_is_whole_or_not_there);
    tcase_add_test(outputs, an_existing_file_is_kept_without_force);
    tcase_add_test(outputs, a_file_that_appears_meanwhile_is_kept);
    tcase_add_test(outputs, places_that_cannot_be_written_are_told);
    tcase_add_test(outputs, a_full_device_is_told);
    tcase_add_test(outputs, a_link_is_followed);
    suite_add_tcase(suite, exports);
    suite_add_tcase(suite, outputs);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
