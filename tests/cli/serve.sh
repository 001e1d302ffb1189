#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: `pilfer serve` answers any path with 200 on 127.0.0.1 only, its own count equals the client's, and on SIGINT
# or SIGTERM it finishes, prints `requests=N tasks_run=N refused=N` and exits 0.
#
# usage: serve.sh PROGRAM
set -eu

program=$(realpath "$1")
unset PILFER_STORE PILFER_COMMAND
command -v curl >/dev/null 2>&1 || {
    echo "skipped: curl is not here"
    exit 77
}
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
mkfifo said

fail() {
    echo "serve: $*"
    exit 1
}

# serve_and_stop SIGNAL WORKLOAD: five requests, then the signal.
serve_and_stop() {
    "$program" serve "$2" --scheduler chase-lev --port 0 >output 2>said &
    server=$!
    exec 3<said
    read -r line <&3 || fail "$2 said nothing"
    url=${line#listening on }
    case $url in
    http://127.0.0.1:*) ;;
    *) fail "unexpected line '$line'" ;;
    esac
    # The listening sockets of the server and its children are on loopback (0100007F) alone: 0A is the state LISTEN.
    port=$(printf '%04X' "${url##*:}")
    awk -v port=":$port" '$4 == "0A" && index($2, port) && $2 !~ /^0100007F/ { exit 1 }' /proc/net/tcp ||
        fail "port $port listens beyond 127.0.0.1"
    for path in / /ping /a/b?c=d /%20 /any; do
        code=$(curl -s -o /dev/null -w '%{http_code}' --noproxy '*' --max-time 20 "$url$path") || fail "$path: no answer"
        [ "$code" = 200 ] || fail "$path: answered $code"
    done
    kill -s "$1" "$server"
    status=0
    wait "$server" || status=$?
    server=
    [ "$status" = 0 ] || fail "status $status after $1: $(cat <&3)"
    ! read -r line <&3 || fail "one more line on standard error: '$line'"
    exec 3<&-
    line=$(cat output)
    case $line in
    "requests=5 tasks_run="[1-9]*" refused=0") ;;
    *) fail "counts after $1: '$line'" ;;
    esac
}

serve_and_stop INT router
serve_and_stop TERM router
serve_and_stop INT echo

status=0
"$program" serve ping >output.txt 2>errors || status=$?
[ "$status" = 2 ] || fail "serve ping: status $status"
grep -q 'router or echo' errors || fail "serve ping: $(cat errors)"

# A port that is taken.
"$program" serve echo --port 0 >output 2>said &
server=$!
exec 3<said
read -r line <&3
status=0
"$program" serve echo --port "${line##*:}" >output.txt 2>errors || status=$?
[ "$status" = 3 ] || fail "a taken port: status $status"
grep -q "${line##*:}" errors || fail "a taken port is not named: $(cat errors)"
kill -s TERM "$server"
wait "$server"
server=
