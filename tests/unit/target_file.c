/* SPDX-License-Identifier: MIT
 *
 * Promise: a target file is read as it stands or refused, with all its faults in one pass, each on one line with the
 * place, what was expected and the nearest word; a start line becomes exactly the words that are written, with every
 * placeholder replaced, and what a default leaves nothing to say about is left out; programs are found where an exec
 * finds them.
 *
 * Method: texts with known faults against the exact lines; start lines against the words that they must give.
 */
#include "faults_text.h"
#include "runner/target.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int parse(const char *text, struct target *out)
{
    return target_parse_text("folder/mine.ini", text, strlen(text), faults, out);
}

START_TEST(test_reads_all_keys)
{
    struct target target;
    int count = parse("# a comment\n"
                      "[target]\n"
                      "name = other\n"
                      "description = two words; not a comment#\n"
                      "workload = router\n"
                      "requires = cc  make\n"
                      "install = a compiler\n"
                      "build = make -C {folder} OUT={build}\n"
                      "start = {build}/server --port {port} --control {control-port} [--workers {max-workers}]\n"
                      "version = {build}/server --version\n"
                      "path = /health?full=1\n"
                      "ready-within = 1500ms\n"
                      "warmup = 2s\n"
                      "pass = CC CFLAGS\n"
                      "[environment]\n"
                      "SPIN = 0x{spin-limit:x}\n"
                      "P = {processors}\n"
                      "EMPTY = \n",
                      &target);
    ck_assert_msg(count == 0, "%s", faults_now());
    ck_assert_str_eq(target.name, "other");
    ck_assert_str_eq(target.texts[TARGET_KEY_description], "two words; not a comment#");
    ck_assert_str_eq(target.texts[TARGET_KEY_path], "/health?full=1");
    ck_assert(target.is_router);
    ck_assert(target.ready_s == 1.5 && target.warmup_s == 2);
    ck_assert_uint_eq(target.variable_count, 3);
    ck_assert_str_eq(target.variables[2].value, "");
    ck_assert_uint_eq(target.placeholders, PLACEHOLDER_BIT(port) | PLACEHOLDER_BIT(control_port) |
                                               PLACEHOLDER_BIT(build) | PLACEHOLDER_BIT(max_workers) |
                                               PLACEHOLDER_BIT(spin_limit) | PLACEHOLDER_BIT(processors));
    target_fini(&target);
}
END_TEST

START_TEST(test_little_is_enough)
{
    struct target target;
    ck_assert_msg(parse("[target]\nstart = ./server {port}", &target) == 0, "%s", faults_now());
    ck_assert_str_eq(target.name, "mine");
    ck_assert(!target.is_router && target.warmup_s == 0 && target.ready_s == TARGET_READY_INITIAL_S);
    target_fini(&target);
    ck_assert_msg(parse("[target]\nstart = {command}\n", &target) == 0, "%s", faults_now());
    target_fini(&target);
    ck_assert_msg(parse("[target]\nstart = ./server\n[environment]\nPORT = {port}\n", &target) == 0, "%s",
                  faults_now());
    target_fini(&target);
}
END_TEST

#define START "start = ./server {port}\n"

static const struct {
    const char *text, *faults;
} faulty[] = {
    {"", "folder/mine.ini: found no section [target], expected it with the key start\n"},
    {"[target]\n", "folder/mine.ini:1: found [target] without the key start, expected the command that starts the "
                   "server\n"},
    {"start = ./server {port}\n", "folder/mine.ini:1: found a key before any section, expected [target] first\n"
                                  "folder/mine.ini: found no section [target], expected it with the key start\n"},
    {"[targt]\n" START, "folder/mine.ini:1: found the unknown section [targt]; did you mean 'target'?\n"
                        "folder/mine.ini: found no section [target], expected it with the key start\n"},
    {"[target\n" START, "folder/mine.ini:1: found '[target', expected [target] or [environment] alone on the line\n"
                        "folder/mine.ini: found no section [target], expected it with the key start\n"},
    {"[target]\n" START "[target]\n", "folder/mine.ini:3: found [target] again, expected it once: the first is on line "
                                      "1\n"},
    {"[target]\n" START "strat = x\ndescription =\n",
     "folder/mine.ini:3: found the unknown key 'strat'; did you mean 'start'?\n"
     "folder/mine.ini:4: description: found '', expected a line of text\n"},
    {"[target]\n" START START, "folder/mine.ini:3: found the key 'start' again, expected it once: the first is on line "
                               "2\n"},
    {"[target]\nstart = ./server {prot}\n",
     "folder/mine.ini:2: start: found {prot}, which has no meaning here; did you mean {port}?\n"},
    {"[target]\n" START "build = make {port}\n",
     "folder/mine.ini:3: build: found {port}, which has no meaning here, expected {folder} or {build}\n"},
    {"[target]\nstart = ./server {port} --workers {max-workers}\n",
     "folder/mine.ini:2: start: found {max-workers} outside of [ ], expected it inside: at its default there is no "
     "value, "
     "and what stands in [ ] is left out\n"},
    {"[target]\nstart = ./server {port} [--workers {max-workers}\n",
     "folder/mine.ini:2: start: found no ']', expected one for each '['\n"},
    {"[target]\nstart = ./server {port} [a [b {max-workers}]]\n",
     "folder/mine.ini:2: start: found '[' inside of [ ], expected ']' first\n"},
    {"[target]\nstart = ./server {port} 'x\n",
     "folder/mine.ini:2: start: found no second ', expected quotes in pairs\n"},
    {"[target]\nstart = ./server {port:x}\n",
     "folder/mine.ini:2: start: found {port:x}, expected {port}: it is no number\n"},
    {"[target]\nstart = ./server\n", "folder/mine.ini:2: found {port} neither in start nor in [environment], expected "
                                     "it: the server must be told where "
                                     "to listen\n"},
    {"[target]\nstart = ./server {port} {\n",
     "folder/mine.ini:2: start: found '{' without a name and '}', expected a placeholder such as {port}, or {{ for a "
     "brace\n"},
    {"[target]\nstart = ./server {command} {port}\n",
     "folder/mine.ini:2: start: found {command} beside other words, expected it alone\n"},
    {"[target]\nstart =\n", "folder/mine.ini:2: start: found no word, expected a program and its arguments\n"},
    {"[target]\n" START "workload = roter\n", "folder/mine.ini:3: workload: found 'roter'; did you mean 'router'?\n"},
    {"[target]\n" START "workload = router\n", "folder/mine.ini:2: found no {control-port}, expected it with workload "
                                               "router: the extension connects there\n"},
    {"[target]\n" START "path = ping\n",
     "folder/mine.ini:3: path: found 'ping', expected what a request asks for, such as /ping\n"},
    {"[target]\n" START "path = /a b\n",
     "folder/mine.ini:3: path: found '/a b', expected what a request asks for, such as /ping\n"},
    {"[target]\n" START "ready-within = soon\n",
     "folder/mine.ini:3: ready-within: found 'soon', expected a time such as 200ms, 2s or 50us, from 0s to 600s\n"},
    {"[target]\n" START "name = My Server\n",
     "folder/mine.ini:3: name: found 'My Server', expected 1 to 63 small letters, digits and hyphens, not 'none'\n"},
    {"[target]\n" START "name = none\n",
     "folder/mine.ini:3: name: found 'none', expected 1 to 63 small letters, digits and hyphens, not 'none'\n"},
    {"[target]\n" START "pass = A-B C\n", "folder/mine.ini:3: pass: found 'A-B', expected names of variables\n"},
    {"[target]\n" START "[environment]\nA = {max-wokers}\nA = 1\n2 = x\n",
     "folder/mine.ini:4: A: found {max-wokers}, which has no meaning here; did you mean {max-workers}?\n"
     "folder/mine.ini:5: found the variable 'A' again, expected it once: the first is on line 4\n"
     "folder/mine.ini:6: found the variable '2', expected letters, digits and '_'\n"},
    {"[target]\n" START "[environment]\nA = {command}\n", "folder/mine.ini:4: A: found {command}, which has no meaning "
                                                          "here, expected {port}, {control-port}, {min-workers}, "
                                                          "{max-workers}, {spin-limit}, {processors}, {folder} or "
                                                          "{build}\n"},
};

START_TEST(test_names_each_fault_with_its_place)
{
    struct target target;
    uint32_t lines = 0;
    int count = parse(faulty[_i].text, &target);
    ck_assert_str_eq(faults_now(), faulty[_i].faults);
    for (const char *byte = faulty[_i].faults; *byte != '\0'; byte++)
        lines += *byte == '\n';
    ck_assert_int_eq(count, lines);
}
END_TEST

static const char *const nameless[] = {"My Server.ini", "folder/none.ini"};

START_TEST(test_a_file_that_cannot_name_its_target)
{
    struct target target;
    static const char text[] = "[target]\nstart = ./server {port}\n";
    ck_assert_int_eq(target_parse_text(nameless[_i], text, strlen(text), faults, &target), 1);
    ck_assert_ptr_nonnull(strstr(faults_now(), "expected the key name in [target]"));
}
END_TEST

START_TEST(test_a_file_that_is_not_there)
{
    struct target target;
    ck_assert_int_eq(target_parse_file("/nowhere/a.ini", faults, &target), 1);
    ck_assert_ptr_nonnull(strstr(faults_now(), "/nowhere/a.ini: cannot read the target file: No such file"));
}
END_TEST

/* Not only to who has the file read. */
START_TEST(test_faults_are_told_to_whoever_asks)
{
    static const char told[] = ": cannot read the target file: No such file";
    ck_assert_ptr_null(target_find("/nowhere/b.ini"));
    ck_assert_str_eq(faults_now(), "");
    ck_assert_int_eq(target_check("/nowhere/b.ini", faults), 1);
    ck_assert_ptr_nonnull(strstr(faults_now(), told));
    ck_assert_int_eq(target_check("/nowhere/b.ini", faults), 1);
    ck_assert_ptr_nonnull(strstr(strstr(faults_now(), told) + 1, told));
    ck_assert_ptr_null(target_find("/nowhere/b.ini"));
    ck_assert_int_eq(target_check("none", faults), 0);
}
END_TEST

/* ---- words ---- */

static const struct placeholder_values defaults = {.texts = {[PLACEHOLDER_port] = "8080",
                                                             [PLACEHOLDER_folder] = "/a b",
                                                             [PLACEHOLDER_command] = "x '{port} y' [z {spin-limit}]"}};
static const struct placeholder_values numbers = {.texts = {[PLACEHOLDER_port] = "8080",
                                                            [PLACEHOLDER_max_workers] = "25",
                                                            [PLACEHOLDER_spin_limit] = "0",
                                                            [PLACEHOLDER_processors] = "12",
                                                            [PLACEHOLDER_command] = "x '{port} y' [z {spin-limit}]"}};

static const struct {
    const char *line, *at_default, *with_numbers; /* words with | behind each */
} lines[] = {
    {"a b  c", "a|b|c|", "a|b|c|"},
    {"a --port={port}", "a|--port=8080|", "a|--port=8080|"},
    {"a [--workers {max-workers}] z", "a|z|", "a|--workers|25|z|"},
    {"a [-Dworkers={max-workers}] [-s {spin-limit:x} {max-workers:x}]", "a|", "a|-Dworkers=25|-s|0|19|"},
    {"a [-P {processors} {processors:x}]", "a|", "a|-P|12|c|"},
    {"a [always]", "a|always|", "a|always|"},
    {"sh -c 'exec b \"$1\" {port}; x' \"it's\"", "sh|-c|exec b \"$1\" 8080; x|it's|",
     "sh|-c|exec b \"$1\" 8080; x|it's|"},
    {"a '' '[' b[0] ']'", "a||[|b[0]|]|", "a||[|b[0]|]|"},
    {"awk '{{print}' {{{port}", "awk|{print}|{8080|", "awk|{print}|{8080|"},
    {"{command}", "x|8080 y|", "x|8080 y|z|0|"},
};

/* The words, joined. */
static void join(const char *line, const struct placeholder_values *values, char *out, size_t size)
{
    char **words = command_words(line, values);
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; words[i] != NULL; i++)
        used += (size_t)snprintf(out + used, size - used, "%s|", words[i]);
    command_words_free(words);
}

START_TEST(test_words)
{
    char joined[256], message[COMMAND_MESSAGE_SIZE];
    uint32_t used;
    ck_assert_msg(command_line_check(lines[_i].line, PLACEHOLDERS_ALL, &used, message), "%s", message);
    join(lines[_i].line, &defaults, joined, sizeof joined);
    ck_assert_str_eq(joined, lines[_i].at_default);
    join(lines[_i].line, &numbers, joined, sizeof joined);
    ck_assert_str_eq(joined, lines[_i].with_numbers);
}
END_TEST

/* A list all the same. */
START_TEST(test_no_words)
{
    const struct placeholder_values nothing = {.texts = {[PLACEHOLDER_command] = ""}};
    char **words = command_words("{command}", &nothing);
    ck_assert_ptr_nonnull(words);
    ck_assert_ptr_null(words[0]);
    command_words_free(words);
}
END_TEST

START_TEST(test_a_folder_with_a_blank_stays_one_word)
{
    char joined[256];
    join("ls {folder}/x", &defaults, joined, sizeof joined);
    ck_assert_str_eq(joined, "ls|/a b/x|");
}
END_TEST

START_TEST(test_variables)
{
    ck_assert_ptr_null(placeholders_replace("{spin-limit:x}", &defaults));
    char *text = placeholders_replace("[{max-workers:x}] 'as it stands'", &numbers);
    ck_assert_str_eq(text, "[19] 'as it stands'");
    free(text);
    text = placeholders_replace("", &numbers);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

/* ---- programs ---- */

/* In the folder of the test: programs, a file that may not be run, and a folder that is called like a program. */
static const struct {
    const char *path, *name, *found; /* found: NULL if there is none */
} searches[] = {
    {"programs", "runs", "programs/runs"},
    {"nowhere:programs", "runs", "programs/runs"},
    {"folders:programs", "runs", "programs/runs"},
    {"folders", "runs", NULL},
    {"programs", "rests", NULL},
    {"programs", "here", NULL},
    {":programs", "here", "./here"},
    {"programs:", "here", "./here"},
    {"programs::nowhere", "here", "./here"},
    {"", "here", "./here"},
    {"nowhere", "programs/runs", "programs/runs"},
    {"programs", "folders/runs", NULL},
    {"nowhere", "./here", "./here"},
    {NULL, "sh", "/bin/sh"},
};

static void make_file(const char *path, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(fchmod(file, mode), 0);
    close(file);
}

START_TEST(test_programs)
{
    static const char *const files[] = {"programs/runs", "programs/rests", "here"};
    static const char *const folders[] = {"folders/runs", "folders", "programs"};
    char folder[] = "/tmp/programs-XXXXXX", found[PATH_MAX] = "";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    for (size_t i = sizeof folders / sizeof folders[0]; i-- > 0;)
        ck_assert_int_eq(mkdir(folders[i], 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        make_file(files[i], i == 1 ? 0600 : 0700);
    if (searches[_i].path != NULL)
        setenv("PATH", searches[_i].path, 1);
    else
        unsetenv("PATH");
    bool is_found = target_find_program(searches[_i].name, found, sizeof found);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(files[i]);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        rmdir(folders[i]);
    rmdir(folder);
    ck_assert_int_eq(is_found, searches[_i].found != NULL);
    if (is_found)
        ck_assert_str_eq(found, searches[_i].found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("target_file");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, open_faults, close_faults);
    tcase_add_test(cases, test_reads_all_keys);
    tcase_add_test(cases, test_little_is_enough);
    tcase_add_loop_test(cases, test_names_each_fault_with_its_place, 0, sizeof faulty / sizeof faulty[0]);
    tcase_add_loop_test(cases, test_a_file_that_cannot_name_its_target, 0, sizeof nameless / sizeof nameless[0]);
    tcase_add_test(cases, test_a_file_that_is_not_there);
    tcase_add_test(cases, test_faults_are_told_to_whoever_asks);
    tcase_add_loop_test(cases, test_words, 0, sizeof lines / sizeof lines[0]);
    tcase_add_test(cases, test_no_words);
    tcase_add_test(cases, test_a_folder_with_a_blank_stays_one_word);
    tcase_add_test(cases, test_variables);
    tcase_add_loop_test(cases, test_programs, 0, sizeof searches / sizeof searches[0]);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
