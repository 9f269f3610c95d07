#!/usr/bin/env bash
# Our own HIP programs in C++, built by Debian's clang with ROCm's headers: plain and compressed bundles, and workgroups that
# wait for each other.
#
#   hip.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"

debian clang clang-tools llvm lld g++ libamdhip64-dev
libraries
inside=${ours#"$debian"}
cp "$here"/hip/*.hip "$ours"
for variant in program--no-offload-compress program--offload-compress cooperative--no-offload-compress; do
    run_in_debian clang++ -x hip --rocm-path=/usr --offload-arch=gfx942 --offload-arch=gfx90a -nogpulib "--${variant#*--}" \
        -std=c++17 -O2 "$inside/${variant%%--*}.hip" -o "$inside/$variant" -L "$inside" -lamdhip64
done
for device in gfx942 gfx90a; do
    export FERROWAVE_DEVICE=emulator:$device
    for variant in program--no-offload-compress program--offload-compress cooperative--no-offload-compress; do
        log=$work/$device-$variant.log
        if run_in_debian "$inside/$variant" > "$log" 2>&1 && grep -qx passed "$log"; then
            echo "passed $variant"
        else
            echo "failed $variant: $(tail -1 "$log")"
        fi
    done > "$work/$device"
    results "$device" "$work/$device"
done
finish
