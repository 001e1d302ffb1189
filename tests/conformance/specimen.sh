#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: a specimen (a bound with the known races of published code) can be checked like any other: on real threads it holds
# by luck, or is convicted of what it is known for; by the explorer it is convicted.
#
# Usage: specimen.sh PILFER_CHECK NAME. Passes on status 0 or 1 with five lines and their sum; a failure is printed.
set -u
output=$("$1" "$2")
status=$?
printf '%s\n' "$output"
[ "$status" -le 1 ] || exit 1
[ "$(printf '%s\n' "$output" | grep -c '^B[1-4] .* \(ok (proves nothing\|convicted: \)')" -eq 4 ] || exit 1
printf '%s\n' "$output" | grep -q '^explore .* \(convicted: .*; replay: \|skipped: nothing of \)' || exit 1
printf '%s\n' "$output" | tail -n 1 | grep -q '^[0-4] passed, [0-5] failed, [01] skipped$'
