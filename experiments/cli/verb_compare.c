/* SPDX-License-Identifier: MIT
 *
 * `pilfer compare A B`: the same cells measured twice; status 1 when something regressed.
 */
#include "verbs.h"

#include "compare.h"
#include "store_option.h"

#include <math.h>
#include <string.h>

/* A sweep named on the command line. */
struct side {
    struct store *store;
    struct stored_sweep stored;
    bool opened, read;
};

static void side_fini(struct side *side)
{
    if (side->read)
        stored_sweep_fini(&side->stored);
    if (side->opened)
        store_close(side->store);
}

static bool is_selector(const char *text)
{
    return strcmp(text, "last") == 0 || (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0');
}

/* text: "last" or an id of the store, or another store's file, of which the last sweep is meant. */
static int side_read(const struct invocation *invocation, const char *text, struct side *out)
{
    struct invocation other = *invocation;
    bool selector = is_selector(text);
    if (!selector)
        other.options[OPTION_store] = text;
    int status = store_open_reading(&other, &out->store);
    if (status != EXIT_DONE)
        return status;
    out->opened = true;
    status = stored_sweep_read(&other, out->store, selector ? text : NULL, false, &out->stored);
    out->read = status == EXIT_DONE;
    return status;
}

/* --threshold: 1.1 and 0.1 both mean beyond 10 %. */
static int read_threshold(const struct invocation *invocation, struct compare_options *out)
{
    double threshold;
    if (option_real(invocation, OPTION_threshold, NAN, 0, 100, &threshold) != 0)
        return EXIT_USAGE;
    out->has_threshold = !isnan(threshold);
    out->threshold = threshold >= 1 ? threshold - 1 : threshold;
    return EXIT_DONE;
}

static int compare(const struct invocation *invocation, const struct side sides[3])
{
    struct compare_options options = {.again = sides[2].read ? &sides[2].stored.rows : NULL};
    int status = read_threshold(invocation, &options);
    if (status != EXIT_DONE)
        return status;
    struct compare_side first = {invocation->arguments[0], &sides[0].stored.rows};
    struct compare_side second = {invocation->arguments[1], &sides[1].stored.rows};
    struct compare_verdict verdict;
    compare_write(stdout, &first, &second, &options, &verdict);
    if (verdict.matched == 0) {
        complain("compare: %s and %s have no cell in common; compare two runs of the same sweep", escaped(first.name),
                 escaped(second.name));
        return EXIT_USAGE;
    }
    return verdict.regressed > 0 ? EXIT_INVALID : EXIT_DONE;
}

int verb_compare(const struct invocation *invocation)
{
    struct side sides[3] = {0}; /* A, B, and the repetition of A */
    const char *names[3] = {invocation->arguments[0], invocation->arguments[1], invocation->options[OPTION_aa]};
    int status = EXIT_DONE;
    for (int i = 0; i < 3 && status == EXIT_DONE; i++) {
        if (names[i] != NULL)
            status = side_read(invocation, names[i], &sides[i]);
    }
    if (status == EXIT_DONE)
        status = compare(invocation, sides);
    for (int i = 0; i < 3; i++)
        side_fini(&sides[i]);
    return status;
}
