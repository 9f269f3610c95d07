#!/usr/bin/env bash
# tinygrad's tests of operations, types, layers, captured functions and graphs on its HIP device, which compiles kernels with
# comgr. Cases that also fail on its CPU device count as excluded.
set -euo pipefail
. "$(dirname "$0")/common.sh"
# The last version whose package contains these tests.
version=0.12.0
package=$cache/tinygrad/tinygrad-$version
if [ ! -e "$package" ]; then
    python3 -m pip --version > /dev/null 2>&1 || not_run "needs pip"
    mkdir -p "$cache/tinygrad"
    fetched=$(mktemp -d "$cache/tinygrad/fetch.XXXXXX")
    python3 -m pip --quiet download --no-deps --no-binary :all: --dest "$fetched" "tinygrad==$version"
    tar --no-same-owner -xf "$fetched/tinygrad-$version.tar.gz" -C "$fetched"
    # Another run may have put it there first.
    mv -T "$fetched/tinygrad-$version" "$package" 2> /dev/null || true
    rm -rf "$fetched"
fi
debian libamd-comgr3 clang python3 python3-hypothesis python3-numpy python3-pytest python3-torch
# torch reads seeds from it. A file, because creating a device needs root.
[ -s "$debian/dev/urandom" ] || head -c 4096 /dev/urandom > "$debian/dev/urandom"
libraries

mkdir "$ours/tinygrad" "$ours/home"
# The folder beside this script has the modules that the tests import and the package lacks.
cp -r "$package/tinygrad" "$package/test" "$here/tinygrad/." "$ours/tinygrad"
plain=("${in_debian[@]}")
# Kernels are compiled in the process that runs them, and hypothesis draws the same examples each time.
on() {
    in_debian=("${plain[@]}" "DEV=$1" "HIP_PATH=$inside/libamdhip64.so" "HOME=$inside/home" PARALLEL=0 DERANDOMIZE_CI=1
        PYTHONDONTWRITEBYTECODE=1 env -C "$inside/tinygrad")
}
run() {
    run_cases "$1" --kind pytest --case-seconds 300 --argument=-mpytest --argument=-v --argument=-pno:cacheprovider --argument=--color=no
}

for drawn in gfx942=40 gfx90a=40 gfx1100=20; do
    device=${drawn%=*}
    export FERROWAVE_DEVICE=emulator:$device
    on HIP
    run_in_debian python3 -m pytest -p no:cacheprovider --collect-only -q test/test_{ops,dtype,dtype_alu,nn,jit,graph}.py \
        > "$work/$device.names" 2> "$work/$device.errors" || { tail "$work/$device.names" "$work/$device.errors"; any_failed=yes; }
    sed -n 's|^test/[^ ]*::[^ ]*$|python3 &|p' "$work/$device.names" > "$work/cases"
    if [ "$form" = sample ]; then
        draw "$device" "${drawn#*=}" '[a-z_]+\.py' < "$work/cases" > "$work/drawn"
        mv "$work/drawn" "$work/cases"
    fi
    excluded "$device" "$work/cases"
    run "$work/cases" > "$work/$device"
    # The line of a failure: failed SECONDS PROGRAM:CASE, followed by a colon and the reason if its process was ended.
    sed -nE 's/^failed [^ ]* python3:([^ ]*::[^ ]*[^: ]):?( .*)?$/python3 \1/p' "$work/$device" > "$work/again"
    if [ -s "$work/again" ]; then
        on CPU
        run "$work/again" > "$work/$device-cpu"
        while read -r name; do
            awk -v "name=python3:$name" '$1 == "failed" && ($3 == name || $3 == name ":") { next } { print }' "$work/$device" > "$work/left"
            mv "$work/left" "$work/$device"
            excluded=$((excluded + 1))
            echo "$suite $device: $name fails on tinygrad's CPU device, too"
        done < <(sed -nE 's/^failed [^ ]* python3:([^ ]*::[^ ]*)$/\1/p' "$work/$device-cpu")
    fi
    results "$device" "$work/$device"
done
finish
