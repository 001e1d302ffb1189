#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the same seed gives the same runs and the same tables in every process, wherever the program was loaded.
#
# Method. Two names that break, explored twice each with all that is printed; only the rate may differ.
# Usage: determinism.sh PILFER_EXPLORE
set -u
explore=$1
first=$(mktemp) second=$(mktemp)
trap 'rm -f "$first" "$second"' EXIT
status=0
for name in abp-relaxed poissonrecon-6; do
    "$explore" "$name" --runs 3000 --seed 11 2>/dev/null | sed 's/, [0-9]* runs\/s//' >"$first"
    "$explore" "$name" --runs 3000 --seed 11 2>/dev/null | sed 's/, [0-9]* runs\/s//' >"$second"
    if ! grep -q '^replay: ' "$first"; then
        echo "$name: nothing is broken, so there is no table to compare"
        status=1
    fi
    if cmp "$first" "$second"; then
        echo "$name: $(wc -l <"$first") lines, twice the same"
    else
        status=1
    fi
done
exit $status
