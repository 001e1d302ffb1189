#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Promises R8 (no data race) and R9 (no memory error, leak or undefined behaviour): the tests of pool and schedulers, and
# their units, in builds with the thread sanitizer and with the address and undefined-behaviour sanitizers. No suppression.
#
# Usage: sanitizers.sh SOURCE FOLDER quick|full [thread] [address]
#   FOLDER   the builds go into FOLDER/build-tsan and FOLDER/build-asan and are used again
#   quick    one scheduler, one bound and the structures; full: all units, conformance, broken and stress tests
# Without a kind: both. Status 0, 1 if something was found, 3 if a build could not be made.
set -u
[ $# -ge 3 ] || {
    echo 'usage: sanitizers.sh SOURCE FOLDER quick|full [thread] [address]' >&2
    exit 2
}
source=$1 folder=$2 size=$3
shift 3
[ $# -gt 0 ] || set -- thread address
case $size in
quick | full) ;;
*)
    echo "sanitizers.sh: '$size' is neither quick nor full" >&2
    exit 2
    ;;
esac

quick_tests='pool queue deque-from-0 bound check-chase-lev check-fixed-concurrency stress-chase-lev'
quick_targets='tests/unit-pool tests/unit-queue tests/unit-deque-from-0 tests/unit-bound
    tests/conformance/pilfer-check tests/stress/stress'

# The thread sanitizer of older compilers cannot start where the kernel randomises more than 28 bits of an address.
run=
if [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ] && setarch -R true 2>/dev/null; then
    run='setarch -R'
fi
# What a user may have set must not hide anything.
unset TSAN_OPTIONS ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS

status=0
for kind in "$@"; do
    case $kind in
    thread) build=$folder/build-tsan ;;
    address) build=$folder/build-asan ;;
    *)
        echo "sanitizers.sh: '$kind' is neither thread nor address" >&2
        exit 2
        ;;
    esac
    if [ ! -f "$build/build.ninja" ]; then
        meson setup "$build" "$source" -Dsanitizer="$kind" >"$folder/setup-$kind.log" 2>&1 || {
            cat "$folder/setup-$kind.log"
            echo "sanitizers.sh: $build cannot be configured"
            exit 3
        }
    fi
    # Word splitting is wanted: lists of names without spaces.
    # shellcheck disable=SC2086
    if [ "$size" = quick ]; then
        ninja -C "$build" $quick_targets || exit 3
        $run meson test -C "$build" --no-rebuild --print-errorlogs $quick_tests || status=1
    else
        ninja -C "$build" || exit 3
        $run meson test -C "$build" --no-rebuild --print-errorlogs --no-suite full --no-suite long \
            --suite unit --suite conformance --suite broken --suite stress || status=1
    fi
done
exit $status
