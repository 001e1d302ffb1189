#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the locale does not change a byte of what the program reads and writes. Every transcript, and the reports,
# exports and pictures of one measured cell, are the same where the decimal sign is a comma.
#
# usage: locale.sh RUNNER PROGRAM TRANSCRIPT...
# Skipped (77) where no such locale can be made.
set -eu

runner=$1
program=$(realpath "$2")
shift 2
unset PILFER_STORE PILFER_COMMAND
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! command -v localedef >/dev/null 2>&1 || ! mkdir "$folder/locales" ||
    ! localedef -c -i de_DE -f UTF-8 "$folder/locales/de_DE.UTF-8" >/dev/null 2>&1; then
    echo "skipped: localedef cannot make de_DE.UTF-8 here (package locales)"
    exit 77
fi
comma() {
    LOCPATH=$folder/locales LC_ALL=de_DE.UTF-8 "$@"
}
[ "$(comma env printf '%.1f' 0)" = 0,0 ] || {
    echo "skipped: the locale that was made has no decimal comma"
    exit 77
}

comma env TRANSCRIPT_LOCALE=de_DE.UTF-8 "$runner" "$program" "$@"

# A cell measured and stored under the comma, with a value that has a decimal point.
cd "$folder"
comma "$program" run --workload trickle --period 1.5ms --duration 60ms --warmup 0s --seed 7 >comma.run 2>/dev/null || [ $? = 1 ]
grep -q '^  period_s  *0\.0015$' comma.run || {
    echo "a decimal point in a value was lost:"
    grep period_s comma.run
    exit 1
}
failed=0
while read -r arguments; do
    # shellcheck disable=SC2086 # a list of words
    LC_ALL=C "$program" $arguments >plain.out 2>&1 || true
    # shellcheck disable=SC2086
    comma "$program" $arguments >comma.out 2>&1 || true
    if ! [ -s plain.out ] || ! cmp plain.out comma.out; then
        echo "differs: pilfer $arguments"
        failed=1
    fi
done <<'END'
list
help
sweep --help
sweep quick --show-plan --seed 1
report
report --all
export
export --format json
export --format markdown
plot cpu-per-request
plot cpu-split
run --period 1,5ms
run --rate 1.5x
END
exit $failed
