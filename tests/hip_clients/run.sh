#!/usr/bin/env bash
# Real clients of libamdhip64.so: a C++ HIP program built by clang against ROCm's headers, and IREE. Everything that
# they need comes from PyPI and stays under target/clients; clang is the system's, or Debian's packages unpacked there.
set -euo pipefail
cd "$(dirname "$0")/../.."

IREE=3.13.0
# The wheel that carries ROCm's headers, of which nothing else is used.
TRITON=3.9.0
CLANG=${CLANG:-clang++-22}

work=${CARGO_TARGET_DIR:-target}/clients
mkdir -p "$work"
work=$(cd "$work" && pwd)
here=$PWD/tests/hip_clients

if ! command -v "$CLANG" > /dev/null; then
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || {
        echo "$CLANG is missing, and this is no Debian to get its packages from: install clang 22 and lld 22, or set CLANG" >&2
        exit 1
    }
    CLANG=$work/llvm/usr/bin/clang++-22
    if [ ! -x "$CLANG" ]; then
        packages=$(mktemp -d)
        (cd "$packages" && apt-get download clang-22 clang-tools-22 lld-22 libclang-common-22-dev libclang-cpp22 libllvm22 llvm-22-linker-tools)
        rm -rf "$work/llvm.part" "$work/llvm"
        for package in "$packages"/*.deb; do
            dpkg-deb -x "$package" "$work/llvm.part"
        done
        rm -rf "$packages"
        mv "$work/llvm.part" "$work/llvm"
    fi
    CLANG_LIBRARIES=$work/llvm/usr/lib/llvm-22/lib:$work/llvm/usr/lib/x86_64-linux-gnu
fi

python=$work/venv/bin/python
stamp=$work/venv/installed-$IREE
if [ ! -e "$stamp" ]; then
    python3 -m venv --clear "$work/venv"
    "$python" -m pip install --quiet --disable-pip-version-check \
        "iree-base-compiler==$IREE" "iree-base-runtime==$IREE" numpy ml_dtypes
    touch "$stamp"
fi

rocm=$work/rocm
if [ ! -e "$rocm/headers-$TRITON" ]; then
    wheel=$(mktemp -d)
    trap 'rm -rf "$wheel"' EXIT
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$wheel" "triton==$TRITON"
    rm -rf "$rocm"
    mkdir -p "$rocm/share/hip"
    "$python" - "$wheel" "$rocm" <<'PYTHON'
import sys, zipfile
from pathlib import Path
wheel, rocm = next(Path(sys.argv[1]).glob("*.whl")), Path(sys.argv[2])
inside = "triton/backends/amd/include/"
with zipfile.ZipFile(wheel) as files:
    for name in files.namelist():
        if name.startswith(inside) and not name.endswith("/"):
            to = rocm / "include" / name[len(inside):]
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(files.read(name))
version = (rocm / "include/hip/hip_version.h").read_text().split()
value = {name: version[version.index(name) + 1] for name in version if name.startswith("HIP_VERSION_")}
lines = [f"{name}={value[name]}" for name in ("HIP_VERSION_MAJOR", "HIP_VERSION_MINOR", "HIP_VERSION_PATCH")]
# Where clang looks for the version of an installation.
(rocm / "share/hip/version").write_text("\n".join(lines) + "\n")
PYTHON
    touch "$rocm/headers-$TRITON"
fi

# The library under the names that its clients ask for.
built=$(cargo build --package ferrowave-libamdhip64 --message-format json |
    "$python" -c 'import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("target", {}).get("name") == "amdhip64":
        for file in message.get("filenames", []):
            if file.endswith(".so"):
                print(file)')
mkdir -p "$rocm/lib"
for name in libamdhip64.so libamdhip64.so.6 libamdhip64.so.7; do
    ln -sf "$built" "$rocm/lib/$name"
done

# A bundle as it is, and packed; and workgroups that wait for each other.
for variant in program--no-offload-compress program--offload-compress cooperative--no-offload-compress; do
    source=${variant%%--*} packed=--${variant#*--}
    program=$work/$variant
    LD_LIBRARY_PATH=${CLANG_LIBRARIES:-${LD_LIBRARY_PATH:-}} "$CLANG" -x hip --rocm-path="$rocm" --offload-arch=gfx942 --offload-arch=gfx90a -nogpulib "$packed" \
        -std=c++17 -O2 "$here/$source.hip" -o "$program"
    for gpu in gfx942 gfx90a; do
        echo "$source $packed on $gpu: $(LD_LIBRARY_PATH=$rocm/lib FERROWAVE_DEVICE=emulator:$gpu "$program" 2> "$work/program.log" ||
            { cat "$work/program.log"; echo failed; })" | tee "$work/program.out"
        grep -q ': passed$' "$work/program.out"
    done
done

"$python" "$here/iree.py" "$rocm/lib" "$work/iree"
