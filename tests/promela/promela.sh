#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promise (R3): the sleep and stop protocol loses no task and no wake-up in any interleaving of the models sleep.pml and
# fences.pml, and the models bite: each fault that can be compiled into them is found.
#
# Method. Each row of the table below is one run of spin over all states of a model: safety (its assertions, and that
# nobody stands still but asleep) or one of its formulas, under weak fairness. A row without a fault must hold, and have
# no fewer states than the floor beside it, so that lost coverage shows. A row with a fault must be found wrong, in the
# way beside it. Last, each line of the models must have been reached by some row that holds.
#
# Usage: promela.sh FOLDER [PATTERN]     FOLDER of the models; only the rows that match, e.g. 'sleep .*LIFO'
# To see a fault happen: spin -a, gcc, ./pan and spin -t as in check() below, with the row's -D.
#
# Skips with status 77 where spin or a C compiler is missing.
set -u
export LC_ALL=C
self=$0
folder=$(cd "$1" && pwd) || exit 3

# What is checked | floor of states, or what is found | parameters
table() {
    cat <<'END'
sleep safety|550000|POLICY=EAGER WORKERS=3 GOAL=2 EACH=1 SPIN=1
sleep safety|1600000|POLICY=LIFO WORKERS=3 GOAL=2 EACH=1
sleep safety|1000000|POLICY=SINGLE WORKERS=3 GOAL=2 EACH=1 SPIN=1
sleep safety|210000|POLICY=EAGER WORKERS=2 GOAL=1 EACH=2
sleep safety|510000|POLICY=LIFO WORKERS=2 GOAL=1 EACH=2
sleep safety|1400000|POLICY=SINGLE WORKERS=2 GOAL=1 EACH=2
sleep safety|130000|POLICY=LIFO WORKERS=2 GOAL=2 EACH=1 SPIN=1
sleep safety|330000|POLICY=EAGER WORKERS=2 STARTED=1 GOAL=2 EACH=1 FAIL=1 CLOSE=RUN
sleep safety|74000|POLICY=LIFO WORKERS=2 STARTED=1 GOAL=2 EACH=1 FAIL=1
sleep safety|630000|POLICY=SINGLE WORKERS=2 STARTED=1 GOAL=2 EACH=1 FAIL=1 CLOSE=RUN
sleep safety|15000|POLICY=LIFO WORKERS=2 STARTED=1 GOAL=1 EACH=1 WAITS=OTHER
sleep safety|11000|POLICY=EAGER WORKERS=2 STARTED=1 GOAL=1 EACH=1 FAIL=1 WAITS=OTHER
sleep safety|480000|POLICY=EAGER WORKERS=3 GOAL=2 EACH=1 WAITS=OTHER MISS=1
sleep safety|56000|POLICY=LIFO WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER MISS=1
sleep safety|84000|POLICY=SINGLE WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER MISS=1
sleep safety|300000|POLICY=EAGER WORKERS=2 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS
sleep safety|1400000|POLICY=LIFO WORKERS=2 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS
sleep safety|2400000|POLICY=SINGLE WORKERS=2 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS
sleep safety|260000|POLICY=EAGER WORKERS=2 STARTED=1 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS
sleep safety|1800000|POLICY=SINGLE WORKERS=2 STARTED=1 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS
sleep safety|44000|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN
sleep safety|830000|POLICY=EAGER WORKERS=2 GOAL=2 EACH=1 CLOSE=RUN
sleep safety|2300000|POLICY=LIFO WORKERS=2 GOAL=2 EACH=1 CLOSE=RUN
sleep safety|1400000|POLICY=SINGLE WORKERS=2 GOAL=2 EACH=1 CLOSE=RUN
sleep safety|890000|POLICY=EAGER WORKERS=2 GOAL=2 EACH=1 CLOSE=GIVE_BACK
sleep safety|71000|POLICY=LIFO WORKERS=1 GOAL=1 EACH=1 CLOSE=GIVE_BACK
sleep safety|66000|POLICY=SINGLE WORKERS=1 GOAL=1 EACH=1 CLOSE=GIVE_BACK
sleep safety|880000|POLICY=EAGER WORKERS=2 GOAL=1 EACH=1 CLOSE=RUN WAITS=CHILD
sleep safety|1200000|POLICY=LIFO WORKERS=2 GOAL=1 EACH=1 CLOSE=RUN WAITS=CHILD
sleep safety|1400000|POLICY=SINGLE WORKERS=2 GOAL=1 EACH=1 CLOSE=RUN WAITS=CHILD
sleep safety|39000|POLICY=EAGER WORKERS=2 GOAL=1 EACH=1 SUBMITTERS=1 CLOSE=GIVE_BACK WAITS=CHILD
sleep safety|51000|POLICY=LIFO WORKERS=2 GOAL=1 EACH=1 SUBMITTERS=1 CLOSE=GIVE_BACK WAITS=CHILD
sleep safety|48000|POLICY=SINGLE WORKERS=2 GOAL=1 EACH=1 SUBMITTERS=1 CLOSE=GIVE_BACK WAITS=CHILD
sleep tasks_are_run|79000|POLICY=EAGER WORKERS=2 GOAL=2 EACH=1 SPIN=1
sleep tasks_are_run|180000|POLICY=LIFO WORKERS=2 GOAL=2 EACH=1
sleep tasks_are_run|130000|POLICY=SINGLE WORKERS=2 GOAL=2 EACH=1
sleep workers_sleep|47000|POLICY=EAGER WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER
sleep workers_sleep|99000|POLICY=LIFO WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER
sleep workers_sleep|150000|POLICY=SINGLE WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER
sleep close_ends|44000|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN
sleep close_ends|61000|POLICY=LIFO WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN
sleep close_ends|66000|POLICY=SINGLE WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN
sleep close_ends|38000|POLICY=EAGER WORKERS=2 GOAL=1 EACH=1 SUBMITTERS=1 CLOSE=RUN WAITS=CHILD
fences safety|28000|POLICY=EAGER SUBMITTERS=3
fences safety|84000|POLICY=LIFO SUBMITTERS=3
fences safety|350000|POLICY=SINGLE SUBMITTERS=3
fences safety|100000|POLICY=EAGER WORKERS=2 SUBMITTERS=3 HOLD=1
fences safety|80000|POLICY=LIFO WORKERS=2 HOLD=1
fences safety|52000|POLICY=SINGLE WORKERS=2 HOLD=1
fences safety|72|POLICY=GUEST
fences safety|67|POLICY=STRANGER
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 FAULT_NO_SECOND_LOOK
sleep safety|assertion|POLICY=LIFO WORKERS=1 GOAL=1 EACH=1 FAULT_NO_SECOND_LOOK
sleep safety|assertion|POLICY=SINGLE WORKERS=1 GOAL=1 EACH=2 FAULT_NO_SECOND_LOOK
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 FAULT_LOOK_BEFORE_LEAVING
sleep safety|assertion|POLICY=SINGLE WORKERS=1 GOAL=1 EACH=2 FAULT_LOOK_BEFORE_LEAVING
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 FAULT_NO_SIGNAL_KEPT
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 FAULT_NO_PERMIT
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 FAULT_PROMISE_STAYS
sleep safety|assertion|POLICY=LIFO WORKERS=1 GOAL=1 EACH=2 FAULT_FLAG_CLEARED_LATE
sleep workers_sleep|cycle|POLICY=LIFO WORKERS=1 GOAL=1 EACH=1 FAULT_FLAG_STAYS
sleep safety|assertion|POLICY=LIFO WORKERS=2 GOAL=2 EACH=1 WAITS=HOLDS FAULT_FIRST_DOES_NOT_ASK
sleep safety|assertion|POLICY=SINGLE WORKERS=1 GOAL=1 EACH=2 FAULT_WORD_BACK_NO_LOOK
sleep safety|assertion|POLICY=SINGLE WORKERS=2 GOAL=2 EACH=1 WAITS=HOLDS FAULT_SEARCH_NOT_HANDED_ON
sleep safety|assertion|POLICY=SINGLE WORKERS=2 GOAL=2 EACH=1 SUBMITTERS=3 WAITS=HOLDS FAULT_SEARCH_NOT_RESUMED
sleep safety|assertion|POLICY=EAGER WORKERS=2 STARTED=1 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS FAULT_COUNTED_TWICE
sleep safety|assertion|POLICY=SINGLE WORKERS=2 STARTED=1 GOAL=2 SUBMITTERS=3 EACH=1 WAITS=HOLDS FAULT_COUNTED_TWICE
sleep workers_sleep|cycle|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 FAULT_PENDING_ALWAYS
sleep safety|assertion|POLICY=EAGER WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER FAULT_NO_SUBSTITUTE
sleep safety|assertion|POLICY=LIFO WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER FAULT_NO_SUBSTITUTE
sleep safety|assertion|POLICY=SINGLE WORKERS=2 GOAL=1 EACH=1 WAITS=OTHER FAULT_NO_SUBSTITUTE
sleep safety|assertion|POLICY=EAGER WORKERS=2 STARTED=1 GOAL=2 EACH=1 FAIL=1 FAULT_FAILED_STAYS_COUNTED
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN FAULT_GATE_LOOKS_FIRST
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=GIVE_BACK FAULT_GATE_LOOKS_FIRST
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN FAULT_CLOSE_NO_MARKS
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN FAULT_REFUSED_BUT_QUEUED
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN WAITS=CHILD FAULT_CLOSE_NO_LOOK
sleep safety|assertion|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN WAITS=CHILD FAULT_CLOSE_COUNTS_FIRST
sleep safety|end state|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN FAULT_CLOSER_NOT_TOLD
sleep safety|end state|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN FAULT_SEMAPHORE_NOT_STOPPED
sleep close_ends|cycle|POLICY=EAGER WORKERS=1 GOAL=1 EACH=1 CLOSE=RUN FAULT_SEMAPHORE_NOT_STOPPED
fences safety|assertion|POLICY=EAGER FAULT_NO_FENCE_PUBLISH
fences safety|assertion|POLICY=EAGER FAULT_NO_FENCE_LEAVE
fences safety|assertion|POLICY=LIFO FAULT_NO_FENCE_PUBLISH
fences safety|assertion|POLICY=LIFO FAULT_NO_FENCE_CLEAR
fences safety|assertion|POLICY=LIFO FAULT_FLAG_RELAXED
fences safety|assertion|POLICY=LIFO FAULT_ENGAGE_RELAXED
fences safety|assertion|POLICY=SINGLE FAULT_NO_FENCE_PUBLISH
fences safety|assertion|POLICY=SINGLE FAULT_NO_FENCE_LEAVE
fences safety|assertion|POLICY=SINGLE WORKERS=2 HOLD=1 FAULT_NO_FENCE_CLEAR
fences safety|assertion|POLICY=SINGLE SUBMITTERS=3 FAULT_NO_FENCE_GIVE_BACK
fences safety|assertion|POLICY=GUEST FAULT_NO_FENCE_MARK
fences safety|assertion|POLICY=GUEST FAULT_NO_FENCE_STATE
fences safety|assertion|POLICY=GUEST FAULT_LEAVE_RELAXED
fences safety|assertion|POLICY=STRANGER FAULT_NO_FENCE_MARK
fences safety|assertion|POLICY=STRANGER FAULT_NO_FENCE_STATE
END
}

# One row, in a folder of its own: prints its line, with what is wrong where something is; leaves compiled and reached
# lines of the model for the whole.
check() { # folder to work in, row
    mkdir "$1" && cd "$1" || exit 3
    IFS='|' read -r subject expected parameters <<END
$2
END
    model=${subject% *} formula=${subject#* }
    # shellcheck disable=SC2086 # a list of words
    set -- $(printf -- '-D%s ' $parameters)
    case $expected in
    *[!0-9]*) floor=0 ;;
    *) floor=$expected ;;
    esac
    optimise=-O0 # of the checker: long runs only are worth it
    [ "$floor" -lt 1000000 ] || optimise=-O1
    options="-m100000 -w20"
    if [ "$formula" = safety ]; then
        defines="-DSAFETY -DNOCLAIM"
    else
        defines="-DNFAIR=3" options="$options -a -f -N $formula"
    fi
    # shellcheck disable=SC2086 # lists of words
    spin -a "$@" "$folder/$model.pml" >spin.log 2>&1
    # shellcheck disable=SC2086
    ${CC:-cc} $optimise -pipe -w -DMEMLIM=400 $defines -o pan pan.c >cc.log 2>&1 ||
        { cat spin.log cc.log; echo "cannot build the checker of: $subject $parameters"; exit 1; }
    # shellcheck disable=SC2086
    timeout 300 ./pan $options >found 2>&1
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' found | awk '{ printf "%d", $1 }')
    outcome=holds
    grep -q 'errors: 0$' found || outcome='no answer'
    grep -q 'pan:.*assertion violated' found && outcome=assertion
    grep -q 'pan:.*invalid end state' found && outcome='end state'
    grep -q 'pan:.*acceptance cycle' found && outcome=cycle
    grep -q 'max search depth too small\|Search not completed\|out of memory' found && [ "$outcome" = holds ] &&
        outcome='not all states'
    wrong=
    case $expected in
    *[!0-9]*) [ "$outcome" = "$expected" ] || wrong="  WRONG: the fault is to be found: $expected" ;;
    *)
        [ "$outcome" = holds ] || wrong="  WRONG: is to hold"
        [ "${states:-0}" -ge "$floor" ] || wrong="$wrong  WRONG: fewer than $floor states"
        # A line may stand in several places of the checker; one of them is enough.
        ./pan -d | cat - found | awk -v model="$model" '
            /^proctype |^init|^unreached in/ { place = $NF }
            /-\(tr .*pml:/ { split($0, part, model ".pml:"); lines[place, $2] = part[2] + 0 }
            /pml:.*, state / { split($0, part, ", state "); delete lines[place, part[2] + 0] }
            END { for (state in lines) print model ".pml:" lines[state] }' >reached
        ./pan -d | sed -n "s/.*$model.pml:\([0-9]*\) .*/$model.pml:\1/p" >compiled
        ;;
    esac
    printf '%-10s %9s states  %s: %s%s\n' "$outcome" "${states:-0}" "$subject" "$parameters" "$wrong"
    [ -z "$wrong" ] || cp found kept
    rm -f pan pan.*
}

if [ "${2:-}" = --row ]; then
    check "$3/$4" "$(sed -n "$4p" "$3/rows")"
    exit
fi

compiler=${CC:-cc}
for program in spin "${compiler%% *}"; do
    command -v "$program" >/dev/null 2>&1 || { echo "skipped: no program $program"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table | grep -E -e "${2:-.}" >"$work/rows"
rows=$(grep -c . "$work/rows")
jobs=$(nproc)
[ "$jobs" -le 4 ] || jobs=4 # of up to 250 MB each
seq 1 "$rows" | xargs -P "$jobs" -I {} sh "$self" "$folder" --row "$work" {} | tee "$work/lines"

faults=0
for found in "$work"/*/kept; do
    [ -f "$found" ] || continue
    faults=$((faults + 1))
    head -n 20 "$found"
done
holding=$(grep -c '^holds .*[^:]$' "$work/lines")
lines=$(grep -c ' states  ' "$work/lines")
if [ $# = 1 ]; then
    cat "$work"/*/compiled | sort -u >"$work/compiled"
    cat "$work"/*/reached | sort -u | comm -23 "$work/compiled" - | sort -t : -k 1,1 -k 2,2n >"$work/unreached"
    while read -r line; do
        echo "WRONG: no row that holds reaches $line"
        faults=$((faults + 1))
    done <"$work/unreached"
fi
[ "$lines" = "$rows" ] || { echo "WRONG: $lines of $rows rows have an answer"; faults=$((faults + 1)); }
echo "$rows rows: $holding hold, $((lines - holding)) are found wrong; $faults not as they should be"
[ "$faults" = 0 ]
