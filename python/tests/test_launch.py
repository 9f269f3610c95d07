"""Launches on NumPy arrays, compared with NumPy's products."""

import threading
import time

import numpy
import pytest

import ferrowave


def test_a_device_has_the_gpus_properties(device):
    assert device.is_emulated
    assert "emulated" in device.name and device.gpu in device.name
    assert device.wave_size == 64 and device.lds_bytes >= 65536
    assert {"gfx908": 120, "gfx90a": 104, "gfx942": 304, "gfx950": 256}[device.gpu] == device.compute_units


@pytest.mark.parametrize("size", [(64, 64, 32), (37, 53, 29), (1, 1, 1)])
def test_products_are_numpys(naive, product, size):
    product = product(*size)
    naive.launch(product.grid, product.block, product.args)
    assert product.error() < 1


def test_a_grid_may_be_a_number(saxpy):
    x, y = numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, numpy.float32)
    saxpy.launch(4, 256, (1000, 2.5, x, y))
    numpy.testing.assert_array_equal(y, 2.5 * numpy.arange(1000, dtype=numpy.float32) + 1)
    numpy.testing.assert_array_equal(x, numpy.arange(1000))


@pytest.mark.parametrize("scalar", [2, 2.0, numpy.float32(2), True + 1])
def test_numbers_take_the_parameters_type(saxpy, scalar):
    x, y = numpy.ones(10, numpy.float32), numpy.zeros(10, numpy.float32)
    saxpy.launch(1, 256, [numpy.uint32(10), scalar, x, y])
    assert (y == 2).all()


class Other:
    """A tensor of another library: DLPack is all that it has."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_of_other_libraries_share_their_memory_by_dlpack(naive, product):
    product = product(20, 30, 40)
    a, b, c, *rest = product.args
    naive.launch(product.grid, product.block, [Other(a), Other(b), Other(c), *rest])
    assert product.error() < 1


def test_a_read_only_array_may_be_read(saxpy):
    x, y = numpy.ones(10, numpy.float32), numpy.zeros(10, numpy.float32)
    x.flags.writeable = False
    saxpy.launch(1, 256, [10, 3.0, x, y])
    assert (y == 3).all()


def test_arrays_of_views_are_written_where_they_are(saxpy):
    whole = numpy.zeros((3, 10), numpy.float32)
    saxpy.launch(1, 256, [10, 3.0, numpy.ones(10, numpy.float32), whole[1]])
    assert (whole == [[0] * 10, [3] * 10, [0] * 10]).all()


def test_other_threads_run_while_a_kernel_does(naive, product):
    product = product(192, 192, 192)
    count, ends = 0, False

    def counts():
        nonlocal count
        while not ends:
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counts)
    thread.start()
    began, before = time.monotonic(), count
    while time.monotonic() - began < 0.5:
        naive.launch(product.grid, product.block, product.args)
    during = count - before
    ends = True
    thread.join()
    # With the interpreter's lock held, the thread would run between launches only.
    assert during > 50
    assert product.error() < 1


def test_a_fault_raises_the_report_and_the_device_stays_usable(naive, product):
    # A GPU does not notice accesses in the block of 2 MiB.
    good, bad = product(16, 64, 8), product(8208, 64, 8)
    bad.c = numpy.zeros((8192, 64), numpy.float32)
    with pytest.raises(ferrowave.KernelFault) as caught:
        naive.launch(bad.grid, bad.block, bad.args)
    assert isinstance(caught.value, ferrowave.Error)
    assert caught.value.code == "hipErrorIllegalAddress"
    for part in ["gemm_naive_f32", "writes 4 bytes", "just past the end", "2097152 bytes", "workgroup", "global_store_dword"]:
        assert part in caught.value.report, caught.value.report
    assert not bad.c.any()
    naive.launch(good.grid, good.block, good.args)
    assert good.error() < 1


def test_kernels_and_gpus_have_names(device, naive):
    module = device.load(ferrowave.kernels(device.gpu))
    assert "gemm_naive_f32" in module.kernels and naive.name == "gemm_naive_f32"
    with pytest.raises(ferrowave.ArgumentError, match="did you mean `gemm_naive_f32`"):
        module.kernel("gemm_naiv_f32")
    with pytest.raises(ferrowave.ArgumentError, match="gfx942"):
        ferrowave.kernels("gfx1102")
    with pytest.raises(ferrowave.ArgumentError, match="H100.*MI300X"):
        ferrowave.Device("H100")
    with pytest.raises(ferrowave.Error, match="hip:99"):
        ferrowave.Device("hip:99")


def test_files_are_code_objects_for_the_device_or_refused(device, tmp_path):
    path = tmp_path / "kernels.elf"
    path.write_bytes(ferrowave.kernels(device.gpu))
    assert "gemm_naive_f32" in device.load(path).kernels
    assert "gemm_naive_f32" in device.load(str(path)).kernels
    with pytest.raises(ferrowave.ArgumentError, match="missing.elf"):
        device.load(tmp_path / "missing.elf")
    with pytest.raises(ferrowave.ArgumentError, match="code_object must be"):
        device.load(7)
    for wrong in [b"", b"no code object", path.read_bytes()[:1000]]:
        with pytest.raises(ferrowave.ArgumentError, match="code_object"):
            device.load(wrong)
    other = ferrowave.Device("gfx90a" if device.gpu != "gfx90a" else "gfx942")
    with pytest.raises(ferrowave.ArgumentError, match=device.gpu):
        other.load(path)
