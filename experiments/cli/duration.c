/* SPDX-License-Identifier: MIT
 *
 * How long a sweep will take; see duration.h.
 */
#include "duration.h"

#include "output.h"
#include "runner/plan.h"
#include "runner/progress.h"
#include "runner/settings.h"

/* By how much the estimate is too long if no window waits. */
static double waiting_s(const struct plan *plan)
{
    double seconds = 0;
    for (uint32_t i = 0; i < plan->cell_count; i++) {
        struct configuration configuration;
        plan_configuration(plan, i, &configuration);
        seconds +=
            plan->cells[i].repeats * (settings_warmup_max_s(&configuration) - settings_warmup_s(&configuration));
    }
    return seconds;
}

int duration_announce(const struct specification *specification, const char *what)
{
    struct plan plan;
    char shortest[32], longest[32];
    if (plan_build(specification, 0, false, stderr, &plan) != 0)
        return -1;
    progress_format_seconds(plan.seconds - waiting_s(&plan), shortest, sizeof shortest);
    progress_format_seconds(plan.seconds * (1 + PLAN_RETRY_SHARE), longest, sizeof longest);
    complain("reproduce: %s%u cells of %u repeats in all: %s if all are steady soon, %s at most", what, plan.cell_count,
             plan.step_count, shortest, longest);
    plan_fini(&plan);
    return 0;
}
