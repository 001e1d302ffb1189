/* SPDX-License-Identifier: MIT
 *
 * CPU control groups: limiting one process of a cell, and reading how often this process's own group was held back.
 *
 * How it works. Version 1 (the cpu controller) or version 2 (cpu.max), whichever this machine uses. The limiting group
 * is made below the group that the runner is in, or, where that is refused (version 2 admits no limited group below one
 * that holds processes), below the nearest ancestor that admits it. It is named pilfer-PID after the runner and removed
 * with the cell; groups of runners that have died are removed on the way.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_CGROUP_H
#define PILFER_EXPERIMENTS_RUNNER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_PATH_SIZE 1024
/* Length of the interval over which the quota is counted: the kernel's default, and what container platforms use. */
#define CGROUP_PERIOD_US 100000

struct cgroup_quota {
    char path[CGROUP_PATH_SIZE]; /* empty: none */
};

struct cgroup_throttling {
    uint64_t periods, throttled_ns;
};

/* Makes a group that may use percent of one CPU (200: two CPUs). Returns 0 or -errno with one line in message. */
int cgroup_quota_make(struct cgroup_quota *quota, double percent, char *message, size_t size);
int cgroup_quota_add(const struct cgroup_quota *quota, pid_t pid);
/* When its processes have ended. */
void cgroup_quota_remove(struct cgroup_quota *quota);

/* How often, and how long in sum, the processes of a group were held back. quota NULL: the calling process's own group.
 * False where the kernel does not tell. */
bool cgroup_throttling(const struct cgroup_quota *quota, struct cgroup_throttling *out);

/* Quota of the calling process's own group in percent of one CPU; 0: none, or not known. */
double cgroup_own_quota_percent(void);

#endif
