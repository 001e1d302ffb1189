/* SPDX-License-Identifier: MIT
 *
 * Promise: a quota holds for a target as for the model.
 *
 * Method: a server that would use more (target_servers.h). Skipped (77) where no control group can be made.
 */
#include "target_servers.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/cell.h"
#include "runner/cgroup.h"
#include "runner/processes.h"

#define SKIPPED 77

/* The quota is the server's, and all that it starts has its share of it; the group goes with the cell. */
START_TEST(test_keeps_to_its_quota)
{
    struct configuration configuration;
    struct result result;
    struct processes processes;
    char message[CELL_MESSAGE_SIZE] = "", group[CGROUP_PATH_SIZE];
    const struct cell_options options = {.foreign_limit_percent = 1e6, .tries_max = 1};
    write_target("steady", "");
    configure(&configuration);
    configuration_set(&configuration, "quota-percent", "20");
    result_init(&result);
    ck_assert_msg(cell_measure(&configuration, 1, &options, &result, message) == CELL_MEASURED, "%s", message);
    ck_assert_str_eq(result_get_text(&result, "quota_percent"), "20");
    ck_assert(number(&result, "requests") > 0 && number(&result, "throttled_periods") > 0);
    ck_assert_double_lt(number(&result, "router_cpu_percent"), 40); /* three periods or so */
    result_fini(&result);

    const struct processes_options started = {.seed = 1, .seconds = 60};
    ck_assert_msg(processes_start(&processes, &configuration, &started, NULL, message) == CELL_MEASURED, "%s", message);
    snprintf(group, sizeof group, "%s", processes.quota.path);
    ck_assert_int_eq(access(group, F_OK), 0);
    processes_end(&processes);
    ck_assert_int_ne(access(group, F_OK), 0);
}
END_TEST

static bool can_be_tried(void)
{
    struct cgroup_quota quota;
    char message[CELL_MESSAGE_SIZE] = "";
    if (cgroup_quota_make(&quota, 20, message, sizeof message) != 0) {
        printf("skipped: %s\n", message);
        return false;
    }
    cgroup_quota_remove(&quota);
    return true;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "role") == 0)
        return role_main(argv[2]);
    if (servers_are_asked(argc, argv))
        return servers_main(argv + 2);
    if (!can_be_tried())
        return SKIPPED;
    Suite *suite = suite_create("target_quota");
    TCase *cases = tcase_create("all");
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, servers_setup, servers_teardown);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, test_keeps_to_its_quota);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
