"""What a person, or a program, reads of a discovery.

Pure: a result in, lines out. For a person the tests stand below their files, with counts, and at the end what went
wrong and how many there are. For a program there is one node id in each line and nothing else.
"""

from collections.abc import Sequence
from itertools import groupby

from pytest_mcp.api.results import DiscoveredTest, DiscoverResult
from pytest_mcp.cli import render
from pytest_mcp.cli.colours import Ink
from pytest_mcp.text import safe_line

Lines = list[str]


def for_a_person(result: DiscoverResult, ink: Ink) -> Lines:
    return [*_tests(result, ink), *remarks(result, ink), ink.paint(_closing(result), "bold")]


def for_a_program(result: DiscoverResult) -> Lines:
    """Where the tests had to be left out, the files and folders that hold them can be run instead."""
    return [safe_line(entry) for entry in [*(test.node_id for test in result.tests), *(f.file for f in result.files)]]


def remarks(result: DiscoverResult, ink: Ink) -> Lines:
    """What is not a test."""
    errors = [line for error in result.collection_errors for line in [*render.of_uncollected(error, ink), ""]]
    left_out = [f"{result.omitted.tests} tests are not listed: {result.omitted.hint}."] if result.omitted else []
    return errors + render.of_notices([*result.notices, *left_out], ink)


def _tests(result: DiscoverResult, ink: Ink) -> Lines:
    lines: Lines = []
    for file, tests in groupby(result.tests, key=lambda test: test.file):
        lines += _file(file, list(tests), ink)
    lines += [f"{safe_line(entry.file)} ({entry.count})" for entry in result.files]
    return [*lines, ""] if lines else []


def _file(file: str, tests: Sequence[DiscoveredTest], ink: Ink) -> Lines:
    names = [safe_line(test.node_id.removeprefix(f"{file}::")) for test in tests]
    return [f"{ink.paint(safe_line(file), 'bold')} ({len(names)})", *(f"  {name}" for name in names)]


def _closing(result: DiscoverResult) -> str:
    if not result.count:
        return "no tests"
    tests = "1 test" if result.count == 1 else f"{result.count} tests"
    files = len({test.file for test in result.tests})
    return f"{tests} in {'1 file' if files == 1 else f'{files} files'}" if files else tests
