#!/usr/bin/env bash
# Our own HIP programs in C++, built by Debian's clang with ROCm's headers: plain and compressed bundles, workgroups that wait
# for each other, on one device and on several, kernels that print, assert and allocate, atomic operations on fine-grained
# memory, and textures.
#
#   hip.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"

debian clang clang-tools llvm lld g++ libamdhip64-dev
# ROCm's device library is packaged for each version of LLVM.
llvm=$(basename "$(ls -d "$debian"/usr/lib/llvm-* | sort -V | tail -1)")
debian "rocm-device-libs-${llvm#llvm-}"
libraries
cp "$here"/hip/*.hip "$ours"
devices="gfx942 gfx90a gfx1100 gfx1151"
variants="program--no-offload-compress program--offload-compress cooperative--no-offload-compress host--no-offload-compress
    host-DBUFFERED fine_grained--no-offload-compress grids--no-offload-compress"
bitcode=$(cd "$debian" && ls -d usr/lib/"$llvm"/lib/clang/*/amdgcn/bitcode | tail -1)
for variant in $variants; do
    case $variant in
    host-* | fine_grained-* | grids-*) device_library=--rocm-device-lib-path=/$bitcode ;;
    *) device_library=-nogpulib ;;
    esac
    case $variant in
    *BUFFERED) device_library+=" -mprintf-kind=buffered" ;;
    esac
    # shellcheck disable=SC2086 # Several options.
    run_in_debian clang++ -x hip --rocm-path=/usr ${devices//gfx/--offload-arch=gfx} $device_library "-${variant#*-}" \
        -std=c++17 -O2 "$inside/${variant%%-*}.hip" -o "$inside/$variant" -L "$inside" -lamdhip64
done
textures="gfx908 gfx90a gfx1100 gfx1201"
# shellcheck disable=SC2086 # Several options.
run_in_debian clang++ -x hip --rocm-path=/usr ${textures//gfx/--offload-arch=gfx} "--rocm-device-lib-path=/$bitcode" -std=c++17 \
    -O2 "$inside/textures.hip" -o "$inside/textures" -L "$inside" -lamdhip64
for device in $textures; do
    log=$work/$device-textures.log
    if run_in_debian "FERROWAVE_DEVICE=emulator:$device" "$inside/textures" > "$log" 2>&1 && grep -qx passed "$log"; then
        echo "passed $device"
    else
        echo "failed $device: $(tail -1 "$log")"
    fi
done > "$work/textures"
results textures "$work/textures"
for device in $devices; do
    export FERROWAVE_DEVICE=emulator:$device
    for variant in $variants; do
        log=$work/$device-$variant.log
        if run_in_debian "$inside/$variant" > "$log" 2>&1 && grep -qx passed "$log"; then
            echo "passed $variant"
        else
            echo "failed $variant: $(tail -1 "$log")"
        fi
    done > "$work/$device"
    # Two devices, and a grid whose partner faults.
    log=$work/$device-two.log
    if run_in_debian "FERROWAVE_DEVICE=emulator:$device,emulator:gfx90a" "$inside/grids--no-offload-compress" faults \
        > "$log" 2>&1 && grep -qx passed "$log"; then
        echo "passed grids on two devices"
    else
        echo "failed grids on two devices: $(tail -1 "$log")"
    fi >> "$work/$device"
    # A failed assertion ends the launch with an error, and says so.
    log=$work/$device-assert.log
    if run_in_debian "$inside/host--no-offload-compress" assert > "$log" 2>&1 && [ "$(grep -c "int(threadIdx.x) < most' failed" "$log")" = 4 ]; then
        echo "passed assert"
    else
        echo "failed assert: $(tail -1 "$log")"
    fi >> "$work/$device"
    results "$device" "$work/$device"
done
finish
