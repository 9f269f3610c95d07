"""pytest's option --ferrowave-check: a test in which a launch has findings fails, with the findings in its report.

It checks the launches of the module `ferrowave`. Devices must be opened after pytest has read its options, as they are in
tests and fixtures.
"""

import pytest

_CHECKS = pytest.StashKey[str]()


def pytest_addoption(parser):
    parser.getgroup("ferrowave").addoption(
        "--ferrowave-check",
        nargs="?",
        const="all",
        default=None,
        metavar="CHECKS",
        help="fail tests whose kernels race, read or write out of bounds, miss a wait, or use what is not initialized; "
        "CHECKS are memory, lds, races, waits, hazards, registers, with commas between [default: all]",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    # Before conftest.py is imported, which may open a device.
    checks = early_config.known_args_namespace.ferrowave_check
    if checks is not None:
        from ferrowave import ArgumentError, _native

        try:
            _native._set_checks(checks or "none is named")
        except ArgumentError as error:
            raise pytest.UsageError(f"--ferrowave-check: {error}") from None
        early_config.stash[_CHECKS] = checks


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if _CHECKS not in item.config.stash:
        return report
    from ferrowave import _native

    findings = _native._take_findings()
    if len(findings):
        report.sections.append((f"Ferrowave's findings ({report.when})", str(findings)))
        if report.outcome == "passed":
            report.outcome = "failed"
            report.longrepr = f"the emulator has {len(findings)} findings in this test\n\n{findings}"
    return report
