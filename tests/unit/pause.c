/* SPDX-License-Identifier: MIT
 *
 * The lengths of the back-off's pauses (pool/platform/pause.h), on any machine.
 *
 * Method. Instructions of given lengths, with what round(37 / length) and round(272 / unit) are by hand; and this
 * machine's, where the answer must be that of its measured instruction.
 */
#include <check.h>

#include "platform/pause.h"

static const struct {
    uint64_t instruction_ps;
    uint32_t per_unit, units_max;
} lengths[] = {
    {37000, 1, 7},  {43000, 1, 6},  {23600, 2, 6},  {10000, 4, 7},  {9000, 4, 8},   {24666, 2, 6},
    {24667, 1, 11}, {140000, 1, 2}, {180000, 1, 2}, {182000, 1, 1}, {600000, 1, 1}, {1, 37000, 7},
};

START_TEST(test_lengths)
{
    ck_assert_uint_eq(pause_instructions_per_unit(lengths[_i].instruction_ps), lengths[_i].per_unit);
    ck_assert_uint_eq(pause_units_max(lengths[_i].instruction_ps), lengths[_i].units_max);
}
END_TEST

START_TEST(test_this_machine)
{
    ck_assert_int_eq(platform_init(), 0);
    ck_assert_uint_eq(platform_pause_units_max(), pause_units_max(platform_pause_instruction_ps()));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pause");
    TCase *pauses = tcase_create("lengths");
    tcase_add_loop_test(pauses, test_lengths, 0, sizeof lengths / sizeof lengths[0]);
    tcase_add_test(pauses, test_this_machine);
    suite_add_tcase(suite, pauses);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
