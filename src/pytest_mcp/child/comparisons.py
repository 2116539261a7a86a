"""Whole differences of a failed comparison, in few lines.

pytest explains a comparison briefly and says "use -v" for the rest, or prints everything with `-vv`: both operands,
and every line that is equal. Here its brief explanation stays, and the differing lines it left out are added. Called
for failed comparisons only, so a passing test pays nothing. It must never raise into pytest.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from itertools import groupby, zip_longest
from threading import RLock, get_ident
from types import CodeType
from typing import Any, Callable, Generator, Iterator, Sequence, TypeVar

import pytest

# The verbosity at which pytest cuts nothing, and escapes what is not ASCII in values.
EVERYTHING = 2
# The one at which it shows values as they are, up to this many characters.
LONG_VALUES = 1
MAX_VALUE = 2400
# pytest shows this many lines of an explanation; in what follows, runs of equal lines are shortened.
ALWAYS_SHOWN = 8
SHOWN_CHARACTERS = 640
EQUAL_LINES = 3
# More lines than this explain nothing.
MAX_LINES = 2000
# Values whose texts are longer have only the brief explanation: to format them takes seconds.
MAX_COMPARED = 400_000
# How much is spent on looking for similar lines, in pairs of characters: about a second.
MAX_PAIRS = 10_000_000
# What pytest says instead of the rest, at the end of a line or as a line of its own, indented below an attribute.
_HINT = re.compile(r"(?:^ *|, )[Uu]se '?-vv?'? to (?:show|get (?:more|the full) diff)$")
_DIFFERENCE = ("- ", "+ ")
_EQUAL = "  "
# The explanation of an attribute is indented as equal lines are.
_NESTED = "Drill down into differing attribute"

# How pytest-icdiff begins: two columns for people, with marks where colours would be, and no values in the first line.
_IN_COLUMNS = "equals failed"

# What is said to be the file of these functions.
NO_FILE = "<pytest-mcp>"
Function = TypeVar("Function", bound=Callable[..., Any])
Lines = Sequence[str]


def unseen(function: Function) -> Function:
    """Hypothesis explains a failure by lines that only failing cases run, as these do. It skips code without a file."""
    function.__code__ = without_file(function.__code__)
    return function


def without_file(code: CodeType) -> CodeType:
    inner = (without_file(const) if isinstance(const, CodeType) else const for const in code.co_consts)
    return code.replace(co_filename=NO_FILE, co_consts=tuple(inner))


class Comparisons:
    """Owns the verbosity of pytest while a test runs: `restore` gives it back when the report is there."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.asked = config.option.verbose

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    @unseen
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> Generator[None, Any, None]:
        self.restore()
        with quick_differences():
            outcome = yield
            if self.asked < EVERYTHING and outcome.excinfo is None:
                needed = EVERYTHING
                with suppress(Exception):
                    explanations = self.explained(outcome.get_result(), (op, left, right))
                    outcome.force_result(explanations)
                    needed = verbosity_for(explanations[0] if explanations else [], left, right)
                # Behind this hook pytest cuts by verbosity, so it stays high until the report is made.
                self.config.option.verbose = max(self.asked, needed)

    @unseen
    def restore(self) -> None:
        self.config.option.verbose = self.asked

    @unseen
    def explained(self, results: Any, compared: tuple[str, object, object]) -> list[list[str]]:
        """pytest uses the first explanation that is not empty. Newer versions have it as an iterator."""
        explanations = [list(lines) for lines in results if lines]
        first = next((lines for lines in explanations if lines and lines[0] != _IN_COLUMNS), None)
        if first is None:
            return []
        kept = shortened([_HINT.sub("", line) for line in first if not _HINT.match(line)])
        if any(_HINT.match(line) for line in first):
            kept += unsaid(self.differences(compared), kept)
        return [kept[:MAX_LINES]]

    @unseen
    def differences(self, compared: tuple[str, object, object]) -> list[str]:
        op, left, right = compared
        if is_long(left, right):
            return []
        self.config.option.verbose = EVERYTHING
        assertion = self.config.pluginmanager.get_plugin("assertion")
        lines = assertion.pytest_assertrepr_compare(config=self.config, op=op, left=left, right=right) or ()
        return [line for line in lines if line.startswith(_DIFFERENCE)]


@unseen
def verbosity_for(explanation: list[str], left: object, right: object) -> int:
    """The lowest verbosity that cuts neither the explanation nor, without one, the values."""
    if explanation:
        is_cut = len(explanation) > ALWAYS_SHOWN or sum(map(len, explanation)) > SHOWN_CHARACTERS
    else:
        is_cut = max(len(repr(left)), len(repr(right))) > MAX_VALUE
    return EVERYTHING if is_cut else LONG_VALUES


@unseen
def is_long(*values: object) -> bool:
    with suppress(Exception):
        return sum(len(repr(value)) for value in values) > MAX_COMPARED
    return True


@contextmanager
@unseen
def quick_differences() -> Generator[None, None, None]:
    """Have pytest use `differing` for `difflib.ndiff`, which takes minutes for texts or values of a thousand lines."""
    library: Any = None
    with suppress(Exception):
        # pytest too imports it for a failed comparison only. A project can have a module of this name.
        import difflib

        library = difflib if hasattr(difflib, "ndiff") else None
    if library is None:
        yield
        return
    _REPLACEMENT.begin(library)
    try:
        yield
    finally:
        _REPLACEMENT.end(library)


class Replacement:
    """What `difflib.ndiff` is while threads compare. They end in any order, so the last one restores it."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        # A signal handler can compare too.
        self.lock = RLock()
        self.before: Any = None

    @unseen
    def __call__(self, old: Lines, new: Lines, *given: Any, **named: Any) -> Iterator[str]:
        # Not of pytest: a hook of the project, or another thread.
        if given or named or get_ident() not in self.threads:
            return self.before(old, new, *given, **named)  # type: ignore[no-any-return]  # the library's own
        return differing(old, new, self.before)

    @unseen
    def begin(self, library: Any) -> None:
        with self.lock:
            if not self.threads:
                self.before, library.ndiff = library.ndiff, self
            self.threads.append(get_ident())

    @unseen
    def end(self, library: Any) -> None:
        with self.lock:
            self.threads.remove(get_ident())
            if not self.threads:
                library.ndiff = self.before


_REPLACEMENT = Replacement()


@unseen
def differing(
    old: Lines, new: Lines, ndiff: Any, most_pairs: int = MAX_PAIRS, most_lines: int = MAX_LINES
) -> Iterator[str]:
    """As `ndiff`, but similar lines are next to each other only where they are found in time."""
    from difflib import SequenceMatcher

    if pairs(old, new) <= most_pairs:
        yield from ndiff(old, new)
        return
    start, end = equal_ends(old, new)
    first, second = old[start : len(old) - end], new[start : len(new) - end]
    left = most_pairs
    yield from map(_EQUAL.__add__, old[:start])
    for kind, *places in SequenceMatcher(None, first[:most_lines], second[:most_lines]).get_opcodes():
        gone, come = first[places[0] : places[1]], second[places[2] : places[3]]
        left -= pairs(gone, come) if kind == "replace" else 0
        yield from ndiff(gone, come) if kind == "replace" and left >= 0 else in_turn(gone, come)
    yield from in_turn(first[most_lines:], second[most_lines:])
    yield from map(_EQUAL.__add__, old[len(old) - end :])


@unseen
def pairs(old: Lines, new: Lines) -> int:
    """Of characters, which Python compares with each other where all lines differ."""
    return sum(map(len, old)) * sum(map(len, new))


@unseen
def equal_ends(old: Lines, new: Lines) -> tuple[int, int]:
    shorter = min(len(old), len(new))
    start = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    others = range(shorter - start)
    return start, next((index for index in others if old[-1 - index] != new[-1 - index]), len(others))


@unseen
def in_turn(gone: Lines, come: Lines) -> Iterator[str]:
    for one, other in zip_longest(gone, come):
        if one == other:
            yield _EQUAL + one
        else:
            yield from (mark + line for mark, line in zip(_DIFFERENCE, (one, other)) if line is not None)


@unseen
def unsaid(differences: list[str], kept: list[str]) -> list[str]:
    text = "\n".join(kept)
    return differences if any(line[2:].strip().rstrip(",") not in text for line in differences) else []


@unseen
def shortened(lines: list[str]) -> list[str]:
    """Without most of the equal lines behind those that pytest would show."""
    if any(line.lstrip().startswith(_NESTED) for line in lines):
        return lines
    kept = lines[:ALWAYS_SHOWN]
    for equal, run in groupby(lines[ALWAYS_SHOWN:], key=lambda line: line.startswith(_EQUAL)):
        part = list(run)
        if equal and len(part) > EQUAL_LINES:
            part = [part[0], "  [... %d equal lines ...]" % (len(part) - 2), part[-1]]
        kept += part
    while kept and not kept[-1]:
        kept.pop()
    return kept
