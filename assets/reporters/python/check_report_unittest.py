"""Wraps the methods of `unittest.TestResult` that are called for each test."""

import functools
import sys

from check_report import Report, clear_environment

_report = None
_depth = 0


def patch(result_class):
    # Known before the tests are imported, one of which may end the process.
    if ["-m", "unittest"] in [sys.orig_argv[at : at + 2] for at in range(1, len(sys.orig_argv))]:
        _open()
    for method, status in {
        "addSuccess": "passed",
        "addFailure": "failed",
        "addError": "failed",
        "addSkip": "skipped",
        "addExpectedFailure": "expected-failure",
        "addUnexpectedSuccess": "unexpected-pass",
    }.items():
        _wrap(result_class, method, _adder(status))
    _wrap(result_class, "addSubTest", _add_sub_test)
    _wrap(result_class, "startTestRun", _start)
    _wrap(result_class, "stopTestRun", _stop)


def _wrap(result_class, name, record):
    original = getattr(result_class, name)

    @functools.wraps(original)
    def wrapper(self, *args, **kwargs):
        record(self, *args)
        return original(self, *args, **kwargs)

    setattr(result_class, name, wrapper)


def _open():
    global _report
    if _report is None:
        _report = Report("unittest")
        clear_environment()


def _start(_result):
    global _depth
    # Tests that run unittest inside themselves do not report.
    _depth += 1
    if _depth == 1:
        _open()


def _stop(_result):
    global _depth
    _depth -= 1
    if _depth == 0 and _report is not None:
        _report.close()


def _adder(status):
    def add(_result, test, *details):
        _add(test, status, details)

    return add


def _add_sub_test(_result, test, _subtest, error):
    # Under the name of the test: one that passes reports no parts.
    if error is not None:
        _add(test, "failed", (error,))


def _add(test, status, details):
    if _report is None or _depth != 1:
        return
    message = str(details[0][1]) if status == "failed" and details else None
    module = type(test).__module__
    if module.startswith("unittest."):
        # Stands for a module that cannot be imported, or for a class whose setup failed.
        _report.add([test.id()], status, None, message, True)
        return
    name = test.id()[len(module) + 1 :] if test.id().startswith(module + ".") else test.id()
    _report.add(name.split(".", 1), status, getattr(sys.modules.get(module), "__file__", None), message)
