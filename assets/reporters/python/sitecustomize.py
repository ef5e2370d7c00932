"""Makes unittest and pytest write a report. Python imports this at every start; it acts when a program imports one of them."""

import importlib.machinery
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))


class _Finder:
    """Patches `unittest.result` when it is imported, so that other programs pay nothing."""

    def find_spec(self, name, path=None, target=None):
        if name != "unittest.result":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            import check_report_unittest

            check_report_unittest.patch(module.TestResult)

        spec.loader.exec_module = exec_module
        return spec


class _PytestFinder:
    """Names the plugin only where Python can find it: a command may set a PYTHONPATH of its own for the programs it starts."""

    def find_spec(self, name, path=None, target=None):
        if name == "_pytest":
            sys.meta_path.remove(self)
            options = os.environ.get("PYTEST_ADDOPTS", "")
            os.environ["PYTEST_ADDOPTS"] = (options + " -p check_report_pytest").strip()
        return None


def _import_hidden():
    """This file hides a `sitecustomize` of the environment, which has to run too."""
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != _folder]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


sys.meta_path[:0] = [_Finder(), _PytestFinder()]

import importlib.util  # noqa: E402

_import_hidden()
