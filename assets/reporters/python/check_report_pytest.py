"""A plugin of pytest that writes a report. Loaded with `-p`, through PYTEST_ADDOPTS, which sitecustomize.py sets."""

import os

from check_report import Report, clear_environment, read_selection


def pytest_configure(config):
    options = os.environ.get("PYTEST_ADDOPTS", "").replace("-p check_report_pytest", "", 1).strip()
    os.environ.pop("PYTEST_ADDOPTS", None)
    if options:
        os.environ["PYTEST_ADDOPTS"] = options
    # With pytest-xdist the controller receives every result.
    if hasattr(config, "workerinput"):
        return
    clear_environment()
    config.pluginmanager.register(_Reporter(config), "check-report-file")


class _Reporter:
    def __init__(self, config):
        self._root = str(config.rootpath)
        self._report = Report("pytest")

    def pytest_collection_modifyitems(self, config, items):
        only = read_selection()
        if only is None:
            return
        chosen = [item for item in items if self._identify(item.nodeid) in only]
        others = [item for item in items if self._identify(item.nodeid) not in only]
        if chosen:
            items[:] = chosen
            config.hook.pytest_deselected(items=others)

    def pytest_collectreport(self, report):
        if report.failed:
            self._add(report.nodeid, "failed", str(report.longrepr), True)

    def pytest_runtest_logreport(self, report):
        status = _status(report)
        if status is not None:
            self._add(report.nodeid, status, _message(report))

    def pytest_sessionfinish(self):
        self._report.close()

    def _add(self, nodeid, status, message, outside=None):
        file, *names = nodeid.split("::")
        self._report.add(names or [file], status, os.path.join(self._root, file), message, outside)

    def _identify(self, nodeid):
        file, *names = nodeid.split("::")
        path = os.path.relpath(os.path.join(self._root, file), os.getcwd())
        return (path.replace(os.sep, "/"), " > ".join(names))


def _status(report):
    """None for a phase that says nothing about the test: a setup or teardown that passed, a try that is repeated."""
    if hasattr(report, "wasxfail"):
        if report.skipped:
            return "expected-failure"
        return "unexpected-pass" if report.when == "call" else None
    if report.failed:
        return "failed"
    if report.skipped:
        return "skipped"
    return "passed" if report.passed and report.when == "call" else None


def _message(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return crash.message
    return str(report.longrepr) if report.failed else None
