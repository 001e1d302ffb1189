/* SPDX-License-Identifier: MIT
 *
 * `pilfer completion bash`: shell completion, made from the verb table, the option list and the parameter table.
 */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

void words_shells(struct words *words)
{
    words_add(words, "bash");
}

/* "a\0b\0" as "a b". */
static void print_alternatives(const char *words)
{
    for (const char *next = words; *next != '\0'; next += strlen(next) + 1)
        printf("%s%s", next == words ? "" : " ", next);
}

static void print_words(const struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        printf("%s%s", i > 0 ? " " : "", words->items[i]);
}

/* The values of options that have a list of words; of all others: files. */
static void print_values(void)
{
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        if (option_words(i) == NULL)
            continue;
        printf("    --%s) words=\"", option_name(i));
        print_alternatives(option_words(i));
        printf("\" ;;\n");
    }
    for (uint32_t i = 0; i < parameter_count; i++) {
        if (parameters[i].type == PARAMETER_WORD || parameters[i].type == PARAMETER_NAME) {
            printf("    --%s) words=\"", parameters[i].key);
            struct words words = {.count = 0};
            words_add_choices(&words, &parameters[i]);
            print_words(&words);
            printf("\" ;;\n");
        }
    }
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        const char *value = option_value_name(i);
        if (value != NULL && (strcmp(value, "FILE") == 0 || strcmp(value, "FOLDER") == 0))
            printf("    --%s) compopt -o default; return ;;\n", option_name(i));
    }
}

static void print_verb(const struct verb *verb)
{
    struct words words = {.count = 0};
    if (verb->words != NULL)
        verb->words(&words);
    printf("    %s) words=\"", verb->name);
    print_words(&words);
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        if (verb_takes(verb, i))
            printf(" --%s", option_name(i));
    }
    for (uint32_t i = 0; verb->parameters != VERB_NO_PARAMETERS && i < parameter_count; i++)
        printf(" --%s", parameters[i].key);
    printf("\"%s ;;\n", strstr(verb->arguments, "FILE") != NULL ? "; compopt -o default" : "");
}

int verb_completion(const struct invocation *invocation)
{
    printf("# Completion of pilfer for bash; load it with: source <(pilfer completion bash)\n"
           "_pilfer()\n"
           "{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    struct words words = {.count = 0};
    words_verbs(&words);
    print_words(&words);
    printf("\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case $previous in\n");
    print_values();
    printf("    *) case ${COMP_WORDS[1]} in\n");
    for (const struct verb *verb = verbs; verb->name != NULL; verb++)
        print_verb(verb);
    printf("    esac ;;\n"
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "}\n"
           "complete -F _pilfer pilfer ./run\n");
    return EXIT_DONE;
}
