#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: a specimen (a bound with the known races of published code) can be checked like any other: it holds on real threads
# by luck, or is convicted of what it is known for. Its conviction by necessity is the explorer's.
#
# Usage: specimen.sh PILFER_CHECK NAME. Passes on status 0 or 1 with four lines and their sum; a failure is printed.
set -u
output=$("$1" "$2")
status=$?
printf '%s\n' "$output"
[ "$status" -le 1 ] || exit 1
[ "$(printf '%s\n' "$output" | grep -c '^B[1-4] .* \(ok (proves nothing\|broken: \)')" -eq 4 ] || exit 1
printf '%s\n' "$output" | tail -n 1 | grep -q '^[0-4] passed, [0-4] failed, 0 skipped$'
