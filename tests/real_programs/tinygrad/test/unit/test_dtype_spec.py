"""What tinygrad's test_dtype imports from a test that is not in its package."""

import numpy as np
from tinygrad import dtypes
from tinygrad.device import is_dtype_supported
from tinygrad.dtype import DTYPES_DICT

core_dtypes = list(DTYPES_DICT.values())
dtype_ints = [dtype for dtype in core_dtypes if dtypes.is_int(dtype) and is_dtype_supported(dtype)]
dtype_floats = [dtype for dtype in core_dtypes if dtypes.is_float(dtype) and is_dtype_supported(dtype)]

# The largest finite values of OCP's two 8-bit formats.
FP8E4M3_MAX = 448.0
FP8E5M2_MAX = 57344.0

# A few units in the last place of the narrow types.
TOLERANCE = {dtypes.float16: 1e-3, dtypes.bfloat16: 1e-2, dtypes.fp8e4m3: 1e-1, dtypes.fp8e5m2: 5e-1}


def _assert_eq(tensor, dtype, expected, tolerance=1e-7):
    assert tensor.dtype == dtype, f"{tensor.dtype} for {dtype}"
    np.testing.assert_allclose(tensor.numpy(), expected, rtol=TOLERANCE.get(dtype, tolerance))
