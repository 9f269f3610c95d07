#!/usr/bin/env bash
# Compares the disassembler with llvm-objdump on every code object for the emulator's GPUs in libraries of other projects:
# bitsandbytes from PyPI, rocRAND and rocSPARSE.
#
#   disassembly.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
version=0.50.2

wheel=$cache/bitsandbytes-$version
if [ ! -e "$wheel" ]; then
    python3 -m pip --version > /dev/null 2>&1 || not_run "needs pip"
    fetched=$(mktemp -d "$cache/bitsandbytes.XXXXXX")
    python3 -m pip --quiet --disable-pip-version-check download --no-deps --only-binary :all: --dest "$fetched" "bitsandbytes==$version"
    python3 -m zipfile --extract "$fetched"/*.whl "$fetched"
    # Another run may have put it there first.
    mv -T "$fetched" "$wheel" 2> /dev/null || rm -rf "$fetched"
fi
debian librocrand1 librocsparse1
libraries=("$wheel"/bitsandbytes/libbitsandbytes_rocm*.so)
for library in librocrand librocsparse; do
    libraries+=("$(find "$debian/usr/lib" -type f -name "$library.so.*" -print -quit)")
done
cd "$repository"
cargo run --quiet --package ferrowave-isa --example compare_disassembly -- "${libraries[@]}"
