#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Exhaustive walks take as many runs as they always did.
#
# Promise: coverage is not lost unseen. A walk that has become shorter because a scheduling point, a choice or a scenario
# is gone finds nothing broken either; only its length shows it. Also: no walk finds anything broken, and each scenario
# that --list marks as exhaustive has a line for each model.
#
# Usage: expected_runs.sh PROGRAM FILE SUITE, or with --update in place of SUITE: writes the numbers of this program into
# FILE, for a change that is meant. FILE: lines "suite name scenario configuration model preemptions stale runs".
set -u
program=${1:?usage: expected_runs.sh PROGRAM FILE SUITE} file=${2:?no FILE} suite=${3:?no SUITE}
work=$(mktemp)
trap 'rm -f "$work"' EXIT

# Prints a line like those of FILE, or what is wrong; then it also returns 1.
walk() { # suite name scenario configuration model preemptions stale
    out=$("$program" "$2" --scenario "$3" --configuration="$4" --model "$5" --strategy exhaustive --preemptions "$6" \
        --stale "$7" 2>&1)
    status=$?
    found=$(printf '%s\n' "$out" | sed -n 's/^explored \([0-9]*\) runs, 0 broken, .* 1 cells, complete within the bounds,.*/\1/p')
    if [ $status -eq 0 ] && [ -n "$found" ]; then
        echo "$1 $2 $3 $4 $5 $6 $7 $found"
    else
        echo "$1 $2 $3 $4 $5 $6 $7: status $status"
        printf '%s\n' "$out" >&2
        return 1
    fi
}

if [ "$suite" = --update ]; then
    while read -r line; do
        case $line in
        '' | '#'*) printf '%s\n' "$line" ;;
        *) walk $line </dev/null || exit 1 ;;
        esac
    done <"$file" >"$work" || exit 1
    cat "$work" >"$file"
    exit 0
fi

passed=0 failed=0 runs=0
while read -r line; do
    case $line in "$suite "*) ;; *) continue ;; esac
    found=$(walk $line </dev/null)
    if [ "$found" = "$line" ]; then
        passed=$((passed + 1)) runs=$((runs + ${line##* }))
    else
        failed=$((failed + 1))
        printf 'expected  %s\nfound     %s\n' "$line" "$found"
    fi
done <"$file"

for name in $(grep -v '^#' "$file" | cut -d' ' -f2 | sort -u); do
    for scenario in $("$program" "$name" --list | awk '$1 == "scenario" && /\[exhaustive\]$/ { print $2 }'); do
        for model in sc tso ra; do
            grep -q "^[a-z]* $name $scenario [^ ]* $model " "$file" && continue
            failed=$((failed + 1))
            printf '%s: no line for %s %s %s\n' "$file" "$name" "$scenario" "$model"
        done
    done
done
echo "$passed walks as expected, $runs runs in all, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
