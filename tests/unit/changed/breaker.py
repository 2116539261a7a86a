"""Break modules and see what fails: `python breaker.py`, with one line of JSON on stdin for each module.

A line has the folder of a project, a file and the contents to try instead, until tests fail. The answer is a line: the
files in which a test failed or that could not be collected; null if pytest ran nothing at all.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

OPTIONS = ["-qq", "--tb=no", "-p", "no:cacheprovider", "--continue-on-collection-errors"]


class Failures:
    def __init__(self) -> None:
        self.files: set[str] = set()
        self.ran = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.files.add(report.nodeid.partition("::")[0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran = True
        if report.failed:
            self.files.add(report.nodeid.partition("::")[0])


def run(folder: str) -> list[str] | None:
    os.chdir(folder)
    sys.path.insert(0, folder)
    found = Failures()
    pytest.main([*OPTIONS, f"--rootdir={folder}"], plugins=[found])
    return sorted(found.files) if found.ran or found.files else None


def attempt(folder: str) -> list[str] | None:
    """In a process of its own, forked when pytest is loaded."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, json.dumps(run(folder)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        found: list[str] | None = json.load(answer)
    os.wait()
    return found


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as empty:
        # Loads what every run needs.
        run(empty)
    for line in sys.stdin:
        folder, name, contents = json.loads(line)
        module = Path(folder, name)
        whole = module.read_bytes()
        found = None
        for content in contents:
            module.write_bytes(content.encode("latin-1"))
            found = attempt(folder)
            if found:
                break
        module.write_bytes(whole)
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    main()
