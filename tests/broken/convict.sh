#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the conformance suite bites. A deliberately wrong scheduler, idle policy or bound is found broken, by the invariant
# that it breaks, with status 1 and a command that repeats it.
#
# Usage: convict.sh PILFER_CHECK scheduler|idle|bound NAME INVARIANT
set -u
check=$1 kind=$2 name=$3 invariant=$4
case $kind in
idle) set -- skeleton --idle "$name" ;;
*) set -- "$name" ;;
esac
# Some faults need two threads to meet within a few instructions, which a busy machine can keep from happening.
for seed in 1 2 3 4 5; do
    output=$("$check" "$@" --only "$invariant" --patience "${PATIENCE_S:-4}" --seed "$seed")
    status=$?
    printf '%s\n' "$output"
    [ "$status" = 0 ] || break
done
if [ "$status" -ne 1 ]; then
    printf 'status %s instead of 1: %s was not convicted\n' "$status" "$name"
    exit 1
fi
printf '%s\n' "$output" | grep -q "^$invariant .* broken: .*; repeat: .*--only $invariant --seed " || {
    printf 'no line says that %s breaks %s and how to repeat it\n' "$name" "$invariant"
    exit 1
}
printf '%s\n' "$output" | tail -n 1 | grep -q '^0 passed, 1 failed, 0 skipped$' || exit 1
