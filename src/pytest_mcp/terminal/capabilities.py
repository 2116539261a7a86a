"""What stdout and stderr can show, by the streams, the environment and the --color flag."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple, TextIO

from pytest_mcp.terminal.colours import Painter


class Screen(NamedTuple):
    # Whether stdout is a terminal, not a file or a pipe.
    is_terminal: bool
    # Whether a progress line can be redrawn on stderr.
    can_redraw: bool
    # Whether lines about the run can go to stderr.
    can_log: bool
    out: Painter
    err: Painter


def screen(environment: Mapping[str, str], *, colour: bool | None = None) -> Screen:
    """`colour` is the --color flag, which overrides everything else."""
    out, err = (is_capable(stream, environment) for stream in (sys.stdout, sys.stderr))
    return Screen(
        is_terminal=sys.stdout.isatty(),
        # Not if only stderr is a terminal: a pager may use it.
        can_redraw=out and err,
        can_log=sys.stdout.isatty() or not sys.stderr.isatty(),
        out=Painter(has_colours(environment, capable=out, asked=colour)),
        err=Painter(has_colours(environment, capable=err, asked=colour)),
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
    """The current width: the window can be resized at any time."""
    with suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or 80
    return 80


def is_in_foreground(stream: TextIO) -> bool:
    """Whether we are the terminal's foreground job; a background job must not draw over what the user types."""
    with suppress(OSError, ValueError):
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    return True
