#!/usr/bin/env bash
# The test programs of rocPRIM, rocThrust and hipCUB: cases drawn by a seed, or all that two minutes a program are enough for.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian librocprim-tests librocthrust-tests libhipcub-tests
libraries

export FERROWAVE_DEVICE=emulator:gfx90a
programs() {
    (cd "$debian" && find usr/libexec/rocm/lib{rocprim,rocthrust,hipcub}-tests -name 'test_*' | sort | sed 's|^|/|')
}

if [ "$form" = sample ]; then
    # Of 60 programs a case each. A program lists suites, and under each its cases, with two spaces before them and a
    # comment behind #.
    programs | draw rocprim 60 '.*/' | while read -r program; do
        run_in_debian "$program" --gtest_list_tests 2> /dev/null < /dev/null |
            awk -v program="$program" '/^[^ ].*\.( |$)/ { suite = $1 } /^  [^ ]/ && suite { print program, suite $1 }' || true
    done > "$work/all"
    draw rocprim 60 '^[^ ]* ' < "$work/all" > "$work/cases"
    limits=(--case-seconds 30)
else
    programs | sed 's/$/ */' > "$work/cases"
    limits=(--program-seconds 120)
fi
excluded gfx90a "$work/cases"
run_cases "$work/cases" "${limits[@]}" > "$work/gfx90a"
results gfx90a "$work/gfx90a"
finish
