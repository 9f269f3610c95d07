#!/usr/bin/env bash
# Builds the page into target/browser/index.html: one file, which needs no network and no server. `kernels` beside it has a line for
# each launch of the ladder in the page: machine and kernel.
#
# The emulator is compiled for WebAssembly with vectors of 128 bits and threads. System functions are WASI's, which the page provides.
# The module, and the ladder's code objects, are in the page as base64 of gzip.
set -euo pipefail
cd "$(dirname "$0")/.."
# GPUs whose time is modelled, and which have all steps of the ladder.
devices=(MI300X MI355X "RX 7900 XTX")
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
out=$target/browser
rm -rf "$out"
mkdir -p "$out"
# The pinned nightly comes without a compiled library for this target: the library is compiled here from its source, and the C
# library below it is the one of a release.
triple=wasm32-wasip1-threads
release=1.95.0
rustup run "$release" rustc --version > /dev/null 2>&1 || rustup toolchain install "$release" --profile minimal
rustup --quiet target add --toolchain "$release" "$triple"
libc=$(rustc "+$release" --print sysroot)/lib/rustlib/$triple/lib/self-contained
# All that a module of 32 bits can address. The page lets the browser decide how much of it there is.
most_bytes=$((1 << 32))
flags=(-Ctarget-feature=+simd128 -Clink-self-contained=no "-Lnative=$libc" "-Clink-arg=$libc/crt1-reactor.o" "-Clink-arg=--max-memory=$most_bytes")
# Flags in the environment are for the host.
env -u RUSTFLAGS CARGO_ENCODED_RUSTFLAGS="$(IFS=$'\x1f' && echo "${flags[*]}")" \
    cargo build --quiet --profile wasm --target "$triple" -Zbuild-std=std,panic_abort --package ferrowave-browser --lib
# With the features of the whole workspace, so that the build of `make test` is reused.
FERROWAVE_GPUS=${FERROWAVE_GPUS:-gfx942,gfx950,gfx1100} cargo -Zfeature-unification --config 'resolver.feature-unification="workspace"' \
    run --quiet --package ferrowave-browser --example ladder -- "$out" "${devices[@]}"

# A script element of a type that browsers do not run, with a file's bytes.
block() {
    printf '<script type="application/octet-stream" id="%s">\n' "$1"
    gzip --best --no-name --stdout "$2" | base64 --wrap 0
    printf '\n</script>\n'
}
data() {
    block module "$target/$triple/wasm/ferrowave_browser.wasm"
    for object in "$out"/*.co; do
        block "$(basename "$object")" "$object"
    done
    block ladder "$out/ladder.json"
}
while IFS= read -r line; do
    case $line in
    '@include '*) cat "browser/page/${line#@include }" ;;
    @data) data ;;
    *) printf '%s\n' "$line" ;;
    esac
done < browser/page/index.html > "$out/index.html.part"
rm "$out"/*.co "$out/ladder.json"
mv "$out/index.html.part" "$out/index.html"
echo "$out/index.html: $(($(wc -c < "$out/index.html") >> 10)) KiB"
