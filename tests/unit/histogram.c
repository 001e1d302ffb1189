/* SPDX-License-Identifier: MIT
 *
 * The histogram's promises: a quantile is within 1/128 of the exact one at every quantile that it answers; it answers
 * none that it has too few values for; merging equals recording; values out of range are counted, not lost; the compact
 * form comes back unchanged, and nothing else is taken for one.
 *
 * Method: a million random values over the whole range against an exact sort; small cases computed by hand; every
 * single bit of a blob flipped, every truncation, and blobs with a right checksum around impossible contents.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

#define VALUES    1000000
#define ERROR_MAX (1.0 / 128)

static uint64_t random_state;

static uint64_t random_u64(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du;
}

/* Every magnitude below the maximum equally often. */
static uint64_t random_ns(void)
{
    return (random_u64() % HISTOGRAM_MAX_NS) >> (random_u64() % 40);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static struct histogram *histogram_new(void)
{
    struct histogram *histogram = malloc(sizeof *histogram);
    ck_assert_ptr_nonnull(histogram);
    histogram_init(histogram);
    return histogram;
}

static void check_quantile(const struct histogram *histogram, const uint64_t *sorted, uint64_t rank)
{
    double quantile = (double)rank / VALUES;
    double exact = (double)sorted[rank - 1];
    double got = histogram_quantile_ns(histogram, quantile);
    if (!(fabs(got - exact) <= exact * ERROR_MAX))
        ck_abort_msg("quantile %.6f is %.1f, exactly %.0f", quantile, got, exact);
}

START_TEST(quantiles_are_within_the_bound)
{
    struct histogram *histogram = histogram_new();
    uint64_t *values = malloc(VALUES * sizeof *values);
    ck_assert_ptr_nonnull(values);
    random_state = 1 + (uint64_t)_i;
    uint64_t sum = 0;
    for (int index = 0; index < VALUES; index++) {
        values[index] = _i == 0 ? random_ns() : random_u64() % 1000;
        sum += values[index];
        histogram_record(histogram, values[index]);
    }
    qsort(values, VALUES, sizeof *values, compare);
    for (uint64_t rank = 1; rank <= VALUES - 20; rank += 97)
        check_quantile(histogram, values, rank);
    check_quantile(histogram, values, VALUES - 20);
    ck_assert_double_eq(histogram_quantile_ns(histogram, 1.0 / VALUES), (double)values[0]);
    ck_assert_double_eq(histogram_quantile_ns(histogram, 1), (double)values[VALUES - 1]);
    ck_assert_uint_eq(histogram->sum_ns, sum);
    ck_assert_uint_eq(histogram->min_ns, values[0]);
    ck_assert_uint_eq(histogram->max_ns, values[VALUES - 1]);
    free(values);
    free(histogram);
}
END_TEST

/* Around each power of two, where the buckets change their width. */
START_TEST(edges_of_buckets)
{
    struct histogram *histogram = histogram_new();
    for (int bit = 0; bit < 40; bit++) {
        for (int64_t offset = -1; offset <= 1; offset++) {
            uint64_t value = ((uint64_t)1 << bit) + (uint64_t)offset;
            histogram_init(histogram);
            histogram_record(histogram, 0);
            for (int count = 0; count < 60; count++)
                histogram_record(histogram, value);
            histogram_record(histogram, HISTOGRAM_MAX_NS - 1);
            double got = histogram_quantile_ns(histogram, 0.5);
            ck_assert_msg(fabs(got - (double)value) <= (double)value * ERROR_MAX, "%.1f for %llu", got,
                          (unsigned long long)value);
        }
    }
    free(histogram);
}
END_TEST

START_TEST(too_few_values_give_no_quantile)
{
    struct histogram *histogram = histogram_new();
    ck_assert_double_eq(histogram_quantile_ns(histogram, 0.5), -1);
    ck_assert_double_eq(histogram_quantile_ns(histogram, 1), -1);
    static const struct {
        uint64_t count;
        double quantile;
    } limits[] = {{40, 0.5}, {200, 0.9}, {2000, 0.99}, {20000, 0.999}, {200000, 0.9999}};
    for (size_t index = 0; index < sizeof limits / sizeof limits[0]; index++) {
        while (histogram->count < limits[index].count - 1)
            histogram_record(histogram, 7);
        ck_assert_double_eq(histogram_quantile_ns(histogram, limits[index].quantile), -1);
        histogram_record(histogram, 7);
        ck_assert_double_eq(histogram_quantile_ns(histogram, limits[index].quantile), 7);
    }
    ck_assert_double_eq(histogram_quantile_ns(histogram, 0), -1);
    ck_assert_double_eq(histogram_quantile_ns(histogram, 1.5), -1);
    ck_assert_double_eq(histogram_quantile_ns(histogram, NAN), -1);
    free(histogram);
}
END_TEST

START_TEST(over_range_is_counted_and_larger_than_everything)
{
    struct histogram *histogram = histogram_new();
    for (int count = 0; count < 60; count++)
        histogram_record(histogram, 1000);
    histogram_record(histogram, HISTOGRAM_MAX_NS - 1);
    ck_assert_uint_eq(histogram->over, 0);
    ck_assert_double_eq(histogram_quantile_ns(histogram, 1), (double)(HISTOGRAM_MAX_NS - 1));
    for (int count = 0; count < 37; count++)
        histogram_record(histogram, HISTOGRAM_MAX_NS);
    histogram_record(histogram, UINT64_MAX);
    histogram_record(histogram, 0);
    ck_assert_uint_eq(histogram->count, 100);
    ck_assert_uint_eq(histogram->over, 38);
    ck_assert_uint_eq(histogram->min_ns, 0);
    ck_assert_uint_eq(histogram->max_ns, UINT64_MAX);
    ck_assert_double_eq_tol(histogram_quantile_ns(histogram, 0.61), 1000, 1000 * ERROR_MAX);
    ck_assert_double_ge(histogram_quantile_ns(histogram, 0.62), (double)(HISTOGRAM_MAX_NS - 1) * (1 - ERROR_MAX));
    ck_assert_double_eq(histogram_quantile_ns(histogram, 0.63), -1);
    ck_assert_double_eq(histogram_quantile_ns(histogram, 1), -1);
    free(histogram);
}
END_TEST

START_TEST(merging_equals_recording)
{
    struct histogram *parts[3] = {histogram_new(), histogram_new(), histogram_new()}; /* the last one stays empty */
    struct histogram *whole = histogram_new(), *merged = histogram_new();
    random_state = 3;
    for (int index = 0; index < 10000; index++) {
        uint64_t value = index % 100 == 0 ? HISTOGRAM_MAX_NS + random_ns() : random_ns();
        histogram_record(parts[index % 2], value);
        histogram_record(whole, value);
    }
    for (int part = 0; part < 3; part++)
        histogram_merge(merged, parts[part]);
    ck_assert_mem_eq(merged, whole, sizeof *whole);
    for (int part = 0; part < 3; part++)
        free(parts[part]);
    free(whole);
    free(merged);
}
END_TEST

/* The histogram of case: 0 empty, 1 one value, 2 only values out of range, 3 many values. */
static struct histogram *sample(int which)
{
    struct histogram *histogram = histogram_new();
    random_state = 5;
    if (which == 1)
        histogram_record(histogram, 53000);
    for (int count = 0; which == 2 && count < 3; count++)
        histogram_record(histogram, HISTOGRAM_MAX_NS + (uint64_t)count);
    for (int count = 0; which == 3 && count < 3000; count++)
        histogram_record(histogram, random_u64() % 64 == 0 ? UINT64_MAX : random_ns());
    return histogram;
}

static uint8_t *encoded(const struct histogram *histogram, size_t *size)
{
    *size = histogram_encoded_size(histogram);
    uint8_t *blob = malloc(*size);
    ck_assert_ptr_nonnull(blob);
    ck_assert_uint_eq(histogram_encode(histogram, blob, *size - 1), 0);
    ck_assert_uint_eq(histogram_encode(histogram, blob, *size), *size);
    return blob;
}

START_TEST(compact_form_comes_back)
{
    struct histogram *histogram = sample(_i), *decoded = histogram_new();
    size_t size;
    uint8_t *blob = encoded(histogram, &size);
    memset(decoded, 0xff, sizeof *decoded);
    ck_assert_int_eq(histogram_decode(decoded, blob, size), 0);
    ck_assert_mem_eq(decoded, histogram, sizeof *histogram);
    free(blob);
    free(decoded);
    free(histogram);
}
END_TEST

START_TEST(damaged_blobs_are_refused)
{
    struct histogram *histogram = sample(_i), *decoded = histogram_new();
    size_t size;
    uint8_t *blob = encoded(histogram, &size);
    for (size_t bit = 0; bit < size * 8; bit++) {
        blob[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        ck_assert_int_eq(histogram_decode(decoded, blob, size), -EINVAL);
        blob[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    for (size_t shorter = 0; shorter < size; shorter++)
        ck_assert_int_eq(histogram_decode(decoded, blob, shorter), -EINVAL);
    uint8_t *longer = calloc(1, size + 1);
    ck_assert_ptr_nonnull(longer);
    memcpy(longer, blob, size);
    ck_assert_int_eq(histogram_decode(decoded, longer, size + 1), -EINVAL);
    free(longer);
    free(blob);
    free(decoded);
    free(histogram);
}
END_TEST

/* Right checksum, impossible contents. */
START_TEST(inconsistent_blobs_are_refused)
{
    struct histogram *histogram = sample(_i < 4 ? 1 : _i < 6 ? 0 : 3), *decoded = histogram_new();
    switch (_i) {
    case 0:
        histogram->min_ns = 1;
        break; /* below the lowest bucket */
    case 1:
        histogram->max_ns = 99000;
        break; /* above the highest bucket */
    case 2:
        histogram->over = 1;
        break; /* over, but no value is */
    case 3:
        histogram->max_ns = UINT64_MAX;
        break; /* out of range, but not counted */
    case 4:
        histogram->sum_ns = 1;
        break; /* of nothing */
    case 5:
        histogram->over = 2;
        break; /* out of range, but the smallest is 0 */
    case 6:
        histogram->over = UINT64_MAX;
        break; /* the count overflows */
    case 7:
        histogram->min_ns = HISTOGRAM_MAX_NS;
        break; /* out of range, with values in range */
    }
    size_t size;
    uint8_t *blob = encoded(histogram, &size);
    ck_assert_int_eq(histogram_decode(decoded, blob, size), -EINVAL);
    free(blob);
    free(decoded);
    free(histogram);
}
END_TEST

/* CRC-32 by its definition: the remainder of the message, bits reversed, by the polynomial. */
static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t bit = 0; bit < size * 8; bit++) {
        uint32_t next = (crc ^ (uint32_t)(bytes[bit / 8] >> (bit % 8))) & 1;
        crc = next ? (crc >> 1) ^ 0xedb88320 : crc >> 1;
    }
    return crc ^ 0xffffffff;
}

/* Right checksum, forms that encode does not write. */
START_TEST(other_forms_are_refused)
{
    static const struct {
        uint8_t size, bytes[20];
    } forms[] = {
        {6, {1, 7, 40, 0, 0, 0}},                    /* ends before max */
        {8, {1, 7, 40, 0x80, 0, 0, 0, 0}},           /* a number that is longer than need be */
        {9, {1, 7, 40, 0, 0, 0, 0, 0, 0}},           /* an empty bucket */
        {8, {1, 7, 40, 0, 0, 0, 0, 0}},              /* half a pair */
        {10, {1, 7, 40, 0, 5, 5, 5, 0xff, 0x7f, 1}}, /* a bucket beyond the last */
        {17, {1, 7, 40, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0}}, /* more than 64 bits */
        {7, {2, 7, 40, 0, 0, 0, 0}},                                                           /* another version */
        {7, {1, 6, 40, 0, 0, 0, 0}},                                                           /* other buckets */
        {7, {1, 7, 41, 0, 0, 0, 0}},                                                           /* another maximum */
        {7, {1, 7, 40, 0, 0, 0, 0}}, /* last: what encode writes for an empty one */
    };
    const int last = sizeof forms / sizeof forms[0] - 1;
    struct histogram *decoded = histogram_new();
    for (int form = 0; form <= last; form++) {
        uint8_t blob[32] = {'P', 'H'};
        size_t size = 2 + (size_t)forms[form].size;
        memcpy(blob + 2, forms[form].bytes, forms[form].size);
        uint32_t crc = checksum(blob, size);
        for (int byte = 0; byte < 4; byte++)
            blob[size++] = (uint8_t)(crc >> (8 * byte));
        ck_assert_msg(histogram_decode(decoded, blob, size) == (form == last ? 0 : -EINVAL), "form %d", form);
    }
    free(decoded);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("histogram");
    TCase *cases = tcase_create("histogram");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, quantiles_are_within_the_bound, 0, 2);
    tcase_add_test(cases, edges_of_buckets);
    tcase_add_test(cases, too_few_values_give_no_quantile);
    tcase_add_test(cases, over_range_is_counted_and_larger_than_everything);
    tcase_add_test(cases, merging_equals_recording);
    tcase_add_loop_test(cases, compact_form_comes_back, 0, 4);
    tcase_add_loop_test(cases, damaged_blobs_are_refused, 0, 4);
    tcase_add_test(cases, other_forms_are_refused);
    tcase_add_loop_test(cases, inconsistent_blobs_are_refused, 0, 8);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
