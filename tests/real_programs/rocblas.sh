#!/usr/bin/env bash
# rocBLAS's rocblas-test: cases drawn by a seed.
set -euo pipefail
. "$(dirname "$0")/common.sh"
# Tests of logging run diff by a shell.
debian librocblas4-tests dash diffutils
libraries

program=/usr/libexec/rocm/librocblas4-tests/rocblas-test
# By itself it writes no line for a case that passes.
export GTEST_LISTENER=PASS_LINE_IN_LOG

# Draws cases of a category, and runs them.
drawn() {
    local device=$1 category=$2 count=$3 name=$1-$2
    export FERROWAVE_DEVICE=emulator:$device
    python3 "$here/rocblas_data.py" "$debian/usr/share/librocblas4-tests/data/rocblas_gtest.data" \
        "$category" "$count" "$name" > "$ours/$name" 2> "$work/$name.drawn"
    # Lines are suites, and with two spaces before them cases, behind which # begins a comment.
    run_in_debian "$program" --data "${ours#"$debian"}/$name" --gtest_list_tests 2> /dev/null |
        awk -v program="$program" '/^[^ ].*\.$/ { suite = $1 } /^  [^ ]/ && suite { print program, suite $1 }' > "$work/cases"
    excluded "$device" "$work/cases"
    run_cases "$work/cases" --case-seconds 300 --argument=--data --argument="${ours#"$debian"}/$name" > "$work/$name"
    results "$device, $category" "$work/$name"
    rm "$ours/$name"
}

if [ "$form" = sample ]; then
    drawn gfx908 quick 300
    drawn gfx90a quick 300
else
    for device in gfx908 gfx90a; do
        drawn "$device" quick 3000
        drawn "$device" pre_checkin 1000
    done
fi
finish
