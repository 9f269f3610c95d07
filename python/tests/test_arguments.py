"""Arguments that a kernel does not take: each exception names the argument."""

import numpy
import pytest

import ferrowave


def ones(length=10, kind=numpy.float32):
    return numpy.ones(length, kind)


def locked(array):
    array.flags.writeable = False
    return array


SHARED = numpy.ones(20, numpy.float32)


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        ([10, 2.0, ones()], ["takes 4 arguments, but 3 are given", "`y: *mut f32`"]),
        ([10, 2.0, ones(), ones(), 1], ["takes 4 arguments, but 5 are given"]),
        ([10, 2.0, ones(20)[::2], ones()], ["argument 2", "`x: *const f32`", "not contiguous", "ascontiguousarray"]),
        ([10, 2.0, ones((3, 4)).T, ones()], ["argument 2", "Fortran", ".T"]),
        ([10, 2.0, ones(kind=numpy.int32), ones()], ["argument 2", "`x: *const f32`", "a buffer of i32"]),
        ([10, 2.0, ones(kind=numpy.float64), ones()], ["argument 2", "a buffer of f64"]),
        ([10, 2.0, ones(kind=numpy.complex64), ones()], ["argument 2", "complex64", "view(numpy.uint8)"]),
        ([10, 2.0, ones(kind=">f4"), ones()], ["argument 2", "byte order"]),
        ([10, 2.0, ones(), locked(ones())], ["argument 3", "`y: *mut f32`", "read-only", "copy"]),
        ([10, 2.0, SHARED[:10], SHARED[5:15]], ["arguments 2 and 3", "share memory"]),
        ([10, 2.0, 7, ones()], ["argument 2", "int is given", "None"]),
        ([10, 2.0, [1.0], ones()], ["argument 2", "list is given"]),
        ([10, 2.0, b"1234", ones()], ["argument 2", "bytes is given"]),
        ([10, ones(), ones(), ones()], ["argument 1", "`a: f32`", "a buffer is given"]),
        ([1.5, 2.0, ones(), ones()], ["argument 0", "`n: u32`", "a float is given"]),
        ([2**32, 2.0, ones(), ones()], ["argument 0", "4294967296 does not fit into 4 bytes"]),
        ([-(2**31) - 1, 2.0, ones(), ones()], ["argument 0", "does not fit"]),
        ([10**40, 2.0, ones(), ones()], ["argument 0", "does not fit"]),
        (["10", 2.0, ones(), ones()], ["argument 0", "str is given"]),
        ([None, 2.0, ones(), ones()], ["argument 0", "NoneType is given"]),
        ([numpy.float64(10), 2.0, ones(), ones()], ["argument 0", "8 bytes"]),
        ([10, numpy.int32(2), ones(), ones()], ["argument 1", "i32 is given"]),
        ([b"123", 2.0, ones(), ones()], ["argument 0", "3 bytes are given"]),
        (ones(), ["args is one array"]),
        (7, ["args must be a list or tuple"]),
    ],
)
def test_a_wrong_argument_is_named(saxpy, args, parts):
    for run in [saxpy.launch, saxpy.check, saxpy.profile, saxpy.time]:
        with pytest.raises(ferrowave.ArgumentError) as caught:
            run(1, 256, args)
        for part in parts:
            assert part in str(caught.value), str(caught.value)


class Broken:
    def __dlpack__(self, **arguments):
        raise BufferError("on another device")

    def __dlpack_device__(self):
        return (10, 0)


def test_a_tensor_that_numpy_cannot_share_is_named(saxpy):
    with pytest.raises(ferrowave.ArgumentError, match=r"argument 2 .*`x: \*const f32`.*DLPack"):
        saxpy.launch(1, 256, [10, 2.0, Broken(), ones()])


class Resizer:
    """An array that frees another one's memory when the launch asks for its own."""

    def __init__(self, other):
        self.other, self.own = other, ones()

    def __dlpack__(self, **arguments):
        self.other.resize(1, refcheck=False)
        return self.own.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.own.__dlpack_device__()


def test_an_array_that_is_resized_meanwhile_is_named(naive, product):
    one = product(8, 64, 5)
    args = one.args
    args[3] = Resizer(one.c)
    with pytest.raises(ferrowave.ArgumentError, match="argument 2: the array was resized"):
        naive.launch(one.grid, one.block, args)


@pytest.mark.parametrize(
    ("grid", "block", "parts"),
    [
        ((), 256, ["grid", "up to three"]),
        ((1, 1, 1, 1), 256, ["grid", "up to three"]),
        (-1, 256, ["grid", "-1"]),
        ("x", 256, ["grid", "'x'"]),
        (1.5, 256, ["grid", "1.5"]),
        (0, 256, ["0 workgroups", "1 to"]),
        (1, 0, ["0 threads", "1 to 1024"]),
        (1, 2048, ["2048 threads"]),
        (1, 512, ["512 threads", "256"]),
        (1, (16, 16, 16, 1), ["block", "up to three"]),
    ],
)
def test_a_wrong_shape_is_named(saxpy, grid, block, parts):
    with pytest.raises(ferrowave.ArgumentError) as caught:
        saxpy.launch(grid, block, [10, 2.0, ones(), ones()])
    for part in parts:
        assert part in str(caught.value), str(caught.value)


def test_too_much_lds_is_refused(saxpy):
    with pytest.raises(ferrowave.ArgumentError, match="bytes of LDS"):
        saxpy.launch(1, 256, [10, 2.0, ones(), ones()], lds_bytes=1 << 20)


def test_parameters_are_described(saxpy):
    assert saxpy.parameters == [
        "a value of 4 bytes (`n: u32`)",
        "a value of 4 bytes (`a: f32`)",
        "a buffer (`x: *const f32`)",
        "a buffer (`y: *mut f32`)",
    ]
    assert "saxpy" in repr(saxpy)
