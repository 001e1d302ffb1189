#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: under limits of the surroundings a measurement is made whole, or it ends with a line that names the limit and
# status 3 (4 when the store cannot be written). Nothing hangs, nothing crashes, and no cell is stored that was measured
# with less than was asked for.
#
# usage: limits.sh PROGRAM
set -eu

program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
measure="run --store here.db --workload router --connections 10 --duration 60ms --warmup 0s --seed 7"

fail() {
    echo "limits: $*"
    cat out errors
    exit 1
}

# Files open at a time, from what starts the program to what suffices.
measured=0
for files in 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 64; do
    rm -f here.db*
    status=0
    # shellcheck disable=SC2086 # a list of words
    (ulimit -n "$files" && exec timeout 60 "$program" $measure) >out 2>errors || status=$?
    case $status in
    0 | 1) # 1: a busy machine can make any repeat invalid
        measured=1
        grep -q '^  connections_failed  *0$' out || fail "$files files: measured with fewer connections"
        ;;
    3 | 4)
        [ "$measured" = 0 ] || fail "$files files: fewer sufficed"
        grep -Eqi 'open files|too many open' errors || fail "$files files: the limit is not named"
        ;;
    *) fail "$files files: status $status" ;;
    esac
done
[ "$measured" = 1 ] || fail "64 files do not suffice"

# The size of files: the store says so.
for blocks in 0 1 8 64; do
    rm -f here.db*
    status=0
    # shellcheck disable=SC2086
    (ulimit -f "$blocks" && exec timeout 60 "$program" $measure) 2>&1 >/dev/null | cat >errors || status=$?
    : >out
    [ "$blocks" = 64 ] || grep -q 'ulimit -f' errors || fail "$blocks blocks: the limit is not named"
done

# CPU time: a process that the kernel ends for it leaves an invalid repeat that says under which limit.
rm -f here.db*
status=0
(ulimit -t 1 && exec timeout 60 "$program" run --store here.db --workload spawn --duration 20s --warmup 0s --seed 7) \
    >out 2>errors || status=$?
[ "$status" = 1 ] || fail "one second of CPU: status $status"
grep -q 'killed by signal .*, under ulimit -t 1' errors || fail "the limit on CPU time is not named"
