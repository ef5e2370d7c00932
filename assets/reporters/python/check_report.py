"""What the reporters for Python share: the report of this process, and an environment without the reporters."""

import json
import os

_reporters = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Report:
    def __init__(self, runner):
        self._path = os.path.join(_reporters, "..", "reports", "%s-%d.jsonl" % (runner, os.getpid()))
        self._count = 0
        self._append({"start": runner, "cwd": os.getcwd()})

    def add(self, test, status, file=None, message=None, outside=None):
        self._count += 1
        self._append({"test": test, "file": file, "status": status, "message": message, "outside": outside})

    def close(self):
        self._append({"end": self._count})

    def _append(self, line):
        with open(self._path, "a", encoding="utf-8") as report:
            report.write(json.dumps(line) + "\n")


def clear_environment():
    """Programs that tests start report nothing: their tests are data of the project."""
    with open(os.path.join(_reporters, "environment.json"), encoding="utf-8") as file:
        added = json.load(file)
    for name, text in added.items():
        value = os.environ.get(name)
        if value is None or text not in value:
            continue
        rest = value.replace(text, "", 1).strip()
        if rest:
            os.environ[name] = rest
        else:
            del os.environ[name]


def read_selection():
    try:
        with open(os.path.join(_reporters, "only.json"), encoding="utf-8") as file:
            return {(test.get("file"), test["name"]) for test in json.load(file)}
    except FileNotFoundError:
        return None
