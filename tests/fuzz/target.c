/* SPDX-License-Identifier: MIT
 *
 * Property: any bytes at all, read as a target file, either give a target that can be started or are refused with one
 * line per fault; what is accepted becomes words without a placeholder left, with knobs at their defaults and without,
 * with a command and without.
 *
 * The same function serves libFuzzer (-Dfuzz=true) and the replay of the corpus.
 */
#include "claims.h"
#include "runner/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t check_words(const char *line, const struct placeholder_values *values)
{
    size_t count = 0;
    char **words = command_words(line, values);
    HOLDS(words != NULL);
    while (words[count] != NULL)
        count++;
    command_words_free(words);
    return count;
}

static void check_sound(const struct target *target)
{
    static const struct placeholder_values defaults = {.texts = {[PLACEHOLDER_port] = "1",
                                                                 [PLACEHOLDER_control_port] = "2",
                                                                 [PLACEHOLDER_folder] = "/f",
                                                                 [PLACEHOLDER_build] = "/b",
                                                                 [PLACEHOLDER_command] = "c {port}"}};
    struct placeholder_values numbers = defaults;
    numbers.texts[PLACEHOLDER_min_workers] = numbers.texts[PLACEHOLDER_max_workers] = "3";
    numbers.texts[PLACEHOLDER_spin_limit] = numbers.texts[PLACEHOLDER_processors] = "4";
    struct placeholder_values no_command = defaults;
    no_command.texts[PLACEHOLDER_command] = "";
    static const enum target_key commands[] = {TARGET_KEY_start, TARGET_KEY_build, TARGET_KEY_version};
    HOLDS(target->name[0] != '\0' && target->texts[TARGET_KEY_start] != NULL);
    HOLDS(target->ready_s >= 0 && target->warmup_s >= 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *line = target->texts[commands[i]];
        if (line == NULL)
            continue;
        HOLDS(check_words(line, &defaults) <= check_words(line, &numbers));
        HOLDS(check_words(line, &no_command) <= check_words(line, &defaults));
    }
    for (uint32_t i = 0; i < target->variable_count; i++) {
        char *value = placeholders_replace(target->variables[i].value, &numbers);
        HOLDS(value != NULL && target->variables[i].name[0] != '\0');
        free(value);
        free(placeholders_replace(target->variables[i].value, &defaults));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t text_size = 0;
    FILE *faults = open_memstream(&text, &text_size);
    struct target target;
    int count = target_parse_text("fuzz.ini", (const char *)data, size, faults, &target);
    fflush(faults);
    check_faults("fuzz.ini", count, text, text_size);
    if (count == 0) {
        check_sound(&target);
        target_fini(&target);
    }
    fclose(faults);
    free(text);
    return 0;
}
