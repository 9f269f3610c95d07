#!/usr/bin/env bash
# llama.cpp's test-backend-ops: each tensor operation of its HIP backend against its CPU backend.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian llama.cpp-tests libggml0-backend-hip coreutils
libraries

program=/usr/libexec/x86_64-linux-gnu/ggml/test-backend-ops
# A device, and the number of cases in a sample.
for drawn in gfx90a=150 gfx908=150 gfx1100=50; do
    device=${drawn%=*}
    export FERROWAVE_DEVICE=emulator:$device
    # The columns are the backend, the operation, its parameters, the mode, and whether the backend supports it.
    run_in_debian "$program" support -b ROCm0 --output csv 2> /dev/null |
        sed -nE 's|^"ROCm0","([^"]*)","([^"]*)","support","1",.*|'"$program"' \1(\2)|p' | awk '!seen[$0]++' > "$work/all"
    if [ "$form" = sample ]; then
        draw "$device" "${drawn#*=}" ' [A-Z0-9_]+\(' < "$work/all" > "$work/cases"
    else
        cp "$work/all" "$work/cases"
    fi
    excluded "$device" "$work/cases"
    run_cases "$work/cases" --kind ggml --case-seconds 120 > "$work/$device"
    results "$device" "$work/$device"
done
finish
