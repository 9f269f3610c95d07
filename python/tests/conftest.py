"""What the tests launch: Ferrowave's own naive product, and a kernel whose code object has its parameters' types."""

import os
import struct

import numpy
import pytest

import ferrowave

pytest_plugins = "pytester"

# cargo sets it for other GPUs than the default one.
GPU = os.environ.get("FERROWAVE_GPUS", "gfx942").split(",")[0]


class Product:
    """C ← A·B in f32, by the kernel `gemm_naive_f32`: each work-item of a block of 64×4 computes an element."""

    def __init__(self, m, n, k, seed=1):
        random = numpy.random.default_rng(seed)
        self.a = random.standard_normal((m, k), numpy.float32)
        self.b = random.standard_normal((k, n), numpy.float32)
        self.c = numpy.full((m, n), numpy.nan, numpy.float32)
        self.grid, self.block = (-(-n // 64), -(-m // 4)), (64, 4)
        # `GemmParameters` of shared/src/arguments.rs: extents, leading dimensions, options, batch; α, β; the rest is not used.
        self.parameters = struct.pack("<8I4d3Q2Id", m, n, k, k, n, n, 0, 1, 1.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0.0)

    @property
    def args(self):
        return [self.a, self.b, self.c, None, None, None, None, self.parameters]

    def error(self):
        """The largest error, in units of the bound k·ε·|A||B|."""
        a, b = self.a.astype(numpy.float64), self.b.astype(numpy.float64)
        bound = a.shape[1] * 2.0**-24 * (abs(a) @ abs(b))
        return (abs(self.c - a @ b) / bound).max()


@pytest.fixture(scope="session")
def device():
    return ferrowave.Device(GPU)


@pytest.fixture(scope="session")
def naive(device):
    return device.load(ferrowave.kernels(GPU)).kernel("gemm_naive_f32")


@pytest.fixture
def product():
    return Product


@pytest.fixture(scope="session")
def saxpy(device):
    """`saxpy(n: u32, a: f32, x: *const f32, y: *mut f32)`: the crate of `cargo gpu-amdgpu new saxpy`."""
    path = os.environ.get("FERROWAVE_TEST_SAXPY")
    if path is None:
        pytest.fail("FERROWAVE_TEST_SAXPY names no code object; python/test.sh builds it")
    return device.load(path).kernel("saxpy")
