/* SPDX-License-Identifier: MIT
 *
 * Cases of unit tests as invariants; see check.h beside this file.
 */
#ifndef PILFER_TESTS_CONFORMANCE_UNIT_CASES_H
#define PILFER_TESTS_CONFORMANCE_UNIT_CASES_H

/* Runs those cases of a unit test's main that names lists; each must be there. Returns how many were run, loops counted
 * once a round; ends the child where one fails. */
int unit_cases_run(int (*main_of_unit)(void), const char *const *names, int count);

/* Called in the place of libcheck's tcase_add_test and tcase_add_loop_test. */
void unit_cases_add(const char *name, void (*test)(int round), int first, int after);

/* The units, compiled a second time. */
int unit_gate_main(void);
int unit_hill_climbing_main(void);
int unit_thread_limits_main(void);

#endif
