/* SPDX-License-Identifier: MIT
 *
 * What the suite knows of a suspect from inside: its table, and the pool of an open executor.
 */
#ifndef PILFER_TESTS_CONFORMANCE_INSIDE_H
#define PILFER_TESTS_CONFORMANCE_INSIDE_H

#include "scheduler.h"

struct subject;

/* The subject's queueing table; NULL: it is a bound. */
const struct scheduler *inside_scheduler(const struct subject *subject);

/* True when submit runs the task (no workers). */
bool inside_runs_in_submitter(const struct subject *subject);

/* True of a bound with the known races of published code. */
bool inside_is_specimen(const struct subject *subject);

/* True when its default settings give each worker a slot that no other worker can take from. */
bool inside_has_private_slot(const struct subject *subject);

/* How many workers to ask for: workers, or 0 where the suspect has none to set. */
uint32_t inside_workers(const struct subject *subject, uint32_t workers);

/* The pool of an executor; of a bound: of the executor below it. */
struct pool *inside_pool(struct pilfer_executor *executor);

/* Workers that look for tasks, run them or were promised to (a snapshot). */
uint32_t inside_engaged(struct pilfer_executor *executor);

/* At rest: asks the scheduler to verify its own structure, if it can; ends the test if something is wrong. */
void inside_verify_structure(struct pilfer_executor *executor);

#endif
