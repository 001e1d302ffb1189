#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: `pilfer explore` goes on after a violation, prints each kind once with the command that replays it, and closes
# with `explored N runs, ...`; the same seed finds the same; a replay is the same to the byte and ends with status 1. An
# interruption prints what was found until then. Progress is for terminals. Where a program is missing, one line says so.
#
# usage: explore.sh PROGRAM RARE ALWAYS SAFE
#   RARE is broken in some of 20,000 runs, ALWAYS in each, SAFE in none
set -eu

program=$(realpath "$1")
rare=$2 always=$3 safe=$4
unset PILFER_STORE PILFER_COMMAND
folder=$(mktemp -d)
explorer=
trap '[ -z "$explorer" ] || kill -9 "$explorer" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "explore: $*"
    exit 1
}

# explore STATUS WORD...: output in the files out and err.
explore() {
    expected=$1
    shift
    status=0
    "$program" explore "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$expected" ] || fail "$*: status $status instead of $expected: $(cat err)"
}

# ---- what is printed ----

explore 1 "$rare" --runs 20000 --seed 1
[ ! -s err ] || fail "words on standard error: $(cat err)"
tail -n 1 out | grep -q '^explored 20000 runs, [1-9][0-9]* broken, [1-9][0-9]* kinds, .* runs/s$' ||
    fail "no closing line: $(tail -n 1 out)"
kinds=$(tail -n 1 out | sed 's/.* broken, \([0-9]*\) kinds.*/\1/')
[ "$(grep -c "^replay: ./run explore $rare --replay " out)" = "$kinds" ] || fail "not one replay for each of $kinds kinds"
sed '$d' out >first
explore 1 "$rare" --runs 20000 --seed 1
sed '$d' out | cmp - first || fail "the same seed finds something else"
explore 1 "$rare" --runs 20000 --seed 1 --brief
[ "$(grep -c '; replay: ./run explore ' out)" = "$kinds" ] || fail "--brief: not one line for each of $kinds kinds"
[ "$(wc -l <out)" = "$((kinds + 1))" ] || fail "--brief: more than a line for each kind"
explore 0 "$safe" --runs 20000 --seed 1
grep -q '^explored 20000 runs, 0 broken, 0 kinds, ' out || fail "no closing line of a clean exploration: $(cat out)"
! grep -q '^replay: ' out || fail "a replay of a clean exploration"

# ---- replays ----

grep '^replay: ' first | sed 's/.* --replay //' >runs
while read -r run; do
    explore 1 "$rare" --replay "$run"
    mv out replayed
    explore 1 "$rare" --replay "$run"
    cmp out replayed || fail "a replay differs from itself"
    grep -qxF "replay: ./run explore $rare --replay $run" out || fail "a replay does not name itself"
    grep -qxF "$(head -n 1 out)" first || fail "the replay of $run shows something else: $(head -n 1 out)"
done <runs

# ---- signals ----

# Time on the processor, in ticks: the first runs have been made.
ticks() {
    awk '{ print $14 }' "/proc/$explorer/stat" 2>/dev/null || echo 0
}
handles() { # SIGINT and SIGTERM, bits 1 and 14
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$explorer/status" 2>/dev/null)
    [ $((0x${mask:-0} & 0x4002)) = $((0x4002)) ]
}
for pair in INT=130 TERM=143; do
    "$program" explore "$always" --runs 1000000000000 >out 2>err </dev/null &
    explorer=$!
    until handles && [ "$(ticks)" -ge 5 ]; do
        kill -0 "$explorer" || fail "it ended by itself: $(cat out err)"
        sleep 0.05
    done
    kill -s "${pair%=*}" "$explorer"
    status=0
    wait "$explorer" || status=$?
    explorer=
    [ "$status" = "${pair#*=}" ] || fail "status $status after SIG${pair%=*}"
    grep -q "^replay: ./run explore $always --replay " out || fail "what was found is lost: $(cat out)"
    tail -n 1 out | grep -q '^explored [1-9][0-9]* runs, .*, interrupted, ' || fail "no closing line: $(tail -n 1 out)"
    [ ! -s err ] || fail "words on standard error, which is no terminal: $(cat err)"
done

# ---- progress ----

# progress COLUMNS PATTERN: on a terminal of that width a line of progress appears that fits the pattern.
progress() {
    rm -f pid typescript
    printf '#!/bin/sh\nstty cols %s\necho $$ >pid\nexec "%s" explore %s --runs 1000000000000\n' "$1" "$program" "$safe" >long
    chmod +x long
    TERM=xterm script -q -c ./long typescript </dev/null >/dev/null &
    terminal=$!
    until [ -s pid ]; do sleep 0.05; done
    explorer=$(cat pid)
    until [ -s typescript ] && sed 's/\x1b\[K//g' typescript | tr '\r' '\n' | grep -q "$2"; do
        kill -0 "$terminal" || fail "no progress on a terminal of $1 columns: $(cat typescript)"
        sleep 0.05
    done
    kill -s INT "$explorer"
    wait "$terminal" || true
    explorer=
}

if command -v script >/dev/null 2>&1; then
    progress 120 '^[1-9][0-9]* of 1000000000000 runs, [0-9]*/s, 0 kinds broken, .* left'
    progress 20 '^[1-9][0-9]* of 10000'
    # Cut at the width, one column free.
    ! sed 's/\x1b\[K//g' typescript | tr '\r' '\n' | grep '^[1-9][0-9]* of 10000' | grep -q '.\{20\}' ||
        fail "a line of progress is wider than its terminal: $(cat typescript)"
fi

# ---- without the other programs ----

cp "$program" alone
for verb in check explore; do
    status=0
    ./alone "$verb" chase-lev >out 2>err || status=$?
    [ "$status" = 3 ] || fail "$verb without its program: status $status"
    [ ! -s out ] && [ "$(cat err)" = "pilfer: $verb: the program pilfer-$verb is missing beside this one; build everything: \`./run test\`" ] ||
        fail "$verb without its program: $(cat out err)"
done
