#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: `pilfer reproduce --fidelity` sets the item costs from one cell of both sides, says to what and from what, and
# measures both with it, and first how long it will take; `report` prints the same tables again; the picture is there.
# Costs that are given are taken as they are. A repeat that cannot be measured does not cost the tables. One side alone is
# refused before anything is measured.
# The foreign server is the model's own, served as a target, so that no other runtime is needed. (Whether the figures
# meet is not asked here.)
#
# usage: fidelity.sh PROGRAM
set -eu

program=$(realpath "$1")
unset PILFER_STORE PILFER_COMMAND
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >served.ini <<END
[target]
version = echo itself
start = $program serve echo --scheduler dotnet --port {port} [--max-workers {max-workers}] [--spin-limit {spin-limit}]
END
short="--quick --set target=none,./served.ini --set scheduler=dotnet --set max-workers=1,2 --set spin-limit=0 --set rate=500
--set repeats=2 --set tries=1 --seed 7"

fail() {
    echo "fidelity: $*"
    cat out errors
    exit 1
}

# A named column of the rows of the newest sweep, each value once: column NAME
column() {
    "$program" export | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        $c != "" { print $c }' | sort -u
}

refused() { # what standard error must hold, and then the arguments
    words=$1
    shift
    status=0
    "$program" reproduce --fidelity "$@" >out 2>errors || status=$?
    [ "$status" = 2 ] || fail "status $status"
    grep -q -- "$words" errors || fail "not told: $words"
    [ ! -e results ] || fail "something was measured"
}
refused 'holds models against one target' --set target=none
refused 'holds models against one target' --set target=./served.ini
refused 'are two sweeps' --published

status=0
# shellcheck disable=SC2086 # a list of words
"$program" reproduce --fidelity $short >out 2>errors || status=$?
if [ "$status" = 1 ] && grep -q 'item-cost-percent cannot be set from these' errors; then
    echo "skipped: the machine is too busy for a valid repeat"
    exit 77
fi
# 1: a repeat was invalid, which a busy machine can do to any. 3: without gnuplot.
case $status in
0 | 1) ;;
3) command -v gnuplot >/dev/null 2>&1 && fail "status 3" ;;
*) fail "status $status" ;;
esac
cost=$(sed -n 's/^pilfer: reproduce: item-cost-percent is set to \([0-9.]*[0-9]\).*/\1/p' errors)
[ -n "$cost" ] || fail "not told what the costs are set to"
grep -q 'reproduce: paced at 500/s, one worker, spin limit 0: target served: ' errors || fail "not told from what"
grep -q 'reproduce: 8 cells of 16 repeats in all: .* at most$' errors || fail "not told how long it takes"
grep -q 'reproduce: before them, .*, 3 cells of 18 repeats in all: .* at most$' errors ||
    fail "not told how long setting the costs takes"
[ "$(column item_cost_percent | awk -v cost="$cost" '{ print ($1 == cost + 0) }')" = 1 ] ||
    fail "measured with item costs $(column item_cost_percent), not $cost"
grep -q 'target served, itself' out || fail "not told what the runtime is"
"$program" report >again 2>errors
sed '/^Sweep /,$d' out | grep -v '^results/' >tables
sed '/^Sweep /,$d' again | cmp -s - tables || fail "report has other tables"
[ "$(grep -c '^[12]  *0  ' tables)" = 8 ] || fail "not two settings in two tables of two modes"
if [ "$status" != 3 ]; then
    grep -q '^results/data/fidelity.png$' out || fail "not told where the picture is"
    [ "$(head -c 4 results/data/fidelity.png | tail -c 3)" = PNG ] || fail "no picture"
fi
[ "$("$program" report --sweep 1 2>&1 | sed -n 's/^Sweep 1, \([a-z-]*\).*/\1/p')" = fidelity-costs ] ||
    fail "no sweep for the costs"

# shellcheck disable=SC2086
"$program" reproduce --fidelity $short --set item-cost-percent=30 --set mode=closed >out 2>errors || [ $? = 1 ] ||
    fail "with given costs"
[ "$(column item_cost_percent)" = 30 ] || fail "given costs are not used"
[ "$(column sweep_id)" = 3 ] || fail "costs that are given are looked for"

# One start of the server fails: the status says so, and what was measured is there.
cat >sometimes.sh <<END
echo >>'$folder/starts'
[ "\$(wc -l <'$folder/starts')" != 2 ] || exit 1
exec '$program' serve echo --scheduler dotnet "\$@"
END
cat >sometimes.ini <<'END'
[target]
start = sh {folder}/sometimes.sh --port {port} [--max-workers {max-workers}] [--spin-limit {spin-limit}]
END
status=0
# shellcheck disable=SC2046
"$program" reproduce --fidelity $(echo "$short" | sed s/served/sometimes/) --set item-cost-percent=30 \
    --set mode=closed >out 2>errors || status=$?
[ "$status" = 3 ] || fail "status $status with a repeat that cannot be measured"
grep -q 'a cell cannot be measured here: target=./sometimes.ini' errors || fail "not told what cannot be measured"
grep -q '^Closed loop: CPU per request as ratio' out || fail "no table for want of one repeat"
grep -q '^Sweep 4, fidelity: ' out || fail "no report for want of one repeat"
if command -v gnuplot >/dev/null 2>&1; then
    grep -q '^results/data/fidelity.png$' out || fail "no picture for want of one repeat"
fi

# What a target file has wrong is told, and so is a plan from which no comparison can come.
cat >wrong.ini <<'END'
[target]
start = ./server {prot}
END
cat >without.ini <<'END'
[target]
start = ./server {port} [{max-workers}]
END
rm -r results
refused 'did you mean {port}' --set target=none,./wrong.ini
refused 'has not both knobs' --set target=none,./without.ini
refused 'expected 1 among' --set target=none,./served.ini --set max-workers=2,25
refused 'expected 1 among' --set target=none,./served.ini --set spin-limit=5
refused 'found 2 values of connections' --set target=none,./served.ini --set connections=1,10
refused 'expected --set workload=echo' --set target=none,./served.ini --set workload=router
# shellcheck disable=SC2086
"$program" reproduce --fidelity $short --set hill-climbing=0,1 --set mode=closed --show-plan >out 2>errors ||
    fail "the plan"
grep -q 'three cells are measured 6 times each' errors || fail "not told what comes before the plan"
