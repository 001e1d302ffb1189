/* SPDX-License-Identifier: MIT
 *
 * The stream to which a parser under test writes its faults, and what stands in it: a fixture.
 */
#ifndef PILFER_TESTS_UNIT_FAULTS_TEXT_H
#define PILFER_TESTS_UNIT_FAULTS_TEXT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static char *faults_text;
static size_t faults_size;
static FILE *faults;

static inline void open_faults(void)
{
    faults = open_memstream(&faults_text, &faults_size);
    ck_assert_ptr_nonnull(faults);
}

static inline void close_faults(void)
{
    fclose(faults);
    free(faults_text);
}

/* What was written so far. */
static inline const char *faults_now(void)
{
    fflush(faults);
    return faults_text;
}

#endif
