"""Our own helpers in place of those that tinygrad's tests import from files that are not in its package."""

import functools
import unittest

import numpy as np
from tinygrad import Device, Tensor, dtypes
from tinygrad.engine.jit import GraphRunner
from tinygrad.tensor import _to_np_dtype

REAL_DEV = Device.DEFAULT


def slow(test):
    """Marks tests that tinygrad leaves out by default; here they run."""
    return test


def not_support_multi_device():
    return False


def needs_second_gpu(test):
    @functools.wraps(test)
    def wrapper(self, *args, **kwargs):
        try:
            Tensor.zeros(1, device=f"{Device.DEFAULT}:1").contiguous().realize()
        except Exception as error:
            raise unittest.SkipTest(f"needs a second device: {error}") from error
        return test(self, *args, **kwargs)

    return wrapper


def rand_for_dtype(dtype, size):
    """Random values that the type can hold."""
    if dtype == dtypes.bool:
        return np.random.randint(2, size=size).astype(bool)
    if dtypes.is_int(dtype):
        low = 0 if dtypes.is_unsigned(dtype) else -100
        return np.random.randint(low, 100, size=size).astype(_to_np_dtype(dtype))
    return np.random.uniform(-10, 10, size=size).astype(_to_np_dtype(dtype))


def assert_jit_cache_len(function, expected):
    """Checks the number of kernels of a captured function, whether or not they are in one graph."""
    items = function.jit_cache
    if len(items) == 1 and isinstance(items[0].prg, GraphRunner):
        items = items[0].prg.jit_cache
    assert len(items) == expected, f"{len(items)} kernels for {expected}"
