/* SPDX-License-Identifier: MIT
 *
 * pilfer-check NAME: does a scheduler or a bound keep the contract?
 *
 * Output. One line per invariant, S1 to S10 for a scheduler, B1 to B4 for a bound, and `explore` for a short
 * exploration of either, then D1 to D26 for scheduler dotnet: `ok`, `skipped` with the reason, or what broke and the
 * command that repeats it (of a specimen, whose faults are known, `convicted`); then `N passed, N failed, N skipped`.
 * Status 0, 1 if something is broken, 2 for an unknown name or option.
 *
 * Which policies. All invariants under the scheduler's own idle and sizing policy; those that involve the policies
 * (S1, S2, S3, S8, S9) under every other admitted idle policy and every other sizing as well, each beside the
 * scheduler's own other half. --idle and --sizing choose one pair for all.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "inside.h"
#include "invariants.h"
#include "pilfer.h"
#include "pool.h"

#define PATIENCE_S_DEFAULT 20
#define PAIRS_MAX          64
#define NAMES_MAX          256

enum { STATUS_HELD = 0, STATUS_BROKEN = 1, STATUS_USAGE = 2, STATUS_SURROUNDINGS = 3 };

static const struct invariant scheduler_invariants[] = {
    {"S1", "conservation", check_conservation, true},
    {"S2", "exactly once", check_once, true},
    {"S3", "no lost wake-up", check_wake, true},
    {"S4", "refusal is clean", check_refusal, false},
    {"S5", "bounded next", check_bounded_next, false},
    {"S6", "declared order", check_order, false},
    {"S7", "owner discipline", check_owner, false},
    {"S8", "quiet end", check_quiet_end, true},
    {"S9", "any worker count", check_worker_counts, true},
    {"S10", "no lock held", check_no_lock, false},
    {"explore", "chosen interleavings", check_interleavings, false},
    {NULL},
};

static const struct invariant bound_invariants[] = {
    {"B1", "items conserved", check_items_conserved, false},
    {"B2", "active within the bound", check_limit, false},
    {"B3", "nothing stranded", check_stranded, false},
    {"B4", "reader counters add up", check_readers, false},
    {"explore", "chosen interleavings", check_interleavings, false},
    {NULL},
};

static const struct invariant no_invariants[] = {{NULL}};

#define TASKS_DEFAULT UINT64_C(1000000)
#define TASKS_MAX     UINT64_C(1000000000000)
#define DOTNET_NAME   "dotnet" /* has a checklist, under its own policies */

struct request {
    struct subject subject;
    const char *only; /* comma list of invariants; NULL: all */
    uint32_t patience_s;
    const char *program;
};

struct pair {
    const char *idle, *sizing;
};

/* ---- the command line ---- */

static const struct argp_option option_table[] = {
    {"idle", 'i', "POLICY", 0, "Check under this idle policy only", 0},
    {"sizing", 's', "POLICY", 0, "Check under this sizing policy only", 0},
    {"over", 'o', "NAME", 0, "For a bound: the scheduler below it", 0},
    {"only", 'k', "ID[,ID...]", 0, "Check these invariants only, e.g. S3,S8", 0},
    {"seed", 'r', "N", 0, "Seed of the order of steps (default 1)", 0},
    {"tasks", 'n', "N", 0, "Item D3 of scheduler dotnet: tasks between an owner and its thieves (default 1000000)", 0},
    {"patience", 'p', "SECONDS", 0, "Without progress for so long, a suspect counts as stalled", 0},
    {0},
};

static uint64_t parse_number(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9')
        argp_error(state, "'%s' is not a whole number", text);
    return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'i':
        request->subject.idle = argument;
        return 0;
    case 's':
        request->subject.sizing = argument;
        return 0;
    case 'o':
        request->subject.over = argument;
        return 0;
    case 'k':
        request->only = argument;
        return 0;
    case 'r':
        request->subject.seed = parse_number(argument, state);
        return 0;
    case 'n':
        request->subject.tasks = parse_number(argument, state);
        if (request->subject.tasks < 1 || request->subject.tasks > TASKS_MAX)
            argp_error(state, "tasks %s is not in 1 to %llu", argument, (unsigned long long)TASKS_MAX);
        return 0;
    case 'p': {
        const uint64_t patience_s = parse_number(argument, state);
        if (patience_s < 1 || patience_s > 3600)
            argp_error(state, "patience %s is not in 1 to 3600", argument);
        request->patience_s = (uint32_t)patience_s;
        return 0;
    }
    case ARGP_KEY_ARG:
        if (request->subject.name != NULL)
            return ARGP_ERR_UNKNOWN;
        request->subject.name = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which scheduler or bound?");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static size_t list_names(enum pilfer_kind kind, const char **out, size_t count)
{
    struct pilfer_entry entry;
    for (uint32_t i = 0; count < NAMES_MAX && pilfer_entry(kind, i, &entry); i++)
        out[count++] = entry.name;
    return count;
}

static int refuse_name(const char *what, const char *name, const char *const *names, size_t count)
{
    complain("check: no %s is called '%s'%s", what, escaped(name), hint(name, names, count));
    return STATUS_USAGE;
}

/* 0, or the status to end with. */
static int check_name(const char *what, const char *name, enum pilfer_kind kind, enum pilfer_kind other)
{
    const char *names[NAMES_MAX];
    const size_t count = list_names(other, names, list_names(kind, names, 0));
    for (size_t i = 0; name != NULL && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return 0;
    return name != NULL ? refuse_name(what, name, names, count) : 0;
}

static int check_names(const struct subject *subject)
{
    int status = check_name("scheduler or bound", subject->name, PILFER_KIND_SCHEDULER, PILFER_KIND_BOUND);
    if (status == 0)
        status = check_name("idle policy", subject->idle, PILFER_KIND_IDLE, PILFER_KIND_IDLE);
    if (status == 0)
        status = check_name("sizing policy", subject->sizing, PILFER_KIND_SIZING, PILFER_KIND_SIZING);
    if (status == 0)
        status = check_name("scheduler", subject->over, PILFER_KIND_SCHEDULER, PILFER_KIND_SCHEDULER);
    return status;
}

/* True if id stands in the comma list. */
static bool is_listed(const char *list, const char *id)
{
    const size_t length = strlen(id);
    for (const char *word = list; word != NULL; word = strchr(word, ',')) {
        word += *word == ',';
        if (strncmp(word, id, length) == 0 && (word[length] == '\0' || word[length] == ','))
            return true;
    }
    return false;
}

/* Adds the ids of a list to ids. */
static size_t list_ids(const struct invariant *invariants, const char **ids, size_t count)
{
    for (const struct invariant *i = invariants; i->id != NULL; i++)
        ids[count++] = i->id;
    return count;
}

static int check_only(const char *only, const struct invariant *invariants, const struct invariant *more)
{
    const char *ids[64];
    const size_t count = list_ids(more, ids, list_ids(invariants, ids, 0));
    char *copy = only != NULL ? strdup(only) : NULL, *rest = NULL;
    int status = 0;
    for (char *word = copy != NULL ? strtok_r(copy, ",", &rest) : NULL; word != NULL && status == 0;
         word = strtok_r(NULL, ",", &rest)) {
        size_t i = 0;
        while (i < count && strcmp(ids[i], word) != 0)
            i++;
        if (i == count)
            status = refuse_name("invariant", word, ids, count);
    }
    free(copy);
    return status;
}

/* ---- checking ---- */

/* Whether one of the two is the scheduler's own: each policy is met, but not each with each other one. */
static bool is_near(const struct scheduler *scheduler, const struct pilfer_entry *idle,
                    const struct pilfer_entry *sizing)
{
    return (strcmp(idle->name, scheduler->idle) == 0) != (strcmp(sizing->name, scheduler->sizing) == 0);
}

/* The pairs under which an invariant is checked; the first is the subject's own or the one that was asked for. */
static size_t list_pairs(const struct request *request, const struct invariant *invariant, struct pair *out)
{
    const struct subject *subject = &request->subject;
    const struct scheduler *scheduler = registry_scheduler(subject->name);
    size_t count = 0;
    out[count++] = (struct pair){subject->idle, subject->sizing};
    if (!invariant->every_pair || scheduler == NULL || subject->idle != NULL || subject->sizing != NULL ||
        inside_runs_in_submitter(subject))
        return count;
    struct pilfer_entry idle, sizing;
    for (uint32_t i = 0; pilfer_entry(PILFER_KIND_IDLE, i, &idle); i++)
        for (uint32_t j = 0; pilfer_entry(PILFER_KIND_SIZING, j, &sizing); j++)
            if (is_near(scheduler, &idle, &sizing) && !idle.hidden && !sizing.hidden && count < PAIRS_MAX &&
                pilfer_admits(subject->name, idle.name) && pilfer_admits(subject->name, sizing.name))
                out[count++] = (struct pair){idle.name, sizing.name};
    return count;
}

/* Verdicts stand below one another, also behind a long id. */
static void print_head(const struct invariant *invariant)
{
    const int width = strlen(invariant->id) > 4 ? (int)strlen(invariant->id) : 4;
    printf("%-*s %-*s ", width, invariant->id, 28 - width, invariant->name);
}

static void print_broken(const struct request *request, const struct invariant *invariant, const struct pair *pair,
                         const struct verdict *verdict, bool specimen)
{
    const struct {
        const char *option, *value;
    } chosen[] = {{"idle", pair->idle}, {"sizing", pair->sizing}, {"over", request->subject.over}};
    print_head(invariant);
    printf("%s: %s; repeat: %s %s --only %s --seed %llu", specimen ? "convicted" : "broken", verdict->text,
           request->program, request->subject.name, invariant->id, (unsigned long long)request->subject.seed);
    for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++)
        if (chosen[i].value != NULL)
            printf(" --%s %s", chosen[i].option, chosen[i].value);
    if (request->subject.tasks != TASKS_DEFAULT)
        printf(" --tasks %llu", (unsigned long long)request->subject.tasks);
    printf("\n");
}

static void print_held(const struct invariant *invariant, const struct verdict *verdict, const struct pair *pairs,
                       size_t pair_count, bool specimen)
{
    print_head(invariant);
    if (verdict->outcome == OUTCOME_SKIPPED) {
        printf("skipped: %s\n", verdict->text);
        return;
    }
    printf("ok");
    if (verdict->text[0] != '\0')
        printf(" (%s)", verdict->text);
    for (size_t i = 1; i < pair_count; i++)
        printf("%s%s+%s", i == 1 ? " (also under " : ", ", pairs[i].idle, pairs[i].sizing);
    printf("%s%s\n", pair_count > 1 ? ")" : "",
           specimen ? " (proves nothing: a specimen with known races; running threads seldom hit them)" : "");
}

/* Checks one invariant under each of its pairs and prints its line. *left_out is raised by the promises not tried. */
static enum outcome check_invariant(const struct request *request, const struct invariant *invariant,
                                    uint32_t *left_out)
{
    const bool specimen = inside_is_specimen(&request->subject);
    struct pair pairs[PAIRS_MAX];
    const size_t count = list_pairs(request, invariant, pairs);
    struct verdict verdict = {.outcome = OUTCOME_HELD};
    for (size_t i = 0; i < count; i++) {
        struct subject subject = request->subject;
        struct verdict now;
        subject.idle = pairs[i].idle;
        subject.sizing = pairs[i].sizing;
        const int status = harness_run(invariant->test, &subject, request->patience_s, &now);
        if (status != 0) {
            complain("check: cannot start a child process for %s: %s", invariant->id, strerror(-status));
            exit(STATUS_SURROUNDINGS);
        }
        if (now.outcome == OUTCOME_BROKEN) {
            print_broken(request, invariant, &pairs[i], &now, specimen);
            return OUTCOME_BROKEN;
        }
        if (i == 0)
            verdict = now;
    }
    print_held(invariant, &verdict, pairs, count, specimen);
    *left_out += verdict.left_out;
    return verdict.outcome;
}

static void check_list(const struct request *request, const struct invariant *invariants, uint32_t *counts,
                       uint32_t *left_out)
{
    for (const struct invariant *invariant = invariants; invariant->id != NULL; invariant++)
        if (request->only == NULL || is_listed(request->only, invariant->id))
            counts[check_invariant(request, invariant, left_out)]++;
}

/* Everything that was asked for. Returns the exit status. */
static int check_all(const struct request *request, const struct invariant *invariants, const struct invariant *more)
{
    uint32_t counts[] = {[OUTCOME_HELD] = 0, [OUTCOME_BROKEN] = 0, [OUTCOME_SKIPPED] = 0};
    uint32_t left_out = 0;
    check_list(request, invariants, counts, &left_out);
    check_list(request, more, counts, &left_out);
    printf("%u passed, %u failed, %u skipped", counts[OUTCOME_HELD], counts[OUTCOME_BROKEN], counts[OUTCOME_SKIPPED]);
    if (left_out > 0)
        printf("; of what passed %u %s not tried", left_out, left_out == 1 ? "promise was" : "promises were");
    printf("\n");
    return counts[OUTCOME_BROKEN] > 0 ? STATUS_BROKEN : STATUS_HELD;
}

int main(int argument_count, char **arguments)
{
    struct request request = {
        .subject = {.seed = 1, .tasks = TASKS_DEFAULT}, .patience_s = PATIENCE_S_DEFAULT, .program = arguments[0]};
    const struct argp parser = {
        option_table, parse_option, "NAME", "Checks a scheduler or a bound against the contract.", NULL, NULL, NULL};
    output_init();
    argp_err_exit_status = STATUS_USAGE;
    argp_parse(&parser, argument_count, arguments, 0, NULL, &request);
    int status = check_names(&request.subject);
    const bool is_bound = status == 0 && registry_bound(request.subject.name) != NULL;
    const struct invariant *invariants = is_bound ? bound_invariants : scheduler_invariants;
    const bool is_model = status == 0 && strcmp(request.subject.name, DOTNET_NAME) == 0 &&
                          request.subject.idle == NULL && request.subject.sizing == NULL;
    const struct invariant *more = is_model ? dotnet_items : no_invariants;
    if (status == 0)
        status = check_only(request.only, invariants, more);
    if (status == 0 && platform_init() != 0) {
        complain("check: the platform cannot be prepared");
        status = STATUS_SURROUNDINGS;
    }
    if (status != 0)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    return output_finish(check_all(&request, invariants, more));
}
