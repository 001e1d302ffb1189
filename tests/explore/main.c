/* SPDX-License-Identifier: MIT
 *
 * pilfer-explore NAME: every interleaving of small programs over the unmodified sources of pool/ and schedulers/.
 *
 * Output. Each broken invariant once: what was seen, a table with one column per thread, the command that replays
 * exactly that run; then `explored N runs, ...`. Status 0 clean, 1 a violation, 2 an unknown word, 5 when the canary
 * was not caught (then nothing that this program says is worth anything), 130 and 143 after a signal, with what had
 * been found until then.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "command.h"
#include "watch.h"

enum { NAMES_MAX = 512, LINES_SHOWN = 60, STATUS_INTERNAL = 5 };

/* ---- the words whose meaning depends on the subject ---- */

static int check_word(const struct subject *subject, const char *option, const char *word, const char *const *names,
                      uint32_t count)
{
    if (word == NULL)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0)
            return 0;
    return complain("explore: --%s: %s has no '%s'%s", option, subject->name, escaped(word), hint(word, names, count));
}

static int check_words(const struct subject *subject, const struct request *request)
{
    const char *names[SCENARIOS_MAX + CONFIGURATIONS_MAX];
    for (uint32_t i = 0; i < subject->scenario_count; i++)
        names[i] = subject->scenarios[i]->name;
    if (check_word(subject, "scenario", request->scenario, names, subject->scenario_count) != 0)
        return -1;
    for (uint32_t i = 0; i < subject->configuration_count; i++)
        names[i] = subject->configurations[i].label;
    return check_word(subject, "configuration", request->configuration, names, subject->configuration_count);
}

/* ---- what there is ---- */

static int list_names(const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        printf("%s\n", names[i]);
    return EXIT_DONE;
}

static int list(const struct subject *subject)
{
    for (uint32_t i = 0; i < subject->scenario_count; i++)
        printf("scenario       %-24s %s%s\n", subject->scenarios[i]->name, subject->scenarios[i]->promise,
               subject->scenarios[i]->exhaustive ? " [exhaustive]" : "");
    for (uint32_t i = 0; i < subject->configuration_count; i++)
        printf("configuration  %s\n", subject->configurations[i].label);
    if (subject->breaks != NULL)
        printf("breaks         %s\n", subject->breaks);
    return EXIT_DONE;
}

/* ---- exploring and replaying ---- */

static int complain_of_canary(void)
{
    complain("explore: the canary, a lost update, was not caught: the explorer is broken");
    return STATUS_INTERNAL;
}

static int replay(const struct subject *subject, const char *text)
{
    struct violation violation;
    if (run_read(subject, text, &violation) != 0)
        return complain("explore: --replay: '%s' is no run of %s; "
                        "expected MODEL:SCENARIO:CONFIGURATION:MEMORY:CHOICES, "
                        "as an exploration prints it",
                        escaped(text), subject->name),
               EXIT_USAGE;
    bool broken = report_violation(stdout, subject, &violation, 0);
    free(violation.choices);
    if (broken)
        return EXIT_INVALID;
    if (!canary_is_caught())
        return complain_of_canary();
    printf("nothing is broken in this run\n");
    return EXIT_DONE;
}

static const char *how_it_ended(const struct request *request, const struct outcome *outcome)
{
    if (watch_signal() != 0)
        return ", interrupted";
    if (!request->strategies[EXPLORED_EXHAUSTIVE])
        return "";
    return outcome->complete ? ", complete within the bounds" : ", cut short by --runs";
}

static int explore_subject(const struct subject *subject, const struct request *request, bool brief)
{
    static struct outcome outcome;
    if (subject->library != NULL)
        printf("%s: %s\n", subject->name, subject->library);
    explore(subject, request, &outcome);
    watch_end();
    if (outcome.cells == 0)
        return complain("explore: nothing of %s fits these options; `%s explore %s --list` shows what there is",
                        subject->name, program_name(), subject->name),
               EXIT_USAGE;
    for (uint32_t i = 0; i < outcome.violation_count; i++) {
        struct violation *violation = &outcome.violations[i];
        explore_shrink(violation);
        if (brief) {
            report_brief(stdout, subject, violation);
            continue;
        }
        report_violation(stdout, subject, violation, LINES_SHOWN);
        printf("\n");
    }
    printf("explored %llu runs, %llu broken, %u kinds, %u cells%s, digest %016llx, %.0f runs/s\n",
           (unsigned long long)outcome.runs, (unsigned long long)outcome.broken, outcome.violation_count, outcome.cells,
           how_it_ended(request, &outcome), (unsigned long long)outcome.digest,
           outcome.seconds > 0 ? (double)outcome.runs / outcome.seconds : 0);
    explore_free(&outcome);
    return outcome.broken > 0 ? EXIT_INVALID : EXIT_DONE;
}

static int run(const struct command *command)
{
    static struct subject subject;
    /* Not before a replay: a debugger is to stop at what is replayed. */
    if (command->replay == NULL && !canary_is_caught())
        return complain_of_canary();
    watch_begin();
    if (command->mutants)
        return command->search ? search_mutants(&command->request) : explore_mutants(&command->request);
    subject_find(command->name, &subject);
    if (command->list)
        return list(&subject);
    if (check_words(&subject, &command->request) != 0)
        return EXIT_USAGE;
    if (command->replay != NULL)
        return replay(&subject, command->replay);
    return explore_subject(&subject, &command->request, command->brief);
}

int main(int argument_count, char **arguments)
{
    static const char *names[NAMES_MAX];
    struct command command;
    uint32_t name_count = subject_names(names, NAMES_MAX);
    output_init();
    int status = command_read(argument_count, arguments, names, name_count, &command);
    if (status < 0)
        status = command.list && command.name == NULL ? list_names(names, name_count) : run(&command);
    if (watch_signal() != 0)
        status = watch_signal() == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
    return output_finish(status);
}
