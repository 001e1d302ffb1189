/* SPDX-License-Identifier: MIT
 *
 * CPU time of processes, read from outside.
 *
 * How it works. The CPU clock of another process (clock_getcpuclockid) has nanosecond grain, where the files below
 * /proc count ticks of 4 or 10 ms.
 */
#ifndef PILFER_EXPERIMENTS_RUNNER_USAGE_H
#define PILFER_EXPERIMENTS_RUNNER_USAGE_H

#include <stdint.h>
#include <sys/types.h>

/* CPU time of a process since it began. Returns 0, or -ESRCH when it has ended. */
int usage_of_process(pid_t pid, uint64_t *cpu_ns);

/* CPU time of the calling process. */
uint64_t usage_of_self(void);

#endif
