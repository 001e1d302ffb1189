/* SPDX-License-Identifier: MIT
 *
 * Promise: a sweep file is read as it stands or refused, with all its faults in one pass, each on one line with the
 * place and what was expected; nothing is clamped, guessed or half used. `--set` keeps the same promise.
 *
 * Method: texts with known faults against the exact lines; files that are no files; hostile sizes.
 */
#include "faults_text.h"
#include "cli/ini_text.h"
#include "runner/specification.h"
#include "runner/specification_keys.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int parse(const char *text, struct specification *out)
{
    return specification_parse_text("a.sweep", text, strlen(text), faults, out);
}

static uint32_t key(const char *name)
{
    int index = parameter_find(name);
    ck_assert_int_ge(index, 0);
    return (uint32_t)index;
}

static void assert_values(const struct specification *specification, uint32_t part, const char *name,
                          const char *expected)
{
    char joined[4096] = "";
    size_t used = 0;
    const struct specification_axis *axis = specification_axis(specification, part, key(name));
    for (uint32_t i = 0; axis != NULL && i < axis->count; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i > 0 ? " " : "", axis->values[i]);
    ck_assert_str_eq(joined, expected);
}

START_TEST(test_reads_sections_lists_and_ranges)
{
    struct specification specification;
    int count = parse("\xef\xbb\xbf# a comment\r\n"
                      "; another\n"
                      "[sweep]\r\n"
                      "name = mine\n"
                      "description = two words; not a comment#\n"
                      "repeats = 6\n"
                      "order=listed\n"
                      "max-workers = 1..3, 12 ,default\n"
                      "\t\n"
                      "spin-limit = 0..100 step 30\n"
                      "scheduler = all\n"
                      "router-cpus = 0,1\n"
                      "duration = 200ms\n"
                      "[part  closed]\n"
                      "mode = closed\n"
                      "[part paced]  \n"
                      "mode = paced\n"
                      "rate = 2k\n"
                      "repeats = 3\n"
                      "max-workers = 25",
                      &specification);
    ck_assert_msg(count == 0, "%s", faults_now());
    ck_assert_str_eq(specification.name, "mine");
    ck_assert_str_eq(specification.description, "two words; not a comment#");
    ck_assert_int_eq(specification.order, SPECIFICATION_ORDER_LISTED);
    ck_assert_uint_eq(specification_part_count(&specification), 2);
    ck_assert_str_eq(specification.parts[1].name, "paced");
    assert_values(&specification, 0, "max-workers", "1 2 3 12 default");
    assert_values(&specification, 1, "max-workers", "25");
    assert_values(&specification, 0, "spin-limit", "0 30 60 90");
    assert_values(&specification, 1, "rate", "2000");
    assert_values(&specification, 0, "rate", "");
    assert_values(&specification, 1, "duration", "0.2");
    assert_values(&specification, 0, "router-cpus", "0-1");
    assert_values(&specification, 0, "workload", "");
    ck_assert_uint_eq(specification_repeats(&specification, 0), 6);
    ck_assert_uint_eq(specification_repeats(&specification, 1), 3);
    const struct specification_axis *schedulers = specification_axis(&specification, 0, key("scheduler"));
    uint32_t visible = 0;
    struct parameter_choice choice;
    for (uint32_t i = 0; parameter_choice_at(&parameters[key("scheduler")], i, &choice); i++)
        visible += !choice.hidden;
    ck_assert_uint_eq(schedulers->count, visible);
    ck_assert_uint_eq(specification_points(&specification, 0), (uint64_t)5 * 4 * visible);
    specification_fini(&specification);
}
END_TEST

/* Every fault that a file can have, each with the line that a person gets to see. */
static const struct {
    const char *text, *faults;
} faulty[] = {
    {"[sweep]\nmax-wrokers = 1\nspin-limit = 4x\nscheduler = chase-lew\n",
     "a.sweep:2: found the unknown key 'max-wrokers', expected a parameter; did you mean 'max-workers'?\n"
     "a.sweep:3: spin-limit: found '4x', expected a whole number from 0 to 100000, or default\n"
     "a.sweep:4: scheduler: found 'chase-lew', expected one of "},
    {"[sweep]\nrate = 1\nrate = 2\n",
     "a.sweep:3: found the key 'rate' again, expected it once: the first is on line 2\n"},
    {"[sweep]\nrate = 1,2,1\n", "a.sweep:2: rate: found '1' twice, expected each value once\n"},
    {"[sweep]\nrate = 1000, 1k\n", "a.sweep:2: rate: found '1k' twice"},
    {"[sweep]\nmax-workers = 1..3, 2\n", "a.sweep:2: max-workers: found '2' twice"},
    {"[sweep]\nrate =\n", "a.sweep:2: rate: found no value, expected a rate"},
    {"[sweep]\nrate = 1,,2\n", "a.sweep:2: rate: found no value"},
    {"[sweep]\nrate = 1,\n", "a.sweep:2: rate: found no value"},
    {"[sweep]\nrate = 1 2\n", "a.sweep:2: rate: found '1 2'"},
    {"[sweep]\nmax-workers = 4..1\n", "a.sweep:2: max-workers: found '4..1', expected an ascending range"},
    {"[sweep]\nmax-workers = 1..1\n", "expected an ascending range"},
    {"[sweep]\nmax-workers = 1..9 step 0\n", "expected an ascending range"},
    {"[sweep]\nmax-workers = 1..9 step -1\n", "expected an ascending range"},
    {"[sweep]\nmax-workers = 1..9 step\n", "expected an ascending range"},
    {"[sweep]\nmax-workers = 1..\n", "max-workers: found no value"},
    {"[sweep]\nmax-workers = ..9\n", "max-workers: found no value"},
    {"[sweep]\nmax-workers = 1..default\n", "found 'default' as the end of a range, expected a whole number"},
    {"[sweep]\nmax-workers = 0..4\n", "max-workers: found '0', expected a whole number from 1"},
    {"[sweep]\nmax-workers = 1...4\n", "max-workers: found '.4'"},
    {"[sweep]\nmax-workers = 1-4\n", "max-workers: found '1-4'"},
    {"[sweep]\nduration = 1..4\n", "duration: found the range '1..4', expected single values"},
    {"[sweep]\nduration = 1s, 2s\n", "duration: found the list '1s, 2s', expected one value: it is no axis\n"},
    {"[sweep]\nspin-limit = 0..100000\n", "found more than 1000 values"},
    {"[sweep]\nspin-limit = 0..999\nmax-workers = 1..101\n",
     "a.sweep:3: max-workers: found 101 values that with the other lists make more than 100000 cells"},
    {"[sweep]\nspin-limit = 0..999\n[part a]\nmax-workers = 1..101\n",
     "a.sweep: found lists whose product is 101000 cells, expected at most 100000\n"},
    {"[sweep]\nrepeats = 0\n", "a.sweep:2: repeats: found '0', expected a whole number from 1 to 10000\n"},
    {"[sweep]\nrepeats = 1,2\n", "repeats: found the list"},
    {"[sweep]\nrepeats = 2..6\n", "a.sweep:2: repeats: found the range '2..6', expected one value: it is no axis\n"},
    {"[sweep]\ntries = 1..3\n", "a.sweep:2: tries: found the range '1..3', expected one value: it is no axis\n"},
    {"[sweep]\norder = randon\n", "a.sweep:2: order: found 'randon'; did you mean 'random'?\n"},
    {"[sweep]\nname = ../etc\n", "a.sweep:2: name: found '../etc', expected 1 to 63 letters"},
    {"[sweep]\nname = -x\n", "a.sweep:2: name: found '-x'"},
    {"[sweep]\ndescription =\n", "a.sweep:2: description: found 0 bytes"},
    {"[sweep]\ndescription = a\xc2\x9b[2J\n",
     "a.sweep:2: description: found 'a\\xc2\\x9b[2J', expected printable text\n"},
    {"[sweep]\ndescription = a\xff\n", "a.sweep:2: description: found 'a\\xff', expected printable text\n"},
    {"[sweep]\nrate = 1\n[sweep]\nrate = 2\n",
     "a.sweep:3: found [sweep] again, expected it once: the first is on line 1\n"},
    {"[part a]\nrate = 1\n[part a]\nrate = 2\n",
     "a.sweep:3: found [part a] again, expected another name: the first is on line 1\n"},
    {"[part a]\nname = b\n", "a.sweep:2: found 'name' in [part a], expected it in [sweep]\n"},
    {"[part a b]\nrate = 1\n", "a.sweep:1: found the part name 'a b'"},
    {"[part ]\nrate = 1\n", "a.sweep:1: found the part name ''"},
    {"[swep]\nrate = x\n", "a.sweep:1: found the unknown section [swep]; did you mean 'sweep'?\n"
                           "a.sweep:2: rate: found 'x'"}, /* keys of a faulty section are checked as well */
    {"[swep]\nrate = 1\nrate = 1\n", "a.sweep:1: found the unknown section"},
    {"[sweep\nrate = 1\n", "a.sweep:1: found '[sweep', expected [sweep] or [part NAME] alone on the line\n"},
    {"[sweep] rate = 1\n", "a.sweep:1: found '[sweep] rate = 1', expected [sweep] or"},
    {"[sweep]\n", "a.sweep:1: found [sweep] without keys, expected at least one\n"},
    {"[sweep]\nrate = 1\n[part a]\n", "a.sweep:3: found [part a] without keys"},
    {"", "a.sweep: found no section, expected [sweep]\n"},
    {"# nothing\n", "a.sweep: found no section, expected [sweep]\n"},
    {"rate = 1\nrate = x\n",
     "a.sweep:1: found a key before any section, expected [sweep] first\na.sweep:2: rate: found 'x'"},
    {"[sweep]\n rate = 1\n", "a.sweep:2: found an indented line, expected each key at the start of a line\n"},
    {"[sweep]\nrate = 1\n  2\n", "a.sweep:3: found an indented line"},
    {"[sweep]\nrate = 1 ; fast\n", "a.sweep:2: found a comment behind a value, expected it on a line of its own\n"},
    {"[sweep]\nrate = 1\t# fast\n", "a.sweep:2: found a comment behind a value"},
    {"[sweep]\nrate: 1\n", "a.sweep:2: found 'rate: 1', expected KEY = VALUE"},
    {"[sweep]\nrate\n", "a.sweep:2: found 'rate', expected KEY = VALUE"},
    {"[sweep]\n= 1\n", "a.sweep:2: found no key before '='"},
    {"[sweep]\nrate = 1\033[2J\n", "a.sweep:2: found the control byte 0x1b in column 9, expected text\n"},
    {"[sweep]\nr\xff = 1\n", "a.sweep:2: found the unknown key 'r\\xff'"},
    {"[sweep]\nMax-Workers = 1\n",
     "a.sweep:2: found the unknown key 'Max-Workers', expected a parameter; did you mean"},
    {"[sweep]\nrate 1 = 1\n", "a.sweep:2: found the unknown key 'rate 1', expected a parameter; did you mean 'rate'?"},
};

START_TEST(test_names_every_fault)
{
    struct specification specification;
    int count = parse(faulty[_i].text, &specification);
    int lines = 0, expected = 0;
    ck_assert_msg(strstr(faults_now(), faulty[_i].faults) != NULL, "expected\n%sfound\n%s", faulty[_i].faults,
                  faults_now());
    for (const char *byte = faults_now(); *byte != '\0'; byte++)
        lines += *byte == '\n';
    for (const char *line = faulty[_i].faults; line != NULL; line = strstr(line + 1, "a.sweep"))
        expected += 1;
    ck_assert_int_eq(count, lines);
    ck_assert_msg(lines == expected || faulty[_i].faults[0] != 'a', "expected\n%sfound\n%s", faulty[_i].faults,
                  faults_now());
    ck_assert_uint_eq(specification.part_count, 0); /* nothing half-read is left */
    ck_assert_str_eq(specification.name, "");
}
END_TEST

START_TEST(test_nul_byte)
{
    struct specification specification;
    static const char text[] = "[sweep]\nrate = 1\0 2\nrate = 2\n";
    ck_assert_int_eq(specification_parse_text("a.sweep", text, sizeof text - 1, faults, &specification), 1);
    ck_assert_str_eq(faults_now(), "a.sweep:2: found the NUL byte 0x00 in column 9, expected text\n");
}
END_TEST

/* n - 1, n and n + 1 of each limit. */
START_TEST(test_limits)
{
    struct specification specification;
    char line[INI_LINE_LENGTH_MAX + 64];
    for (int length = INI_LINE_LENGTH_MAX - 1; length <= INI_LINE_LENGTH_MAX + 1; length++) {
        int used = snprintf(line, sizeof line, "[sweep]\ndescription = ");
        while (used - 8 < length)
            line[used++] = 'x';
        snprintf(line + used, 16, "\r\nrate = 1\n");
        bool good = length <= INI_LINE_LENGTH_MAX;
        ck_assert_int_eq(parse(line, &specification), good ? 0 : 1);
        if (good)
            specification_fini(&specification);
    }
    ck_assert_str_eq(faults_now(), "a.sweep:2: found a line of 191 bytes, expected at most 190\n");
    size_t capacity = 1 << 20;
    char *text = malloc(capacity);
    for (int parts = SPECIFICATION_PARTS_MAX; parts <= SPECIFICATION_PARTS_MAX + 1; parts++) {
        size_t used = 0;
        for (int i = 0; i < parts; i++)
            used += (size_t)snprintf(text + used, capacity - used, "[part p%d]\nrate = 1\n", i);
        ck_assert_int_eq(parse(text, &specification), parts - SPECIFICATION_PARTS_MAX);
        if (parts == SPECIFICATION_PARTS_MAX)
            specification_fini(&specification);
    }
    static const char *const keys[] = {"rate",     "connections", "channels", "tasks",   "warmup",
                                       "duration", "period",      "gap",      "repeats", "spin-limit"};
    for (int more = 0; more <= 1; more++) {
        size_t used = 0;
        for (int i = 0; i < SPECIFICATION_KEYS_MAX / 10; i++) {
            used += (size_t)snprintf(text + used, capacity - used, "[part p%d]\n", i);
            for (int k = 0; k < 10; k++)
                used += (size_t)snprintf(text + used, capacity - used, "%s = 1\n", keys[k]);
        }
        snprintf(text + used, capacity - used, "%s", more ? "tries = 1\n" : "");
        ck_assert_int_eq(parse(text, &specification), more);
        if (!more)
            specification_fini(&specification);
    }
    ck_assert_ptr_nonnull(strstr(faults_now(), "a.sweep:1101: found more than 1000 keys"));
    free(text);
}
END_TEST

/* A flood of faults is counted and cut, not poured out. */
START_TEST(test_floods)
{
    struct specification specification;
    size_t capacity = 1 << 20;
    char *text = malloc(capacity);
    size_t used = (size_t)snprintf(text, capacity, "[sweep]\n");
    for (int i = 0; i < 2 * FAULTS_SHOWN_MAX; i++)
        used += (size_t)snprintf(text + used, capacity - used, "key%d = 1\n", i);
    ck_assert_int_eq(parse(text, &specification), 2 * FAULTS_SHOWN_MAX);
    ck_assert_ptr_nonnull(strstr(faults_now(), "'key99'"));
    ck_assert_ptr_null(strstr(faults_now(), "'key100'"));
    ck_assert_ptr_nonnull(strstr(faults_now(), "a.sweep: more faults than these 100 are not shown\n"));
    used = (size_t)snprintf(text, capacity, "max-workers=1");
    for (int i = 2; i <= 2 * SPECIFICATION_VALUES_MAX; i++)
        used += (size_t)snprintf(text + used, capacity - used, ",%d", i);
    specification_init(&specification, "a");
    ck_assert_int_eq(specification_set_text(&specification, "--set", text, faults), 1);
    specification_fini(&specification);
    free(text);
}
END_TEST

START_TEST(test_set_overrides_all_parts_or_nothing)
{
    struct specification specification;
    ck_assert_int_eq(
        parse("[sweep]\nrepeats = 6\nrate = 1k\n[part a]\nrate = 2k\nrepeats = 3\n[part b]\nmode = paced\n",
              &specification),
        0);
    ck_assert_int_eq(specification_set_text(&specification, "--set", "rate=3k,4k", faults), 0);
    assert_values(&specification, 0, "rate", "3000 4000");
    assert_values(&specification, 1, "rate", "3000 4000");
    ck_assert_int_eq(specification_set(&specification, "--max-workers", "max-workers", "1..2", faults), 0);
    assert_values(&specification, 1, "max-workers", "1 2");
    ck_assert_int_eq(specification_set_text(&specification, "--set", "repeats=2", faults), 0);
    ck_assert_uint_eq(specification_repeats(&specification, 0), 2);
    ck_assert_uint_eq(specification_repeats(&specification, 1), 2);
    ck_assert_str_eq(faults_now(), "");
    ck_assert_int_eq(specification_set_text(&specification, "--set", "rate=3k,x", faults), 1);
    ck_assert_int_eq(specification_set_text(&specification, "--set", "rato=1", faults), 1);
    ck_assert_int_eq(specification_set_text(&specification, "--set", "rate", faults), 1);
    ck_assert_int_eq(specification_set_text(&specification, "--set", "=1", faults), 1);
    assert_values(&specification, 0, "rate", "3000 4000");
    ck_assert_str_eq(faults_now(),
                     "--set: rate: found 'x', expected a rate per second such as 2000 or 2k, from 1 to 1000000\n"
                     "--set: found the unknown key 'rato', expected a parameter; did you mean 'rate'?\n"
                     "--set: found 'rate', expected KEY=VALUE[,VALUE...]\n"
                     "--set: found '=1', expected KEY=VALUE[,VALUE...]\n");
    specification_fini(&specification);
}
END_TEST

START_TEST(test_quick_cuts_times_and_repeats_only)
{
    struct specification specification;
    ck_assert_int_eq(parse("[sweep]\nrepeats = 6\nmax-workers = 1..25\nduration = 100ms\n"
                           "[part a]\nduration = 2s\nmode = closed\n[part b]\nrepeats = 2\n",
                           &specification),
                     0);
    specification_quick(&specification);
    assert_values(&specification, 0, "duration", "0.5");
    assert_values(&specification, 1, "duration", "0.1");
    assert_values(&specification, 1, "warmup", "0.2");
    ck_assert_uint_eq(specification_repeats(&specification, 0), 3);
    ck_assert_uint_eq(specification_repeats(&specification, 1), 2);
    ck_assert_uint_eq(specification_axis(&specification, 0, key("max-workers"))->count, 25);
    ck_assert_int_eq(specification_keep_part(&specification, "c"), -1);
    ck_assert_int_eq(specification_keep_part(&specification, "b"), 0);
    ck_assert_uint_eq(specification_part_count(&specification), 1);
    ck_assert_uint_eq(specification_repeats(&specification, 0), 2);
    specification_fini(&specification);
}
END_TEST

START_TEST(test_files_that_are_none)
{
    struct specification specification;
    char folder[] = "/tmp/pilfer-specification-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/big name.sweep", folder);
    ck_assert_int_eq(specification_parse_file(path, faults, &specification), 1); /* missing */
    ck_assert_int_eq(specification_parse_file(folder, faults, &specification), 1);
    ck_assert_int_eq(specification_parse_file("/dev/zero", faults, &specification), 1);
    FILE *file = fopen(path, "w");
    fprintf(file, "[sweep]\nrate = 1\n");
    fclose(file);
    ck_assert_int_eq(specification_parse_file(path, faults, &specification), 1); /* blank in the name */
    ck_assert_int_eq(truncate(path, INI_FILE_SIZE_MAX + 1), 0);
    ck_assert_int_eq(specification_parse_file(path, faults, &specification), 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(specification_parse_file(path, faults, &specification), 1); /* does not wait for a writer */
    unlink(path);
    rmdir(folder);
    const char *const expected[] = {
        "cannot read the sweep file: No such file",     "found a folder",      "found a special file",
        "found a file name that cannot name the sweep", "found 1048577 bytes", "found a special file"};
    const char *text = faults_now();
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        text = strstr(text, expected[i]);
        ck_assert_msg(text != NULL, "expected '%s' in\n%s", expected[i], faults_now());
    }
}
END_TEST

START_TEST(test_built_in_sweeps)
{
    struct specification specification;
    const struct builtin_sweep *sweep;
    uint32_t count = 0;
    for (; (sweep = builtin_sweep(count)) != NULL; count++) {
        ck_assert_msg(specification_parse_selector(sweep->name, faults, &specification) == 0, "%s", faults_now());
        ck_assert_str_eq(specification.name, sweep->name);
        ck_assert_str_eq(specification.description, sweep->description);
        ck_assert_uint_gt(strlen(sweep->description), 10);
        specification_fini(&specification);
    }
    ck_assert_uint_ge(count, 4);
    ck_assert_int_eq(specification_parse_selector("high-cup", faults, &specification), 1);
    ck_assert_ptr_nonnull(strstr(faults_now(), "did you mean 'high-cpu'?"));
    ck_assert_int_eq(specification_parse_selector("./high-cpu", faults, &specification), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("specification");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, open_faults, close_faults);
    tcase_add_test(files, test_reads_sections_lists_and_ranges);
    tcase_add_loop_test(files, test_names_every_fault, 0, sizeof faulty / sizeof faulty[0]);
    tcase_add_test(files, test_nul_byte);
    tcase_add_test(files, test_limits);
    tcase_add_test(files, test_floods);
    tcase_add_test(files, test_files_that_are_none);
    tcase_add_test(files, test_built_in_sweeps);
    tcase_add_test(files, test_set_overrides_all_parts_or_nothing);
    tcase_add_test(files, test_quick_cuts_times_and_repeats_only);
    suite_add_tcase(suite, files);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
