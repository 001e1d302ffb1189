#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the explorer bites. A name that is broken on purpose is found broken within a fixed number of runs of a fixed seed,
# by the invariant that it breaks, with status 1 and a run that shows the same when it is made again.
#
# Usage: convict.sh PILFER_EXPLORE NAME INVARIANT RUNS [OPTION...]
set -u
explore=$1 name=$2 invariant=$3 runs=$4
shift 4
output=$("$explore" "$name" --runs "$runs" --seed 1 "$@")
status=$?
printf '%s\n' "$output"
fail() {
    printf '%s\n' "$1"
    exit 1
}
[ "$status" -eq 1 ] || fail "status $status instead of 1: $name was not convicted"
# The replay line that follows the line of the invariant.
replay=$(printf '%s\n' "$output" | awk -v word="$invariant: " '
    index($0, word) == 1 { found = 1 }
    found && sub(/^replay: .* --replay /, "") { print; exit }')
[ -n "$replay" ] || fail "no line says that $name breaks $invariant and how to make that run again"
again=$("$explore" "$name" --replay "$replay")
status=$?
[ "$status" -eq 1 ] || fail "status $status instead of 1 when the run is made again"
printf '%s\n' "$again" | grep -q "^$invariant: " || fail "the run that is made again does not break $invariant"
