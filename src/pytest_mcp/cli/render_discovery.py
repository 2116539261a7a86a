"""The output of `pytest-mcp discover`.

Pure: a result in, lines out. People get the tests under their files, with counts, then errors, notices and the total.
Programs get one node id per line and nothing else.
"""

import re
from itertools import groupby

from pytest_mcp.api.results import DiscoverResult, FileTests
from pytest_mcp.cli import render_run
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.terminal.lines import Lines, lines_of_notices
from pytest_mcp.text import safe_line

# What follows the name of a test in a list by file: its line, and how many parameter sets it has.
_LINE_AND_NUMBER = re.compile(r"(?::\d+)?(?: \(\d+\))?$")


def for_people(result: DiscoverResult, painter: Painter) -> Lines:
    return [*_tests(result, painter), *remarks(result, painter), painter.paint(_closing(result), "bold")]


def for_programs(result: DiscoverResult) -> Lines:
    """If the tests do not fit, what contains them and can be run instead: functions, files or folders. None twice."""
    names = {name: None for entry in result.files for name in _names(entry)}
    folders = tuple(name.removeprefix("./") for name in names if name.endswith("/"))
    alone = [
        test.node_id
        for test in result.tests
        if names.keys().isdisjoint((test.file, test.node_id.partition("[")[0])) and not test.file.startswith(folders)
    ]
    return [safe_line(name) for name in [*alone, *names]]


def _names(entry: FileTests) -> Lines:
    if entry.tests is None:
        return [entry.file]
    return list(dict.fromkeys(f"{entry.file}::{_LINE_AND_NUMBER.sub('', name, count=1)}" for name in entry.tests))


def remarks(result: DiscoverResult, painter: Painter) -> Lines:
    """Errors and notices."""
    errors = [
        line for error in result.collection_errors for line in [*render_run.of_collection_error(error, painter), ""]
    ]
    return errors + lines_of_notices([*result.notices, *_left_out(result)], painter)


def _left_out(result: DiscoverResult) -> Lines:
    if result.omitted is None:
        return []
    what = f"{result.omitted.tests} tests are not listed one by one" if result.omitted.tests else "not everything fits"
    return [f"{what}: {result.omitted.hint}."]


def _tests(result: DiscoverResult, painter: Painter) -> Lines:
    lines: Lines = []
    for file, tests in groupby(result.tests, key=lambda test: test.file):
        names = [test.node_id.removeprefix(f"{file}::") for test in tests]
        lines += _file(FileTests(file=file, count=len(names), tests=names), painter)
    for entry in result.files:
        lines += _file(entry, painter)
    return [*lines, ""] if lines else []


def _file(entry: FileTests, painter: Painter) -> Lines:
    headline = f"{painter.paint(safe_line(entry.file), 'bold')} ({entry.count})"
    return [headline, *(f"  {safe_line(name)}" for name in entry.tests or ())]


def _closing(result: DiscoverResult) -> str:
    if not result.count:
        return "no tests"
    tests = "1 test" if result.count == 1 else f"{result.count} tests"
    files = {*(test.file for test in result.tests), *(entry.file for entry in result.files)}
    # Of folders nobody has counted the files.
    if not files or any(file.endswith("/") for file in files):
        return tests
    return f"{tests} in {'1 file' if len(files) == 1 else f'{len(files)} files'}"
