#!/usr/bin/env bash
# rocBLAS's rocblas-test: cases drawn by a seed.
set -euo pipefail
. "$(dirname "$0")/common.sh"
# Tests of logging run diff by a shell.
debian librocblas4-tests dash diffutils
libraries

program=/usr/libexec/rocm/librocblas4-tests/rocblas-test
# By default it prints no line for a case that passes.
export GTEST_LISTENER=PASS_LINE_IN_LOG

# Draws cases of a category and runs them.
drawn() {
    local device=$1 category=$2 count=$3 name=$1-$2
    export FERROWAVE_DEVICE=emulator:$device
    python3 "$here/gentest_data.py" "$debian/usr/share/librocblas4-tests/data/rocblas_gtest.data" \
        "$category" "$count" "$name" > "$ours/$name" 2> "$work/$name.drawn"
    google_tests "$program" --data "${ours#"$debian"}/$name" > "$work/cases"
    excluded "$device" "$work/cases"
    run_cases "$work/cases" --case-seconds 300 --argument=--data --argument="${ours#"$debian"}/$name" > "$work/$name"
    results "$device, $category" "$work/$name"
    rm "$ours/$name"
}

if [ "$form" = sample ]; then
    drawn gfx908 quick 300
    drawn gfx90a quick 300
    drawn gfx1100 quick 100
else
    for device in gfx908 gfx90a; do
        # It leaves out one in fifteen of the drawn cases: those for other GPUs, or known to fail.
        drawn "$device" quick 3250
        drawn "$device" pre_checkin 1050
    done
    drawn gfx1100 quick 1100
fi
finish
