"""The pytest plugin that records which lines of the project each test runs, and chooses which tests do.

The failing tests run first, then those that tell most about them: tests that run nearly the same code. Loaded only for
a job that asks for it.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from itertools import chain, islice
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generator, Iterable, Iterator, Sequence
from typing import Counter as Count

import pytest
from import_origins import INSTALLED
from line_events import Lines, RanCode, Recorder, function_name, recorder
from source_lines import ranges_of
from tests_to_run import turn_off

if TYPE_CHECKING:
    from reporter import Reporter

    from pytest_mcp.process.job import Job

OURS = os.path.dirname(os.path.abspath(__file__))
# Folders of installed packages, also in an environment inside the root.
NOT_THE_PROJECT = (*INSTALLED, "node_modules", ".tox", ".nox")
# Tests and what they share are never suspects, so they are not traced. The server's copy is in report/places.py.
TEST_CODE = re.compile(r"(?:^|/)(?:tests?/|conftest\.py$|test_[^/]*$|[^/]*_tests?\.py$)")
# Functions that show values of a failed assertion: the `__repr__` methods that they call have not caused it.
EXPLAINING = {
    "_pytest.assertion.rewrite": ("_saferepr", "_call_reprcompare", "_format_assertmsg", "_should_repr_global_name"),
    "unittest.util": ("safe_repr", "_common_shorten_repr"),
}
# So many tests run before the failing ones.
WARM_UP = 2
# How many of the functions that were called last are told of a failing test.
MAX_CALLS = 100
# The most functions in the record of one test.
MAX_FUNCTIONS = 5_000
# Of a test with many parameter sets so many are chosen; of the failing test more, because they differ least.
VARIANTS = 4
OWN_VARIANTS = 40
# So many tests of one file, then as many of the next: one large file does not keep out the others.
IN_TURN = 20


class OnlyTracer:
    """Switches off what traces besides, and what chooses tests."""

    # A wrapper, so that it comes before pytest-cov starts: only one trace function can be set.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> Generator[None, None, None]:
        early_config.known_args_namespace.no_cov = True
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        turn_off(config)


class FixtureLines(OnlyTracer):
    """Credits what a fixture has run that several tests share to each of these tests."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.shared: dict[int, tuple[Any, Lines]] = {}
        # Of the test that runs.
        self.used: list[Lines] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        super().pytest_configure(config)
        # Files that cannot be imported are no reason to run nothing.
        config.option.continue_on_collection_errors = True

    def recording(self) -> Iterator[None]:
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, None, None]:
        if fixturedef.scope == "function":
            yield from self.recording()
            return
        before = self.recorder.take()
        yield from self.recording()
        own = self.recorder.take()
        self.shared[id(fixturedef)] = (fixturedef, own)
        self.recorder.lines = merged(before, own)

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        self.shared.pop(id(fixturedef), None)

    # Behind it, because the last test that uses a fixture also finalizes it.
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, None, None]:
        yield
        with suppress(Exception):
            names, node_id = getattr(item, "fixturenames", ()), item.nodeid
            used = [pair for pair in self.shared.values() if pair[0].argname in names]
            self.used = [lines for fixture, lines in used if node_id.startswith(fixture.baseid or "")]


class Tracing(FixtureLines):
    def __init__(self, reporter: Reporter, job: Job) -> None:
        assert job["trace"] is not None
        self.reporter = reporter
        self.trace = job["trace"]
        self.files = ProjectFiles(job["root"])
        super().__init__(recorder(self.files.has, explaining_code()))
        self.clock = time.monotonic
        self.started = 0.0
        self.ran: dict[int, CodeType] = {}
        self.failing: list[Any] = []
        self.is_recording = self.is_traced = False

    # What a test file runs when it is imported counts for all of its tests.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, None, None]:
        if not isinstance(collector, pytest.Module):
            yield
            return
        self.is_traced = True
        self.recorder.take()
        yield from self.recording()
        lines = self.recorder.take()
        with suppress(Exception):
            self.report_lines(collector, lines)

    # --- which tests ---------------------------------------------------------------------------

    # The outermost wrapper: all other plugins have deselected and sorted when it continues.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Generator[None, None, None]:
        yield
        with suppress(Exception):
            named = {self.reporter.relocate(item.nodeid): item for item in reversed(items)}
            self.failing = [named[name] for name in dict.fromkeys(self.trace["failing"]) if name in named]
            others = [item for item in items if item not in self.failing]
            nearest = by_nearness(others, self.failing, ()) if self.failing else []
            # What runs only once in a process must not seem to be special to the failing tests.
            items[:] = nearest[:WARM_UP] + self.failing + nearest[WARM_UP:]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, None, None]:
        self.started = self.started or self.clock()
        self.is_traced, self.used = True, []
        self.recorder.take()
        self.recorder.keep_calls(item in self.failing)
        yield
        lines = self.recorder.take()
        # It only informs, and must never raise into pytest.
        with suppress(Exception):
            lines = merged(lines, *self.used)
            if item in self.failing:
                self.ran.update((entry_id, entry.code) for entry_id, entry in lines.items())
            self.report_lines(item, lines)
            self.plan(item)

    def report_lines(self, node: Any, lines: Lines) -> None:
        code, calls, name = self.described(lines), self.last_calls(), self.reporter.relocate(node.nodeid)
        self.reporter.emit("executed", id=name, code=code, calls=calls, complete=self.is_traced)

    def plan(self, item: Any) -> None:
        """Behind the failing tests: decide about all but the next one, which pytest has already prepared for."""
        items = item.session.items
        index, last = items.index(item), items.index(self.failing[-1])
        if index >= last and self.clock() - self.started > self.trace["seconds"]:
            del items[index + 2 :]
        elif index == last:
            nearest = by_nearness(items[index + 2 :], self.failing, self.ran.values())
            items[index + 2 :] = nearest[: self.trace["most_tests"]]

    # --- what they run -------------------------------------------------------------------------

    # The innermost wrapper, for speed: with `settrace` every call in the hooks of other plugins takes longer.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        yield from self.recording()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: Any) -> Generator[None, None, None]:
        if item in self.failing:
            yield from self.recording()
        else:
            yield

    def pytest_runtest_logreport(self, report: Any) -> None:
        """What runs behind a failure has not caused it."""
        self.recorder.is_over = self.recorder.is_over or report.failed

    def recording(self) -> Iterator[None]:
        """A fixture may ask for another one, and a test for a fixture."""
        if self.is_recording:
            yield
            return
        self.is_recording = True
        self.is_traced = self.recorder.resume() and self.is_traced
        try:
            yield
        finally:
            self.is_traced = self.recorder.pause() and self.is_traced
            self.is_recording = False

    # --- in words ------------------------------------------------------------------------------

    def described(self, lines: Lines) -> dict[str, list[list[str]]]:
        files: dict[str, dict[str, set[int]]] = {}
        for entry in list(lines.values())[:MAX_FUNCTIONS]:
            functions = files.setdefault(self.files.known[entry.code.co_filename], {})
            functions.setdefault(function_name(entry.code), set()).update(entry.lines)
        return {
            file: [[name, ranges_of(seen)] for name, seen in functions.items() if seen]
            for file, functions in files.items()
        }

    def last_calls(self) -> list[list[str]]:
        """The functions that were called, each once, the last one first; file and name."""
        last = dict.fromkeys(reversed(self.recorder.calls or ()))
        named = ((self.files.known[code.co_filename], function_name(code)) for code in last)
        return [list(pair) for pair in islice(dict.fromkeys(named), MAX_CALLS)]


class ProjectFiles:
    """Source files under the root that are neither tests, nor installed there, nor ours."""

    def __init__(self, root: str) -> None:
        # The paths below the root of all names that were asked for.
        self.known: dict[str, str] = {}
        self.root = root + os.sep
        self.folder = os.getcwd()
        self.foreign = [os.path.realpath(folder) + os.sep for folder in (sys.prefix, sys.base_prefix, OURS)]
        self.foreign = [folder for folder in self.foreign if not self.root.startswith(folder)]

    def has(self, name: str) -> bool:
        return self.below_root(name) and not TEST_CODE.search(self.known[name])

    def below_root(self, name: str) -> bool:
        """Tests too. Code from a relative entry of sys.path has a relative name. The root is a real path already."""
        try:
            path = os.path.realpath(os.path.join(self.folder, name))
        except (OSError, ValueError):
            return False
        below = path[len(self.root) :].replace(os.sep, "/")
        self.known[name] = below
        return (
            not name.startswith("<")
            and path.startswith(self.root)
            and not path.startswith(tuple(self.foreign))
            and not any(part in NOT_THE_PROJECT for part in below.split("/"))
        )


def explaining_code() -> Iterator[CodeType]:
    for module, names in EXPLAINING.items():
        for name in names:
            code = getattr(getattr(sys.modules.get(module), name, None), "__code__", None)
            if isinstance(code, CodeType):
                yield code


def merged(*parts: Lines) -> Lines:
    """Sets of its own: a recorder adds to those that it has."""
    both: Lines = {}
    for key, entry in chain.from_iterable(part.items() for part in parts):
        both.setdefault(key, RanCode(entry.code, set())).lines.update(entry.lines)
    return both


# --- which tests are nearest -------------------------------------------------------------------


def by_nearness(others: Sequence[Any], failing: Sequence[Any], ran: Iterable[CodeType]) -> list[Any]:
    """The nearest first: tests of the same class, of the same file, of files that use the same code, all others."""
    used = UsedCode(ran)
    functions = {function_of(item) for item in failing}
    classes = {function[:2] for function in functions if function[1] is not None}
    paths = {function[0] for function in functions}
    seen: Count[Any] = Counter()
    keyed = []
    for item in others:
        function = path, cls, _ = function_of(item)
        seen[function] += 1
        if seen[function] > (OWN_VARIANTS if function in functions else VARIANTS):
            continue
        if path in paths:
            keyed.append(((0 if function in functions or (path, cls) in classes else 1, 0, 0), item))
            continue
        turn, shared = seen[path] // IN_TURN, used.in_module(path, getattr(item, "module", None))
        seen[path] += 1
        keyed.append(((2 if shared else 3, turn, -shared), item))
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


def function_of(item: Any) -> tuple[str, Any, str]:
    return str(item.path), getattr(item, "cls", None), getattr(item, "originalname", None) or item.name


class UsedCode:
    """Code that has run, as the names of a test module stand for it."""

    def __init__(self, ran: Iterable[CodeType]) -> None:
        codes = list(ran)
        self.codes = {id(code) for code in codes}
        self.folders = {os.path.dirname(code.co_filename) for code in codes}
        self.known: dict[str, int] = {}

    def in_module(self, path: str, module: Any) -> int:
        if path not in self.known:
            # No attribute of the values is read: lazy objects would load what they stand for.
            names = list(vars(module).values()) if isinstance(module, ModuleType) else []
            self.known[path] = sum(map(self.has, names))
        return self.known[path]

    def has(self, value: Any) -> bool:
        if isinstance(value, FunctionType):
            return id(value.__code__) in self.codes
        if isinstance(value, type):
            return any(isinstance(member, FunctionType) and self.has(member) for member in vars(value).values())
        file = vars(value).get("__file__") if isinstance(value, ModuleType) else None
        return isinstance(file, str) and os.path.dirname(file) in self.folders
