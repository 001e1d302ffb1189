/* SPDX-License-Identifier: MIT
 *
 * Mutants: every memory order of pool/ and schedulers/ that is stronger than relaxed, and every full fence, weakened
 * one at a time. Exploration must notice each, or the list says why nobody can.
 *
 * How it works. The sites of the program are listed (explored_sites), so an operation that is added cannot be
 * forgotten: a mutant without a line in mutants.list fails. A line names what kills the mutant: a subject, and a
 * scenario and model of it, so that a run of the whole list is short. --mutants --search finds lines for mutants that
 * have none: it tries every subject that reaches the site, with --runs runs each (--scenario, --model: those only).
 *
 * The weaker forms. A load: acquire to relaxed, seq_cst to acquire. A store: release to relaxed, seq_cst to release. A
 * read-modify-write: acq_rel to acquire and to release, seq_cst to acq_rel, one-sided ones to relaxed. A
 * compare-and-swap whose failing side is ordered, too: that side to relaxed. A fence: left out; heavy: the caller's own
 * fence only. The published protocols (pool/bound/published.c) are broken already and stay as they are.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#include "watch.h"

enum { MUTANTS_MAX = 1024, MUTANTS_OF_ONE = 3, RUNS_TO_KILL = 200000, RUNS_TO_REACH = 40, NAMES_MAX = 512 };

struct mutant {
    const struct explored_site *site;
    uint32_t ordinal; /* among the sites of this function with the same operation and expression, from 1 */
    const char *weakened;
    uint8_t order, failure, fence;
};

struct line {
    const char *file, *function, *operation, *expression;
    uint32_t ordinal;
    const char *weakened;
    const char *subject, *scenario, *configuration, *model; /* what kills it */
    const char *reason;                                     /* or why nothing does */
};

static const struct line lines[] = {
#define KILLED(file, function, operation, expression, ordinal, weakened, subject, scenario, configuration, model) \
    {file, function, operation, expression, ordinal, weakened, subject, scenario, configuration, model, NULL},
#define SURVIVES(file, function, operation, expression, ordinal, weakened, reason) \
    {file, function, operation, expression, ordinal, weakened, NULL, NULL, NULL, NULL, reason},
#include "mutants.list"
#undef KILLED
#undef SURVIVES
    {NULL},
};

/* ---- the mutants ---- */

static bool is_ours(const struct explored_site *site)
{
    const char *path = explored_site_path(site);
    return (strncmp(path, "pool/", 5) == 0 || strncmp(path, "schedulers/", 11) == 0) &&
           strstr(path, "published") == NULL;
}

struct weaker {
    uint8_t kind, written, weaker;
    const char *name;
};
static const struct weaker weaker_orders[] = {
    {EXPLORED_LOAD, EXPLORED_acquire, EXPLORED_relaxed, "relaxed"},
    {EXPLORED_LOAD, EXPLORED_seq_cst, EXPLORED_acquire, "acquire"},
    {EXPLORED_STORE, EXPLORED_release, EXPLORED_relaxed, "relaxed"},
    {EXPLORED_STORE, EXPLORED_seq_cst, EXPLORED_release, "release"},
    {EXPLORED_ADD, EXPLORED_acquire, EXPLORED_relaxed, "relaxed"},
    {EXPLORED_ADD, EXPLORED_release, EXPLORED_relaxed, "relaxed"},
    {EXPLORED_ADD, EXPLORED_acq_rel, EXPLORED_acquire, "acquire"},
    {EXPLORED_ADD, EXPLORED_acq_rel, EXPLORED_release, "release"},
    {EXPLORED_ADD, EXPLORED_seq_cst, EXPLORED_acq_rel, "acq_rel"},
};

/* An exchange and a compare-and-swap are weakened as an add is. */
static bool same_kind(uint8_t row, uint8_t kind)
{
    return row == kind || (row == EXPLORED_ADD && (kind == EXPLORED_EXCHANGE || kind == EXPLORED_CAS));
}

static uint32_t ordinal_of(const struct explored_site *const *sites, uint32_t index)
{
    uint32_t ordinal = 1;
    for (uint32_t i = 0; i < index; i++)
        ordinal += strcmp(explored_site_path(sites[i]), explored_site_path(sites[index])) == 0 &&
                   strcmp(sites[i]->function, sites[index]->function) == 0 &&
                   strcmp(sites[i]->operation, sites[index]->operation) == 0 &&
                   strcmp(sites[i]->expression, sites[index]->expression) == 0;
    return ordinal;
}

static uint32_t add_mutants(struct mutant *out, const struct explored_site *site, uint32_t ordinal)
{
    uint32_t count = 0;
    struct mutant mutant = {site, ordinal, NULL, site->written, site->written_failure, site->written_fence};
    if (site->kind == EXPLORED_FENCE) {
        bool heavy = site->written_fence == EXPLORED_FENCE_heavy;
        mutant.weakened = heavy ? "own" : "none";
        mutant.fence = heavy ? EXPLORED_FENCE_seq_cst : EXPLORED_FENCE_none;
        out[count++] = mutant;
        return count;
    }
    for (uint32_t i = 0; i < sizeof weaker_orders / sizeof weaker_orders[0]; i++) {
        if (!same_kind(weaker_orders[i].kind, site->kind) || weaker_orders[i].written != site->written)
            continue;
        out[count] = mutant;
        out[count].weakened = weaker_orders[i].name;
        out[count++].order = weaker_orders[i].weaker;
    }
    if (site->kind == EXPLORED_CAS && site->written_failure != EXPLORED_relaxed) {
        out[count] = mutant;
        out[count].weakened = "failure relaxed";
        out[count++].failure = EXPLORED_relaxed;
    }
    return count;
}

static uint32_t list_mutants(struct mutant *out)
{
    const struct explored_site *const *sites;
    uint32_t site_count = explored_sites(&sites), count = 0;
    for (uint32_t i = 0; i < site_count; i++) {
        if (!is_ours(sites[i]))
            continue;
        if (count + MUTANTS_OF_ONE > MUTANTS_MAX)
            abort(); /* more than the table holds: none may be forgotten */
        count += add_mutants(out + count, sites[i], ordinal_of(sites, i));
    }
    return count;
}

static void print_mutant(const struct mutant *mutant)
{
    printf("%s:%u %s: %s %s -> %s", explored_site_path(mutant->site), mutant->site->line, mutant->site->function,
           mutant->site->operation, mutant->site->expression, mutant->weakened);
}

static const struct line *find_line(const struct mutant *mutant)
{
    const struct explored_site *site = mutant->site;
    for (const struct line *line = lines; line->file != NULL; line++)
        if (strcmp(line->file, explored_site_path(site)) == 0 && strcmp(line->function, site->function) == 0 &&
            strcmp(line->operation, site->operation) == 0 && strcmp(line->expression, site->expression) == 0 &&
            line->ordinal == mutant->ordinal && strcmp(line->weakened, mutant->weakened) == 0)
            return line;
    return NULL;
}

/* ---- trying one ---- */

/* True if exploring the subject while the mutant is in place finds something. */
static bool is_killed(const struct mutant *mutant, const struct subject *subject, const struct request *request,
                      struct outcome *outcome)
{
    explored_site_set(mutant->site, mutant->order, mutant->failure, mutant->fence);
    explore(subject, request, outcome);
    explored_site_reset(mutant->site);
    return outcome->broken > 0;
}

static struct request request_of(const struct request *base, uint64_t runs)
{
    struct request request = *base;
    request.stops_at_first = true;
    request.quiet = true;
    request.runs = runs;
    return request;
}

/* As the list says. Returns the number of the killing run, 0: none. */
static uint64_t run_line(const struct mutant *mutant, const struct line *line, const struct request *base)
{
    static struct subject subject;
    static struct outcome outcome;
    struct request request = request_of(base, RUNS_TO_KILL);
    if (!subject_find(line->subject, &subject))
        return 0;
    request.scenario = line->scenario;
    request.configuration = line->configuration;
    for (uint32_t model = 0; model < EXPLORED_MODEL_COUNT; model++)
        request.models[model] = strcmp(explored_model_names[model], line->model) == 0;
    uint64_t killed = is_killed(mutant, &subject, &request, &outcome) ? outcome.runs : 0;
    explore_free(&outcome);
    return killed;
}

/* ---- the list ---- */

static bool check_mutant(const struct mutant *mutant, const struct request *base, uint32_t *survivors)
{
    const struct line *line = find_line(mutant);
    uint64_t run = line != NULL && line->reason == NULL ? run_line(mutant, line, base) : 0;
    if (run == 0 && watch_signal() != 0)
        return false; /* not tried to the end */
    print_mutant(mutant);
    if (run > 0)
        printf("  killed by %s %s %s, run %llu\n", line->subject, line->scenario, line->model, (unsigned long long)run);
    else if (line == NULL)
        printf("  NOT IN THE LIST\n");
    else if (line->reason == NULL)
        printf("  SURVIVED %s %s %s\n", line->subject, line->scenario, line->model);
    else
        printf("  survives: %s\n", line->reason);
    *survivors += line != NULL && line->reason != NULL;
    return run > 0;
}

/* A line for which there is no mutant any more. */
static uint32_t stale_lines(const struct mutant *mutants, uint32_t count)
{
    uint32_t stale = 0;
    for (const struct line *line = lines; line->file != NULL; line++) {
        bool used = false;
        for (uint32_t i = 0; i < count && !used; i++)
            used = find_line(&mutants[i]) == line;
        if (!used)
            printf("%s %s %s %s %s: no such operation any more\n", line->file, line->function, line->operation,
                   line->expression, line->weakened);
        stale += !used;
    }
    return stale;
}

int explore_mutants(const struct request *request)
{
    static struct mutant mutants[MUTANTS_MAX];
    uint32_t count = list_mutants(mutants), killed = 0, survivors = 0;
    for (uint32_t i = 0; i < count && watch_signal() == 0; i++)
        killed += check_mutant(&mutants[i], request, &survivors);
    uint32_t stale = stale_lines(mutants, count);
    if (survivors > 0)
        printf("%u survive for the reason given; noticed: %u %%\n", survivors, killed * 100 / count);
    printf("killed %u of %u%s\n", killed, count, watch_signal() != 0 ? ", interrupted" : "");
    return killed + survivors == count && stale == 0 ? 0 : 1;
}

/* ---- the search ---- */

struct candidate {
    struct subject subject;
    bool reached[MUTANTS_MAX];
};

/* Which mutants' sites a subject reaches at all. */
static void find_reached(struct candidate *candidate, const struct mutant *mutants, uint32_t count,
                         const struct request *base)
{
    static struct outcome outcome;
    struct request request = request_of(base, 0);
    request.runs = (uint64_t)RUNS_TO_REACH * candidate->subject.scenario_count *
                   candidate->subject.configuration_count * EXPLORED_MODEL_COUNT;
    explored_sites_forget();
    explore(&candidate->subject, &request, &outcome);
    explore_free(&outcome);
    for (uint32_t i = 0; i < count; i++)
        candidate->reached[i] = explored_site_reached(mutants[i].site);
}

/* Everything that nothing is known to be wrong with, the quick ones first. */
static uint32_t list_candidates(struct candidate *out)
{
    const char *names[NAMES_MAX];
    uint32_t name_count = subject_names(names, NAMES_MAX), count = 0;
    struct configuration *first;
    for (int code = 1; code >= 0; code--)
        for (uint32_t i = 0; i < name_count; i++) {
            if (!subject_find(names[i], &out[count].subject))
                continue;
            first = &out[count].subject.configurations[0];
            if ((first->scheduler == NULL) == (code == 1) && !first->specimen && out[count].subject.breaks == NULL)
                count++;
        }
    return count;
}

static bool search_one(const struct mutant *mutant, const struct candidate *candidate, const struct request *base)
{
    static struct outcome outcome;
    struct request request = request_of(base, base->runs);
    bool killed = is_killed(mutant, &candidate->subject, &request, &outcome);
    const struct explored_site *site = mutant->site;
    const struct cell *cell = &outcome.violations[0].cell;
    if (killed)
        printf("KILLED(\"%s\", \"%s\", \"%s\", \"%s\", %u, \"%s\",\n       \"%s\", \"%s\", \"%s\", \"%s\")\n",
               explored_site_path(site), site->function, site->operation, site->expression, mutant->ordinal,
               mutant->weakened, candidate->subject.name, cell->scenario->name, cell->configuration->label,
               explored_model_names[cell->settings.model]);
    explore_free(&outcome);
    return killed;
}

/* Prints what kills one mutant. */
static bool search_mutant(const struct mutant *mutant, uint32_t number, const struct candidate *candidates,
                          uint32_t count, const struct request *request)
{
    bool reached = false;
    for (uint32_t i = 0; i < count; i++) {
        reached = reached || candidates[i].reached[number];
        if (candidates[i].reached[number] && search_one(mutant, &candidates[i], request))
            return true;
    }
    printf("/* %s: ", reached ? "not noticed" : "not reached");
    print_mutant(mutant);
    printf(" */\n");
    return false;
}

int search_mutants(const struct request *request)
{
    static struct mutant mutants[MUTANTS_MAX];
    uint32_t count = list_mutants(mutants), killed = 0, searched = 0;
    struct candidate *candidates = calloc(NAMES_MAX, sizeof *candidates);
    if (candidates == NULL)
        abort();
    uint32_t candidate_count = list_candidates(candidates);
    for (uint32_t i = 0; i < candidate_count; i++)
        find_reached(&candidates[i], mutants, count, request);
    for (uint32_t i = 0; i < count && watch_signal() == 0; i++) {
        if (find_line(&mutants[i]) != NULL)
            continue;
        killed += search_mutant(&mutants[i], i, candidates, candidate_count, request);
        searched++;
        fflush(stdout);
    }
    printf("/* found what kills %u of %u */\n", killed, searched);
    free(candidates);
    return 0;
}
