/* SPDX-License-Identifier: MIT
 *
 * Promise: values are read strictly and exactly. Whatever is not a plain value in range is refused with a message that
 * names the range or the nearest word; whatever is accepted is its own normal form, in any locale.
 *
 * Method: tables of texts, one row per way to get a number wrong that tools are known to let pass.
 */
#include "cli/parameters.h"

#include <check.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter *row(const char *key)
{
    int index = parameter_find(key);
    ck_assert_msg(index >= 0, "no parameter %s", key);
    return &parameters[index];
}

static const struct {
    const char *key, *text, *normalised;
} accepted[] = {
    {"max-workers", "1", "1"},
    {"max-workers", "32767", "32767"},
    {"max-workers", "default", "default"},
    {"spin-limit", "0", "0"},
    {"lifo-slot", "1", "1"},
    {"scheduler", "chase-lev", "chase-lev"},
    {"scheduler", "fixed-concurrency", "fixed-concurrency"},
    {"scheduler", "skeleton", "skeleton"}, /* hidden, but admitted by name */
    {"over", "global-queue", "global-queue"},
    {"idle", "lifo-semaphore", "lifo-semaphore"},
    {"workload", "trickle", "trickle"},
    {"mode", "paced", "paced"},
    {"target", "dotnet", "dotnet"},
    {"target", "none", "none"},
    {"target", "../mine.ini", "../mine.ini"},
    {"command", "./server --port {port} -a 1,2..3", "./server --port {port} -a 1,2..3"},
    {"rate", "2000", "2000"},
    {"rate", "2k", "2000"},
    {"rate", "1.5k", "1500"},
    {"rate", "0.001k", "1"},
    {"rate", "1000k", "1000000"},
    {"duration", "200ms", "0.2"},
    {"duration", "2s", "2"},
    {"duration", "2", "2"},
    {"duration", "10000us", "0.01"},
    {"duration", "1.250s", "1.25"},
    {"period", "50us", "0.00005"},
    {"period", "1.5us", "0.0000015"},
    {"quota-percent", "12.5", "12.5"},
    {"quota-percent", "150%", "150"},
    {"router-cpus", "0-3,5", "0-3,5"},
    {"router-cpus", "3,0-1,1,2", "0-3"},
    {"router-cpus", "1023", "1023"},
};

START_TEST(test_accepts_and_normalises)
{
    char out[PARAMETER_TEXT_SIZE] = "", again[PARAMETER_TEXT_SIZE] = "", message[512] = "";
    const struct parameter *parameter = row(accepted[_i].key);
    ck_assert_msg(parameter_parse(parameter, accepted[_i].text, out, message, sizeof message) == 0, "%s = %s: %s",
                  accepted[_i].key, accepted[_i].text, message);
    ck_assert_str_eq(out, accepted[_i].normalised);
    ck_assert_int_eq(parameter_parse(parameter, out, again, message, sizeof message), 0);
    ck_assert_str_eq(again, out);
}
END_TEST

static const struct {
    const char *key, *text, *expected; /* expected: must stand in the message */
} refused[] = {
    {"max-workers", "", "a whole number from 1 to 32767, or default"},
    {"max-workers", "0", "from 1 to 32767"},
    {"max-workers", "32768", "from 1 to 32767"},
    {"max-workers", "-1", "from 1 to 32767"},
    {"max-workers", "+1", "from 1 to 32767"},
    {"max-workers", " 1", "from 1 to 32767"},
    {"max-workers", "1 ", "from 1 to 32767"},
    {"max-workers", "4x", "found '4x'"},
    {"max-workers", "0x4", "from 1 to 32767"},
    {"max-workers", "1e3", "from 1 to 32767"},
    {"max-workers", "1.0", "a whole number"},
    {"max-workers", "01", "a whole number"},
    {"max-workers", "1,5", "a whole number"},
    {"max-workers", "18446744073709551617", "from 1 to 32767"}, /* 2^64 + 1 */
    {"max-workers", "4294967297", "from 1 to 32767"},           /* 2^32 + 1 */
    {"max-workers", "99999999999999999999999999999999999999", "from 1 to 32767"},
    {"max-workers", "nan", "a whole number"},
    {"max-workers", "inf", "a whole number"},
    {"max-workers", "Default", "or default"},
    {"lifo-slot", "default", "from 0 to 1"},
    {"lifo-slot", "yes", "from 0 to 1"},
    {"rate", "0", "from 1 to 1000000"},
    {"rate", "2m", "a rate per second"},
    {"rate", "2kk", "a rate per second"},
    {"rate", "2 k", "a rate per second"},
    {"rate", "2K", "a rate per second"},
    {"rate", ".5k", "a rate per second"},
    {"rate", "5.", "a rate per second"},
    {"rate", "1000000.000000001", "from 1 to 1000000"},
    {"rate", "1.0000000001", "a rate per second"}, /* ten decimals */
    {"rate", "10000000001k", "from 1 to 1000000"},
    {"duration", "9ms", "from 10ms to 3600s"},
    {"duration", "3601s", "from 10ms to 3600s"},
    {"duration", "1m", "a time such as 200ms, 2s or 50us"},
    {"duration", "1 s", "a time"},
    {"duration", "1S", "a time"},
    {"duration", "1,5s", "a time"},
    {"duration", "-1s", "a time"},
    {"duration", "default", "a time"},
    {"period", "0.0001us", "from 1us to 10s"},
    {"period", "0.1234567891us", "a time"},
    {"period", "1.0001us", "a time"}, /* a tenth of a nanosecond */
    {"quota-percent", "0", "from 1 to 102400, or default"},
    {"quota-percent", "50%%", "a percentage"},
    {"scheduler", "chase-lew", "did you mean 'chase-lev'?"},
    {"scheduler", "chase_lev", "did you mean 'chase-lev'?"},
    {"scheduler", "default", "one of inline"},
    {"scheduler", "quicksort", "one of inline"},
    {"over", "fixed-concurrency", "one of inline"}, /* a bound cannot carry a bound */
    {"workload", "roter", "did you mean 'router'?"},
    {"mode", "open", "one of closed, paced"},
    {"target", "nginx", "or the path of a file"},
    {"target", "dotnte", "did you mean 'dotnet'?"},
    {"target", "a b/c", "or the path of a file"},
    {"target", "./a,b", "or the path of a file"},
    {"command", "", "1 to 127 bytes of text"},
    {"command", "a\tb", "1 to 127 bytes of text"},
    {"router-cpus", "", "CPU numbers"},
    {"router-cpus", "1-0", "CPU numbers"},
    {"router-cpus", "1024", "from 0 to 1023"},
    {"router-cpus", "0,", "CPU numbers"},
    {"router-cpus", ",0", "CPU numbers"},
    {"router-cpus", "0-", "CPU numbers"},
    {"router-cpus", "00", "CPU numbers"},
    {"router-cpus", "0 ,1", "CPU numbers"},
    {"scheduler", "a\033[2Jb", "found 'a\\x1b[2Jb'"}, /* a message cannot drive the terminal */
};

START_TEST(test_refuses_with_the_range)
{
    char out[PARAMETER_TEXT_SIZE] = "", message[512] = "";
    ck_assert_int_eq(parameter_parse(row(refused[_i].key), refused[_i].text, out, message, sizeof message), -1);
    ck_assert_msg(strstr(message, refused[_i].expected) != NULL, "%s = '%s' said: %s", refused[_i].key,
                  refused[_i].text, message);
    ck_assert_ptr_null(strchr(message, '\n'));
}
END_TEST

START_TEST(test_long_lists_and_words_do_not_overflow)
{
    char text[8192], out[PARAMETER_TEXT_SIZE], message[512];
    size_t used = 0;
    for (int cpu = 0; cpu < 1000; cpu += 2)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", cpu > 0 ? "," : "", cpu);
    ck_assert_int_eq(parameter_parse(row("router-cpus"), text, out, message, sizeof message), -1);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(parameter_parse(row("scheduler"), text, out, message, sizeof message), -1);
    ck_assert_uint_lt(strlen(message), sizeof message);
    ck_assert_int_eq(parameter_parse(row("scheduler"), text, out, message, 8), -1);
    ck_assert_uint_eq(strlen(message), 7);
}
END_TEST

/* The table itself: what options, sweep files and the store take for granted. */
START_TEST(test_rows_are_sound)
{
    const struct parameter *parameter = &parameters[_i];
    char out[PARAMETER_TEXT_SIZE] = "", message[512] = "", column[64] = "";
    ck_assert_uint_gt(strlen(parameter->help), 0);
    ck_assert_int_eq(parameter_find(parameter->key), _i); /* no key twice */
    if (parameter->initial[0] != '\0') {
        ck_assert_msg(parameter_parse(parameter, parameter->initial, out, message, sizeof message) == 0, "%s: %s",
                      parameter->key, message);
        ck_assert_str_eq(out, parameter->initial);
    }
    /* The column is the key with underscores, then perhaps the unit. */
    for (size_t i = 0; parameter->key[i] != '\0'; i++)
        column[i] = parameter->key[i] == '-' ? '_' : parameter->key[i];
    if (strcmp(parameter->key, "arrivals") == 0) /* `arrivals` is a counter's column */
        snprintf(column, sizeof column, "arrival_process");
    ck_assert_msg(strncmp(parameter->column, column, strlen(column)) == 0, "%s is column %s", parameter->key,
                  parameter->column);
    if ((parameter->flags & PARAMETER_SWEEPABLE) != 0)
        ck_assert_uint_ne(parameter->flags & PARAMETER_IDENTITY, 0); /* else two cells would have one id */
    if (parameter->type == PARAMETER_DURATION)
        ck_assert_str_eq(parameter->column + strlen(parameter->column) - 2, "_s");
}
END_TEST

START_TEST(test_choices)
{
    struct parameter_choice choice;
    ck_assert(parameter_choice_at(row("mode"), 1, &choice));
    ck_assert_str_eq(choice.name, "paced");
    ck_assert(!parameter_choice_at(row("mode"), 2, &choice));
    ck_assert(!parameter_choice_at(row("mode"), 100, &choice));
    ck_assert(!parameter_choice_at(row("max-workers"), 0, &choice));
    bool hidden = false, bound = false;
    for (uint32_t i = 0; parameter_choice_at(row("scheduler"), i, &choice); i++) {
        hidden |= choice.hidden && strcmp(choice.name, "fixed-concurrency-published") == 0;
        bound |= !choice.hidden && strcmp(choice.name, "fixed-concurrency") == 0;
    }
    ck_assert(hidden);
    ck_assert(bound);
    ck_assert(parameter_in_scope(row("rate"), "echo"));
    ck_assert(!parameter_in_scope(row("rate"), "burst"));
    ck_assert(!parameter_in_scope(row("rate"), "ech"));
    ck_assert(parameter_in_scope(row("max-workers"), "burst"));
}
END_TEST

START_TEST(test_nearest_word)
{
    const char *const words[] = {"max-workers", "min-workers", "spin-limit", "rate"};
    ck_assert_str_eq(nearest_word("max-worker", words, 4), "max-workers");
    ck_assert_str_eq(nearest_word("mxa-workers", words, 4), "max-workers");
    ck_assert_str_eq(nearest_word("spinlimit", words, 4), "spin-limit");
    ck_assert_str_eq(nearest_word("rat", words, 4), "rate");
    ck_assert_ptr_null(nearest_word("", words, 4));
    ck_assert_ptr_null(nearest_word("x", words, 4));
    ck_assert_ptr_null(nearest_word("completely-else", words, 4));
    ck_assert_ptr_null(nearest_word("max-workers", words, 0));
}
END_TEST

START_TEST(test_configuration)
{
    struct configuration configuration;
    configuration_init(&configuration);
    ck_assert_str_eq(configuration_text(&configuration, "scheduler"), "chase-lev");
    ck_assert(configuration_is_default(&configuration, "max-workers"));
    ck_assert(isnan(configuration_number(&configuration, "max-workers")));
    ck_assert(isnan(configuration_number(&configuration, "target")));
    configuration_set(&configuration, "duration", "0.2");
    ck_assert_double_eq(configuration_number(&configuration, "duration"), 0.2);
    configuration_set(&configuration, "max-workers", "25");
    ck_assert_double_eq(configuration_number(&configuration, "max-workers"), 25);
    ck_assert(!configuration_is_default(&configuration, "max-workers"));
}
END_TEST

/* A locale with a decimal comma changes nothing. Machines without one run this under the C locale. */
START_TEST(test_locale_has_no_effect)
{
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "da_DK.UTF-8", "C"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && setlocale(LC_ALL, names[i]) == NULL; i++)
        continue;
    char out[PARAMETER_TEXT_SIZE] = "", message[512] = "";
    ck_assert_int_eq(parameter_parse(row("duration"), "1.5s", out, message, sizeof message), 0);
    ck_assert_str_eq(out, "1.5");
    ck_assert_int_eq(parameter_parse(row("duration"), "1,5s", out, message, sizeof message), -1);
    ck_assert_ptr_nonnull(strstr(message, "10ms"));
    struct configuration configuration;
    configuration_init(&configuration);
    configuration_set(&configuration, "duration", "1.5");
    ck_assert_double_eq(configuration_number(&configuration, "duration"), 1.5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parameters");
    TCase *values = tcase_create("values");
    tcase_add_loop_test(values, test_accepts_and_normalises, 0, sizeof accepted / sizeof accepted[0]);
    tcase_add_loop_test(values, test_refuses_with_the_range, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(values, test_long_lists_and_words_do_not_overflow);
    tcase_add_test(values, test_locale_has_no_effect);
    suite_add_tcase(suite, values);
    TCase *table = tcase_create("table");
    tcase_add_loop_test(table, test_rows_are_sound, 0, (int)parameter_count);
    tcase_add_test(table, test_choices);
    tcase_add_test(table, test_nearest_word);
    tcase_add_test(table, test_configuration);
    suite_add_tcase(suite, table);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
