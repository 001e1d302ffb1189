#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: a specimen (a bound with the known races of published code) can be checked like any other: on real threads it holds
# by luck, or is convicted of what it is known for; by the explorer it is convicted of all four races, by name.
#
# Usage: specimen.sh PILFER_CHECK NAME. Passes on five lines and their sum with status 1; in a sanitizer build, where nothing is
# explored, also with 0. A failure is printed.
set -u
output=$("$1" "$2")
status=$?
printf '%s\n' "$output"
has() {
    printf '%s\n' "$output" | grep -q "$1"
}
if has '^explore .* skipped: explored in the plain build$'; then
    [ "$status" -le 1 ] || exit 1
else
    [ "$status" -eq 1 ] && has '^explore .* convicted: race R[1-4]: .*; replay: ' || exit 1
    for race in R1 R2 R3 R4; do
        has "^explore .* race $race[:,;]" || exit 1
    done
fi
[ "$(printf '%s\n' "$output" | grep -c '^B[1-4] .* \(ok (proves nothing\|convicted: \)')" -eq 4 ] || exit 1
has '^[0-4] passed, [0-5] failed, [01] skipped$'
