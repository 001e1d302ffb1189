/* SPDX-License-Identifier: MIT
 *
 * Statistics of repeats; see statistics.h.
 *
 * How it works. For few values the bootstrap distribution of their median is known exactly and is written down: no
 * draw, no seed, and fast where a sweep has many cells. For many values, and for ratios, resamples are drawn with a
 * fixed seed (SplitMix64): the values of a side are sorted once; a resample only counts how often each rank was drawn,
 * and its median is read off the counts, in time proportional to the number of values. The limits of an interval are
 * found by selection, not by sorting.
 *
 * Sources. Efron, Bootstrap methods: another look at the jackknife, 1979 (percentile interval). Kalibera and Jones,
 * Rigorous benchmarking in reasonable time, 2013 (ratios with intervals). Hoare, Algorithm 65: Find, 1961.
 */
#include "statistics.h"
#include "decimal.h"
#include "heap.h"
#include "texts.h"

#include <math.h>

#define RESAMPLES  2000
#define TAIL_SHARE 0.025
#define SEED       UINT64_C(0x70696c6665720001)

#define EXACT_COUNT_MAX 32 /* up to here the distribution of the resampled median is written down instead of drawn */

/* Puts the value of the given rank at its place; smaller ones before, larger ones after. */
static double select_rank(double *values, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
        if (rank <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return values[rank];
}

static double *copy_of(const double *values, size_t count)
{
    double *copy = heap_array(count, sizeof(double));
    if (count) {
        memcpy(copy, values, count * sizeof(double));
    }
    return copy;
}

double statistics_median(const double *values, size_t count)
{
    if (count == 0) {
        return NAN;
    }
    double *copy = copy_of(values, count);
    double upper = select_rank(copy, count, count / 2);
    double lower = count % 2 ? upper : select_rank(copy, count, count / 2 - 1);
    free(copy);
    return (lower + upper) / 2;
}

/* One side of a comparison, ready for resampling. */
struct side {
    double *sorted;
    size_t *ranks;    /* of the values in the order in which they were given */
    uint32_t *counts; /* how often each rank was drawn */
    size_t count;
};

struct ranked {
    double value;
    size_t index;
};

static int compare_ranked(const void *first, const void *second)
{
    const struct ranked *a = first, *b = second;
    int order = (a->value > b->value) - (a->value < b->value);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static void side_init(struct side *side, const double *values, size_t count)
{
    struct ranked *ranked = heap_array(count, sizeof(*ranked));
    *side = (struct side){.sorted = heap_array(count, sizeof(double)),
                          .ranks = heap_array(count, sizeof(size_t)),
                          .counts = heap_array(count, sizeof(uint32_t)),
                          .count = count};
    for (size_t i = 0; i < count; i++) {
        ranked[i] = (struct ranked){.value = values[i], .index = i};
    }
    qsort(ranked, count, sizeof(*ranked), compare_ranked);
    for (size_t i = 0; i < count; i++) {
        side->sorted[i] = ranked[i].value;
        side->ranks[ranked[i].index] = i;
    }
    free(ranked);
}

static void side_fini(struct side *side)
{
    free(side->sorted);
    free(side->ranks);
    free(side->counts);
}

static double side_median(const struct side *side)
{
    return (side->sorted[(side->count - 1) / 2] + side->sorted[side->count / 2]) / 2;
}

/* Median of what counts says was drawn; clears the counts. */
static double side_drawn_median(struct side *side)
{
    size_t lower_rank = (side->count - 1) / 2, upper_rank = side->count / 2, seen = 0, i = 0;
    while (seen + side->counts[i] <= lower_rank) {
        seen += side->counts[i++];
    }
    double lower = side->sorted[i];
    while (seen + side->counts[i] <= upper_rank) {
        seen += side->counts[i++];
    }
    double upper = side->sorted[i];
    memset(side->counts, 0, side->count * sizeof(uint32_t));
    return (lower + upper) / 2;
}

static size_t draw(uint64_t *state, size_t count)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((((z ^ (z >> 31)) >> 32) * count) >> 32); /* count is below 2^32 */
}

static void side_draw(struct side *side, uint64_t *state)
{
    for (size_t i = 0; i < side->count; i++) {
        side->counts[draw(state, side->count)]++;
    }
}

static void set_limits(struct interval *interval, double *resampled)
{
    size_t tail = (size_t)(RESAMPLES * TAIL_SHARE);
    interval->low = select_rank(resampled, RESAMPLES, tail);
    interval->high = select_rank(resampled, RESAMPLES, RESAMPLES - 1 - tail);
}

/* Limits from 2,000 resamples. */
static void set_resampled_limits(struct interval *interval, struct side *side)
{
    double resampled[RESAMPLES];
    uint64_t state = SEED;
    memset(side->counts, 0, side->count * sizeof(uint32_t));
    for (int i = 0; i < RESAMPLES; i++) {
        side_draw(side, &state);
        resampled[i] = side_drawn_median(side);
    }
    set_limits(interval, resampled);
}

/* A value that the median of a resample may take, and with which probability. */
struct outcome {
    double value, probability;
};

static int compare_outcomes(const void *first, const void *second)
{
    double a = ((const struct outcome *)first)->value, b = ((const struct outcome *)second)->value;
    return (a > b) - (a < b);
}

/* Probability of at least successes in trials. */
static double binomial_at_least(size_t trials, size_t successes, double share)
{
    double sum = 0, log_choose = lgamma((double)trials + 1);
    if (share >= 1) {
        return 1;
    }
    for (size_t i = successes; i <= trials && share > 0; i++) {
        double rest = (double)(trials - i);
        sum +=
            exp(log_choose - lgamma((double)i + 1) - lgamma(rest + 1) + (double)i * log(share) + rest * log1p(-share));
    }
    return sum;
}

/* All outcomes. A resample's value of rank r is at most sorted[i] if at least r of count draws fall on the first i + 1
 * values. For an even count the median is the mean of two neighbouring ranks, half = count / 2 and the next: it is that
 * of i and j > i if exactly half of the draws are at most i, one of them i, and the others at least j, one of them j.
 */
static size_t list_outcomes(const struct side *side, struct outcome *outcomes)
{
    size_t count = side->count, half = count / 2, listed = 0;
    double n = (double)count, power = (double)half, before = 0;
    double choose = exp(lgamma(n + 1) - 2 * lgamma(power + 1));
    for (size_t i = 0; i < count; i++) {
        double up_to = binomial_at_least(count, (count + 1) / 2, (double)(i + 1) / n), rest = up_to - before;
        double lower = pow((double)(i + 1) / n, power) - pow((double)i / n, power);
        before = up_to;
        for (size_t j = i + 1; j < count && count % 2 == 0; j++) {
            double upper = pow((double)(count - j) / n, power) - pow((double)(count - j - 1) / n, power);
            double both = choose * lower * upper;
            outcomes[listed++] = (struct outcome){(side->sorted[i] + side->sorted[j]) / 2, both};
            rest -= both;
        }
        outcomes[listed++] = (struct outcome){side->sorted[i], rest};
    }
    return listed;
}

/* Limits from the exact distribution: what infinitely many resamples would give. */
static void set_exact_limits(struct interval *interval, const struct side *side)
{
    struct outcome outcomes[EXACT_COUNT_MAX * (EXACT_COUNT_MAX + 1) / 2];
    size_t count = list_outcomes(side, outcomes), low = 0, high;
    qsort(outcomes, count, sizeof(*outcomes), compare_outcomes);
    double below = outcomes[0].probability;
    while (below < TAIL_SHARE) {
        below += outcomes[++low].probability;
    }
    high = count - 1;
    double above = outcomes[high].probability;
    while (above < TAIL_SHARE) {
        above += outcomes[--high].probability;
    }
    interval->low = outcomes[low].value;
    interval->high = outcomes[high].value;
}

struct interval statistics_interval(const double *values, size_t count)
{
    struct interval interval = {.median = NAN, .low = NAN, .high = NAN, .count = (uint32_t)count, .is_range = true};
    if (count == 0) {
        return interval;
    }
    struct side side;
    side_init(&side, values, count);
    interval.median = side_median(&side);
    interval.low = side.sorted[0];
    interval.high = side.sorted[count - 1];
    interval.is_range = count < STATISTICS_INTERVAL_MINIMUM;
    if (!interval.is_range && count <= EXACT_COUNT_MAX) {
        set_exact_limits(&interval, &side);
    } else if (!interval.is_range) {
        set_resampled_limits(&interval, &side);
    }
    side_fini(&side);
    return interval;
}

/* Smallest and largest ratio of two values, of one pair each if paired; the ratio of medians always lies within. */
static void set_ratio_range(struct interval *interval, const struct side *above, const struct side *below, bool paired)
{
    interval->low = paired ? interval->median : above->sorted[0] / below->sorted[below->count - 1];
    interval->high = paired ? interval->median : above->sorted[above->count - 1] / below->sorted[0];
    for (size_t i = 0; paired && i < above->count; i++) {
        double ratio = above->sorted[above->ranks[i]] / below->sorted[below->ranks[i]];
        interval->low = fmin(interval->low, ratio);
        interval->high = fmax(interval->high, ratio);
    }
}

static void set_ratio_interval(struct interval *interval, struct side *above, struct side *below, bool paired)
{
    double resampled[RESAMPLES];
    uint64_t state = SEED;
    memset(above->counts, 0, above->count * sizeof(uint32_t));
    memset(below->counts, 0, below->count * sizeof(uint32_t));
    for (int i = 0; i < RESAMPLES; i++) {
        if (paired) {
            for (size_t j = 0; j < above->count; j++) {
                size_t block = draw(&state, above->count);
                above->counts[above->ranks[block]]++;
                below->counts[below->ranks[block]]++;
            }
        } else {
            side_draw(above, &state);
            side_draw(below, &state);
        }
        double divisor = side_drawn_median(below);
        double dividend = side_drawn_median(above);
        resampled[i] = divisor > 0 ? dividend / divisor : INFINITY;
    }
    set_limits(interval, resampled);
}

struct interval statistics_ratio(const double *above, size_t above_count, const double *below, size_t below_count,
                                 bool paired)
{
    size_t count = above_count < below_count ? above_count : below_count;
    struct interval interval = {.median = NAN, .low = NAN, .high = NAN, .count = (uint32_t)count, .is_range = true};
    if (count == 0) {
        return interval;
    }
    struct side sides[2];
    side_init(&sides[0], above, above_count);
    side_init(&sides[1], below, below_count);
    if (side_median(&sides[1]) > 0) {
        interval.median = side_median(&sides[0]) / side_median(&sides[1]);
        interval.is_range = count < STATISTICS_INTERVAL_MINIMUM;
        if (interval.is_range) {
            set_ratio_range(&interval, &sides[0], &sides[1], paired);
        } else {
            set_ratio_interval(&interval, &sides[0], &sides[1], paired);
        }
    }
    side_fini(&sides[0]);
    side_fini(&sides[1]);
    return interval;
}

/* ---- ranks ---- */

/* Ranks from 1; equal values share the mean of theirs. Caller frees. */
static double *mean_ranks(const double *values, size_t count)
{
    struct side side;
    side_init(&side, values, count);
    double *ranks = heap_array(count, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        size_t first = side.ranks[i], last = first;
        while (first > 0 && side.sorted[first - 1] == values[i]) {
            first--;
        }
        while (last + 1 < count && side.sorted[last + 1] == values[i]) {
            last++;
        }
        ranks[i] = (double)(first + last) / 2 + 1;
    }
    side_fini(&side);
    return ranks;
}

double statistics_rank_correlation(const double *first, const double *second, size_t count)
{
    if (count < 3) {
        return NAN;
    }
    double *a = mean_ranks(first, count), *b = mean_ranks(second, count);
    double mean = ((double)count + 1) / 2, both = 0, a_square = 0, b_square = 0;
    for (size_t i = 0; i < count; i++) {
        both += (a[i] - mean) * (b[i] - mean);
        a_square += (a[i] - mean) * (a[i] - mean);
        b_square += (b[i] - mean) * (b[i] - mean);
    }
    free(a);
    free(b);
    return a_square > 0 && b_square > 0 ? both / sqrt(a_square * b_square) : NAN;
}

/* ---- cells ---- */

static double number_or(const struct result_value *value, double otherwise)
{
    return value->kind == RESULT_KNOWN_NUMBER ? value->number : otherwise;
}

/* Slot of cell_id in an open-addressed table of cell numbers plus one. */
static size_t *find_cell(size_t *table, size_t capacity, const struct cell *cells, const char *cell_id)
{
    size_t slot = texts_hash(TEXTS_HASH_START, cell_id, strlen(cell_id)) & (capacity - 1);
    while (table[slot] && strcmp(cells[table[slot] - 1].cell_id, cell_id) != 0) {
        slot = (slot + 1) & (capacity - 1);
    }
    return &table[slot];
}

static int compare_repeats(const void *first, const void *second)
{
    const struct result *a = *(const struct result *const *)first, *b = *(const struct result *const *)second;
    double left = number_or(&a->columns[RESULT_repeat], 0), right = number_or(&b->columns[RESULT_repeat], 0);
    return left != right ? (left > right) - (left < right) : (a > b) - (a < b);
}

void cell_set_init(struct cell_set *cells, const struct result_set *set)
{
    size_t capacity = 16;
    while (capacity < set->count * 2) {
        capacity *= 2;
    }
    size_t *table = heap_or_end(calloc(capacity, sizeof(size_t)));
    size_t *owners = heap_array(set->count, sizeof(size_t)); /* cell of each row */
    *cells = (struct cell_set){.rows = heap_array(set->count, sizeof(*cells->rows))};
    for (size_t i = 0; i < set->count; i++) {
        const char *cell_id = set->rows[i].columns[RESULT_cell_id].text;
        cell_id = cell_id ? cell_id : "";
        size_t *slot = find_cell(table, capacity, cells->cells, cell_id);
        if (!*slot) {
            cells->cells = heap_grow(cells->cells, cells->count, sizeof(*cells->cells));
            cells->cells[cells->count++] = (struct cell){.cell_id = cell_id, .first = &set->rows[i]};
            *slot = cells->count;
        }
        owners[i] = *slot - 1;
        cells->cells[owners[i]].count++;
    }
    const struct result **place = cells->rows;
    for (size_t i = 0; i < cells->count; i++) {
        cells->cells[i].rows = place;
        place += cells->cells[i].count;
        cells->cells[i].count = 0;
    }
    for (size_t i = 0; i < set->count; i++) {
        struct cell *cell = &cells->cells[owners[i]];
        cell->rows[cell->count++] = &set->rows[i];
    }
    for (size_t i = 0; i < cells->count; i++) {
        qsort(cells->cells[i].rows, cells->cells[i].count, sizeof(*cells->rows), compare_repeats);
    }
    free(owners);
    free(table);
}

void cell_set_fini(struct cell_set *cells)
{
    free(cells->cells);
    free(cells->rows);
    *cells = (struct cell_set){0};
}

static double knob_number(const struct cell *cell, enum result_column word, enum result_column resolved)
{
    const struct result_value *columns = cell->first->columns;
    double number;
    bool is_number = columns[word].text != NULL && decimal_parse(columns[word].text, &number);
    return is_number ? number : number_or(&columns[resolved], NAN);
}

bool cell_is_base(const struct cell *cell)
{
    return knob_number(cell, RESULT_max_workers, RESULT_max_workers_resolved) == 1 &&
           knob_number(cell, RESULT_spin_limit, RESULT_spin_limit_resolved) == 0;
}

/* Values of the cell's used repeats, and their repeat numbers if wanted; returns how many. */
static size_t used_values(const struct cell *cell, const char *name, bool disturbed_too, bool per_request,
                          double *values, double *repeats)
{
    size_t count = 0;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct result *row = cell->rows[i];
        double answered = per_request ? result_answered(row) : 1, value;
        if (!result_is_used(row, disturbed_too) || !result_get_number(row, name, &value) || answered <= 0) {
            continue;
        }
        values[count] = value / answered;
        if (repeats) {
            repeats[count] = number_or(&row->columns[RESULT_repeat], 0);
        }
        count++;
    }
    return count;
}

static struct interval interval_of(const struct cell *cell, const char *name, bool disturbed_too, bool per_request)
{
    double *values = heap_array(cell->count, sizeof(double));
    size_t count = used_values(cell, name, disturbed_too, per_request, values, NULL);
    struct interval interval = statistics_interval(values, count);
    free(values);
    return interval;
}

struct interval cell_interval(const struct cell *cell, const char *name, bool disturbed_too)
{
    return interval_of(cell, name, disturbed_too, false);
}

struct interval cell_interval_per_request(const struct cell *cell, const char *name, bool disturbed_too)
{
    return interval_of(cell, name, disturbed_too, true);
}

/* The used values of one cell with their repeat numbers, in the order of repeats. */
struct used {
    double *values, *repeats;
    size_t count;
};

static void used_init(struct used *used, const struct cell *cell, const char *name, bool disturbed_too)
{
    used->values = heap_array(cell->count, sizeof(double));
    used->repeats = heap_array(cell->count, sizeof(double));
    used->count = used_values(cell, name, disturbed_too, false, used->values, used->repeats);
}

static void used_fini(struct used *used)
{
    free(used->values);
    free(used->repeats);
}

/* Writes the values of those repeats that both have; returns how many. */
static size_t pair_up(const struct used *first, const struct used *second, double *first_out, double *second_out)
{
    size_t pairs = 0, i = 0, j = 0;
    while (i < first->count && j < second->count) {
        double difference = first->repeats[i] - second->repeats[j];
        if (difference == 0) {
            first_out[pairs] = first->values[i];
            second_out[pairs++] = second->values[j];
        }
        i += difference <= 0;
        j += difference >= 0;
    }
    return pairs;
}

static bool is_one_sweep(const struct cell *first, const struct cell *second)
{
    return number_or(&first->first->columns[RESULT_sweep_id], -1) ==
           number_or(&second->first->columns[RESULT_sweep_id], -2);
}

static struct interval ratio_of(const struct cell *above, const struct cell *below, const char *name, bool pairing,
                                bool disturbed_too)
{
    struct used sides[2];
    used_init(&sides[0], above, name, disturbed_too);
    used_init(&sides[1], below, name, disturbed_too);
    size_t smaller = sides[0].count < sides[1].count ? sides[0].count : sides[1].count;
    double *paired[2] = {heap_array(smaller, sizeof(double)), heap_array(smaller, sizeof(double))};
    size_t pairs = pairing ? pair_up(&sides[0], &sides[1], paired[0], paired[1]) : 0;
    bool enough = pairs >= (smaller < STATISTICS_INTERVAL_MINIMUM ? 1 : STATISTICS_INTERVAL_MINIMUM);
    struct interval ratio =
        enough ? statistics_ratio(paired[0], pairs, paired[1], pairs, true)
               : statistics_ratio(sides[0].values, sides[0].count, sides[1].values, sides[1].count, false);
    for (int i = 0; i < 2; i++) {
        free(paired[i]);
        used_fini(&sides[i]);
    }
    return ratio;
}

struct interval cell_ratio(const struct cell *above, const struct cell *below, const char *name)
{
    return ratio_of(above, below, name, is_one_sweep(above, below), false);
}

struct interval cell_ratio_unrejected(const struct cell *above, const struct cell *below, const char *name)
{
    return ratio_of(above, below, name, is_one_sweep(above, below), true);
}

struct interval cell_ratio_or_disturbed(const struct cell *above, const struct cell *below, const char *name,
                                        bool *disturbed)
{
    struct interval ratio = cell_ratio(above, below, name);
    *disturbed = false;
    if (ratio.count == 0) {
        ratio = cell_ratio_unrejected(above, below, name);
        *disturbed = ratio.count > 0;
    }
    return ratio;
}

struct interval cell_ratio_apart(const struct cell *above, const struct cell *below, const char *name)
{
    return ratio_of(above, below, name, false, false);
}
