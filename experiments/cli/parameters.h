/* SPDX-License-Identifier: MIT
 *
 * The parameter table: what can be varied in an experiment, in one place.
 *
 * How it works. One row per parameter. Options (--max-workers), sweep-file keys (max-workers), --set keys, columns
 * (max_workers), help, completion and "did you mean" all come from this table; adding a parameter is adding a row.
 * Tunables of schedulers and bounds and the workloads' item costs are rows too.
 *
 * A configuration holds one text per parameter, as the user wrote it, normalised ("1e3" is refused, "2s" becomes "2").
 */
#ifndef PILFER_EXPERIMENTS_CLI_PARAMETERS_H
#define PILFER_EXPERIMENTS_CLI_PARAMETERS_H

#include "nearest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum parameter_type {
    PARAMETER_WORD,     /* one of a list of words */
    PARAMETER_NAME,     /* a name from a registry (scheduler, idle, sizing, workload, target) */
    PARAMETER_COUNT_OF, /* unsigned integer in [minimum, maximum] */
    PARAMETER_RATE,     /* real number per second; suffix k */
    PARAMETER_DURATION, /* "200ms", "2s", "50us"; kept as seconds in plain decimals */
    PARAMETER_PERCENT,
    PARAMETER_CPU_LIST, /* "0-3,5" */
    PARAMETER_LINE,     /* a line of text, as it stands */
};

enum parameter_flags {
    PARAMETER_DEFAULT_WORD = 1, /* "default" is admitted and resolved later */
    PARAMETER_IDENTITY = 2,     /* part of a cell's identity (cell_id); else only how it is measured */
    PARAMETER_SWEEPABLE = 4,    /* a list of values makes an axis */
    PARAMETER_FILE = 8,         /* of a PARAMETER_NAME: the path of a file, with a slash or a dot in it, will do */
    PARAMETER_TUNABLE = 16,     /* a tunable of some pool schedulers (struct pilfer_tunable); others lack it */
    /* What an executor must have for it to matter. */
    PARAMETER_WORKERS = 32,      /* workers (PILFER_KNOB_WORKERS) */
    PARAMETER_SPIN = 64,         /* spinning workers (PILFER_KNOB_SPIN) */
    PARAMETER_PARALLELISM = 128, /* a bound (PILFER_KNOB_PARALLELISM) */
    PARAMETER_LIMITS = 256,      /* a sizing whose limits a caller moves (PILFER_KNOB_LIMITS) */
    /* Of the load, the extension, the machine or the measurement: it matters to a target as to the model. The knobs of
     * a target are not among them: they are the placeholders that it uses. */
    PARAMETER_FOREIGN = 512,
};

struct parameter {
    const char *key;    /* "max-workers" */
    const char *column; /* "max_workers"; unit last: "rate_rps" for key "rate" */
    enum parameter_type type;
    uint32_t flags;
    const char *initial; /* default text; "" is unset */
    double minimum, maximum;
    const char *words; /* PARAMETER_WORD: "closed\0paced\0"; PARAMETER_NAME: the registry's name */
    const char *unit;  /* "us", "s", "rps", "" */
    const char *scope; /* workloads in which it has an effect, "router|echo"; "" is all */
    const char *help;  /* one line */
};

extern const struct parameter parameters[];
extern const uint32_t parameter_count;

/* Index by key, or -1. */
int parameter_find(const char *key);

/* The keys in table order, for nearest_word and completion: writes parameter_count pointers to static memory. out has
 * room for PARAMETER_LIMIT. */
void parameter_keys(const char **out);

/* One of the words or names that a parameter admits. Pointers are to static memory. */
struct parameter_choice {
    const char *name, *summary; /* summary: "" for the words of PARAMETER_WORD */
    bool hidden;                /* admitted, but left out of lists and default sweeps (skeleton, specimens) */
};

/* The index-th choice of a PARAMETER_WORD or PARAMETER_NAME, "default" not among them; false past the end. Any thread.
 */
bool parameter_choice_at(const struct parameter *parameter, uint32_t index, struct parameter_choice *out);

/* Whether the parameter has an effect in the workload. */
bool parameter_in_scope(const struct parameter *parameter, const char *workload);

/* Checks and normalises a value; 0, or -1 with one line in message: what was found, what was expected, the nearest
 * word. A normalised text is its own normalisation: durations are accepted in seconds without a unit as well. out holds
 * PARAMETER_TEXT_SIZE bytes. Any thread; the locale has no effect. */
#define PARAMETER_TEXT_SIZE 128
int parameter_parse(const struct parameter *parameter, const char *text, char *out, char *message, size_t message_size);

/* One value per parameter; plain memory, copied by assignment. */
#define PARAMETER_LIMIT 96
struct configuration {
    char values[PARAMETER_LIMIT][PARAMETER_TEXT_SIZE];
};
void configuration_init(struct configuration *configuration); /* all defaults */

/* By key; the key must exist (programming error otherwise). */
const char *configuration_text(const struct configuration *configuration, const char *key);
double configuration_number(const struct configuration *configuration,
                            const char *key); /* durations in s; NaN: unset/default */
bool configuration_is_default(const struct configuration *configuration, const char *key);
void configuration_set(struct configuration *configuration, const char *key, const char *normalised);

#endif
