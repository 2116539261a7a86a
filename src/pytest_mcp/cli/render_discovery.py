"""The output of `pytest-mcp discover`.

Pure: a result in, lines out. People get the tests under their files, with counts, then errors, notices and the total.
Programs get one node id per line and nothing else.
"""

from collections.abc import Sequence
from itertools import groupby

from pytest_mcp.api.results import DiscoveredTest, DiscoverResult
from pytest_mcp.cli import render
from pytest_mcp.cli.colours import Painter
from pytest_mcp.text import safe_line

Lines = list[str]


def for_people(result: DiscoverResult, painter: Painter) -> Lines:
    return [*_tests(result, painter), *remarks(result, painter), painter.paint(_closing(result), "bold")]


def for_programs(result: DiscoverResult) -> Lines:
    """If the tests do not fit, the files and folders that contain them, which can be run instead."""
    return [safe_line(entry) for entry in [*(test.node_id for test in result.tests), *(f.file for f in result.files)]]


def remarks(result: DiscoverResult, painter: Painter) -> Lines:
    """Errors and notices."""
    errors = [line for error in result.collection_errors for line in [*render.of_collection_error(error, painter), ""]]
    left_out = [f"{result.omitted.tests} tests are not listed: {result.omitted.hint}."] if result.omitted else []
    return errors + render.of_notices([*result.notices, *left_out], painter)


def _tests(result: DiscoverResult, painter: Painter) -> Lines:
    lines: Lines = []
    for file, tests in groupby(result.tests, key=lambda test: test.file):
        lines += _file(file, list(tests), painter)
    lines += [f"{safe_line(entry.file)} ({entry.count})" for entry in result.files]
    return [*lines, ""] if lines else []


def _file(file: str, tests: Sequence[DiscoveredTest], painter: Painter) -> Lines:
    names = [safe_line(test.node_id.removeprefix(f"{file}::")) for test in tests]
    return [f"{painter.paint(safe_line(file), 'bold')} ({len(names)})", *(f"  {name}" for name in names)]


def _closing(result: DiscoverResult) -> str:
    if not result.count:
        return "no tests"
    tests = "1 test" if result.count == 1 else f"{result.count} tests"
    files = len({test.file for test in result.tests})
    return f"{tests} in {'1 file' if files == 1 else f'{files} files'}" if files else tests
