#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: `pilfer reproduce --published` says how long it will take, measures the nine published rows and prints each
# with its knobs, its published and its measured figure, also when a signal ends the measuring early; a window that
# waits for a steady goal begins when it is steady.
# (Shortened; whether the figures resemble the published ones is not asked here.)
#
# usage: published.sh PROGRAM
set -eu

program=$(realpath "$1")
unset PILFER_STORE PILFER_COMMAND
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "published: $*"
    cat out errors
    exit 1
}

status=0
"$program" reproduce --published --quick --set duration=200ms --set repeats=1 --seed 7 >out 2>errors || status=$?
# 1: a repeat was invalid, which a busy machine can do to any.
case $status in
0 | 1) ;;
*) fail "status $status" ;;
esac
grep -q '^pilfer: reproduce: 9 cells of 9 repeats in all: .* at most$' errors || fail "not told how long it takes"
"$program" report >again 2>errors
[ "$(sed -n '/^max-workers/,/^$/p' out)" = "$(sed -n '/^max-workers/,/^$/p' again)" ] || fail "report has another table"
# Each row of the published file, in its order, with a measured number.
cat >rows <<'END'
default default default 700
default default 5 320
1 default default 124
default 1 default 720
25 1 default 500-600
20 1 default 300
12 1 default 290
2 1 default 175
1 1 default 125
END
sed -n '/^max-workers/,/^$/p' out | awk 'NR > 1 && NF { print $1, $2, $3, $4 }' | cmp -s - rows || fail "other rows"
measured=$(sed -n '/^max-workers/,/^$/p' out | awk 'NR > 1 && $5 ~ /^[0-9]+[.][0-9]$/' | wc -l)
grep -q "^$measured of 9 rows have a measured value" out || fail "rows are counted wrongly"
[ "$status" = 1 ] || [ "$measured" = 9 ] || fail "a row has no measured value"
grep -q '^max-completion-threads changes nothing' out || fail "not told why the completion threads change nothing"

# What is stored when a signal ends it is printed all the same.
"$program" reproduce --published --quick --set duration=200ms --set repeats=50 --store ended.db >out 2>errors &
reproducing=$!
looks=0
until [ "$("$program" export --store ended.db 2>/dev/null | wc -l)" -ge 2 ]; do
    looks=$((looks + 1))
    [ "$looks" -lt 600 ] || fail "no repeat is stored"
    sleep 0.1
done
kill -TERM "$reproducing"
status=0
wait "$reproducing" || status=$?
[ "$status" = 143 ] || fail "status $status after a signal"
grep -q '^The published rows, dotnet: ' out || fail "no table after a signal"
grep -q ' of 9 rows have a measured value' out || fail "not told how many rows count after a signal"
grep -q '^Sweep 1, published: ' out || fail "no report after a signal"

# A goal that stands still is steady after ten seconds, long before the longest warm-up is over.
"$program" run --scheduler dotnet --hill-climbing 0 --mode closed --warmup 0 --warmup-max 60s --duration 200ms \
    --tries 1 >out 2>errors || [ $? = 1 ] || fail "measuring with a steady goal"
grep -q '^ *goal_steady  *1$' out || fail "a constant goal is not steady"
awk '$1 == "warmup_s" { seen = $2 >= 10 && $2 < 40 } END { exit !seen }' out || fail "the warm-up is of another length"
