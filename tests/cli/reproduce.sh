#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: `pilfer reproduce` measures, prints what it measured beside the published figures, draws, and prints the paths
# of the pictures, which are there; its sweep is then `last`. (Shortened; whether the finding shows is not asked here.)
#
# usage: reproduce.sh PROGRAM
set -eu

program=$(realpath "$1")
unset PILFER_STORE PILFER_COMMAND
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir pictures
short='--set max-workers=1,25 --set duration=300ms --set warmup=50ms --set repeats=2 --seed 7'

fail() {
    echo "reproduce: $*"
    [ ! -f out ] || cat out errors
    exit 1
}

# Planning measures nothing and writes nothing.
# shellcheck disable=SC2086 # a list of words
"$program" reproduce --quick $short --show-plan >out 2>errors || fail "the plan"
grep -q '^4 cells, 8 repeats, seed 7' out || fail "the plan is another one"
[ ! -e results ] || fail "the plan wrote something"

status=0
# shellcheck disable=SC2086
"$program" reproduce --quick $short --output-dir pictures >out 2>errors || status=$?
# 1: a repeat was invalid, which a busy machine can do to any. 3: without gnuplot.
case $status in
0 | 1) ;;
3) command -v gnuplot >/dev/null 2>&1 && fail "status 3" ;;
*) fail "status $status" ;;
esac
grep -q 'lambda-dispatch' out || fail "no source of the published figures"
grep -q '500 to 600' out || fail "no published figure of 25 workers"
grep -q '^1  *default (70) .* 124$' out || grep -q '^1  *default (280) .* 124$' out || fail "no row of one worker"
# Which column is `valid`, and is it 1 anywhere?
if ! "$program" export | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "valid") v = i; next } $v == 1 { found = 1 }
    END { exit !found }'; then
    echo "skipped: the machine is too busy for a single valid repeat, there is nothing to draw"
    exit 77
fi
if command -v gnuplot >/dev/null 2>&1; then
    for kind in cpu-vs-threads cpu-per-request cpu-split heatmap; do
        grep -qx "pictures/$kind.png" out || fail "the path of $kind is not printed"
        [ "$(dd if="pictures/$kind.png" bs=1 skip=1 count=3 2>/dev/null)" = PNG ] || fail "$kind is no picture"
    done
    # shellcheck disable=SC2086
    "$program" reproduce --quick $short --output-dir pictures >again 2>errors && fail "a picture was replaced unasked"
    grep -q 'force' errors || fail "not told how to replace a picture"
    [ ! -s again ] || fail "something was measured although the pictures stand in the way"
fi
"$program" report --sweep last >out 2>errors || fail "no report"
grep -q '^Sweep 1, high-cpu' out || fail "the sweep is not the last one"
