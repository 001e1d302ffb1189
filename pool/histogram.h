/* SPDX-License-Identifier: MIT
 *
 * A latency histogram: log-linear buckets, fixed memory, mergeable, known relative error.
 *
 * How it works. Values in ns. Below 2^HISTOGRAM_SUB_BITS each value has its own bucket; above, each power of two is cut
 * into 2^(HISTOGRAM_SUB_BITS - 1) equal buckets, so a bucket is at most 1/64 of its value wide. Values over the maximum
 * are counted apart, never dropped silently.
 *
 * Source. The bucket scheme is that of HdrHistogram (Tene); own code, since no C version is packaged.
 */
#ifndef PILFER_POOL_HISTOGRAM_H
#define PILFER_POOL_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_MAX_NS   ((uint64_t)1 << 40) /* about 18 minutes */
#define HISTOGRAM_BUCKETS  ((40 - HISTOGRAM_SUB_BITS + 2) << (HISTOGRAM_SUB_BITS - 1))

/* Plain memory of one thread; readers need their own copy. count, sum_ns, min_ns and max_ns are of all values, those of
 * HISTOGRAM_MAX_NS and more included; over counts these. All zero while nothing is recorded. */
struct histogram {
    uint64_t count, over, sum_ns, min_ns, max_ns;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_init(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t ns);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* Smallest recorded bucket value v such that at least count x quantile values are <= v, 0 < quantile <= 1; the bucket's
 * middle, exact for min and max. -1 if the count is too small for it: count x (1 - quantile) < 20. Over-range values
 * count as larger than everything: -1 if the quantile falls among them. Quantile 1 is the largest value itself, at any
 * count above 0. */
double histogram_quantile_ns(const struct histogram *histogram, double quantile);

/* Compact form for storage (run-length, little-endian, versioned): bytes needed, and writing into a buffer; returns the
 * bytes written, or 0 if size is too small. */
size_t histogram_encoded_size(const struct histogram *histogram);
size_t histogram_encode(const struct histogram *histogram, uint8_t *buffer, size_t size);
/* 0, or -EINVAL for anything that encode did not write; then *histogram is undefined. */
int histogram_decode(struct histogram *histogram, const uint8_t *buffer, size_t size);

#endif
