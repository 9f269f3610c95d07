#!/usr/bin/env bash
# The tests of cubecl 0.10's matrix multiplication (cubek-matmul from crates.io), in f16 and f32, on its HIP runtime, which
# compiles kernels with hiprtc. The Rust programs are built here; the HIP compiler and headers are Debian's.
#
# A sample is the crate's tier `basic`; the long form adds the tier `extended`.
#
# On CDNA, cubecl has matrix instructions only through rocWMMA's headers, which Debian does not package: FERROWAVE_ROCWMMA
# names a checkout of github.com/ROCm/rocWMMA. Without it, the cases that need matrix instructions are skipped.
#
# cubek reads a tile back from LDS without synchronizing the plane. Where a plane has 64 lanes and half of them read, LLVM moves the
# next stores of the other half before the read, which is legal. An option of the compiler keeps the order of the source.
#
#   FERROWAVE_ROCWMMA=DIRECTORY cubecl.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
command -v cargo > /dev/null && cargo +stable --version > /dev/null 2>&1 || not_run "needs cargo and Rust's stable toolchain"
rocwmma=${FERROWAVE_ROCWMMA:+$FERROWAVE_ROCWMMA/library/include/rocwmma}
[ -z "$rocwmma" ] || [ -e "$rocwmma/rocwmma.hpp" ] || { echo "FERROWAVE_ROCWMMA: there is no $rocwmma/rocwmma.hpp" >&2; exit 2; }
debian libamd-comgr3 libamdhip64-dev
libraries

# The folder that cubecl-hip-sys uses as ROCm keeps its path, so that nothing is rebuilt.
rocm=$cache/cubecl/rocm
mkdir -p "$rocm/bin" "$rocm/lib"
cc -O1 -static -o "$rocm/bin/hipconfig" "$here/cubecl/hipconfig.c"
for name in libamdhip64.so libhiprtc.so; do
    cp "$ours/libamdhip64.so" "$rocm/lib/$name.new"
    mv "$rocm/lib/$name.new" "$rocm/lib/$name"
done
build() {
    # Options for the pinned toolchain do not fit the stable one.
    (cd "$here/cubecl" && PATH=$rocm/bin:$PATH HIP_PATH=$rocm CARGO_TARGET_DIR=$cache/cubecl/target CARGO_ENCODED_RUSTFLAGS='' \
        cargo +stable test --quiet --locked --no-run --test matmul --features "extended${rocwmma:+,rocwmma}" --message-format json)
}
began=$SECONDS
binary=$(build | grep -oE '"executable":"[^"]*/matmul-[^"]*"' | tail -1 | cut -d'"' -f4)
echo "$suite: built in $((SECONDS - began)) s"
cp "$binary" "$ours/matmul"
mkdir -p "$ours/rocm"/{bin,include} "$ours/home"
cp "$rocm/bin/hipconfig" "$ours/rocm/bin"
headers=("$debian"/usr/include/*)
ln -s "${headers[@]#"$debian"}" "$ours/rocm/include"
[ -z "$rocwmma" ] || cp -r "$rocwmma" "$ours/rocm/include"
# Cases that the device does not support are reported, and do not count as passed.
printf '[test]\npolicy = "strict"\n' > "$ours/home/cubek.toml"

# Prints a line for each test in a log of Rust's test harness. A test without a line in the log has ended the process.
lines() {
    awk -v names="$1" '
        /^---- .* stdout ----$/ { of = $2 }
        of != "" && /panicked at/ && !(of in why) { getline after; why[of] = $0 " " after; $0 = after }
        /did not run: .* because a required feature is unavailable/ { skipped[of] = $0 }
        /^test .* \.\.\. ok$/ { passed[$2] = 1 }
        END {
            while ((getline name < names) > 0)
                if (name in passed) print "passed " name
                else if (name in skipped) print "skipped " name
                else print "failed " name ": " (name in why ? why[name] : "the process ended")
        }'
}
tier=.
[ "$form" = full ] || tier=^suite::basic
for device in gfx90a gfx942; do
    run=(run_in_debian "HIPRTC_COMPILE_OPTIONS_APPEND=-mllvm -simplifycfg-max-small-block-size=0" "PATH=$inside/rocm/bin" "HIP_PATH=$inside/rocm" "HOME=$inside/home" "FERROWAVE_DEVICE=emulator:$device"
        /usr/bin/env -C "$inside/home" "$inside/matmul")
    "${run[@]}" --list > "$work/$device.list" || { echo "$suite $device: the program does not list its tests"; any_failed=yes; continue; }
    sed -n 's/: test$//p' "$work/$device.list" | { grep "$tier" || true; } > "$work/$device.names"
    excluded "$device" "$work/$device.names"
    mapfile -t names < "$work/$device.names"
    time_limit=7200 "${run[@]}" --exact "${names[@]}" > "$work/$device.log" 2>&1 || true
    lines "$work/$device.names" < "$work/$device.log" > "$work/$device"
    results "$device" "$work/$device"
done
finish
