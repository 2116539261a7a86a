"""Places in the project's files, with lines that count from 1: of errors, and of the `def` of a test."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from typing import Any, Iterable

import pytest

# If the `def` is not this close below a decorator, the source does not match the code.
MAX_DECORATION = 200
# Packages whose errors stand for what caused them. pytest raises an ImportError for a plugin.
_WRAPPING = ("_pytest", "pluggy")


def broken_conftest(error: BaseException) -> tuple[str | None, BaseException]:
    """The conftest that could not be imported, if that is what this is, and what was really raised.

    pytest wraps what importing a conftest or a module raised into errors of its own.
    """
    is_wrapper = type(error).__module__.partition(".")[0] in _WRAPPING or isinstance(error, ImportError)
    cause = error.__cause__ if is_wrapper and error.__cause__ is not None else error
    if type(error).__name__ == "ConftestImportFailure":
        excinfo = getattr(error, "excinfo", None)
        return str(getattr(error, "path", "")), excinfo[1] if isinstance(excinfo, tuple) else cause
    return None, cause


def line_of(error: BaseException, path: str) -> int | None:
    """Where in this file the error is: a syntax error of the parser knows, any other is the last frame inside it."""
    here = os.path.realpath(path)
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and isinstance(error.lineno, int):
        return (error.lineno or None) if os.path.realpath(error.filename) == here else None
    line = None
    frame = error.__traceback__
    while frame is not None:
        if os.path.realpath(frame.tb_frame.f_code.co_filename) == here:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def described(item: Any) -> list[object]:
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return [classes, getattr(item, "originalname", None) or item.name, definition_line(item)]


def definition_line(item: Any) -> int | None:
    """The line of the `def`; pytest's own location is that of the first decorator.

    None where there is none to tell: items of plugins may say anything about where they are, or raise.
    """
    try:
        function: Any = getattr(item, "function", None)
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code is not None and code.co_filename == str(item.path):
            # The same as pytest's location, in a tenth of the time.
            return _line_of_def(code.co_name, code.co_filename, code.co_firstlineno)
        path, line, _ = item.reportinfo()
        return None if line is None else _line_of_def(getattr(function, "__name__", ""), str(path), int(line) + 1)
    except Exception:  # noqa: BLE001 - a reporter must never raise into pytest
        return None


def _line_of_def(name: str, path: str, first: int) -> int:
    for number in range(first, first + MAX_DECORATION):
        words = linecache.getline(path, number).partition("(")[0].partition("[")[0].split()
        if words in (["def", name], ["async", "def", name]):
            return number
    return first


def ranges_of(lines: Iterable[int], most: int = sys.maxsize) -> str:
    """`3-5,9`; the first of them."""
    ranges: list[list[int]] = []
    for line in sorted(lines):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        elif len(ranges) == most:
            break
        else:
            ranges.append([line, line])
    return ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in ranges)
