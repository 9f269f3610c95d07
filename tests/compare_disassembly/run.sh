#!/usr/bin/env bash
# Decoding compared with llvm-objdump on every code object for the emulator's GPUs in libraries that others built. They
# are fetched from PyPI and Debian and stay under target/disassembly.
set -euo pipefail
cd "$(dirname "$0")/../.."

BITSANDBYTES=0.50.2

work=${CARGO_TARGET_DIR:-target}/disassembly
mkdir -p "$work"
work=$(cd "$work" && pwd)

if [ ! -e "$work/bitsandbytes-$BITSANDBYTES" ]; then
    wheel=$(mktemp -d)
    trap 'rm -rf "$wheel"' EXIT
    python3 -m venv --clear "$work/venv"
    "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        -d "$wheel" "bitsandbytes==$BITSANDBYTES"
    "$work/venv/bin/python" -m zipfile --extract "$wheel"/*.whl "$work/wheel"
    touch "$work/bitsandbytes-$BITSANDBYTES"
fi
files=("$work"/wheel/bitsandbytes/libbitsandbytes_rocm*.so)

# Debian's packages, where there are such.
for package in librocrand1 librocsparse0; do
    if [ ! -e "$work/$package" ]; then
        command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || {
            echo "$package is a package of Debian's, which this is not" >&2
            exit 1
        }
        (
            cd "$work"
            apt-get download --quiet "$package" || { apt-get update --quiet && apt-get download --quiet "$package"; }
            mkdir -p unpacked
            dpkg-deb --extract "$package"_*.deb "unpacked"
            rm "$package"_*.deb
            touch "$package"
        )
    fi
    library=${package%[0-9]}
    files+=("$(find "$work/unpacked" -type f -name "$library.so.*" -print -quit)")
done

cargo run --quiet --package ferrowave-emulator --example compare_disassembly -- "${files[@]}"
