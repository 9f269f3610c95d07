#!/usr/bin/env bash
# Builds the page into target/browser/index.html: one file, which needs no network and no server. `kernels` beside it has a line for
# each launch of the ladder in the page: machine and kernel.
#
# The emulator is compiled for WebAssembly with vectors of 128 bits. System functions are WASI's, which the page provides. The
# module, and the ladder's code objects, are in the page as base64 of gzip.
set -euo pipefail
cd "$(dirname "$0")/.."
# GPUs whose time is modelled, and which have all steps of the ladder.
devices=(MI300X MI355X "RX 7900 XTX")
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
out=$target/browser
rm -rf "$out"
mkdir -p "$out"
rustup --quiet target add wasm32-wasip1
# Flags in the environment are for the host.
env -u RUSTFLAGS CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS=-Ctarget-feature=+simd128 \
    cargo build --quiet --profile wasm --target wasm32-wasip1 --package ferrowave-browser --lib
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
    block module "$target/wasm32-wasip1/wasm/ferrowave_browser.wasm"
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
