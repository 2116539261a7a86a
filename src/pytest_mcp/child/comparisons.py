"""The explanation of a failed comparison, in place of pytest's, which shows too little or everything.

pytest explains briefly and says "use -v" for the rest, or prints both values and every line that is equal. Here
`differences` says what differs. What other plugins and the project explain stays. Called for failed comparisons only,
so a passing test pays nothing. It must never raise into pytest.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from threading import RLock, get_ident
from types import CodeType, FunctionType
from typing import Any, Generator, Iterable, Iterator, Sequence

import differences
import pytest
from differences import MAX_VALUE, equality, is_text, membership

# The verbosity at which pytest cuts nothing.
EVERYTHING = 2
# An explanation up to this size is cut at no verbosity.
NEVER_CUT_LINES, NEVER_CUT_CHARACTERS = 8, 640
# Of what others explain.
MAX_LINES = 200
# What pytest says instead of the rest, at the end of a line or as a line of its own, indented below an attribute.
_HINT = re.compile(r"(?:^ *|, )[Uu]se '?-vv?'? to (?:show|get (?:more|the full) diff)$")
# How pytest-icdiff begins: two columns for people, with marks where colours would be, and no values in the first line.
_IN_COLUMNS = "equals failed"
# What pytest compares by a tolerance, and explains in numbers.
_APPROXIMATE = "Approx"
# How many pairs of characters `difflib.ndiff` may compare: about a second.
MAX_PAIRS = 10_000_000
# What is said to be the file of these functions.
NO_FILE = "<pytest-mcp>"
Lines = Sequence[str]


class Comparisons:
    """Owns the verbosity of pytest while a test runs: `restore` gives it back when the report is there."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.asked = config.option.verbose

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> Generator[None, Any, None]:
        self.restore()
        with quick_differences(without_lines=self.asked < EVERYTHING):
            outcome = yield
            if self.asked < EVERYTHING and outcome.excinfo is None:
                with suppress(Exception):
                    explanation = self.explained(outcome.get_result(), op, left, right)
                    outcome.force_result([explanation] if explanation else [])
                    if len(explanation) > NEVER_CUT_LINES or sum(map(len, explanation)) > NEVER_CUT_CHARACTERS:
                        # Behind this hook pytest cuts by verbosity, so it stays high until the report is made.
                        self.config.option.verbose = EVERYTHING

    def restore(self) -> None:
        self.config.option.verbose = self.asked

    def explained(self, results: Iterable[Any], op: str, left: object, right: object) -> list[str]:
        """pytest uses the first explanation that is not empty. Newer versions have it as an iterator."""
        explanations = [lines for lines in map(list, filter(None, results)) if lines and lines[0] != _IN_COLUMNS]
        first = explanations[0] if explanations else []
        if is_replaced(op, left, right) and (not first or self.is_of_pytest(first, op, left, right)):
            with suppress(Exception):
                ours = equality(left, right) if op == "==" else membership(left, op, right)
                # Alone, the line for both values says no more than pytest does.
                return ours if first or len(ours) > 1 else []
        kept = [_HINT.sub("", line) for line in first if not _HINT.match(line)]
        more = len(kept) - MAX_LINES
        return kept if more <= 0 else [*kept[:MAX_LINES], "[%d more lines]" % more]

    def is_of_pytest(self, explanation: Lines, op: str, left: object, right: object) -> bool:
        hooks = self.config.hook.pytest_assertrepr_compare.get_hookimpls()
        assertion = self.config.pluginmanager.get_plugin("assertion")
        if all(hook.plugin in (self, assertion) for hook in hooks):
            return True
        return explanation == list(assertion.pytest_assertrepr_compare(self.config, op, left, right) or ())


def is_replaced(op: str, left: Any, right: Any) -> bool:
    if op == "==":
        return not any(type(side).__name__.startswith(_APPROXIMATE) for side in (left, right))
    return op in ("in", "not in") and is_text(left, right) and len(right) > MAX_VALUE


@contextmanager
def quick_differences(*, without_lines: bool = False) -> Generator[None, None, None]:
    """Have pytest do without `difflib.ndiff`, which takes minutes for texts or values of a thousand lines.

    With nothing at all in its place if its lines are not used, otherwise with a simpler difference of large texts.
    """
    library: Any = None
    with suppress(Exception):
        # pytest too imports it for a failed comparison only. A project can have a module of this name.
        import difflib

        library = difflib if hasattr(difflib, "ndiff") else None
    if library is None:
        yield
        return
    _REPLACEMENT.begin(library, without_lines)
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
        self.without_lines = False

    def __call__(self, old: Lines, new: Lines, *given: Any, **named: Any) -> Iterator[str]:
        # Not of pytest: a hook of the project, or another thread.
        is_ours = not given and not named and get_ident() in self.threads
        if is_ours and self.without_lines:
            return iter(())
        if is_ours and sum(map(len, old)) * sum(map(len, new)) > MAX_PAIRS:
            return marked(old, new)
        return self.before(old, new, *given, **named)  # type: ignore[no-any-return]  # the library's own

    def begin(self, library: Any, without_lines: bool) -> None:
        with self.lock:
            if not self.threads:
                self.before, library.ndiff = library.ndiff, self
            self.without_lines = without_lines
            self.threads.append(get_ident())

    def end(self, library: Any) -> None:
        with self.lock:
            self.threads.remove(get_ident())
            if not self.threads:
                library.ndiff = self.before


_REPLACEMENT = Replacement()


def marked(old: Lines, new: Lines) -> Iterator[str]:
    """As `ndiff`, without a look for similar lines."""
    done = 0
    for span in differences.spans_between(old, new):
        yield from ("  " + line for line in old[done : span.start])
        yield from ("- " + line for line in old[span.start : span.end])
        yield from ("+ " + line for line in new[span.other_start : span.other_end])
        done = span.end
    yield from ("  " + line for line in old[done:])


def without_file(code: CodeType) -> CodeType:
    inner = (without_file(const) if isinstance(const, CodeType) else const for const in code.co_consts)
    return code.replace(co_filename=NO_FILE, co_consts=tuple(inner))


# Hypothesis explains a failure by lines that only failing cases run, as these do. It skips code without a file.
for owner in (globals(), *map(vars, (Comparisons, Replacement, differences, differences.Walk, differences.Absent))):
    for function in list(owner.values()):
        if isinstance(function, FunctionType) and function.__module__ in (__name__, differences.__name__):
            own: Any = getattr(function, "__wrapped__", function)
            own.__code__ = without_file(own.__code__)
