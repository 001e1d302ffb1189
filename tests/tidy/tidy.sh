#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The style rules that a machine can see. Promise: what the READMEs say of the tree is true of every file.
#
# Prints one line per fault, "file:line: what", and exits 1 if there is one. Usage: tidy.sh ROOT
set -u
root=${1:?usage: tidy.sh ROOT}
cd "$root" || exit 3
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    list() { git ls-files -- "$@"; }
else
    list() { find "$@" -type f | sed 's|^\./||'; }
fi
say() { printf '%s\n' "$1" >>"$faults"; }
# Lines of files (on standard input) that match a pattern: "file:line: message".
forbid() { # pattern, message
    xargs -r grep -nE -- "$1" /dev/null | sed "s|^\([^:]*:[0-9]*\):.*|\1: $2|" >>"$faults"
}
sources() { list pool schedulers experiments results plot tests | grep -E '\.(c|h)$'; }
core() { list pool schedulers experiments/workloads | grep -E '\.(c|h)$'; }

# The two seams: nothing goes around ordered.h and platform.h.
core | grep -vE '^pool/(ordered|platform/)' | forbid '_Atomic|atomic_|memory_order|__sync_|__atomic_|<stdatomic' \
    'shared memory only through pool/ordered.h'
core | grep -vE '^pool/(ordered|platform/)' | forbid 'pthread_[a-z]*\(|clock_gettime\(|nanosleep\(|sched_yield\(|SYS_futex|_Thread_local|posix_memalign\(' \
    'the machine only through pool/platform.h'
list experiments/workloads | grep -E '\.(c|h)$' | forbid '<sys/(socket|epoll)|<netinet' 'connections only through transport.h'

# Who may include whom.
list pool | grep -E '\.(c|h)$' | forbid '#include "(\.\./(schedulers|experiments|results|plot)|experiments|results|plot|schedulers)/' \
    'pool/ includes nothing from another folder'
list results plot | grep -E '\.(c|h)$' | forbid '#include "(workloads|transport|runner|cli|pilfer|scheduler|pool)' \
    'results/ and plot/ know no workloads and no pools'

# Labels: each release-acquire pair and each fence label has two ends at least.
list pool schedulers experiments/workloads experiments/transport | grep -E '\.(c|h)$' | grep -v published |
    xargs -r awk '
        FNR == 1 { body = 0 }
        /^#include|^(static|struct|enum|void|int|bool)/ { body = 1 }
        body {
            line = $0
            while (match(line, /@[PF] [a-z0-9_]+\.[a-z0-9_]+/)) {
                label = substr(line, RSTART, RLENGTH)
                ends[label]++
                where[label] = FILENAME ":" FNR
                line = substr(line, RSTART + RLENGTH)
            }
        }
        END { for (label in ends) if (ends[label] < 2) print where[label] ": label " label " has one end only" }' >>"$faults"

# Files and functions of a readable size; an SPDX line; no unfinished business; nothing but the project.
sources | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 700 ] || say "$file:$lines: longer than 700 lines"
    head -n 1 "$file" | grep -q 'SPDX-License-Identifier: MIT' || say "$file:1: no SPDX line"
done
sources | xargs -r awk '
    /^[a-z].*[^;]$/ { head = FNR }
    /^{$/ { start = FNR }
    /^}$/ && start && FILENAME == last && FNR - start > 80 { print FILENAME ":" start ": a function of " FNR - start " lines" }
    { last = FILENAME } ' >>"$faults"
sources | forbid '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' 'unfinished by its own words'
sources | forbid '(^|[^a-z_])(atoi|atol|gets|strcpy|sprintf)\(' 'an unchecked function'
sources | awk 'length' | xargs -r awk 'length($0) > 120 { print FILENAME ":" FNR ": longer than 120 columns" }' >>"$faults"

# A README in each folder; no dead list entry.
for folder in pool schedulers experiments results plot tests; do
    [ -f "$folder/README.md" ] || say "$folder:1: no README.md"
done

# Each target that comes with the program and needs a runtime has its test, and each such test its target.
tested=" $(sed -n "s/^tested_targets = \[\(.*\)\]$/\1/p" tests/cli/meson.build | tr -d "',") "
for file in $(list experiments/targets | grep -E '^experiments/targets/[^/]*\.ini$' | xargs -r grep -l '^requires'); do
    name=$(basename "$file" .ini)
    case $tested in
    *" $name "*) ;;
    *) say "$file:1: not among the tested_targets of tests/cli/meson.build" ;;
    esac
done
for name in $tested; do
    [ -f "experiments/targets/$name.ini" ] || say "tests/cli/meson.build:1: there is no target $name"
done

sort -u "$faults"
[ ! -s "$faults" ]
