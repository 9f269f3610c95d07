#!/usr/bin/env bash
# The test programs of rocPRIM, rocThrust and hipCUB: each for two minutes, or some, drawn by a seed, for seconds. What a
# program has not got to by then is not run, and said.
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
