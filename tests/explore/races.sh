#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the explorer finds the four races of a published bound (pool/bound/README.md), each by its name, nothing else, and
# each with a run that shows the same when it is made again.
#
# Usage: races.sh PILFER_EXPLORE CONVICT NAME RUNS
set -u
explore=$1 convict=$2 name=$3 runs=$4
"$explore" "$name" --runs "$runs" --seed 1 --brief | grep -q '^explored .* broken, 4 kinds, ' || {
    echo 'not four kinds'
    exit 1
}
for race in R1 R2 R3 R4; do
    sh "$convict" "$explore" "$name" "race $race" "$runs" || exit 1
done
