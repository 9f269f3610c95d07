#!/usr/bin/env bash
# The test programs of rocPRIM, rocThrust and hipCUB: all for two minutes each, or some, drawn by a seed, for seconds.
# Cases that a program does not reach in its time are reported as not run.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian librocprim-tests librocthrust-tests libhipcub-tests
libraries

export FERROWAVE_DEVICE=emulator:gfx90a
programs() {
    (cd "$debian" && find usr/libexec/rocm/lib{rocprim,rocthrust,hipcub}-tests -name 'test_*' | sort | sed 's|^|/|')
}

if [ "$form" = sample ]; then
    programs | draw rocprim 30 '.*/' | sed 's/$/ */' > "$work/cases"
    seconds=4
else
    programs | sed 's/$/ */' > "$work/cases"
    seconds=120
fi
excluded gfx90a "$work/cases"
run_cases "$work/cases" --program-seconds "$seconds" > "$work/gfx90a"
results gfx90a "$work/gfx90a"
finish
