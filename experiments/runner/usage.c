/* SPDX-License-Identifier: MIT
 *
 * CPU time of processes; see usage.h.
 */
#include "usage.h"

#include <errno.h>
#include <time.h>

int usage_of_process(pid_t pid, uint64_t *cpu_ns)
{
    clockid_t clock;
    struct timespec used;
    int error = clock_getcpuclockid(pid, &clock);
    if (error != 0)
        return -error;
    if (clock_gettime(clock, &used) != 0)
        return errno == EINVAL ? -ESRCH : -errno;
    *cpu_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
    return 0;
}

uint64_t usage_of_self(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}
