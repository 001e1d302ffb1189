/* SPDX-License-Identifier: MIT
 *
 * Which store and which sweep a verb works on; see store_option.h.
 */
#include "store_option.h"

#include "output.h"

#include <stdlib.h>
#include <string.h>

const char *option_store_path(const struct invocation *invocation)
{
    if (invocation != NULL && invocation->options[OPTION_store] != NULL)
        return invocation->options[OPTION_store];
    const char *path = getenv(STORE_PATH_VARIABLE);
    return path != NULL && path[0] != '\0' ? path : STORE_PATH_DEFAULT;
}

int store_open_reading(const struct invocation *invocation, struct store **out)
{
    char message[STORE_MESSAGE_SIZE];
    const char *path = option_store_path(invocation);
    switch (store_open(path, STORE_READ, out, message)) {
    case STORE_OK:
        return EXIT_DONE;
    case STORE_MISSING:
        complain("%s: there is no store %s yet; measure something first: `%s sweep quick`, or name another: "
                 "--store FILE",
                 invocation->verb->name, escaped(path), program_name());
        return EXIT_STORE;
    default:
        complain("%s: %s", invocation->verb->name, message);
        return EXIT_STORE;
    }
}

static int complain_selector(const struct invocation *invocation, struct store *store, const char *selector)
{
    struct store_sweep *sweeps = NULL;
    size_t count = 0;
    if (store_sweep_list(store, &sweeps, &count) != STORE_OK) {
        complain("%s: %s", invocation->verb->name, store_message(store));
        return EXIT_STORE;
    }
    if (count == 0)
        complain("%s: no sweep in %s yet; measure something first: `%s sweep quick`", invocation->verb->name,
                 escaped(option_store_path(invocation)), program_name());
    else
        complain("%s: no sweep '%s' in %s; the newest is %lld (%s)", invocation->verb->name, escaped(selector),
                 escaped(option_store_path(invocation)), (long long)sweeps[0].id, escaped(sweeps[0].name));
    int status = count == 0 ? EXIT_STORE : EXIT_USAGE;
    for (size_t i = 0; i < count; i++)
        store_sweep_fini(&sweeps[i]);
    free(sweeps);
    return status;
}

int stored_sweep_read(const struct invocation *invocation, struct store *store, const char *selector, bool histograms,
                      struct stored_sweep *out)
{
    if (selector == NULL)
        selector = "last";
    if (strcmp(selector, "last") != 0 && (selector[0] == '\0' || selector[strspn(selector, "0123456789")] != '\0')) {
        complain("%s: '%s' is no sweep; expected 'last' or its number", invocation->verb->name, escaped(selector));
        return EXIT_USAGE;
    }
    int status = store_sweep_find(store, selector, &out->sweep);
    if (status == STORE_MISSING)
        return complain_selector(invocation, store, selector);
    if (status == STORE_OK) {
        status = store_read(store, out->sweep.id, histograms, &out->rows);
        if (status == STORE_OK)
            return EXIT_DONE;
        store_sweep_fini(&out->sweep);
    }
    complain("%s: %s", invocation->verb->name, store_message(store));
    return EXIT_STORE;
}

int stored_sweep_of_id(const struct invocation *invocation, int64_t sweep_id, struct stored_sweep *out)
{
    struct store *store;
    char selector[32];
    int status = store_open_reading(invocation, &store);
    if (status != EXIT_DONE)
        return status;
    snprintf(selector, sizeof selector, "%lld", (long long)sweep_id);
    status = stored_sweep_read(invocation, store, selector, false, out);
    store_close(store);
    return status;
}

void stored_sweep_fini(struct stored_sweep *stored)
{
    result_set_fini(&stored->rows);
    store_sweep_fini(&stored->sweep);
}

int stored_sweep_with(const struct invocation *invocation,
                      int (*use)(const struct invocation *invocation, const struct stored_sweep *stored))
{
    struct store *store;
    int status = store_open_reading(invocation, &store);
    if (status != EXIT_DONE)
        return status;
    struct stored_sweep stored;
    status = stored_sweep_read(invocation, store, invocation->options[OPTION_sweep], false, &stored);
    if (status == EXIT_DONE) {
        status = use(invocation, &stored);
        stored_sweep_fini(&stored);
    }
    store_close(store);
    return status;
}

int stored_sweep_show(const struct invocation *invocation, int64_t sweep_id, int status,
                      int (*use)(const struct invocation *invocation, const struct stored_sweep *stored))
{
    struct stored_sweep stored;
    if (sweep_id == 0)
        return status;
    int shown = stored_sweep_of_id(invocation, sweep_id, &stored);
    if (shown == EXIT_DONE) {
        if (stored.rows.count > 0)
            shown = use(invocation, &stored);
        stored_sweep_fini(&stored);
    }
    return status != EXIT_DONE ? status : shown;
}
