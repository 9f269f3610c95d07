#!/usr/bin/env bash
# Tests an installed wheel's commands and libraries, which the path leads to: a HIP program in C, in Python and in the shell.
#
#   installed.sh FOLDER
set -euo pipefail
cd "$1"
ferrowave --version
ferrowave run --device gfx90a --kernel mfma_fragment --m 100 --n 50 --k 30 2>&1 | grep correct
cargo-gpu-amdgpu --help > /dev/null
cat > query.py <<'PYTHON'
import ctypes, sys

hip, count = ctypes.CDLL(sys.argv[1]), ctypes.c_int()
assert hip.hipGetDeviceCount(ctypes.byref(count)) == 0
name = ctypes.create_string_buffer(256)
assert hip.hipDeviceGetName(name, 256, 0) == 0
print(count.value, name.value.decode())
PYTHON
for library in libamdhip64.so libamdhip64.so.{5,6,7} libhiprtc.so.6; do
    ferrowave exec --quiet --gpu gfx90a,gfx942 -- python query.py "$library" | grep -q '^2 AMD Instinct MI210 (gfx90a, emulated'
done
ferrowave exec --quiet --gpu gfx950 -- python -c 'import ctypes; ctypes.CDLL("librocm_smi64.so.1"); assert ctypes.CDLL("libhsa-runtime64.so").hsa_init() == 0'
(
    eval "$(ferrowave env --gpu gfx908)"
    python query.py libamdhip64.so.6 | grep -q '^1 AMD Instinct MI100'
)
ferrowave exec --quiet -- sh -c 'exit 9' && exit 1 || [ $? = 9 ]
cat > product.py <<'PYTHON'
import struct

import ferrowave
import numpy

a, b, c = numpy.ones((8, 5), "f"), numpy.ones((5, 64), "f"), numpy.zeros((8, 64), "f")
kernel = ferrowave.Device("gfx942").load(ferrowave.kernels("gfx942")).kernel("gemm_naive_f32")
parameters = struct.pack("<8I4d3Q2Id", 8, 64, 5, 5, 64, 64, 0, 1, 1.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0.0)
kernel.launch((1, 2), (64, 4), [a, b, c, None, None, None, None, parameters])
assert (c == 5).all()
PYTHON
python product.py
