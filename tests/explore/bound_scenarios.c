/* SPDX-License-Identifier: MIT
 *
 * Scenarios of bounds.
 */
#include "scenario.h"

const struct scenario bound_scenarios[] = {{0}};
const uint32_t bound_scenario_count = 0;
