#!/usr/bin/env bash
# The test programs of rocPRIM, rocThrust and hipCUB: all for two minutes each, or some, drawn by a seed, for seconds.
# Cases that a program does not reach in its time are reported as not run.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian librocprim-tests librocthrust-tests libhipcub-tests
libraries

programs() {
    (cd "$debian" && find usr/libexec/rocm/lib{rocprim,rocthrust,hipcub}-tests -name 'test_*' | sort | sed 's|^|/|')
}

# A device, and the number of programs in a sample.
for drawn in gfx90a=30 gfx1100=10; do
    device=${drawn%=*}
    export FERROWAVE_DEVICE=emulator:$device
    if [ "$form" = sample ]; then
        programs | draw rocprim "${drawn#*=}" '.*/' | sed 's/$/ */' > "$work/cases"
        seconds=4
    else
        programs | sed 's/$/ */' > "$work/cases"
        seconds=120
    fi
    excluded "$device" "$work/cases"
    run_cases "$work/cases" --program-seconds "$seconds" > "$work/$device"
    results "$device" "$work/$device"
done
finish
