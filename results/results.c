/* SPDX-License-Identifier: MIT
 *
 * One measured repeat in memory; see results.h.
 *
 * How it works. Settings and numbers are arrays sorted by name (bytes, not locale): found by bisection, inserted by
 * shifting; a row has some dozens of them.
 */
#include "results.h"
#include "heap.h"
#include "texts.h"

#include <assert.h>
#include <math.h>

static const struct {
    const char *name;
    enum result_type type;
} columns[RESULT_COLUMN_COUNT] = {
#define RESULT_COLUMN_ROW(name, type) [RESULT_##name] = {#name, RESULT_##type},
    RESULT_COLUMNS(RESULT_COLUMN_ROW)
#undef RESULT_COLUMN_ROW
};

const char *result_column_name(enum result_column column)
{
    return columns[column].name;
}

enum result_type result_column_type(enum result_column column)
{
    return columns[column].type;
}

int result_column_find(const char *name)
{
    for (int column = 0; column < RESULT_COLUMN_COUNT; column++) {
        if (strcmp(columns[column].name, name) == 0) {
            return column;
        }
    }
    return -1;
}

void result_init(struct result *result)
{
    *result = (struct result){0};
}

static char *result_keep(const struct result *result, const char *text)
{
    return result->texts ? texts_keep(result->texts, text) : heap_text(text);
}

static void result_drop(const struct result *result, char *text)
{
    if (!result->texts) {
        free(text);
    }
}

void result_fini(struct result *result)
{
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        result_drop(result, result->columns[i].text);
    }
    for (uint32_t i = 0; i < result->setting_count; i++) {
        result_drop(result, result->settings[i].name);
        result_drop(result, result->settings[i].text);
    }
    for (uint32_t i = 0; i < result->number_count; i++) {
        result_drop(result, result->numbers[i].name);
    }
    result_drop(result, result->invalid_reason);
    free(result->settings);
    free(result->numbers);
    free(result->histogram);
    result_init(result);
}

void result_set_text(struct result *result, enum result_column column, const char *text)
{
    assert(columns[column].type == RESULT_TEXT);
    char *kept = text ? result_keep(result, text) : NULL;
    result_drop(result, result->columns[column].text);
    result->columns[column] =
        (struct result_value){.kind = kept ? RESULT_KNOWN_TEXT : RESULT_UNKNOWN, .text = kept, .number = 0};
}

void result_set_number(struct result *result, enum result_column column, double number)
{
    assert(columns[column].type != RESULT_TEXT);
    struct result_value *value = &result->columns[column];
    *value = (struct result_value){.kind = RESULT_UNKNOWN};
    if (isfinite(number)) {
        value->kind = RESULT_KNOWN_NUMBER;
        value->number = number + 0.0; /* no negative zero */
    }
}

/* Index of the item with this name in a sorted array whose items begin with their name, or where it would be inserted.
 */
static uint32_t named_position(const void *items, uint32_t count, size_t size, const char *name, bool *found)
{
    uint32_t low = 0, high = count;
    *found = false;
    while (low < high && !*found) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(*(char *const *)((const char *)items + middle * size), name);
        *found = order == 0;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return *found ? high : low;
}

static uint32_t setting_position(const struct result *result, const char *name, bool *found)
{
    static_assert(offsetof(struct result_setting, name) == 0, "named_position relies on it");
    return named_position(result->settings, result->setting_count, sizeof(struct result_setting), name, found);
}

static uint32_t number_position(const struct result *result, const char *name, bool *found)
{
    static_assert(offsetof(struct result_number, name) == 0, "named_position relies on it");
    return named_position(result->numbers, result->number_count, sizeof(struct result_number), name, found);
}

void result_add_setting(struct result *result, const char *name, const char *text)
{
    bool found, number_found;
    number_position(result, name, &number_found);
    assert(result_column_find(name) < 0 && !number_found);
    uint32_t position = setting_position(result, name, &found);
    if (!found && !text) {
        return;
    }
    struct result_setting *settings = result->settings;
    char *kept = text ? result_keep(result, text) : NULL;
    if (found) {
        result_drop(result, settings[position].text);
        settings[position].text = kept;
        if (!kept) {
            result_drop(result, settings[position].name);
            result->setting_count--;
            memmove(&settings[position], &settings[position + 1],
                    (result->setting_count - position) * sizeof(*settings));
        }
        return;
    }
    settings = heap_grow(settings, result->setting_count, sizeof(*settings));
    memmove(&settings[position + 1], &settings[position], (result->setting_count - position) * sizeof(*settings));
    settings[position] = (struct result_setting){.name = result_keep(result, name), .text = kept};
    result->settings = settings;
    result->setting_count++;
}

void result_add_number(struct result *result, const char *name, double number)
{
    bool found, setting_found;
    setting_position(result, name, &setting_found);
    assert(result_column_find(name) < 0 && !setting_found);
    uint32_t position = number_position(result, name, &found);
    struct result_number *numbers = result->numbers;
    if (!isfinite(number)) {
        if (found) {
            result_drop(result, numbers[position].name);
            result->number_count--;
            memmove(&numbers[position], &numbers[position + 1], (result->number_count - position) * sizeof(*numbers));
        }
        return;
    }
    if (!found) {
        numbers = heap_grow(numbers, result->number_count, sizeof(*numbers));
        memmove(&numbers[position + 1], &numbers[position], (result->number_count - position) * sizeof(*numbers));
        numbers[position].name = result_keep(result, name);
        result->numbers = numbers;
        result->number_count++;
    }
    numbers[position].number = number + 0.0; /* no negative zero */
}

void result_set_histogram(struct result *result, const uint8_t *encoded, size_t size)
{
    free(result->histogram);
    result->histogram = NULL;
    result->histogram_size = size;
    if (size) {
        result->histogram = heap_array(size, 1);
        memcpy(result->histogram, encoded, size);
    }
}

void result_set_invalid_reason(struct result *result, const char *reason)
{
    char *kept = reason ? result_keep(result, reason) : NULL;
    result_drop(result, result->invalid_reason);
    result->invalid_reason = kept;
}

bool result_get_number(const struct result *result, const char *name, double *out)
{
    int column = result_column_find(name);
    if (column >= 0) {
        *out = result->columns[column].number;
        return result->columns[column].kind == RESULT_KNOWN_NUMBER;
    }
    bool found;
    uint32_t position = number_position(result, name, &found);
    if (found) {
        *out = result->numbers[position].number;
    }
    return found;
}

const char *result_get_text(const struct result *result, const char *name)
{
    int column = result_column_find(name);
    if (column >= 0) {
        return result->columns[column].text;
    }
    bool found;
    uint32_t position = setting_position(result, name, &found);
    return found ? result->settings[position].text : NULL;
}

bool result_is_of_target(const struct result *result)
{
    return result->columns[RESULT_target].kind == RESULT_KNOWN_TEXT;
}

bool result_is_used(const struct result *result, bool disturbed_too)
{
    const struct result_value *valid = &result->columns[RESULT_valid];
    const struct result_value *disturbed = &result->columns[RESULT_disturbed];
    bool is_valid = valid->kind == RESULT_KNOWN_NUMBER && valid->number != 0;
    bool is_disturbed = disturbed->kind == RESULT_KNOWN_NUMBER && disturbed->number != 0;
    return is_valid && (disturbed_too || !is_disturbed);
}

double result_answered(const struct result *result)
{
    double number = 0;
    if (!result_get_number(result, "completions", &number)) { /* stored where they can differ */
        result_get_number(result, "requests", &number);
    }
    return number;
}

void result_set_fini(struct result_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        result_fini(&set->rows[i]);
    }
    free(set->rows);
    texts_destroy(set->texts);
    *set = (struct result_set){0};
}
