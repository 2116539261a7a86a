"""Failures as annotations of GitHub Actions: they appear beside the lines of a pull request.

Pure: a result in, workflow commands out. Only the failures that the report shows are annotated.
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

import re

from pytest_mcp.api.results import CollectionError, ExecuteResult, TestResult
from pytest_mcp.text import safe, safe_line

# A place of a traceback, at the beginning of a line.
_PLACE = re.compile(r"(?m)^([^\s:][^\n:]*+):(\d++)")


def of_run(result: ExecuteResult, prefix: str) -> list[str]:
    """`prefix` leads from the top of the repository to the project's root: empty, or a folder with its slash."""
    failed = [test for test in result.tests if test.outcome in ("failed", "error")]
    return [
        *(_of_test(test, prefix) for test in failed),
        *(_of_file(error, prefix) for error in result.collection_errors),
    ]


def _of_test(test: TestResult, prefix: str) -> str:
    file = test.node_id.partition("::")[0]
    lines = [int(line) for place, line in _PLACE.findall(test.traceback or "") if place == file]
    return _command(prefix + file, lines[-1] if lines else None, test.node_id, test.message or test.outcome)


def _of_file(error: CollectionError, prefix: str) -> str:
    return _command(prefix + error.file, error.line, "not collected", f"{error.error_type}: {error.message}")


def _command(file: str, line: int | None, title: str, message: str) -> str:
    place = [f"file={_property(file)}", *([f"line={line}"] if line else []), f"title={_property(title)}"]
    return f"::error {','.join(place)}::{_data(safe(message))}"


def _data(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words: str) -> str:
    return _data(safe_line(words)).replace(":", "%3A").replace(",", "%2C")
