/* SPDX-License-Identifier: MIT
 *
 * Specifications in memory: keys, lists, inheritance between [sweep] and its parts; see specification.h. Sweep files
 * are read in specification_file.c.
 *
 * How it works. The product of a part's axes is checked each time an axis is added, so that a hostile list costs no
 * more memory than a legal one.
 */
#include "runner/specification.h"

#include "runner/specification_keys.h"

#include <stdlib.h>
#include <string.h>

const char *const specification_extra_keys[SPECIFICATION_EXTRA_KEYS] = {"name", "description", "order", "repeats"};

void specification_init(struct specification *specification, const char *name)
{
    memset(specification, 0, sizeof *specification);
    snprintf(specification->name, sizeof specification->name, "%s", name);
}

static void axis_fini(struct specification_axis *axis)
{
    free(axis->values);
    *axis = (struct specification_axis){0, NULL};
}

void specification_part_fini(struct specification_part *part)
{
    for (uint32_t i = 0; i < parameter_count; i++)
        axis_fini(&part->axes[i]);
}

void specification_fini(struct specification *specification)
{
    specification_part_fini(&specification->common);
    for (uint32_t i = 0; i < specification->part_count; i++)
        specification_part_fini(&specification->parts[i]);
    free(specification->parts);
    memset(specification, 0, sizeof *specification);
}

struct specification_part *specification_add_part(struct specification *specification, const char *name)
{
    size_t size = (specification->part_count + 1) * sizeof *specification->parts;
    struct specification_part *parts = realloc(specification->parts, size);
    if (parts == NULL)
        return NULL;
    specification->parts = parts;
    struct specification_part *part = &parts[specification->part_count++];
    memset(part, 0, sizeof *part);
    snprintf(part->name, sizeof part->name, "%s", name);
    return part;
}

uint32_t specification_part_count(const struct specification *specification)
{
    return specification->part_count > 0 ? specification->part_count : 1;
}

const struct specification_axis *specification_axis(const struct specification *specification, uint32_t part,
                                                    uint32_t parameter)
{
    if (part < specification->part_count && specification->parts[part].axes[parameter].count > 0)
        return &specification->parts[part].axes[parameter];
    const struct specification_axis *axis = &specification->common.axes[parameter];
    return axis->count > 0 ? axis : NULL;
}

uint32_t specification_repeats(const struct specification *specification, uint32_t part)
{
    if (part < specification->part_count && specification->parts[part].repeats > 0)
        return specification->parts[part].repeats;
    return specification->common.repeats > 0 ? specification->common.repeats : 1;
}

uint64_t specification_points(const struct specification *specification, uint32_t part)
{
    uint64_t points = 1;
    for (uint32_t i = 0; i < parameter_count; i++) {
        const struct specification_axis *axis = specification_axis(specification, part, i);
        if (axis != NULL && __builtin_mul_overflow(points, (uint64_t)axis->count, &points))
            return UINT64_MAX;
    }
    return points;
}

/* ---- lists ---- */

struct list {
    const struct parameter *parameter;
    struct faults *faults;
    struct specification_axis axis;
    bool is_full; /* a value too many was found: the rest is not read */
};

/* Adds one value that is known to be normalised. */
static bool list_add(struct list *list, const char *value, const char *written)
{
    for (uint32_t i = 0; i < list->axis.count; i++) {
        if (strcmp(list->axis.values[i], value) == 0) {
            fault(list->faults, "%s: found '%s' twice, expected each value once", list->parameter->key,
                  escaped(written));
            return false;
        }
    }
    if (list->axis.count == SPECIFICATION_VALUES_MAX) {
        list->is_full = true;
        fault(list->faults, "%s: found more than %d values, expected at most that many", list->parameter->key,
              SPECIFICATION_VALUES_MAX);
        return false;
    }
    if ((list->axis.count & (list->axis.count - 1)) == 0) {
        size_t capacity = list->axis.count == 0 ? 1 : (size_t)list->axis.count * 2;
        void *values = realloc(list->axis.values, capacity * PARAMETER_TEXT_SIZE);
        if (values == NULL) {
            fault(list->faults, "%s: no memory for %zu values", list->parameter->key, capacity);
            return false;
        }
        list->axis.values = values;
    }
    memcpy(list->axis.values[list->axis.count++], value, PARAMETER_TEXT_SIZE);
    return true;
}

static bool list_add_value(struct list *list, const char *written)
{
    char value[PARAMETER_TEXT_SIZE] = "", message[FAULT_MESSAGE_SIZE];
    if (parameter_parse(list->parameter, written, value, message, sizeof message) != 0) {
        fault(list->faults, "%s: %s", list->parameter->key, message);
        return false;
    }
    return list_add(list, value, written);
}

/* One end of a range: a value of the parameter that is a whole number. */
static bool range_end(struct list *list, const char *written, uint32_t *out)
{
    char value[PARAMETER_TEXT_SIZE] = "", message[FAULT_MESSAGE_SIZE];
    if (parameter_parse(list->parameter, written, value, message, sizeof message) != 0) {
        fault(list->faults, "%s: %s", list->parameter->key, message);
        return false;
    }
    if (value[strspn(value, "0123456789")] != '\0') {
        fault(list->faults, "%s: found '%s' as the end of a range, expected a whole number", list->parameter->key,
              escaped(written));
        return false;
    }
    *out = (uint32_t)strtoul(value, NULL, 10);
    return true;
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = '\0';
    return text;
}

/* "A..B" or "A..B step C"; dots points at the dots inside item. */
static bool list_add_range(struct list *list, char *item, char *dots)
{
    char written[PARAMETER_TEXT_SIZE];
    snprintf(written, sizeof written, "%s", item);
    uint32_t first, last, step = 1;
    *dots = '\0';
    char *end = dots + 2, *word = strstr(end, "step");
    if (word != NULL) {
        *word = '\0';
        char *digits = trim(word + strlen("step"));
        size_t length = strspn(digits, "0123456789");
        step = length > 0 && length < 9 && digits[length] == '\0' ? (uint32_t)strtoul(digits, NULL, 10) : 0;
    }
    if (!range_end(list, trim(item), &first) || !range_end(list, trim(end), &last))
        return false;
    if (step == 0 || last <= first) {
        fault(list->faults, "%s: found '%s', expected an ascending range such as 1..4 or 0..100 step 10",
              list->parameter->key, escaped(written));
        return false;
    }
    for (uint64_t number = first; number <= last; number += step) {
        char value[PARAMETER_TEXT_SIZE] = "";
        snprintf(value, sizeof value, "%u", (uint32_t)number);
        if (!list_add(list, value, value))
            return false;
    }
    return true;
}

/* "all": every name of a registry that is not hidden. */
static bool list_add_all(struct list *list)
{
    struct parameter_choice choice;
    for (uint32_t i = 0; parameter_choice_at(list->parameter, i, &choice); i++) {
        if (!choice.hidden && !list_add_value(list, choice.name))
            return false;
    }
    return true;
}

static bool list_add_item(struct list *list, char *item)
{
    if (list->parameter->type == PARAMETER_NAME && strcmp(item, "all") == 0)
        return list_add_all(list);
    bool is_text = (list->parameter->flags & PARAMETER_FILE) != 0 || list->parameter->type == PARAMETER_LINE;
    char *dots = strstr(item, "..");
    if (dots == NULL || is_text)
        return list_add_value(list, item);
    if (list->parameter->type != PARAMETER_COUNT_OF && list->parameter->type != PARAMETER_RATE &&
        list->parameter->type != PARAMETER_PERCENT) {
        fault(list->faults, "%s: found the range '%s', expected single values: ranges are for whole numbers",
              list->parameter->key, escaped(item));
        return false;
    }
    if ((list->parameter->flags & PARAMETER_SWEEPABLE) == 0) {
        fault(list->faults, "%s: found the range '%s', expected one value: it is no axis", list->parameter->key,
              escaped(item));
        return false;
    }
    return list_add_range(list, item, dots);
}

/* Reads all items, so that each faulty one is named, up to the greatest number of values. True without faults: then the
 * caller owns *out. */
static bool list_read(const struct parameter *parameter, const char *values, struct faults *faults,
                      struct specification_axis *out)
{
    struct list list = {parameter, faults, {0, NULL}, false};
    uint32_t faults_before = faults->count;
    bool is_axis = (parameter->flags & PARAMETER_SWEEPABLE) != 0;
    bool holds_commas = parameter->type == PARAMETER_CPU_LIST || parameter->type == PARAMETER_LINE;
    if (!is_axis && !holds_commas && strchr(values, ',') != NULL) {
        fault(faults, "%s: found the list '%s', expected one value: it is no axis", parameter->key, escaped(values));
        return false;
    }
    char *copy = strdup(values);
    if (copy == NULL)
        fault(faults, "%s: no memory for its values", parameter->key);
    for (char *item = copy, *next; item != NULL && !list.is_full; item = next) {
        next = is_axis ? strchr(item, ',') : NULL;
        if (next != NULL)
            *next++ = '\0';
        list_add_item(&list, trim(item));
    }
    free(copy);
    if (faults->count == faults_before && list.axis.count == 0)
        fault(faults, "%s: found '%s', expected a name, of which there are none yet", parameter->key, escaped(values));
    if (faults->count != faults_before) {
        free(list.axis.values);
        return false;
    }
    *out = list.axis;
    return true;
}

/* ---- keys ---- */

int specification_key_find(const char *key, struct faults *faults)
{
    int index = parameter_find(key);
    if (index >= 0)
        return index;
    const char *keys[PARAMETER_LIMIT + SPECIFICATION_EXTRA_KEYS];
    parameter_keys(keys);
    for (uint32_t i = 0; i < SPECIFICATION_EXTRA_KEYS; i++) {
        if (strcmp(specification_extra_keys[i], key) == 0)
            return (int)(parameter_count + i);
        keys[parameter_count + i] = specification_extra_keys[i];
    }
    const char *nearest = nearest_word(key, keys, parameter_count + SPECIFICATION_EXTRA_KEYS);
    if (nearest != NULL)
        fault(faults, "found the unknown key '%s', expected a parameter; did you mean '%s'?", escaped(key), nearest);
    else
        fault(faults, "found the unknown key '%s', expected a parameter, name, description, order or repeats",
              escaped(key));
    return -1;
}

bool specification_name_is_good(const char *name)
{
    size_t length = 0;
    for (; name[length] != '\0'; length++) {
        char byte = name[length];
        bool is_alphanumeric =
            (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (!is_alphanumeric && (length == 0 || strchr("._-", byte) == NULL))
            return false;
    }
    return length > 0 && length < SPECIFICATION_NAME_SIZE;
}

static bool set_repeats(struct specification_part *part, const char *values, struct faults *faults)
{
    static const struct parameter repeats = {
        .key = "repeats", .type = PARAMETER_COUNT_OF, .minimum = 1, .maximum = SPECIFICATION_REPEATS_MAX};
    struct specification_axis axis;
    if (!list_read(&repeats, values, faults, &axis))
        return false;
    part->repeats = (uint32_t)strtoul(axis.values[0], NULL, 10);
    free(axis.values);
    return true;
}

static bool set_order(struct specification *specification, const char *values, struct faults *faults)
{
    static const char *const words[] = {"random", "listed"};
    for (uint32_t i = 0; i < 2; i++) {
        if (strcmp(words[i], values) == 0) {
            specification->order = (enum specification_order)i;
            return true;
        }
    }
    fault(faults, "order: found '%s'%s", escaped(values), hint(values, words, 2));
    return false;
}

static bool set_text(char *text, size_t size, const char *key, const char *values, struct faults *faults)
{
    if (values[0] == '\0' || strlen(values) >= size) {
        fault(faults, "%s: found %zu bytes, expected 1 to %zu", key, strlen(values), size - 1);
        return false;
    }
    if (!is_printable(values)) {
        fault(faults, "%s: found '%s', expected printable text", key, escaped(values));
        return false;
    }
    snprintf(text, size, "%s", values);
    return true;
}

static bool set_extra(struct specification *specification, struct specification_part *part, const char *key,
                      const char *values, struct faults *faults)
{
    if (strcmp(key, "repeats") == 0)
        return set_repeats(part, values, faults);
    if (part != &specification->common) {
        fault(faults, "found '%s' in [part %s], expected it in [sweep]", key, part->name);
        return false;
    }
    if (strcmp(key, "order") == 0)
        return set_order(specification, values, faults);
    if (strcmp(key, "description") == 0)
        return set_text(specification->description, sizeof specification->description, key, values, faults);
    if (!specification_name_is_good(values)) {
        fault(faults,
              "name: found '%s', expected 1 to %d letters, digits, '.', '_' or '-', beginning with one of the "
              "first two",
              escaped(values), SPECIFICATION_NAME_SIZE - 1);
        return false;
    }
    return set_text(specification->name, sizeof specification->name, key, values, faults);
}

/* The product of a part's own lists; parts that inherit are checked by specification_check. */
static bool product_fits(const struct specification_part *part, uint32_t key, uint32_t count)
{
    uint64_t points = count;
    for (uint32_t i = 0; i < parameter_count && points <= SPECIFICATION_CELLS_MAX; i++)
        points *= i != key && part->axes[i].count > 0 ? part->axes[i].count : 1;
    return points <= SPECIFICATION_CELLS_MAX;
}

bool specification_key_set(struct specification *specification, struct specification_part *part, uint32_t key,
                           const char *values, struct faults *faults)
{
    if (key >= parameter_count)
        return set_extra(specification, part, specification_extra_keys[key - parameter_count], values, faults);
    struct specification_axis axis;
    if (!list_read(&parameters[key], values, faults, &axis))
        return false;
    if (!product_fits(part, key, axis.count)) {
        fault(faults, "%s: found %u values that with the other lists make more than %d cells, expected fewer",
              parameters[key].key, axis.count, SPECIFICATION_CELLS_MAX);
        free(axis.values);
        return false;
    }
    axis_fini(&part->axes[key]);
    part->axes[key] = axis;
    return true;
}

void specification_check(const struct specification *specification, struct faults *faults)
{
    uint64_t points = 0;
    for (uint32_t i = 0; i < specification_part_count(specification) && points <= SPECIFICATION_CELLS_MAX; i++) {
        uint64_t more = specification_points(specification, i);
        points = more > SPECIFICATION_CELLS_MAX ? more : points + more;
    }
    if (points > SPECIFICATION_CELLS_MAX)
        fault(faults, "found lists whose product is %s%llu cells, expected at most %d",
              points == UINT64_MAX ? "more than " : "", (unsigned long long)points, SPECIFICATION_CELLS_MAX);
}

/* ---- from the command line ---- */

int specification_set(struct specification *specification, const char *option, const char *key, const char *values,
                      FILE *stream)
{
    struct faults faults;
    faults_init(&faults, stream, option);
    int index = specification_key_find(key, &faults);
    if (index < 0 || !specification_key_set(specification, &specification->common, (uint32_t)index, values, &faults))
        return (int)faults.count;
    for (uint32_t i = 0; i < specification->part_count; i++) {
        if ((uint32_t)index < parameter_count)
            axis_fini(&specification->parts[i].axes[index]);
        else if (strcmp(key, "repeats") == 0)
            specification->parts[i].repeats = 0;
    }
    return 0;
}

int specification_set_text(struct specification *specification, const char *option, const char *assignment,
                           FILE *stream)
{
    struct faults faults;
    faults_init(&faults, stream, option);
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment) {
        fault(&faults, "found '%s', expected KEY=VALUE[,VALUE...]", escaped(assignment));
        return (int)faults.count;
    }
    char *key = strndup(assignment, (size_t)(equals - assignment));
    if (key == NULL) {
        fault(&faults, "no memory for '%s'", escaped(assignment));
        return (int)faults.count;
    }
    int count = specification_set(specification, option, key, equals + 1, stream);
    free(key);
    return count;
}

/* Cuts the axis of a duration, or what stands in for it, to at most this. */
static void cut_duration(struct specification_part *part, const char *key, const char *limit, bool is_common)
{
    uint32_t index = (uint32_t)parameter_find(key);
    struct specification_axis *axis = &part->axes[index];
    struct configuration longest;
    configuration_init(&longest);
    configuration_set(&longest, key, limit);
    double limit_s = configuration_number(&longest, key);
    if (axis->count == 0 && !is_common)
        return;
    configuration_set(&longest, key, axis->count > 0 ? axis->values[0] : parameters[index].initial);
    if (configuration_number(&longest, key) <= limit_s)
        return;
    if (axis->count == 0) {
        axis->values = calloc(1, PARAMETER_TEXT_SIZE);
        if (axis->values == NULL)
            return;
        axis->count = 1;
    }
    snprintf(axis->values[0], PARAMETER_TEXT_SIZE, "%s", limit);
}

static void cut_part(struct specification_part *part, bool is_common)
{
    if (part->repeats > SPECIFICATION_QUICK_REPEATS)
        part->repeats = SPECIFICATION_QUICK_REPEATS;
    cut_duration(part, "duration", SPECIFICATION_QUICK_DURATION, is_common);
    cut_duration(part, "warmup", SPECIFICATION_QUICK_WARMUP, is_common);
    cut_duration(part, "warmup-max", SPECIFICATION_QUICK_WARMUP, is_common);
}

void specification_quick(struct specification *specification)
{
    cut_part(&specification->common, true);
    for (uint32_t i = 0; i < specification->part_count; i++)
        cut_part(&specification->parts[i], false);
}

int specification_keep_part(struct specification *specification, const char *name)
{
    for (uint32_t i = 0; i < specification->part_count; i++) {
        if (strcmp(specification->parts[i].name, name) != 0)
            continue;
        struct specification_part kept = specification->parts[i];
        for (uint32_t j = 0; j < specification->part_count; j++) {
            if (j != i)
                specification_part_fini(&specification->parts[j]);
        }
        specification->parts[0] = kept;
        specification->part_count = 1;
        return 0;
    }
    return -1;
}
