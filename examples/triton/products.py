"""Triton's compiler on the emulator, without PyTorch: a sum and a product of matrices, compared with NumPy.

ferrowave exec --gpu gfx942 -- python examples/triton/products.py
"""

import ctypes
import os

import numpy as np
import triton
import triton.language as tl
from triton.backends.amd.driver import HIPDriver, HIPLauncher, HIPUtils

hip = ctypes.CDLL(os.environ["TRITON_LIBHIP_PATH"])


class Driver(HIPDriver):
    """Triton asks PyTorch for the device and the stream. These are HIP's first device and its default stream."""

    def __init__(self):
        self.utils, self.launcher_cls = HIPUtils(), HIPLauncher
        self.get_current_device = lambda: 0
        self.get_current_stream = lambda device: 0
        self.set_current_device = lambda device: None


class Tensor:
    """What Triton needs of a tensor: its address and its type."""

    def __init__(self, array):
        self.array, self.dtype, self.address = array, array.dtype, ctypes.c_void_p()
        size = ctypes.c_size_t(array.nbytes)
        check(hip.hipMalloc(ctypes.byref(self.address), size))
        check(hip.hipMemcpy(self.address, ctypes.c_void_p(array.ctypes.data), size, 1))

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        out = np.empty_like(self.array)
        check(hip.hipMemcpy(ctypes.c_void_p(out.ctypes.data), self.address, ctypes.c_size_t(out.nbytes), 2))
        return out


def check(error):
    if error != 0:
        raise RuntimeError(f"HIP's error {error}")


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@triton.jit
def multiply(a, b, c, m, n, k, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    sums = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, STEP):
        along, down = start + tl.arange(0, STEP)[None, :], start + tl.arange(0, STEP)[:, None]
        left = tl.load(a + rows * k + along, (rows < m) & (along < k), 0)
        right = tl.load(b + down * n + columns, (down < k) & (columns < n), 0)
        sums = tl.dot(left, right, sums)
    tl.store(c + rows * n + columns, sums, (rows < m) & (columns < n))


triton.runtime.driver.set_active(Driver())
random = np.random.default_rng(1)

x, y = random.standard_normal((2, 1000), np.float32)
out = Tensor(np.zeros_like(x))
add[(triton.cdiv(1000, 256),)](Tensor(x), Tensor(y), out, 1000, BLOCK=256)
np.testing.assert_array_equal(out.numpy(), x + y)

m, n, k = 100, 70, 90
a = random.standard_normal((m, k)).astype(np.float16)
b = random.standard_normal((k, n)).astype(np.float16)
c = Tensor(np.full((m, n), np.nan, np.float32))
multiply[(triton.cdiv(m, 32), triton.cdiv(n, 32))](Tensor(a), Tensor(b), c, m, n, k, TILE=32, STEP=32)
a, b = a.astype(np.float64), b.astype(np.float64)
# Each product is exact in f32, each sum rounded.
assert (abs(c.numpy() - a @ b) <= k * 2.0**-23 * (abs(a) @ abs(b))).all()
print("correct on", triton.runtime.driver.active.get_current_target().arch)
