#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the explorer finds the four races of a published bound (pool/bound/README.md), each by its name, nothing else, and
# each with a run that shows the same when it is made again.
#
# Usage: races.sh PILFER_EXPLORE NAME RUNS
set -u
explore=$1 name=$2 runs=$3
output=$("$explore" "$name" --runs "$runs" --seed 1)
status=$?
printf '%s\n' "$output"
fail() {
    printf '%s\n' "$1"
    exit 1
}
[ "$status" -eq 1 ] || fail "status $status instead of 1"
printf '%s\n' "$output" | grep -q '^explored .* broken, 4 kinds, ' || fail 'not four kinds'
for race in R1 R2 R3 R4; do
    replay=$(printf '%s\n' "$output" | awk -v word="race $race: " '
        index($0, word) == 1 { found = 1 }
        found && sub(/^replay: .* --replay /, "") { print; exit }')
    [ -n "$replay" ] || fail "race $race was not found"
    again=$("$explore" "$name" --replay "$replay")
    [ $? -eq 1 ] || fail "race $race: the run that is made again breaks nothing"
    printf '%s\n' "$again" | grep -q "^race $race: " || fail "the run that is made again does not show race $race"
done
