#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise R18: the same seed gives the same runs and the same tables, in every process and every build. Each name is explored
# with 1,000 runs by two builds, one of them without optimisation; what they print is compared to the byte, with the digest of
# all choices of all runs. Only the rate may differ.
#
# Usage: same.sh PILFER_EXPLORE OTHER_BUILD
set -u
here=$(realpath "$1") other=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 3

compared=0
"$here" --list >names || exit 1
while read -r name; do
    for program in "$here" "$other"; do
        "$program" "$name" --runs 1000 --seed 18 >said 2>&1 </dev/null
        status=$?
        [ "$status" -le 1 ] || {
            printf '%s: status %s: ' "$name" "$status"
            cat said
            exit 1
        }
        sed 's|, [0-9]* runs/s$||' said >"said-$([ "$program" = "$here" ] && echo here || echo other)"
    done
    grep -q '^explored 1000 runs, .* digest [0-9a-f]*$' said-here || {
        printf '%s: no closing line\n' "$name"
        exit 1
    }
    diff said-here said-other || {
        printf '%s: the two builds differ\n' "$name"
        exit 1
    }
    compared=$((compared + 1))
done <names
printf '%s names, 1,000 runs each, all the same in both builds\n' "$compared"
[ "$compared" -gt 0 ]
