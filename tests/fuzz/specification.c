/* SPDX-License-Identifier: MIT
 *
 * Property: any bytes at all, read as a sweep file, either give a specification that is sound or are refused with one
 * line per fault; and a specification that was read can be written as `--set` texts and read again with the same
 * meaning.
 *
 * The same function serves libFuzzer (-Dfuzz=true) and the replay of the corpus.
 */
#include "claims.h"
#include "runner/specification.h"
#include "runner/specification_keys.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each value is its own normal form and stands once; setting the whole list again changes nothing. */
static void check_axis(struct specification *copy, uint32_t parameter, const struct specification_axis *axis,
                       FILE *faults)
{
    char *list = NULL;
    size_t size;
    FILE *stream = open_memstream(&list, &size);
    HOLDS(axis->count <= SPECIFICATION_VALUES_MAX);
    for (uint32_t i = 0; i < axis->count; i++) {
        char out[PARAMETER_TEXT_SIZE] = "", message[256];
        HOLDS(memchr(axis->values[i], '\0', PARAMETER_TEXT_SIZE) != NULL);
        HOLDS(parameter_parse(&parameters[parameter], axis->values[i], out, message, sizeof message) == 0);
        HOLDS(strcmp(out, axis->values[i]) == 0);
        fprintf(stream, "%s%s", i > 0 ? "," : "", axis->values[i]);
    }
    fclose(stream);
    HOLDS(specification_set(copy, "--set", parameters[parameter].key, list, faults) == 0);
    const struct specification_axis *again = specification_axis(copy, 0, parameter);
    HOLDS(again->count == axis->count);
    for (uint32_t i = 0; i < axis->count; i++)
        HOLDS(strcmp(again->values[i], axis->values[i]) == 0);
    free(list);
}

static void check_sound(const struct specification *specification, FILE *faults)
{
    uint64_t points = 0;
    HOLDS(specification->name[0] != '\0');
    HOLDS(specification->part_count <= SPECIFICATION_PARTS_MAX);
    for (uint32_t part = 0; part < specification_part_count(specification); part++) {
        struct specification copy;
        specification_init(&copy, "copy");
        points += specification_points(specification, part);
        HOLDS(points >= 1 && points <= SPECIFICATION_CELLS_MAX);
        HOLDS(specification_repeats(specification, part) >= 1);
        HOLDS(specification_repeats(specification, part) <= SPECIFICATION_REPEATS_MAX);
        for (uint32_t i = 0; i < parameter_count; i++) {
            const struct specification_axis *axis = specification_axis(specification, part, i);
            if (axis != NULL)
                check_axis(&copy, i, axis, faults);
        }
        HOLDS(specification_points(&copy, 0) == specification_points(specification, part));
        specification_fini(&copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t text_size = 0;
    FILE *faults = open_memstream(&text, &text_size);
    struct specification specification;
    int count = specification_parse_text("fuzz.sweep", (const char *)data, size, faults, &specification);
    fflush(faults);
    check_faults("fuzz.sweep", count, text, text_size);
    if (count == 0) {
        check_sound(&specification, faults);
        specification_quick(&specification);
        check_sound(&specification, faults);
        specification_fini(&specification);
    }
    fclose(faults);
    free(text);
    return 0;
}
