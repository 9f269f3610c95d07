#!/usr/bin/env bash
# IREE's compiler and runtime from PyPI: matrix products and a small model, compared with numpy.
#
#   iree.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
version=3.13.0

environment=$cache/iree-$version
if [ ! -e "$environment/installed" ]; then
    python3 -m venv --help > /dev/null 2>&1 || not_run "needs Python's venv"
    python3 -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
        "iree-base-compiler==$version" "iree-base-runtime==$version" numpy ml_dtypes
    touch "$environment/installed"
fi
libraries
for device in gfx942 gfx90a gfx1100 gfx1201; do
    FERROWAVE_DEVICE=emulator:$device "$environment/bin/python" "$here/iree.py" "$device" "$ours" "$work/modules" > "$work/$device"
    results "$device" "$work/$device"
done
finish
