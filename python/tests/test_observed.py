"""Checks, counters and modelled times from Python, and pytest's option."""

import json

import numpy
import pytest

import ferrowave


def test_a_correct_kernel_has_no_findings(naive, product):
    product = product(33, 40, 20)
    findings = naive.check(product.grid, product.block, product.args)
    assert len(findings) == 0 and not findings
    assert findings.to_dict()["findings"] == []
    assert product.error() < 1


def test_findings_say_what_and_where(naive, product):
    product = product(33, 40, 20)
    # The last row is missing: reads stay in the allocation's page, which a GPU does not notice.
    product.a = product.a[:-1].copy()
    naive.launch(product.grid, product.block, product.args)
    findings = naive.check(product.grid, product.block, product.args, checks="memory")
    assert len(findings) > 0
    text = str(findings)
    assert "gemm_naive_f32" in text and "reads" in text
    first = findings.to_dict()["findings"][0]
    assert first["kernel"] == "gemm_naive_f32"
    assert json.loads(findings.to_sarif())["version"] == "2.1.0"
    html = findings._repr_html_()
    assert html.startswith("<pre>") and "gemm_naive_f32" in html
    # The next launch is not checked, and has none of them.
    good = naive.check(product.grid, product.block, type(product)(33, 40, 20).args, checks="memory")
    assert len(good) == 0


def test_a_fault_under_the_checks_is_a_finding(naive, product):
    product = product(33, 40, 20)
    product.c = numpy.zeros((1, 40), numpy.float32)
    findings = naive.check(product.grid, product.block, product.args)
    assert "out-of-bounds" in str(findings)


def test_wrong_checks_are_refused(naive, product):
    product = product(4, 64, 4)
    with pytest.raises(ferrowave.ArgumentError, match="checks: .*speed"):
        naive.check(product.grid, product.block, product.args, checks="speed")


def test_counters_are_those_of_the_algorithm(naive, product):
    m, n, k = 8, 64, 5
    product = product(m, n, k)
    profile = naive.profile(product.grid, product.block, product.args)
    assert product.error() < 1
    counted = profile.to_dict()["profiles"][0]
    assert counted["kernel"] == "gemm_naive_f32"
    # Two workgroups of four waves. A wave stores a row of 64 elements, and each element is k multiply-adds and a factor.
    assert (counted["workgroups"], counted["waves"]) == (2, 8)
    assert counted["totals"]["global_written_bytes"] == 4 * m * n
    assert counted["totals"]["flops"] == 2 * m * n * k + m * n
    assert "global_store_dword" in profile.listing()
    assert "gemm_naive_f32" in str(profile)
    assert profile.to_html().lstrip().lower().startswith("<!doctype html>")
    assert profile._repr_html_().startswith("<iframe srcdoc=")


def test_times_are_modelled_for_the_machine(naive, product, device):
    product = product(64, 64, 64)
    timing = naive.time(product.grid, product.block, product.args)
    assert product.error() < 1
    assert timing.seconds > 1e-7 and timing.cycles > 100 and timing.bound_by
    assert timing.to_dict()["cycles"] == timing.cycles
    assert timing.to_dict()["kernel"] == "gemm_naive_f32"
    assert "modelled" in repr(timing) and "modelled" in str(timing)
    assert timing._repr_html_().startswith("<iframe")
    again = naive.time(product.grid, product.block, product.args, machine=timing.machine)
    assert again.cycles == timing.cycles
    other = "MI250X" if device.gpu != "gfx90a" else "MI300X"
    with pytest.raises(ferrowave.ArgumentError, match=f"machine: {other} runs"):
        naive.time(product.grid, product.block, product.args, machine=other)
    with pytest.raises(ferrowave.ArgumentError, match="machine: .*H100"):
        naive.time(product.grid, product.block, product.args, machine="H100")


TESTS = """
import numpy, pytest, struct, ferrowave

GPU = {gpu!r}

@pytest.fixture(scope="module")
def naive():
    return ferrowave.Device(GPU).load(ferrowave.kernels(GPU)).kernel("gemm_naive_f32")

def launch(naive, rows):
    m, n, k = 33, 40, 20
    a, b, c = numpy.ones((rows, k), "f"), numpy.ones((k, n), "f"), numpy.zeros((m, n), "f")
    parameters = struct.pack("<8I4d3Q2Id", m, n, k, k, n, n, 0, 1, 1.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0.0)
    naive.launch((1, 9), (64, 4), [a, b, c, None, None, None, None, parameters])

def test_good(naive):
    launch(naive, 33)

def test_bad(naive):
    launch(naive, 32)

def test_without_a_kernel():
    assert True
"""


def test_the_option_fails_tests_with_findings(pytester, device):
    pytester.makepyfile(TESTS.format(gpu=device.gpu))
    pytester.runpytest_subprocess().assert_outcomes(passed=3)
    checked = pytester.runpytest_subprocess("--ferrowave-check")
    checked.assert_outcomes(passed=2, failed=1)
    text = checked.stdout.str()
    assert "test_bad" in text and "findings in this test" in text and "gemm_naive_f32" in text
    pytester.runpytest_subprocess("--ferrowave-check=races").assert_outcomes(passed=3)


def test_the_option_refuses_unknown_checks(pytester):
    result = pytester.runpytest_subprocess("--ferrowave-check=speed")
    assert result.ret != 0
    assert "--ferrowave-check" in result.stderr.str() and "speed" in result.stderr.str()
