#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise: the checklist of scheduler dotnet bites. Each fault in the list is found by the item it is meant for, and, but for
# those marked with + after the item, by no other; each item has a fault, many have more.
#
# How it works. A mutant is one source file with one fault. It is compiled here and linked before the libraries that
# pilfer-check is made of, so that the linker takes the mutant's symbols and leaves the original's file out.
#
# Usage: dotnet_mutants.sh ROOT LIST COMPILER ARGUMENT... --instrumented PATTERN... --instrument ARGUMENT...
#            --link ARGUMENT...
# PATTERN: sources below ROOT that the arguments after --instrument are for.
# DOTNET_MUTANTS names items to which it is restricted, e.g. "D3 D17".
set -u
root=$1 list=$2
shift 2
compile='' instrumented='' instrument='' link='' section=compile
for argument; do
    case $argument in
    --instrumented) section=instrumented ;;
    --instrument) section=instrument ;;
    --link) section=link ;;
    *) eval "$section=\"\$$section \$argument\"" ;;
    esac
done
scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT
items=$(seq -s ' ' -f D%g 1 26)
all=$(printf '%s' "$items" | tr ' ' ',')
failed=0 killed=0

# The file of the block that begins in that line, with its fault in; what stands in the place of text that is not there
# once: nothing.
mutate() { # item line
    awk -v item="$1" -v line_of_item="$2" -v root="$root" -v out="$scratch/mutant.c" '
        function fail(why) { print item ": " why; failed = 1; exit 1 }
        function count(text, part,    n, at) {
            for (n = 0; (at = index(text, part)) > 0; n++)
                text = substr(text, at + length(part))
            return n
        }
        function replace(    at) {
            if (old == "")
                return
            if (count(text, old) != 1)
                fail("stands " count(text, old) " times in " file ": " old)
            at = index(text, old)
            text = substr(text, 1, at - 1) new substr(text, at + length(old))
            old = new = ""
        }
        NR == line_of_item { inside = 1; next }
        !inside { next }
        /^$/ { exit }
        /^-/ { replace(); old = substr($0, 2); next }
        /^\+/ { new = new (new == "" ? "" : "\n") substr($0, 2); next }
        {
            file = $0
            while ((getline line < (root "/" file)) > 0)
                text = text line "\n"
        }
        END {
            if (failed)
                exit 1
            replace()
            printf "%s", text >out
            print file
        }' "$list"
}

# The arguments of that file alone.
arguments_of() ( # file
    set -f # a pattern is not a path here
    for pattern in $instrumented; do
        # shellcheck disable=SC2254 # it is a pattern
        case $1 in $pattern) printf '%s' "$instrument" ;; esac
    done
)

run_mutant() { # item line
    rm -f "$scratch/check"
    file=$(mutate "$1" "$2") || { printf '%s\n' "$file"; return 1; }
    extra=$(arguments_of "$file")
    only=$all
    [ "$(awk -v line="$2" 'NR == line { print $1 }' "$list")" = "$1+" ] && only=$1
    # shellcheck disable=SC2086 # lists of arguments without blanks
    $compile $extra -I"$root/$(dirname "$file")" -I"$root/pool" -I"$root/schedulers" -I"$root/experiments" \
        -c "$scratch/mutant.c" -o "$scratch/mutant.o" || return 1
    # shellcheck disable=SC2086
    ${compile%% -std*} "$scratch/mutant.o" $link -o "$scratch/check" || return 1
    "$scratch/check" dotnet --only "$only" --patience 10 >"$scratch/said" 2>"$scratch/errors"
    found=$(sed -n 's/^\(D[0-9]*\) .* broken: .*/\1/p' "$scratch/said" | tr '\n' ' ')
    [ "$found" = "$1 " ] && return 0
    sed -n "$2p" "$list"
    printf '%s: found by: %s\n' "$1" "${found:-none}"
    grep ' broken: ' "$scratch/said"
    tail -n 1 "$scratch/said"
    return 1
}

faults=0
for item in ${DOTNET_MUTANTS:-$items}; do
    lines=$(awk -v item="$item" '$1 == item || $1 == item "+" { print NR }' "$list")
    [ -n "$lines" ] || { printf '%s: has no fault in the list\n' "$item"; failed=1; }
    for line in $lines; do
        faults=$((faults + 1))
        if run_mutant "$item" "$line"; then
            killed=$((killed + 1))
            grep "^$item .* broken: " "$scratch/said" | sed 's/; repeat: .*//'
        else
            failed=1
        fi
    done
done
printf '%s of %s faults found, each by its own item\n' "$killed" "$faults"
exit $failed
