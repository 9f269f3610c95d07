#!/usr/bin/env bash
# Builds the wheel into target/wheel/dist: the Python module, the commands and the shared libraries for all GPUs, stripped, and
# linked with glibc 2.28. Refuses one that auditwheel does not find to be manylinux_2_28, or that is larger than 40 MB. Then
# tests it in a new environment without Rust.
set -euo pipefail
most_bytes=40000000
cd "$(dirname "$0")/.."
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "the wheel is built on x86-64 Linux only" >&2; exit 1; }
cache=${FERROWAVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrowave}
tools=$cache/wheel-tools
python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check ziglang==0.17.1 wheel==0.45.1 auditwheel==6.8.2
target=x86_64-unknown-linux-gnu
mkdir -p "${CARGO_TARGET_DIR:-target}/wheel"
out=$(cd "${CARGO_TARGET_DIR:-target}/wheel" && pwd)
python/sysroot.sh "$tools/bin/python" "$out/sysroot"

export FERROWAVE_GPUS=gfx908,gfx90a,gfx942,gfx950,gfx1100,gfx1101,gfx1102,gfx1150,gfx1151,gfx1200,gfx1201 CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=symbols
export FERROWAVE_KERNEL_LINES=0
# The system's libgcc_s needs its newer glibc; the one where the wheel runs does not.
export RUSTFLAGS="-Clink-arg=-L$out/sysroot -Clink-arg=-B$out/sysroot -Clink-arg=-Wl,--allow-shlib-undefined"
cargo build --release --target "$target" --target-dir "$out" -p ferrowave-cli -p cargo-gpu-amdgpu -p ferrowave-libamdhip64 \
    -p ferrowave-librocm-smi64 -p ferrowave-libhsa-runtime64 -p ferrowave-python --features ferrowave/compressed
unset RUSTFLAGS
built=$out/$target/release

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
stage=$out/stage info=$out/stage/ferrowave-$version.dist-info data=$out/stage/ferrowave-$version.data
rm -rf "$stage" "$out/dist"
mkdir -p "$info/licenses" "$data/scripts" "$data/data/lib/ferrowave" "$out/dist"
cp -r python/ferrowave "$stage"
rm -rf "$stage/ferrowave/__pycache__"
cp "$built/lib_native.so" "$stage/ferrowave/_native.abi3.so"
cp "$built"/{ferrowave,cargo-gpu-amdgpu} "$data/scripts"
cp "$built"/{libamdhip64.so,librocm_smi64.so,libhsa_runtime64.so} "$data/data/lib/ferrowave"
cp LICENSE-* "$info/licenses"
printf '[pytest11]\nferrowave = ferrowave.pytest_plugin\n' > "$info/entry_points.txt"
printf 'Wheel-Version: 1.0\nGenerator: ferrowave\nRoot-Is-Purelib: false\nTag: cp310-abi3-manylinux_2_28_x86_64\n' > "$info/WHEEL"
{
    printf 'Metadata-Version: 2.4\nName: ferrowave\nVersion: %s\n' "$version"
    printf 'Summary: An emulator of AMD GPUs: runs, checks, profiles and times HIP programs and kernels without a GPU\n'
    printf 'License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n'
    printf 'Requires-Python: >=3.10\nRequires-Dist: numpy>=1.23\n'
} > "$info/METADATA"
"$tools/bin/python" -m wheel pack --dest-dir "$out/dist" "$stage"

wheel=$(ls "$out/dist"/*.whl)
"$tools/bin/auditwheel" show "$wheel" | tee "$out/audit"
grep -q '"manylinux_2_28_x86_64"' "$out/audit" || { echo "$wheel: auditwheel finds it to be no manylinux_2_28 wheel" >&2; exit 1; }
bytes=$(stat --format %s "$wheel")
echo "$wheel: $bytes bytes"
[ "$bytes" -le "$most_bytes" ] || { echo "$wheel: more than $most_bytes bytes" >&2; exit 1; }

python3 -m venv --clear "$out/clean"
"$out/clean/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
mkdir -p "$out/work"
if PATH=/usr/bin:/bin command -v cargo > /dev/null; then
    echo "there is a cargo in /usr/bin or /bin: the test without Rust is not one" >&2
    exit 1
fi
PATH=$out/clean/bin:/usr/bin:/bin python/installed.sh "$out/work"
echo "the installed wheel works"
