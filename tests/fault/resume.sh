#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: SIGKILL at any moment of a sweep loses at most the repeat in progress, and --resume goes on: at the end each
# repeat of the plan is stored once, rows that were stored before a kill are unchanged, the store is sound, no process is
# left behind.
#
# Method: sweeps of short cells, killed after a random time and resumed until they are finished; the next sweep begins with
# another seed. The times follow from SEED, which is printed.
#
#     resume.sh PROGRAM KILLS [SEED]
set -eu

program=$1
kills=$2
seed=${3:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
echo "seed $seed"

folder=$(mktemp -d)
# Every process of this test carries the folder's name in its environment.
export PILFER_TEST_FOLDER="$folder"
trap 'rm -rf "$folder"' EXIT
store=$folder/store.db
plan=$folder/short.sweep
planned=24
cat >"$plan" <<EOF
[sweep]
workload = ping, spawn
max-workers = 1..3
tasks = 10
spin-limit = 0
repeats = 4
duration = 10ms
warmup = 0
tries = 1
EOF

fail() {
    echo "resume.sh: $*" >&2
    exit 1
}

# Status 1 is no failure here: a cell of 10 ms may well be invalid on a busy machine.
sweep() {
    "$program" sweep "$plan" --store "$store" --seed "$1" --resume >"$folder/out" 2>&1
}

# Rows of a sweep: the fixed columns, since further ones appear with the first cell that has them. No field of this sweep
# holds a comma.
rows() {
    "$program" export --store "$store" --sweep "$1" --format csv >"$folder/csv" || return
    fixed=$(head -n 1 "$folder/csv" | tr ',' '\n' | grep -n '^run_delay_percent$' | cut -d: -f1)
    sed 1d "$folder/csv" | cut -d, -f"1-$fixed"
}

# Processes of the program, of this test, that live on.
leftovers() {
    grep -lsaF "PILFER_TEST_FOLDER=$folder" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
        executable=$(readlink "/proc/$pid/exe") || continue
        if [ "$executable" = "$(readlink -f "$program")" ]; then echo "$pid"; fi
    done
}

# Nothing may be left one second after its parent was killed; polled, since a dying process takes its time.
wait_for_the_end() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -z "$(leftovers)" ] && return
        sleep 0.05
    done
    fail "processes are left after a kill: $(leftovers | tr '\n' ' ')"
}

check_kept() {
    [ -f "$folder/before" ] || return 0
    rows "$1" >"$folder/after"
    while IFS= read -r row; do
        grep -qxF -- "$row" "$folder/after" || fail "a stored row changed or is lost: $row"
    done <"$folder/before"
}

check_complete() {
    rows "$1" >"$folder/after"
    count=$(wc -l <"$folder/after")
    distinct=$(cut -d, -f1-3 "$folder/after" | sort -u | wc -l)
    [ "$count" -eq "$planned" ] || fail "sweep $1 has $count rows, $planned were planned"
    [ "$distinct" -eq "$planned" ] || fail "sweep $1 has only $distinct different rows of $count"
}

killed=0
sweeps=0
delays=$(awk -v seed="$seed" -v kills="$kills" 'BEGIN { srand(seed); for (i = 0; i < 20 * kills; i++) print rand() * 0.6 }')
rm -f "$folder/before"
current=$((seed + 1))
for delay in $delays; do
    [ "$killed" -lt "$kills" ] || break
    "$program" sweep "$plan" --store "$store" --seed "$current" --resume >"$folder/out" 2>&1 &
    child=$!
    sleep "$delay"
    kill -KILL "$child" 2>/dev/null || true
    status=0
    wait "$child" 2>/dev/null || status=$?
    if [ "$status" -eq 137 ]; then
        killed=$((killed + 1))
        wait_for_the_end
    elif [ "$status" -gt 1 ]; then
        fail "the sweep ended with status $status: $(cat "$folder/out")"
    fi
    [ -f "$store" ] || continue
    # A sweep that was never begun has no rows to compare.
    if rows last >"$folder/now" 2>/dev/null; then
        check_kept last
        mv "$folder/now" "$folder/before"
        if [ "$(wc -l <"$folder/before")" -eq "$planned" ]; then
            sweep "$current" || [ $? -eq 1 ] || fail "a complete sweep cannot be resumed: $(cat "$folder/out")"
            check_complete last
            sweeps=$((sweeps + 1))
            current=$((current + 1))
            rm -f "$folder/before"
        fi
    fi
done
sweep "$current" || [ $? -eq 1 ] || fail "the last resume failed: $(cat "$folder/out")"
check_kept last
check_complete last
"$program" doctor --store "$store" >"$folder/doctor" 2>&1 || true
grep -q '^ok *store ' "$folder/doctor" || fail "the store is not sound: $(grep store "$folder/doctor")"
[ "$killed" -eq "$kills" ] || fail "only $killed of $kills kills hit a running sweep"
echo "$killed kills, $((sweeps + 1)) sweeps complete"
