#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes the macros of the explored back end from the lists of ordered.h: one per type, operation and order, which adds
# the site to the call. Usage: sites.sh LISTS OUTPUT COMPILER [ARGUMENT...]
set -eu
lists=$1
output=$2
shift 2
"$@" -E -P "$lists" | tr '@' '\n' | awk '
    $1 == "site" {
        type = $2; kind = $3; order = $4; failure = $5
        name = tolower(kind) "_" $6
        extra = kind == "LOAD" ? "" : kind == "CAS" ? ", expected, desired" : ", value"
        printf "#define shared_%s_%s(shared%s) \\\n", type, name, extra
        printf "    shared_%s_%s_at(shared%s, ORDERED_SITE(%s, \"%s\", %s, %s, none, #shared))\n", \
            type, tolower(kind), extra, kind, name, order, failure
    }' >"$output"
[ -s "$output" ]
