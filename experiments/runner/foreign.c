/* SPDX-License-Identifier: MIT
 *
 * Processes of others; see foreign.h.
 */
#include "runner/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static void set_limits(uint64_t cpu_limit_s)
{
    struct rlimit core = {0, 0}, cpu;
    setrlimit(RLIMIT_CORE, &core);
    if (cpu_limit_s == 0 || getrlimit(RLIMIT_CPU, &cpu) != 0 || cpu.rlim_cur <= cpu_limit_s)
        return;
    cpu.rlim_cur = cpu_limit_s;
    cpu.rlim_max = cpu.rlim_max > cpu_limit_s ? cpu_limit_s + 1 : cpu_limit_s;
    setrlimit(RLIMIT_CPU, &cpu);
}

_Noreturn void foreign_become(char *const *words, char *const *environment, const struct foreign_options *options)
{
    setpgid(0, 0);
    set_limits(options->cpu_limit_s);
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(options->output, 1) < 0 || dup2(options->output, 2) < 0)
        _exit(126);
    close_range(3, ~0U, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != options->parent) /* which died before the request stood */
        _exit(126);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvpe(words[0], words, environment);
    dprintf(2, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}
