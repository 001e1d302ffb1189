#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: a signal ends a sweep politely. Finished repeats are kept, the exit status is 130, 143 or 129, one line says how
# to go on, no process is left, and --resume completes the sweep. A sweep that is suspended and continued completes too. A
# background sweep that ignores SIGINT goes on ignoring it.
#
# Method: a sweep of short cells; the signal is sent when the first rows are in the store.
#
#     interrupt.sh PROGRAM
set -eu

program=$1
folder=$(mktemp -d)
export PILFER_TEST_FOLDER="$folder"
child=
trap 'if [ -n "$child" ]; then kill -KILL "$child" 2>/dev/null || true; fi; rm -rf "$folder"' EXIT
store=$folder/store.db
planned=12

fail() {
    echo "interrupt.sh: $*" >&2
    [ ! -f "$folder/out" ] || sed 's/^/    /' "$folder/out" >&2
    exit 1
}

cat >"$folder/short.sweep" <<EOF
[sweep]
workload = ping
max-workers = 1..6
spin-limit = 0
repeats = 2
duration = 100ms
warmup = 0
tries = 1
EOF

# Signals as a program finds them that is started by hand, not behind "&".
start() {
    rm -f "$store" "$store"-*
    env --default-signal=INT,HUP,TERM "$program" sweep "$folder/short.sweep" --store "$store" >"$folder/out" 2>&1 &
    child=$!
    wait_for_rows
}

row_count() {
    if "$program" export --store "$store" --format csv >"$folder/csv" 2>/dev/null; then
        sed 1d "$folder/csv" | wc -l
    else
        echo 0
    fi
}

wait_for_rows() {
    while [ "$(row_count)" -lt 2 ]; do
        kill -0 "$child" 2>/dev/null || fail "the sweep ended before it could be interrupted"
        sleep 0.02
    done
}

end_status() {
    status=0
    wait "$child" || status=$?
    child=
}

resume() {
    "$program" sweep "$folder/short.sweep" --store "$store" --resume >"$folder/resumed" 2>&1 || [ $? -eq 1 ] ||
        fail "resume after SIG$1: $(cat "$folder/resumed")"
    [ "$(row_count)" -eq "$planned" ] || fail "resume after SIG$1 left $(row_count) of $planned rows"
}

leftovers() {
    grep -lsaF "PILFER_TEST_FOLDER=$folder" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
        executable=$(readlink "/proc/$pid/exe") || continue
        if [ "$executable" = "$(readlink -f "$program")" ]; then echo "$pid"; fi
    done
}

for case in INT:130 TERM:143 HUP:129; do
    signal=${case%:*}
    start
    kill -"$signal" "$child"
    end_status
    [ "$status" -eq "${case#*:}" ] || fail "SIG$signal gave status $status, expected ${case#*:}"
    [ -z "$(leftovers)" ] || fail "SIG$signal left processes: $(leftovers)"
    kept=$(row_count)
    [ "$kept" -ge 2 ] && [ "$kept" -lt "$planned" ] || fail "SIG$signal kept $kept rows"
    grep -q "what is missing can be measured with: .*--resume" "$folder/out" || fail "SIG$signal: no line says how to go on"
    resume "$signal"
    echo "SIG$signal: $kept of $planned repeats kept, resumed"
done

# SIGSTOP for SIGTSTP, which the kernel drops where there is no shell to continue it.
start
kill -STOP "$child"
until grep -q '^State:.T' "/proc/$child/status"; do
    kill -0 "$child" 2>/dev/null || fail "the sweep ended before it could be suspended"
    sleep 0.01
done
kill -CONT "$child"
end_status
[ "$status" -le 1 ] || fail "a suspended sweep ended with status $status"
[ "$(row_count)" -eq "$planned" ] || fail "a suspended sweep has $(row_count) of $planned rows"
echo "SIGSTOP, SIGCONT: complete"

rm -f "$store" "$store"-*
"$program" sweep "$folder/short.sweep" --store "$store" >"$folder/out" 2>&1 & # a shell ignores SIGINT for it
child=$!
wait_for_rows
kill -INT "$child"
end_status
[ "$status" -le 1 ] || fail "a sweep that ignores SIGINT ended with status $status"
[ "$(row_count)" -eq "$planned" ] || fail "a sweep that ignores SIGINT has $(row_count) of $planned rows"
echo "ignored SIGINT: complete"
