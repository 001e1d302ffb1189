#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Writes sweep files as initialisers of struct builtin_sweep: embed.sh OUTPUT FILE...
set -eu
output=$1
shift
quote='s/\\/\\\\/g; s/"/\\"/g'
{
    for file in "$@"; do
        name=$(basename "$file" .sweep)
        description=$(sed -n 's/^description *= *//p' "$file" | sed -e "$quote" -e 1q)
        printf '{"%s", "%s",\n' "$name" "$description"
        sed -e "$quote" -e 's/^/    "/' -e 's/$/\\n"/' "$file"
        printf '},\n'
    done
} >"$output"
