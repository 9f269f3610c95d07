#!/usr/bin/env bash
# hiprtc over Debian's libamd_comgr.so, with ROCm's built-in header and with the project's own. Also compares the names and
# versions of our library's symbols with ROCm's.
#
#   hiprtc.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"

debian libamd-comgr3 libamdhip64-6 libhiprtc6 libhiprtc-builtins6
libraries
# Linked to ROCm's libhiprtc.so, the name that programs use.
cc -O1 -o "$ours/program" "$here/hiprtc/program.c" "$debian/usr/lib/x86_64-linux-gnu/libhiprtc.so.6" -L "$ours" -lamdhip64 \
    -Wl,--allow-shlib-undefined,--unresolved-symbols=ignore-in-shared-libs
for device in gfx90a gfx942; do
    for header in rocm ours; do
        # A file that is not a library is found before ROCm's, so that the project's own header is used.
        rm -f "$ours"/libhiprtc-builtins.so*
        if [ "$header" = ours ]; then
            for name in libhiprtc-builtins.so.6 libhiprtc-builtins.so.7 libhiprtc-builtins.so; do
                : > "$ours/$name"
            done
        fi
        run_in_debian FERROWAVE_DEVICE="emulator:$device" "${ours#"$debian"}/program" > "$work/$device-$header" || true
        results "$device, header $header" "$work/$device-$header"
    done
done
if [ "$form" = full ]; then
    (cd "$repository" && FERROWAVE_ROCM_LIBRARY=$debian/usr/lib/x86_64-linux-gnu/libamdhip64.so.6 \
        cargo test --quiet --workspace --test shared_library -- --ignored rocms_library)
fi
finish
