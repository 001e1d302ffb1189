/* SPDX-License-Identifier: MIT
 *
 * As much of libcheck as lets the cases of a unit test run as an invariant of the conformance suite.
 *
 * What it is for. Some promises of scheduler dotnet are the promises of a unit: hill climbing, the gate, the limits.
 * Their cases are written once, in tests/unit/; meson compiles these files a second time, against this header in the
 * place of libcheck's and with main under another name, and unit_cases_run() calls it.
 *
 * How it works. A case runs where it is added, in order, in the process of the invariant; a failed assertion ends that
 * process as "broken", in words of its own. Only cases that the caller named are run.
 */
#ifndef PILFER_TESTS_CONFORMANCE_UNIT_CASES_CHECK_H
#define PILFER_TESTS_CONFORMANCE_UNIT_CASES_CHECK_H

#include <string.h>

#include "harness.h"
#include "unit_cases/unit_cases.h"

typedef struct unit_cases Suite, TCase, SRunner;

enum { CK_ENV, CK_NORMAL };

#define START_TEST(name) static void name(int _i)
#define END_TEST

#define ck_assert_msg(condition, ...)  \
    do {                               \
        if (!(condition))              \
            check_broken(__VA_ARGS__); \
    } while (0)
#define ck_assert(condition) ck_assert_msg(condition, "%s:%d: not so: %s", __FILE_NAME__, __LINE__, #condition)
#define UNIT_CASES_COMPARE(a, operator, b, type, format)                                                           \
    do {                                                                                                           \
        const type left_ = (a), right_ = (b);                                                                      \
        ck_assert_msg(left_ operator right_, "%s:%d: not so: %s %s %s (" format " and " format ")", __FILE_NAME__, \
                      __LINE__, #a, #operator, #b, left_, right_);                                                 \
    } while (0)
#define ck_assert_uint_eq(a, b)   UNIT_CASES_COMPARE(a, ==, b, unsigned long long, "%llu")
#define ck_assert_uint_ne(a, b)   UNIT_CASES_COMPARE(a, !=, b, unsigned long long, "%llu")
#define ck_assert_uint_lt(a, b)   UNIT_CASES_COMPARE(a, <, b, unsigned long long, "%llu")
#define ck_assert_uint_le(a, b)   UNIT_CASES_COMPARE(a, <=, b, unsigned long long, "%llu")
#define ck_assert_uint_gt(a, b)   UNIT_CASES_COMPARE(a, >, b, unsigned long long, "%llu")
#define ck_assert_uint_ge(a, b)   UNIT_CASES_COMPARE(a, >=, b, unsigned long long, "%llu")
#define ck_assert_int_eq(a, b)    UNIT_CASES_COMPARE(a, ==, b, long long, "%lld")
#define ck_assert_double_eq(a, b) UNIT_CASES_COMPARE(a, ==, b, double, "%g")
#define ck_assert_double_ge(a, b) UNIT_CASES_COMPARE(a, >=, b, double, "%g")
#define ck_assert_ptr_nonnull(a)  ck_assert((a) != NULL)
#define ck_assert_str_eq(a, b)    ck_assert(strcmp(a, b) == 0)

#define suite_create(name)                             NULL
#define tcase_create(name)                             NULL
#define suite_add_tcase(suite, cases)                  ((void)(suite), (void)(cases))
#define tcase_set_timeout(cases, seconds)              ((void)(cases))
#define tcase_add_test(cases, test)                    unit_cases_add(#test, test, 0, 1)
#define tcase_add_loop_test(cases, test, first, after) unit_cases_add(#test, test, first, after)
#define srunner_create(suite)                          (suite)
#define srunner_run_all(runner, mode)                  ((void)(runner))
#define srunner_ntests_failed(runner)                  ((void)(runner), 0)
#define srunner_free(runner)                           ((void)(runner))

#endif
