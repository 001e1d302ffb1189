#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: a measurement in which an allocation fails or a thread cannot be started, in any of its processes, ends: with the
# figures, or with a message and a status that says whose fault it was. It does not crash or hang, leaves no process behind,
# and the store stays whole.
#
# Method. `pilfer run` with preload.c in front of the C library, in all of its processes: the n-th allocation fails, for n from
# 1 in steps that grow by a fraction, until no process comes to its n-th; and the k-th thread, for k from 1 to 6, with both
# errors, alone and with all later ones.
#
# Usage: cell.sh PILFER LIBFAULT WORKLOAD FRACTION. A FRACTION of 3 means steps of n/3 + 1.
set -u
pilfer=$1 library=$2 workload=$3 fraction=$4
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
failures=0 runs=0

broken() {
    printf 'broken: %s\n' "$*"
    failures=$((failures + 1))
}

# Runs one faulty measurement, with the environment of the arguments; sets hit to yes if the fault came about.
measure() {
    runs=$((runs + 1))
    rm -f "$folder/report"
    env "$@" PILFER_FAULT_REPORT="$folder/report" LD_PRELOAD="$library" timeout -s KILL 60 "$pilfer" run --workload \
        "$workload" --set duration=50ms --set warmup=10ms --store "$folder/store.db" >"$folder/out" 2>"$folder/err"
    status=$?
    hit=no
    grep -q '^hit' "$folder/report" 2>/dev/null && hit=yes
    case $status in
    0) ;;
    1 | 2 | 3 | 4 | 5) [ -s "$folder/err" ] || broken "$*: status $status without a message" ;;
    137) broken "$*: it hung" ;;
    *) broken "$*: status $status; $(tail -n 1 "$folder/err")" ;;
    esac
    # A sanitizer, an assertion or the C library would have said so, even in a process whose end goes unnoticed.
    grep -E 'Assertion|corrupted|free\(\)|stack smashing' "$folder/err" && broken "$*: damaged memory"
    if command -v sqlite3 >/dev/null 2>&1 && [ -f "$folder/store.db" ]; then
        whole=$(sqlite3 "$folder/store.db" 'pragma integrity_check' 2>&1)
        [ "$whole" = ok ] || broken "$*: the store says $whole"
    fi
}

n=1 missed=0
while [ "$missed" -lt 2 ]; do
    measure PILFER_FAULT_ALLOCATION="$n"
    [ "$hit" = yes ] && missed=0 || missed=$((missed + 1))
    n=$((n + n / fraction + 1))
done
printf '%s runs, allocations up to %s\n' "$runs" "$n"
for k in 1 2 3 4 5 6; do
    for error in EAGAIN ENOMEM; do
        measure PILFER_FAULT_THREAD="$k" PILFER_FAULT_ERROR="$error"
        measure PILFER_FAULT_THREAD="$k" PILFER_FAULT_ERROR="$error" PILFER_FAULT_FOLLOWING=1
    done
done
# Without a fault the same store goes on.
measure PILFER_FAULT_ALLOCATION=0
[ "$status" -eq 0 ] || broken "after all faults a run ends with status $status: $(tail -n 1 "$folder/err")"
printf '%s runs, %s broken\n' "$runs" "$failures"
[ "$failures" -eq 0 ]
