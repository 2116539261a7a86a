"""Where in the project's files things are: the line of an error, the line of a test's `def`.

In come exceptions and pytest's items; out come paths and 1-based lines. Standard library only.
"""

from __future__ import annotations

import linecache
import os
import re
from typing import Any

# Reading further than this for the `def` below a decorator means the source does not match the code.
LONGEST_DECORATION = 200


def broken_conftest(error: BaseException) -> tuple[str | None, BaseException]:
    """The conftest that could not be imported, if that is what this is, and what was really raised.

    pytest wraps what importing a conftest or a module raised into errors of its own.
    """
    cause = error.__cause__ or error
    if type(error).__name__ == "ConftestImportFailure":
        excinfo = getattr(error, "excinfo", None)
        return str(getattr(error, "path", "")), excinfo[1] if isinstance(excinfo, tuple) else cause
    return None, cause


def line_of(error: BaseException, path: str) -> int | None:
    """Where in this file the error is: a syntax error knows, any other is the last frame inside it."""
    here = os.path.realpath(path)
    if isinstance(error, SyntaxError):
        is_here = error.filename and os.path.realpath(error.filename) == here
        return (error.lineno or None) if is_here else None
    line = None
    frame = error.__traceback__
    while frame is not None:
        if os.path.realpath(frame.tb_frame.f_code.co_filename) == here:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def definition_line(item: Any) -> int | None:
    """The line of the `def`; pytest's own location is that of the first decorator."""
    path, line, _ = item.reportinfo()
    if line is None:
        return None
    name = getattr(getattr(item, "function", None), "__name__", None)
    if name is None:
        return int(line) + 1
    definition = re.compile(r"\s*(async\s+)?def\s+%s\b" % re.escape(name))
    for number in range(line + 1, line + LONGEST_DECORATION):
        if definition.match(linecache.getline(str(path), number)):
            return number
    return int(line) + 1


def ends_of_names(names: str) -> list[int]:
    """Where a selector may end and still name this test: after each name, before and after its parameters."""
    bracket = names.find("[")
    plain = names if bracket < 0 else names[:bracket]
    return [match.start() for match in re.finditer("::", plain)] + [len(plain), len(names)]
