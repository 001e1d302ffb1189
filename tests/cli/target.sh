#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: a target that comes with the program is built without a network where its runtime is, and measured: requests
# are answered, its rows carry its name and the version of the runtime, and nothing of it is left. What the knobs are
# said to be is what the runtime has; one that the runtime would ignore is refused.
#
# usage: target.sh PROGRAM NAME
# Skipped (77) where the runtime is not there.
set -eu

program=$(realpath "$1")
name=$2
unset PILFER_STORE PILFER_COMMAND
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "target $name: $*"
    cat out errors 2>/dev/null
    exit 1
}

# A named column of all rows: column NAME
column() {
    "$program" export | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        c { print $c }'
}

# A knob that not every target has; elsewhere it has no effect.
case $name in
dotnet*) processors=12 ;;
*) processors= ;;
esac

status=0
"$program" sweep quick --target "$name" --set repeats=1 --set duration=500ms --set max-workers=1 --set spin-limit=0 \
    --set rate=500 ${processors:+--set processors=$processors} --foreign-limit 1000 --seed 7 >out 2>errors || status=$?
if [ "$status" = 3 ] && grep -q 'there is no program' errors; then
    echo "skipped: $(sed 's/^pilfer: //' errors)"
    exit 77
fi
# 1: a repeat was invalid, which a busy machine can do to any.
[ "$status" -le 1 ] || fail "status $status"
[ "$(column target)" = "$name" ] || fail "the column target is '$(column target)'"
[ -z "$(column scheduler)" ] || fail "the column scheduler is '$(column scheduler)'"
[ -n "$(column target_version)" ] || fail "no version of the runtime"
[ "$(column max_workers)" = 1 ] || fail "max_workers is '$(column max_workers)'"
[ "$(column processors)/$(column processors_resolved)" = "$processors/$processors" ] ||
    fail "processors is '$(column processors)', '$(column processors_resolved)'"
[ "$(column requests)" -gt 0 ] || fail "nothing was answered"
for number in router_cpu_percent voluntary_switches threads router_memory_mib; do
    [ "$(column $number | awk '{ print ($1 > 0) }')" = 1 ] || fail "$number is '$(column $number)'"
done

# With --hold: the server's own process, what it was told, and its end.
mkfifo go
"$program" run --target "$name" --max-workers 3 --spin-limit 70 ${processors:+--processors $processors} --duration 50ms --hold <go >held 2>errors &
runner=$!
exec 3>go
for _ in $(seq 600); do
    grep -q '^load' held && break
    kill -0 $runner 2>/dev/null || fail "it ended before it was held"
    sleep 0.1
done
server=$(sed -n 's/^router //p' held)
[ -n "$server" ] || fail "no server was held"
tr '\0' '\n' <"/proc/$server/environ" >environment
tr '\0' ' ' <"/proc/$server/cmdline" >words
case $name in
dotnet*)
    grep -qx 'DOTNET_ThreadPool_UnfairSemaphoreSpinLimit=46' environment || fail "the spin limit is not hexadecimal"
    grep -q -- '--max-workers 3 ' words || fail "max-workers is not there: $(cat words)"
    # What the runtime makes of them: the program of the server, in its environment.
    for row in '--limits/3 to 3' '--min-workers 0 --limits/1 to 3'; do
        limits=$(xargs -0 sh -c 'exec env -i "$@" $0' "$(cat words) ${row%/*}" <"/proc/$server/environ") || true
        [ "$limits" = "12 processors, ${row#*/} workers" ] || fail "the runtime has '$limits', with ${row%/*}"
    done
    ;;
java) grep -q -- '--max-workers 3 ' words || fail "max-workers is not there: $(cat words)" ;;
go) grep -qx 'GOMAXPROCS=3' environment || fail "GOMAXPROCS is not there" ;;
esac
kill -s TERM $runner
exec 3>&-
wait $runner || true
# (A zombie has ended; who has taken it over may not have looked yet.)
! grep -q '^State:[[:space:]]*[A-WYa-w]' "/proc/$server/status" 2>/dev/null || fail "the server is still there"

# A spin limit of which the runtime would use its default, and say nothing, stands in no row.
case $name in
dotnet*)
    status=0
    "$program" run --target "$name" --spin-limit 40000 --duration 50ms >out 2>errors || status=$?
    [ "$status" = 3 ] || fail "spin limit 40000: status $status"
    grep -q 'it left with status 2; it wrote: the runtime would ignore [A-Za-z_]*=9c40: it takes 0 to 7fff' errors ||
        fail "spin limit 40000 is not refused"
    "$program" run --target "$name" --spin-limit 32767 --duration 50ms --foreign-limit 1000 >out 2>errors || status=$?
    [ "$(column spin_limit)" = 32767 ] || fail "spin limit 32767 is not measured"
    ;;
esac
