"""What the two output streams can show: colours, a line that is drawn again, so many columns.

In come the streams, the environment and what was typed; out comes a `Screen`. What is shown on it is
decided in `render`, `render_discovery` and `progress_line`.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple, TextIO

from pytest_mcp.cli.colours import Ink

# Where a terminal does not tell.
USUAL_WIDTH = 80


class Screen(NamedTuple):
    # Whether a person reads the answer as it comes, and not a file or a program.
    is_read_by_a_person: bool
    # Whether a line on standard error can be drawn again.
    is_live: bool
    out: Ink
    err: Ink


def screen(environment: Mapping[str, str], *, colour: bool | None = None) -> Screen:
    """`colour` is what was typed, which counts more than everything else."""
    out, err = (is_capable(stream, environment) for stream in (sys.stdout, sys.stderr))
    return Screen(
        is_read_by_a_person=sys.stdout.isatty(),
        # Not beside a pager either, which has the terminal to itself.
        is_live=out and err,
        out=Ink(has_colours(environment, capable=out, asked=colour)),
        err=Ink(has_colours(environment, capable=err, asked=colour)),
    )


def is_capable(stream: TextIO, environment: Mapping[str, str]) -> bool:
    return stream.isatty() and environment.get("TERM", "dumb") not in ("dumb", "")


def has_colours(environment: Mapping[str, str], *, capable: bool, asked: bool | None) -> bool:
    if asked is not None:
        return asked
    if environment.get("NO_COLOR"):
        return False
    return capable or bool(environment.get("FORCE_COLOR"))


def width(stream: TextIO) -> int:
    """As it is now: a person may change it at any time."""
    with suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    return USUAL_WIDTH


def is_in_front(stream: TextIO) -> bool:
    """Whether the terminal is ours just now; a job in the background must not draw over what a person types."""
    with suppress(OSError, ValueError):
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    return True
