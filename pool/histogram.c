/* SPDX-License-Identifier: MIT
 *
 * The latency histogram of histogram.h: recording, quantiles, and its compact form.
 *
 * The compact form. "PH", version, HISTOGRAM_SUB_BITS, exponent of HISTOGRAM_MAX_NS; then numbers of seven bits a byte,
 * low ones first (LEB128, shortest form): over, sum_ns, min_ns, max_ns, and for each bucket that is not empty the
 * number of empty ones before it and its count; last the CRC-32 of all that, little-endian. The count of all values is
 * not stored: it follows from the rest. A few hundred bytes for a typical latency distribution.
 */
#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define HALF              ((uint64_t)1 << (HISTOGRAM_SUB_BITS - 1)) /* buckets per power of two */
#define MAX_BITS          40
#define QUANTILE_TAIL_MIN 20.0
#define ROUNDING          1e-9 /* relative; keeps 200000 x (1 - 0.9999) from being 19.99999999999998 */

#define FORMAT_VERSION 1
#define HEADER_SIZE    5
#define CHECKSUM_SIZE  4

_Static_assert(HISTOGRAM_MAX_NS == (uint64_t)1 << MAX_BITS, "the maximum is a power of two");

/* ---- buckets ---- */

/* Bits by which a value is shifted right before its bucket is looked up; 0 where each value has its own. */
static unsigned value_shift(uint64_t ns)
{
    unsigned highest = 63 - (unsigned)__builtin_clzll(ns | 1);
    return highest < HISTOGRAM_SUB_BITS ? 0 : highest - (HISTOGRAM_SUB_BITS - 1);
}

static size_t bucket_index(uint64_t ns)
{
    unsigned shift = value_shift(ns);
    return shift * HALF + (ns >> shift);
}

static unsigned bucket_shift(size_t index)
{
    return index < 2 * HALF ? 0 : (unsigned)(index / HALF - 1);
}

static uint64_t bucket_lowest_ns(size_t index)
{
    unsigned shift = bucket_shift(index);
    return (index - shift * HALF) << shift;
}

static uint64_t bucket_highest_ns(size_t index)
{
    return bucket_lowest_ns(index) + ((uint64_t)1 << bucket_shift(index)) - 1;
}

/* ---- recording ---- */

void histogram_init(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void histogram_record(struct histogram *histogram, uint64_t ns)
{
    if (histogram->count == 0 || ns < histogram->min_ns)
        histogram->min_ns = ns;
    if (ns > histogram->max_ns)
        histogram->max_ns = ns;
    histogram->count++;
    histogram->sum_ns += ns;
    if (ns >= HISTOGRAM_MAX_NS)
        histogram->over++;
    else
        histogram->buckets[bucket_index(ns)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    into->count += from->count;
    into->over += from->over;
    into->sum_ns += from->sum_ns;
    for (size_t index = 0; index < HISTOGRAM_BUCKETS; index++)
        into->buckets[index] += from->buckets[index];
}

/* ---- quantiles ---- */

/* Middle of the bucket that holds the rank-th smallest value, 1 <= rank <= count - over. */
static double middle_ns(const struct histogram *histogram, uint64_t rank)
{
    size_t index = 0;
    for (uint64_t seen = histogram->buckets[0]; seen < rank; seen += histogram->buckets[index])
        index++;
    double middle = ((double)bucket_lowest_ns(index) + (double)bucket_highest_ns(index)) / 2;
    /* The first and the last bucket may stick out of what was recorded. */
    return fmin(fmax(middle, (double)histogram->min_ns), (double)histogram->max_ns);
}

double histogram_quantile_ns(const struct histogram *histogram, double quantile)
{
    double count = (double)histogram->count;
    if (histogram->count == 0 || !(quantile > 0 && quantile <= 1))
        return -1;
    if (quantile < 1 && count * (1 - quantile) < QUANTILE_TAIL_MIN * (1 - ROUNDING))
        return -1;
    uint64_t rank = (uint64_t)ceil(count * quantile * (1 - ROUNDING / count));
    if (rank < 1)
        rank = 1;
    if (quantile >= 1 || rank > histogram->count)
        rank = histogram->count;
    if (rank > histogram->count - histogram->over)
        return -1;
    if (rank == 1)
        return (double)histogram->min_ns;
    if (rank == histogram->count)
        return (double)histogram->max_ns;
    return middle_ns(histogram, rank);
}

/* ---- the compact form: writing ---- */

/* Bytes that are being written, or only counted when bytes is NULL. */
struct sink {
    uint8_t *bytes;
    size_t used;
};

static void put_byte(struct sink *sink, uint8_t byte)
{
    if (sink->bytes != NULL)
        sink->bytes[sink->used] = byte;
    sink->used++;
}

static void put_number(struct sink *sink, uint64_t number)
{
    while (number >= 0x80) {
        put_byte(sink, (uint8_t)(number | 0x80));
        number >>= 7;
    }
    put_byte(sink, (uint8_t)number);
}

/* CRC-32 (IEEE 802.3), bit by bit: a few hundred bytes per finished measurement. */
static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    uint32_t crc = ~(uint32_t)0;
    for (size_t index = 0; index < size; index++) {
        crc ^= bytes[index];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put_header(struct sink *sink)
{
    put_byte(sink, 'P');
    put_byte(sink, 'H');
    put_byte(sink, FORMAT_VERSION);
    put_byte(sink, HISTOGRAM_SUB_BITS);
    put_byte(sink, MAX_BITS);
}

static void put_histogram(struct sink *sink, const struct histogram *histogram)
{
    put_header(sink);
    put_number(sink, histogram->over);
    put_number(sink, histogram->sum_ns);
    put_number(sink, histogram->min_ns);
    put_number(sink, histogram->max_ns);
    uint64_t empty = 0;
    for (size_t index = 0; index < HISTOGRAM_BUCKETS; index++) {
        if (histogram->buckets[index] == 0) {
            empty++;
            continue;
        }
        put_number(sink, empty);
        put_number(sink, histogram->buckets[index]);
        empty = 0;
    }
}

size_t histogram_encoded_size(const struct histogram *histogram)
{
    struct sink sink = {.bytes = NULL};
    put_histogram(&sink, histogram);
    return sink.used + CHECKSUM_SIZE;
}

size_t histogram_encode(const struct histogram *histogram, uint8_t *buffer, size_t size)
{
    if (histogram_encoded_size(histogram) > size)
        return 0;
    struct sink sink = {.bytes = buffer};
    put_histogram(&sink, histogram);
    uint32_t crc = checksum(buffer, sink.used);
    for (int byte = 0; byte < CHECKSUM_SIZE; byte++)
        put_byte(&sink, (uint8_t)(crc >> (8 * byte)));
    return sink.used;
}

/* ---- the compact form: reading ---- */

struct source {
    const uint8_t *bytes;
    size_t size, used;
};

/* Reads one number in its shortest form; false otherwise. */
static bool take_number(struct source *source, uint64_t *out)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && source->used < source->size; shift += 7) {
        uint8_t byte = source->bytes[source->used++];
        uint64_t bits = byte & 0x7f;
        if ((bits << shift) >> shift != bits)
            return false;
        number |= bits << shift;
        if ((byte & 0x80) == 0) {
            *out = number;
            return byte != 0 || shift == 0;
        }
    }
    return false;
}

static bool take_buckets(struct source *source, struct histogram *histogram)
{
    size_t index = 0;
    while (source->used < source->size) {
        uint64_t empty, count;
        if (!take_number(source, &empty) || !take_number(source, &count))
            return false;
        if (empty >= HISTOGRAM_BUCKETS - index || count == 0)
            return false;
        index += empty;
        histogram->buckets[index++] = count;
        if (__builtin_add_overflow(histogram->count, count, &histogram->count))
            return false;
    }
    return !__builtin_add_overflow(histogram->count, histogram->over, &histogram->count);
}

/* Could these fields have come from recording values? */
static bool is_consistent(const struct histogram *histogram)
{
    if (histogram->count == 0)
        return histogram->sum_ns == 0 && histogram->min_ns == 0 && histogram->max_ns == 0;
    if ((histogram->over > 0) != (histogram->max_ns >= HISTOGRAM_MAX_NS))
        return false;
    if (histogram->over == histogram->count)
        return histogram->min_ns >= HISTOGRAM_MAX_NS && histogram->min_ns <= histogram->max_ns;
    size_t lowest = 0, highest = HISTOGRAM_BUCKETS - 1;
    while (histogram->buckets[lowest] == 0)
        lowest++;
    while (histogram->buckets[highest] == 0)
        highest--;
    if (histogram->min_ns >= HISTOGRAM_MAX_NS || bucket_index(histogram->min_ns) != lowest)
        return false;
    return histogram->over > 0 || bucket_index(histogram->max_ns) == highest;
}

int histogram_decode(struct histogram *histogram, const uint8_t *buffer, size_t size)
{
    uint8_t header[HEADER_SIZE];
    struct sink expected = {.bytes = header};
    put_header(&expected);
    if (size < HEADER_SIZE + CHECKSUM_SIZE || memcmp(buffer, header, HEADER_SIZE) != 0)
        return -EINVAL;
    size_t checked = size - CHECKSUM_SIZE;
    uint32_t crc = 0;
    for (int byte = 0; byte < CHECKSUM_SIZE; byte++)
        crc |= (uint32_t)buffer[checked + (size_t)byte] << (8 * byte);
    if (crc != checksum(buffer, checked))
        return -EINVAL;
    histogram_init(histogram);
    struct source source = {.bytes = buffer, .size = checked, .used = HEADER_SIZE};
    if (!take_number(&source, &histogram->over) || !take_number(&source, &histogram->sum_ns) ||
        !take_number(&source, &histogram->min_ns) || !take_number(&source, &histogram->max_ns))
        return -EINVAL;
    return take_buckets(&source, histogram) && is_consistent(histogram) ? 0 : -EINVAL;
}
