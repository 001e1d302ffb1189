#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs transcripts: what the program says is a promise, to the byte.
#
# usage: run.sh [--update] PROGRAM TRANSCRIPT...
#
# A transcript holds lines "$ command", and behind each what must follow: "> " a line of standard output, "! " a line of
# standard error, "= " the exit status. Lines that begin with # and empty lines are for the reader. The commands of one
# transcript run one after the other in one fresh folder, shown as FOLDER, in which `pilfer` is the program under test. --update writes
# what was seen into the transcript, to be read and committed by a person.
set -u

update=false
if [ "${1-}" = --update ]; then
    update=true
    shift
fi
if [ $# -lt 2 ]; then
    echo "usage: run.sh [--update] PROGRAM TRANSCRIPT..." >&2
    exit 2
fi
program=$(realpath "$1") || exit 2
shift

unset PILFER_STORE PILFER_COMMAND ARGP_HELP_FMT NO_COLOR
: "${TRANSCRIPT_LOCALE:=C}"
LC_ALL=$TRANSCRIPT_LOCALE
export LC_ALL

folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$folder/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "'$program'" >"$folder/bin/pilfer"
chmod +x "$folder/bin/pilfer"
PATH=$folder/bin:$PATH
export PATH

# Runs the commands of a transcript and writes it with what was seen.
replay() {
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '$ '*)
            printf '%s\n' "$line"
            (cd "$folder/work" && exec sh -c "${line#\$ }" </dev/null >"$folder/out" 2>"$folder/err")
            status=$?
            sed "s|$folder/work|FOLDER|g; s/^/> /; s/^> \$/>/" "$folder/out"
            sed "s|$folder/work|FOLDER|g; s/^/! /; s/^! \$/!/" "$folder/err"
            printf '= %s\n' "$status"
            ;;
        '>'* | '!'* | '='*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}

failed=0
passed=0
for transcript; do
    rm -rf "$folder/work"
    mkdir "$folder/work"
    replay "$transcript" >"$folder/seen"
    if $update; then
        cp "$folder/seen" "$transcript"
    elif diff -u --label "$transcript (promised)" --label "$transcript (seen)" "$transcript" "$folder/seen"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
$update || echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
