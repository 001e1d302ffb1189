/* SPDX-License-Identifier: MIT
 *
 * Counters and the CPU split; see account.h for the method.
 *
 * Worst case. An activity with few intervals has few samples: its estimate is coarse, and the difference shows as
 * unaccounted. An interval in progress when totals are read is not counted until it ends (a worker parked over the
 * whole window adds nothing, which is right for CPU).
 */
#include "account.h"

enum { READING_FACTOR_MAX = 8 };

static const char *const counter_names[] = {
#define COUNTER_NAME(name, meaning) #name,
    COUNTERS(COUNTER_NAME)};
static const char *const activity_names[] = {
#define ACTIVITY_NAME(name, cut_ns, bound, every, meaning) #name,
    ACTIVITIES(ACTIVITY_NAME)};
static const uint32_t activity_cut_ns[] = {
#define ACTIVITY_CUT(name, cut_ns, bound, every, meaning) cut_ns,
    ACTIVITIES(ACTIVITY_CUT)};
static const bool activity_cut_is_bound[] = {
#define ACTIVITY_BOUND(name, cut_ns, bound, every, meaning) bound,
    ACTIVITIES(ACTIVITY_BOUND)};
static const uint32_t activity_sample_every[] = {
#define ACTIVITY_EVERY(name, cut_ns, bound, every, meaning) every,
    ACTIVITIES(ACTIVITY_EVERY)};

const char *counter_name(enum counter counter)
{
    return counter_names[counter];
}

const char *activity_name(enum activity activity)
{
    return activity_names[activity];
}

void account_init(struct account *account, enum activity first, uint64_t seed)
{
    /* Ticks per ns, from a conversion of a round number of ticks: no division later. */
    double ns_per_tick = (double)platform_stamp_ns(1000000) / 1e6;
    for (uint32_t i = 0; i < ACTIVITY_COUNT; i++)
        account->limit_ticks[i] = (uint64_t)(activity_cut_ns[i] / ns_per_tick);
    account->random = seed | 1;
    account->sample_cpu_ns = 0;
    account->clock_read_ns = platform_thread_cpu_read_ns();
    account->current = first;
    account->last_ticks = platform_stamp();
}

static bool sample_next(struct account *account)
{
    account->random ^= account->random << 13;
    account->random ^= account->random >> 7;
    account->random ^= account->random << 17;
    return ((uint32_t)(account->random >> 32) & (activity_sample_every[account->current] - 1)) == 0; /* powers of two */
}

/* What of a bracketed interval's CPU time belongs to a reading of the clock: each end of the interval holds about half
 * of one. A reading that took far longer than the shortest known one was interrupted; that time is not ours. */
static uint64_t reading_ns(const struct account *account, uint64_t ticks)
{
    uint64_t ns = platform_stamp_ns(ticks), limit_ns = READING_FACTOR_MAX * account->clock_read_ns;
    return ns < limit_ns ? ns : limit_ns;
}

/* A reading of the clock is bookkeeping. */
static void charge_reading(struct account *account, uint64_t ticks)
{
    struct account_activity *search = &account->activities[ACTIVITY_search];
    uint64_t limit = account->limit_ticks[ACTIVITY_search];
    counter_add(&search->wall_ticks, ticks);
    counter_add(&search->cut_ticks, ticks < limit ? ticks : limit);
    counter_add(&account->clock_reads, 1);
}

/* The sampled interval ends; now is its end. The difference may be negative for very short intervals and evens out. */
static void end_sample(struct account *account, struct account_activity *activity, uint64_t now, uint64_t cut)
{
    uint64_t cpu_ns = platform_thread_cpu_ns() - account->sample_cpu_ns;
    account->last_ticks = platform_stamp();
    uint64_t read_ticks = account->last_ticks - now;
    cpu_ns -= (reading_ns(account, account->sample_read_ticks) + reading_ns(account, read_ticks)) / 2;
    counter_add(&activity->sampled, 1);
    counter_add(&activity->sampled_cut_ticks, cut);
    counter_add(&activity->sampled_cpu_ns, cpu_ns);
    charge_reading(account, read_ticks);
    account->sample_cpu_ns = 0;
}

static void begin_sample(struct account *account)
{
    uint64_t before = account->last_ticks;
    account->sample_cpu_ns = platform_thread_cpu_ns();
    account->last_ticks = platform_stamp();
    account->sample_read_ticks = account->last_ticks - before;
    charge_reading(account, account->sample_read_ticks);
}

void account_switch(struct account *account, enum activity next)
{
    uint64_t now = platform_stamp();
    uint64_t ticks = now - account->last_ticks;
    uint64_t limit = account->limit_ticks[account->current];
    uint64_t cut = ticks < limit ? ticks : limit;
    struct account_activity *activity = &account->activities[account->current];
    counter_add(&activity->intervals, 1);
    counter_add(&activity->wall_ticks, ticks);
    counter_add(&activity->cut_ticks, cut);
    counter_add(&account->stamps, 1);
    account->current = next;
    account->last_ticks = now;
    if (account->sample_cpu_ns != 0)
        end_sample(account, activity, now, cut);
    if (sample_next(account))
        begin_sample(account);
}

void account_add(struct account_totals *totals, const struct account *account)
{
    for (uint32_t i = 0; i < COUNTER_COUNT; i++)
        totals->counters[i] += counter_read(&account->counters[i]);
    for (uint32_t i = 0; i < ACTIVITY_COUNT; i++) {
        const struct account_activity *from = &account->activities[i];
        struct account_sums *to = &totals->activities[i];
        to->intervals += counter_read(&from->intervals);
        to->wall_ns += platform_stamp_ns(counter_read(&from->wall_ticks));
        to->cut_ns += platform_stamp_ns(counter_read(&from->cut_ticks));
        to->sampled += counter_read(&from->sampled);
        to->sampled_cut_ns += platform_stamp_ns(counter_read(&from->sampled_cut_ticks));
        to->sampled_cpu_ns += counter_read(&from->sampled_cpu_ns);
    }
    totals->stamps += counter_read(&account->stamps);
    totals->clock_reads += counter_read(&account->clock_reads);
}

void account_difference(const struct account_totals *later, const struct account_totals *earlier,
                        struct account_totals *out)
{
    struct account_totals result = *later;
    for (uint32_t i = 0; i < COUNTER_COUNT; i++)
        result.counters[i] -= earlier->counters[i];
    for (uint32_t i = 0; i < ACTIVITY_COUNT; i++) {
        struct account_sums *to = &result.activities[i];
        const struct account_sums *from = &earlier->activities[i];
        to->intervals -= from->intervals;
        to->wall_ns -= from->wall_ns;
        to->cut_ns -= from->cut_ns;
        to->sampled -= from->sampled;
        to->sampled_cut_ns -= from->sampled_cut_ns;
        to->sampled_cpu_ns -= from->sampled_cpu_ns;
    }
    result.stamps -= earlier->stamps;
    result.clock_reads -= earlier->clock_reads;
    result.thread_cpu_ns -= earlier->thread_cpu_ns;
    result.run_delay_ns -= earlier->run_delay_ns;
    result.voluntary_switches -= earlier->voluntary_switches;
    result.involuntary_switches -= earlier->involuntary_switches;
    *out = result;
}

double account_cpu_ns(const struct account_sums *sums, enum activity activity)
{
    if (sums->sampled_cut_ns == 0)
        return 0;
    double ratio = (double)(int64_t)sums->sampled_cpu_ns / (double)sums->sampled_cut_ns;
    if (activity_cut_is_bound[activity] && ratio > 1)
        ratio = 1;
    return (double)sums->cut_ns * ratio;
}

void account_calibrate(double *stamp_ns, double *clock_read_ns)
{
    enum { ROUNDS = 20, STAMPS = 1000 };
    uint64_t best_stamp = UINT64_MAX, best_read = UINT64_MAX;
    struct account *account = platform_alloc(sizeof(*account));
    *stamp_ns = *clock_read_ns = 0;
    if (account == NULL)
        return;
    account_init(account, ACTIVITY_run, 1);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = platform_now_ns();
        for (int i = 0; i < STAMPS; i++) {
            account->random = (uint64_t)1 << 40; /* keeps the next draw from sampling: a stamp alone is measured */
            account_switch(account, ACTIVITY_search);
        }
        uint64_t middle = platform_now_ns();
        for (int i = 0; i < STAMPS / 10; i++)
            platform_thread_cpu_ns();
        uint64_t end = platform_now_ns();
        best_stamp = middle - begin < best_stamp ? middle - begin : best_stamp;
        best_read = end - middle < best_read ? end - middle : best_read;
    }
    platform_free(account);
    *stamp_ns = (double)best_stamp / STAMPS;
    *clock_read_ns = (double)best_read / (STAMPS / 10.0);
}
