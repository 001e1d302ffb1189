#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise R5: bugs that others shipped cannot come back unseen. Every structure and protocol of which a fault is known is found
# broken, by the invariant that is known, within 20,000 runs of a fixed seed, and by a run that shows the same when it is made
# again; every other one, the mended versions among them, is clean for as many runs as are asked for.
#
# Usage: known.sh PILFER_EXPLORE CONVICT RUNS
set -u
explore=$1 convict=$2 runs=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

broken=0 clean=0 failed=0
"$explore" --list >"$folder/names" || exit 1
while read -r name; do
    "$explore" "$name" --list >"$folder/list" || exit 1
    grep -qx 'configuration  -' "$folder/list" || continue # of the lists of names
    breaks=$(sed -n 's/^breaks  *//p' "$folder/list")
    if [ -n "$breaks" ]; then
        sh "$convict" "$explore" "$name" "$breaks" 20000 >"$folder/said" 2>&1 </dev/null && broken=$((broken + 1)) && continue
    else
        "$explore" "$name" --runs "$runs" --seed 1 >"$folder/said" 2>&1 </dev/null && clean=$((clean + 1)) && continue
    fi
    printf '%s:\n' "$name"
    cat "$folder/said"
    failed=$((failed + 1))
done <"$folder/names"
printf '%s found broken, %s clean in %s runs each, %s failed\n' "$broken" "$clean" "$runs" "$failed"
[ "$failed" -eq 0 ] && [ "$broken" -gt 0 ] && [ "$clean" -gt 0 ]
