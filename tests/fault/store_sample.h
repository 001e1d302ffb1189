/* SPDX-License-Identifier: MIT
 *
 * Invented repeats, and folders to keep stores in: what the tests of the store share.
 */
#ifndef PILFER_TESTS_FAULT_STORE_SAMPLE_H
#define PILFER_TESTS_FAULT_STORE_SAMPLE_H

#include "store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A seed for random(), printed; SEED in the environment replays one. */
static inline unsigned sample_seed(void)
{
    const char *text = getenv("SEED");
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 10) : (unsigned)time(NULL);
    printf("seed %u\n", seed);
    return seed;
}

/* A folder of its own below TMPDIR, or in memory where there is such a place: what a kill leaves is the same there, and
 * thousands of syncs take no time. The caller removes it with sample_folder_remove. Ends the program if it cannot. */
static inline char *sample_folder(void)
{
    const char *place = getenv("TMPDIR");
    char *folder;
    place = place ? place : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (asprintf(&folder, "%s/pilfer-store-XXXXXX", place) < 0 || !mkdtemp(folder)) {
        perror("cannot make a folder for the test");
        exit(99);
    }
    return folder;
}

static inline int sample_remove_one(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status, (void)type, (void)position;
    return remove(path);
}

static inline void sample_folder_remove(char *folder)
{
    nftw(folder, sample_remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

static inline char *sample_path(const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        exit(99);
    }
    return path;
}

/* Begins a sweep called name; its id. Ends the program if it cannot. */
static inline int64_t sample_sweep(struct store *store, const char *name, int64_t repeats)
{
    struct store_sweep sweep = {.name = (char *)name,
                                .plan = (char *)name,
                                .context = (char *)"CPU: invented\nkernel: none\n",
                                .seed = UINT64_MAX,
                                .repeats_planned = repeats};
    if (store_sweep_begin(store, &sweep) != STORE_OK) {
        fprintf(stderr, "cannot begin a sweep: %s\n", store_message(store));
        exit(99);
    }
    return sweep.id;
}

/* Repeat number repeat of cell number cell: some columns known, some not, settings, numbers and a histogram. */
static inline void sample_row(struct result *result, int64_t sweep_id, int cell, int64_t repeat)
{
    char cell_id[32];
    uint8_t histogram[300];
    snprintf(cell_id, sizeof(cell_id), "cell %d", cell);
    for (size_t i = 0; i < sizeof(histogram); i++) {
        histogram[i] = (uint8_t)(i * 7 + (size_t)cell);
    }
    result_init(result);
    result_set_number(result, RESULT_sweep_id, (double)sweep_id);
    result_set_text(result, RESULT_cell_id, cell_id);
    result_set_number(result, RESULT_repeat, (double)repeat);
    result_set_text(result, RESULT_label, "chase-lev");
    result_set_text(result, RESULT_max_workers, "default");
    result_set_number(result, RESULT_max_workers_resolved, 2);
    result_set_number(result, RESULT_valid, 1);
    result_set_number(result, RESULT_disturbed, 0);
    result_set_number(result, RESULT_rps, 2000.0 / 3 + (double)repeat);
    result_set_number(result, RESULT_requests, 2000);
    result_set_number(result, RESULT_router_cpu_us_per_request, 100.1 * cell + (double)repeat);
    result_add_setting(result, "extension_mode", "delay");
    result_add_setting(result, "lifo_slot", "on");
    result_add_number(result, "yields", (double)repeat * 1000);
    result_add_number(result, "parks", 0.1 * cell);
    result_set_histogram(result, histogram, sizeof(histogram));
}

/* Whether two rows say the same (their texts may be owned differently). */
static inline bool sample_same_text(const char *first, const char *second)
{
    return first && second ? strcmp(first, second) == 0 : first == second;
}

static inline bool sample_same(const struct result *first, const struct result *second)
{
    bool same = first->setting_count == second->setting_count && first->number_count == second->number_count &&
                first->histogram_size == second->histogram_size &&
                sample_same_text(first->invalid_reason, second->invalid_reason) &&
                (first->histogram_size == 0 || memcmp(first->histogram, second->histogram, first->histogram_size) == 0);
    for (int i = 0; i < RESULT_COLUMN_COUNT; i++) {
        same = same && first->columns[i].kind == second->columns[i].kind &&
               first->columns[i].number == second->columns[i].number &&
               sample_same_text(first->columns[i].text, second->columns[i].text);
    }
    for (uint32_t i = 0; same && i < first->setting_count; i++) {
        same = strcmp(first->settings[i].name, second->settings[i].name) == 0 &&
               strcmp(first->settings[i].text, second->settings[i].text) == 0;
    }
    for (uint32_t i = 0; same && i < first->number_count; i++) {
        same = strcmp(first->numbers[i].name, second->numbers[i].name) == 0 &&
               first->numbers[i].number == second->numbers[i].number;
    }
    return same;
}

#endif
