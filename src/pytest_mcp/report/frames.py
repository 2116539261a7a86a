"""The frames of an exception in few lines: those of the project with place and statement, the others folded.

The test's own frame and the last two of the project have their statement, the innermost also the values of its
arguments or all of its variables. Frames that repeat are shown once, and so is a statement that several examples have,
but for that of the test.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pytest_mcp.report import places
from pytest_mcp.run.events import Frame, Raised

# Characters from the end of each captured stream: in the first example, and in the others.
CAPTURED, CAPTURED_SHORT = 500, 120
# Lines of an exception's text and characters of each, in an answer of the usual size; others have a part of them.
LINES, WIDTH = 60, 600
# How many of the project's frames have their statement, the innermost.
FRAMES_WITH_STATEMENT = 2
# A statement of several lines is joined up to this length; of a longer one the first line is shown.
STATEMENT_CHARACTERS = 160
# What is shown of the values of arguments: of each, of all, and of those that the statement does not name.
VALUE_CHARACTERS = 60
VALUES_CHARACTERS = 200
UNNAMED_CHARACTERS = 100
# A local variable in one line.
VARIABLE_CHARACTERS = 120
MAX_VARIABLES = 20

# A value that is, or holds, an object without a repr of its own.
_OBJECT = re.compile(r"^<.*>$|<_pytest\.|<[^<>]{1,200} at 0x[0-9a-fA-F]+>", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
# Where the lines of a statement are joined.
_BRACKET = re.compile(r"(?<=[(\[{])\n|\n(?=[)\]}.])")
_BREAK = re.compile(r"\n *")


@dataclass(frozen=True)
class ExampleStyle:
    """What is shown, beside the statement of the test and the one that failed, which always are."""

    # Lines of a difference that are equal on both sides.
    equal_lines: bool = True
    # So many characters from the end of each stream; None: all, as it was written.
    captured: int | None = CAPTURED
    foreign_frames: bool = True
    arguments: bool = True
    outer_frames: bool = True
    variables: bool = False
    # Of each exception's text, so many lines of so many characters.
    lines: int = LINES
    width: int = WIDTH
    # Otherwise only the first part of a failure, and of a long chain the first and the last exceptions.
    every_part: bool = True
    # Places whose statement an example above this one has.
    stated_above: frozenset[str] = frozenset()

    def reduced(self) -> Iterator["ExampleStyle"]:
        """This, then with ever less."""
        steps: list[dict[str, Any]] = [
            {},
            {"equal_lines": False},
            {"captured": 0},
            {"foreign_frames": False},
            {"arguments": False, "variables": False},
            {"outer_frames": False},
            {"lines": min(self.lines, 16), "width": min(self.width, 300)},
            {"lines": 5, "width": 200, "every_part": False},
        ]
        style = self
        for step in steps:
            style = replace(style, **step)
            yield style

    @property
    def short(self) -> "ExampleStyle":
        """For an example that is not the first."""
        return replace(
            self,
            equal_lines=False,
            captured=self.captured and CAPTURED_SHORT,
            foreign_frames=False,
            arguments=False,
            outer_frames=False,
            lines=self.lines // 7,
            width=self.width // 3,
        )


def frame_lines(raised: Raised, node_id: str, style: ExampleStyle) -> Iterator[str]:
    """Of frames that repeat, as in a recursion, the last."""
    frames = _with_inner(raised.frames)
    own = [index for index, frame in enumerate(frames) if not places.is_foreign(frame.path)]
    times, last = Counter(_code(frames[index]) for index in own), {_code(frames[index]): index for index in own}
    stated = _stated_frames(raised, frames, node_id, FRAMES_WITH_STATEMENT if style.outer_frames else 1)
    shown = [(index, frame) for index, frame in enumerate(frames) if last.get(_code(frame), index) == index]
    for is_folded, run in groupby(shown, key=lambda pair: _code(pair[1]) not in last and pair[0] not in stated):
        if is_folded:
            yield from _folded([frame for _, frame in run]) if style.foreign_frames else ()
            continue
        for index, frame in run:
            if index in stated:
                yield from _stated(frame, node_id, style, innermost=index in own[-1:])
            elif style.outer_frames:
                yield _place(frame)
            if times[_code(frame)] > 1 and (index in stated or style.outer_frames):
                yield f"    [{times[_code(frame)] - 1} more frames like this]"


def _code(frame: Frame) -> tuple[str, str | None]:
    return frame.place, frame.function


def _stated_frames(raised: Raised, frames: Sequence[Frame], node_id: str, number: int) -> set[int]:
    """Where frames are that have their statement: the last of the project, the test's own, the one that raised."""
    # The last of each place, so that a recursion does not take both.
    different = {_code(frame): index for index, frame in enumerate(frames) if not places.is_foreign(frame.path)}
    of_test = {index for (_, function), index in different.items() if function == test_function(node_id)}
    # What raises a group only collects what others have raised.
    last = set() if raised.link == "group" else {len(frames) - 1}
    return {*sorted(different.values())[-number:], *of_test, *last}


def stated_places(raised: Raised, node_id: str) -> list[str]:
    """Where an exception has a statement however little of it is shown."""
    frames = _with_inner(raised.frames)
    return [frames[index].place for index in sorted(_stated_frames(raised, frames, node_id, 1)) if index >= 0]


def test_function(node_id: str) -> str:
    return node_id.rpartition("::")[2].partition("[")[0]


def _with_inner(frames: Iterable[Frame]) -> list[Frame]:
    """A function, and the generator expression or lambda in the same line, which has no name, as one frame.

    A function that Hypothesis calls has a frame of its decorator above its own; it shows the `def`.
    """
    merged: list[Frame] = []
    for frame in frames:
        outer = merged[-1] if merged else None
        if outer and outer.function and not frame.function and frame.place == outer.place:
            merged[-1] = frame._replace(function=outer.function, arguments=frame.arguments + outer.arguments)
        elif outer and outer.path == frame.path and outer.function == frame.function and _shows_definition(outer):
            merged[-1] = frame
        else:
            merged.append(frame)
    return merged


def _shows_definition(frame: Frame) -> bool:
    return (frame.statement or "").startswith(("def ", "async def ", "@"))


def _folded(frames: list[Frame]) -> Iterator[str]:
    # Frames of pytest itself, and of what has called it, tell nothing; most of them are not there to begin with.
    frames = frames[max((index + 1 for index, frame in enumerate(frames) if places.is_runner(frame.path)), default=0) :]
    if not frames:
        return
    packages = list(dict.fromkeys(places.package(frame.path) for frame in frames))
    more = f" and {len(packages) - 2} more" if len(packages) > 2 else ""
    yield f"... {len(frames)} frame{'s' if len(frames) > 1 else ''} in {', '.join(packages[:2])}{more}"


def _place(frame: Frame) -> str:
    return f"{places.short(frame.path)}:{frame.line}:" + (f" in {frame.function}" if frame.function else "")


def _stated(frame: Frame, node_id: str, style: ExampleStyle, *, innermost: bool) -> Iterator[str]:
    yield _place(frame)
    if frame.statement and (frame.place not in style.stated_above or frame.function == test_function(node_id)):
        yield f"    {_statement(frame.statement)}"
    if innermost and style.variables and frame.variables:
        yield from _variables(frame.variables)
    elif innermost and style.arguments:
        yield from _arguments(frame, node_id)


def _statement(statement: str) -> str:
    """In one line; of an assertion that spans lines the first that says something: its operands are told below."""
    first, *others = statement.replace(" \\\n", "\n").split("\n")
    if first == "assert (" and others:
        first += others.pop(0)
    joined = _BRACKET.sub("", "\n".join([first, *others])).replace("\n", " ")
    return first if first.startswith("assert") or len(joined) > STATEMENT_CHARACTERS else joined


def _variables(lines: tuple[str, ...]) -> Iterator[str]:
    """pytest aligns the values, and spreads those of a failed comparison over lines."""
    for line in lines[:MAX_VARIABLES]:
        name, _, value = line.partition("=")
        yield "    " + _shortened(f"{name.strip()} = {value.strip()}", VARIABLE_CHARACTERS)
    if len(lines) > MAX_VARIABLES:
        yield f"    [{len(lines) - MAX_VARIABLES} more variables]"


def _arguments(frame: Frame, node_id: str) -> Iterator[str]:
    """Values that a reader cannot know: fewer of those that the statement does not name."""
    named = set(_NAME.findall(frame.statement or ""))
    shown: list[str] = []
    left = {True: VALUES_CHARACTERS, False: UNNAMED_CHARACTERS}
    for name, value in frame.arguments:
        if _is_known(name, value, frame, node_id):
            continue
        text = f"{name} = {_shortened(value, VALUE_CHARACTERS)}"
        left[name in named] -= len(text)
        if left[name in named] >= 0 and sum(map(len, [*shown, text])) <= VALUES_CHARACTERS:
            shown.append(text)
    if shown:
        yield f"    {', '.join(shown)}"


def _is_known(name: str, value: str, frame: Frame, node_id: str) -> bool:
    """Whether it is a bare object, or an argument of the test that its id shows or that is a fixture."""
    _, bracket, parameters = node_id.rpartition("::")[2].partition("[")
    is_of_test = frame.function == test_function(node_id) and (not bracket or value.strip("'\"") in parameters)
    return name in ("self", "cls") or _OBJECT.search(value) is not None or is_of_test


def _shortened(value: str, most: int) -> str:
    line = _BREAK.sub(" ", value)
    return line if len(line) <= most else f"{line[: most - 3]}..."
