#!/usr/bin/env bash
# Tests the Python module: launches against NumPy's products, wrong arguments, checks, counters, modelled times, pytest's option,
# and its stubs. The module stays in target/python/packages, for PYTHONPATH.
#
# PYTHON names another interpreter, with NumPy and pytest; then the stubs, which are the same for all, are not tested.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${PYTHON:-}" ] || . python/environment.sh
python=${PYTHON:-$tools/bin/python}
mkdir -p "${CARGO_TARGET_DIR:-target}/python"
work=$(cd "${CARGO_TARGET_DIR:-target}/python" && pwd)
# The first GPU that the kernels are built for, or gfx942 if it is one of them.
gpu=${FERROWAVE_GPUS:-gfx942}
[[ ,$gpu, == *,gfx942,* ]] && gpu=gfx942 || gpu=${gpu%%,*}
unset FERROWAVE_DEVICE

# A kernel with its parameters' types, that of `cargo gpu-amdgpu new`, unless the variable names its code object.
if [ -z "${FERROWAVE_TEST_SAXPY:-}" ]; then
    command=$(cargo build --quiet --package cargo-gpu-amdgpu --message-format json |
        sed -n 's/.*"executable":"\([^"]*cargo-gpu-amdgpu\)".*/\1/p')
    rm -rf "$work/saxpy"
    (
        cd "$work"
        "$command" gpu-amdgpu new saxpy > /dev/null
        cd saxpy
        CARGO_TARGET_DIR=$work/saxpy-target "$command" gpu-amdgpu build --gpu "$gpu"
    )
    export FERROWAVE_TEST_SAXPY=$work/saxpy-target/gpu-amdgpu/$gpu/saxpy.elf
fi

# The package in one folder, with the metadata that tells pytest of its option.
module=$(cargo build --quiet --package ferrowave-python --message-format json | grep -o '"[^"]*/lib_native\.so"' | tail -1)
rm -rf "$work/packages"
mkdir -p "$work/packages/ferrowave-0.dist-info"
cp -r python/ferrowave "$work/packages"
cp "${module//\"/}" "$work/packages/ferrowave/_native.abi3.so"
printf 'Metadata-Version: 2.1\nName: ferrowave\nVersion: 0\n' > "$work/packages/ferrowave-0.dist-info/METADATA"
printf '[pytest11]\nferrowave = ferrowave.pytest_plugin\n' > "$work/packages/ferrowave-0.dist-info/entry_points.txt"
export PYTHONPATH=$work/packages
export FERROWAVE_GPUS=$gpu
"$python" -m pytest -p no:cacheprovider --rootdir python python/tests
cd "$work"
[ -n "${PYTHON:-}" ] || "$python" -m mypy.stubtest ferrowave._native
