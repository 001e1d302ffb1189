/* SPDX-License-Identifier: MIT
 *
 * One measured repeat in memory, and the list of columns that it has.
 *
 * How it works. RESULT_COLUMNS is the only list of the fixed columns: the store's table, exports and reports are made
 * from it, in this order. What else a variant declares rides along as settings (text) and numbers, by name.
 *
 * Unknown is a value of its own (RESULT_UNKNOWN): an empty field in CSV, null in JSON, NULL in the store; never 0.
 */
#ifndef PILFER_RESULTS_RESULTS_H
#define PILFER_RESULTS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, type): TEXT, INTEGER or REAL. */
#define RESULT_COLUMNS(X)              \
    X(sweep_id, INTEGER)               \
    X(cell_id, TEXT)                   \
    X(repeat, INTEGER)                 \
    X(machine, TEXT)                   \
    X(cores, INTEGER)                  \
    X(label, TEXT)                     \
    X(scheduler, TEXT)                 \
    X(idle, TEXT)                      \
    X(sizing, TEXT)                    \
    X(over, TEXT)                      \
    X(workload, TEXT)                  \
    X(target, TEXT)                    \
    X(mode, TEXT)                      \
    X(rate_rps, REAL)                  \
    X(connections, INTEGER)            \
    X(min_workers, TEXT)               \
    X(max_workers, TEXT)               \
    X(max_workers_resolved, INTEGER)   \
    X(spin_limit, TEXT)                \
    X(spin_limit_resolved, INTEGER)    \
    X(parallelism, TEXT)               \
    X(duration_s, REAL)                \
    X(warmup_s, REAL)                  \
    X(seed, INTEGER)                   \
    X(valid, INTEGER)                  \
    X(disturbed, INTEGER)              \
    X(tries, INTEGER)                  \
    X(rps, REAL)                       \
    X(requests, INTEGER)               \
    X(router_cpu_percent, REAL)        \
    X(router_cpu_us_per_request, REAL) \
    X(extension_cpu_percent, REAL)     \
    X(load_cpu_percent, REAL)          \
    X(latency_us_p50, REAL)            \
    X(latency_us_p90, REAL)            \
    X(latency_us_p99, REAL)            \
    X(latency_us_p999, REAL)           \
    X(workers_started, INTEGER)        \
    X(workers_max, INTEGER)            \
    X(run_cpu_percent, REAL)           \
    X(search_cpu_percent, REAL)        \
    X(spin_cpu_percent, REAL)          \
    X(yield_cpu_percent, REAL)         \
    X(wake_cpu_percent, REAL)          \
    X(park_cpu_percent, REAL)          \
    X(poll_cpu_percent, REAL)          \
    X(unaccounted_cpu_percent, REAL)   \
    X(run_delay_percent, REAL)

enum result_column {
#define RESULT_COLUMN_ENUM(name, type) RESULT_##name,
    RESULT_COLUMNS(RESULT_COLUMN_ENUM)
#undef RESULT_COLUMN_ENUM
        RESULT_COLUMN_COUNT
};

enum result_type { RESULT_TEXT, RESULT_INTEGER, RESULT_REAL };

struct result_value {
    enum { RESULT_UNKNOWN, RESULT_KNOWN_TEXT, RESULT_KNOWN_NUMBER } kind;
    char *text;    /* owned */
    double number; /* integers up to 2^53 are exact */
};

/* A further parameter (text as the user wrote it) or a further number, by column name (underscores, units last). */
struct result_setting {
    char *name, *text; /* owned */
};
struct result_number {
    char *name; /* owned */
    double number;
};

/* Texts shared by the rows of a set that was read from a store; see texts.h. */
struct texts;

/* One repeat of one cell. */
struct result {
    struct texts *texts; /* NULL: the row owns its texts; else this pool does, and outlives the row */
    struct result_value columns[RESULT_COLUMN_COUNT];
    struct result_setting *settings; /* sorted by name */
    uint32_t setting_count;
    struct result_number *numbers; /* sorted by name */
    uint32_t number_count;
    uint8_t *histogram; /* encoded latency histogram, or NULL */
    size_t histogram_size;
    char *invalid_reason; /* why valid is 0, or NULL; owned */
};

/* All unknown. Memory of the caller; result_fini frees what it owns. Setters copy; they end the program with a message
 * when memory runs out (a single row is a few KiB). One thread at a time. A number that is not finite is unknown.
 * Setting or adding the same name again replaces it; NULL as text is unknown. Programming errors (assertions): a text
 * for a column of numbers or the reverse, and a setting or number that is called like a fixed column or like one
 * another. */
void result_init(struct result *result);
void result_fini(struct result *result);
void result_set_text(struct result *result, enum result_column column, const char *text);
void result_set_number(struct result *result, enum result_column column, double number);
void result_add_setting(struct result *result, const char *name, const char *text);
void result_add_number(struct result *result, const char *name, double number);
void result_set_histogram(struct result *result, const uint8_t *encoded, size_t size);
void result_set_invalid_reason(struct result *result, const char *reason);

const char *result_column_name(enum result_column column);
enum result_type result_column_type(enum result_column column);
/* -1 if there is no such fixed column. */
int result_column_find(const char *name);

/* A column or further number by name; false if unknown. */
bool result_get_number(const struct result *result, const char *name, double *out);
/* A column or setting by name; NULL if unknown. Numbers are not converted. */
const char *result_get_text(const struct result *result, const char *name);

/* Whether a foreign server was measured. Rows of the model have no target at all; one may be called "none". */
bool result_is_of_target(const struct result *result);
/* Whether the repeat is valid, and undisturbed unless disturbed_too. */
bool result_is_used(const struct result *result, bool disturbed_too);
/* Requests to which the CPU and the counters of the window belong: those answered in it, also where a backlog grows and
 * `requests`, the answers to its arrivals, are others. 0 if unknown. */
double result_answered(const struct result *result);

/* Many repeats. */
struct result_set {
    struct result *rows;
    size_t count;
    struct texts *texts; /* pool of the rows' texts, or NULL; freed with the set */
};
void result_set_fini(struct result_set *set);

#endif
