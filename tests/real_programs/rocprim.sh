#!/usr/bin/env bash
# The test programs of rocPRIM, rocThrust and hipCUB.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian librocprim-tests librocthrust-tests libhipcub-tests
libraries

programs() {
    (cd "$debian" && find usr/libexec/rocm/lib{rocprim,rocthrust,hipcub}-tests -name 'test_*' | sort | sed 's|^|/|')
}

export FERROWAVE_DEVICE=emulator:gfx90a
programs | sed 's/$/ */' > "$work/cases"
excluded gfx90a "$work/cases"
run_cases "$work/cases" --program-seconds 120 > "$work/gfx90a"
results gfx90a "$work/gfx90a"
finish
