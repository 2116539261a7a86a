"""The pytest plugin that measures where the time of a run goes. Loaded only for a job that asks for it.

Phases of tests are pytest's own durations. Imports, collectors and fixtures are measured around their work. Of what
waits only `time.sleep` is measured: what takes its place can look the same, while tests would notice methods that are
replaced, and a thread that watches. With xdist every worker measures its own tests, and the controller what comes
before them; the server puts them together.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager, suppress
from inspect import signature
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterable, Iterator

import pytest
from import_origins import parts_in_project
from xdist_controller import distributes

if TYPE_CHECKING:
    from reporter import Reporter

# How many rows of each kind are reported, those with the most seconds.
ROWS = 300
# Shorter sleeps and rows say nothing, in seconds.
LEAST = 0.001
# Python removes frames of imports from tracebacks, and warnings look behind them, by this name of their file.
IMPORTLIB = "<frozen importlib._bootstrap>"
# The wrappers of newer versions of pluggy cost half as much.
WRAPPER: Any = {"wrapper" if "wrapper" in signature(pytest.hookimpl).parameters else "hookwrapper": True}
PHASES: dict[str | None, int] = {"setup": 0, "call": 1, "teardown": 2}


class Tally:
    """Seconds that were spent in one thing, and how often. Only of fixtures is more known."""

    __slots__ = ("calls", "longest", "seconds", "sleeping", "slowest", "teardown")

    def __init__(self) -> None:
        self.seconds = self.teardown = self.sleeping = self.longest = 0.0
        self.calls = 0
        self.slowest = ""

    def add(self, seconds: float) -> None:
        self.seconds += seconds
        self.calls += 1


class Sleep:
    """Stands for the function `time.sleep`: whoever looks at it finds that one, as do classes, copies and pickles."""

    __slots__ = ("__weakref__", "around", "builtin")

    def __init__(self, builtin: Any, around: Callable[..., Any]) -> None:
        self.builtin, self.around = builtin, around

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "builtin"), name)

    def __call__(self, /, *given: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        return object.__getattribute__(self, "around")(*given, **named)

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "builtin"))

    def __eq__(self, other: object) -> bool:
        return other is self or bool(object.__getattribute__(self, "builtin") == other)

    def __hash__(self) -> int:
        return hash(object.__getattribute__(self, "builtin"))


# As errors of Python call it.
Sleep.__name__ = Sleep.__qualname__ = type(time.sleep).__name__


class Replaced:
    """What is replaced until the end of the session: the function that imports, and `time.sleep`."""

    def __init__(self, clock: Callable[[], float], place_of: Callable[[Any], str]) -> None:
        self.clock = clock
        self.place_of = place_of
        self.thread = threading.get_ident()
        # Seconds of spans inside each open span; by name, those without what was inside.
        self.inner: list[float] = []
        self.modules: dict[str, Tally] = {}
        self.imported = 0.0
        self.sleeps: dict[str, Tally] = {}
        self.slept = 0.0
        self.sleep = time.sleep
        # What was replaced: where, by what name, the function, and what is there instead.
        self.kept: list[tuple[Any, str, Any, Any]] = []
        self.watch_imports()
        self.replace(time, "sleep", Sleep(time.sleep, self.timed_sleep))

    def replace(self, owner: Any, name: str, instead: Any) -> None:
        self.kept.append((owner, name, getattr(owner, name), instead))
        setattr(owner, name, instead)

    def restore(self) -> None:
        """Nothing that somebody else has replaced since."""
        for owner, name, function, instead in self.kept:
            if getattr(owner, name, None) is instead:
                setattr(owner, name, function)

    def watch_imports(self) -> None:
        """Python calls this function for every module that is not loaded yet."""
        bootstrap: Any = sys.modules.get("_frozen_importlib")
        find_and_load: Any = getattr(bootstrap, "_find_and_load", None)
        enter, leave = self.enter_import, self.leave_import

        def _find_and_load(name: Any, *rest: Any) -> Any:
            begun = enter()
            try:
                return find_and_load(name, *rest)
            finally:
                leave(name, begun)

        if find_and_load is not None:
            _find_and_load.__code__ = _find_and_load.__code__.replace(co_filename=IMPORTLIB)
            self.replace(bootstrap, "_find_and_load", _find_and_load)

    def enter_import(self) -> float | None:
        if threading.get_ident() != self.thread:
            return None
        self.inner.append(0.0)
        return self.clock()

    def leave_import(self, name: Any, begun: float | None) -> None:
        if begun is not None:
            self.imported += self.leave(self.modules, str(name), begun)

    def leave(self, kept: dict[str, Tally], name: str, begun: float) -> float:
        took = self.clock() - begun
        own = took - self.inner.pop()
        if self.inner:
            self.inner[-1] += took
        kept.setdefault(name, Tally()).add(own)
        return own

    def timed_sleep(self, /, *given: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        if threading.get_ident() != self.thread:
            return self.sleep(*given, **named)
        begun = self.clock()
        try:
            return self.sleep(*given, **named)
        finally:
            seconds = self.clock() - begun
            if seconds >= LEAST:
                self.slept += seconds
                # It must not raise into the test; before pytest is configured no place is known.
                with suppress(Exception):
                    self.sleeps.setdefault(self.place_of(sys._getframe(2)), Tally()).add(seconds)


class Timer:
    def __init__(self, reporter: Reporter, *, in_worker: bool = False) -> None:
        self.reporter = reporter
        reporter.timer = self
        self.in_worker = in_worker
        self.distributes = False
        # Captured, as tests may replace it.
        self.clock = time.perf_counter
        self.replaced = Replaced(self.clock, self.place_of)
        # When the run began; its session, and the seconds of imports until then; its tests; its first test.
        self.begun = self.clock()
        self.session: tuple[float, float] | None = None
        self.collected: tuple[float, float] | None = None
        self.first: float | None = None
        self.collectors: dict[str, Tally] = {}
        self.fixtures: dict[Any, Tally] = {}
        # By test its phases, and how long it slept.
        self.tests: dict[str, list[float]] = {}
        # The end of what was measured last in a test, and the sleeps until then.
        self.mark, self.slept = self.begun, 0.0

    def place_of(self, frame: Any) -> str:
        """The nearest one in the project, if there is one."""
        while frame is not None:
            path = frame.f_code.co_filename
            if parts_in_project(path, self.reporter.root) is not None:
                return "%s:%d" % (self.reporter.relative(path), frame.f_lineno)
            frame = frame.f_back
        return ""

    # --- before the tests ----------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.distributes = not self.in_worker and distributes(session.config)
        self.session = self.clock(), self.replaced.imported

    @contextmanager
    def collecting(self, name: str) -> Iterator[None]:
        self.replaced.inner.append(0.0)
        begun = self.clock()
        yield
        self.replaced.leave(self.collectors, name, begun)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, None, None]:
        with self.collecting(self.reporter.relocate(collector.nodeid.partition("::")[0])):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self) -> Generator[None, None, None]:
        with self.collecting("pytest_collection_modifyitems"):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, None, None]:
        self.collected = self.clock(), self.replaced.imported
        yield

    # --- tests ---------------------------------------------------------------------------------

    # For every fixture of every test, so as fast as it can be.
    @pytest.hookimpl(tryfirst=True, **WRAPPER)  # type: ignore[untyped-decorator]
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        slept, begun = self.replaced.slept, self.clock()
        try:
            return (yield)
        finally:
            self.mark = self.clock()
            seconds = self.mark - begun
            try:
                spent = self.fixtures[fixturedef]
            except KeyError:
                spent = self.fixtures[fixturedef] = Tally()
            spent.calls += 1
            spent.seconds += seconds
            if self.replaced.slept != slept:
                spent.sleeping += self.replaced.slept - slept
            if seconds > spent.longest:
                spent.longest = seconds
                # pytest keeps the id and the phase of the running test in this variable.
                spent.slowest = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        self.mark = self.clock()

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """They are torn down one after the other, so what has passed since the one before is this one's."""
        before, self.mark = self.mark, self.clock()
        if fixturedef in self.fixtures:
            self.fixtures[fixturedef].teardown += self.mark - before

    def keep(self, test: str, when: str | None, seconds: float) -> None:
        """The reporter calls it: one more hook would take longer for every phase of every test."""
        self.mark = self.clock()
        if self.first is None:
            self.first = self.mark - seconds
        if not self.distributes:
            spent = self.tests.get(test) or self.tests.setdefault(test, [0.0, 0.0, 0.0, 0.0])
            spent[PHASES.get(when, 1)] += seconds
            spent[3] += self.replaced.slept - self.slept
            self.slept = self.replaced.slept

    # --- the end -------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        # It only informs, and must never raise into pytest.
        with suppress(Exception):
            self.write()
        self.replaced.restore()

    def write(self) -> None:
        now = self.clock(), self.replaced.imported
        session, imported_before = self.session or now
        collected, imported = self.collected or now
        before_session = 0.0 if self.in_worker else session - self.begun - imported_before
        self.reporter.emit(
            "timed",
            worker=self.in_worker,
            seconds=now[0] - self.begun,
            before=(self.first or now[0]) - self.begun,
            parts=[
                ["start", before_session, 1],
                ["imports", imported, 1],
                ["collection", collected - session - (imported - imported_before), 1],
                *(
                    [when, sum(spent[number] for spent in self.tests.values()), len(self.tests)]
                    for when, number in PHASES.items()
                ),
            ],
            imports=rows_of(self.by_package().items()),
            collection=rows_of(self.collectors.items()),
            fixtures=[self.described(*each) for each in longest(self.fixtures.items()) if not is_parameter(each[0])],
            tests=[[self.reporter.relocate(test), *spent] for test, spent in self.slowest_tests()],
            sleeps=rows_of(self.replaced.sleeps.items()),
        )

    def by_package(self) -> dict[str, Tally]:
        """Modules of the project each, other libraries as a whole."""
        packages: dict[str, Tally] = {}
        for name, spent in self.replaced.modules.items():
            path = str(getattr(sys.modules.get(name), "__file__", None))
            is_own = parts_in_project(path, self.reporter.root) is not None
            packages.setdefault(name if is_own else name.partition(".")[0], Tally()).add(spent.seconds)
        return packages

    def slowest_tests(self) -> list[tuple[str, list[float]]]:
        return sorted(self.tests.items(), key=lambda each: -sum(each[1][:3]))[:ROWS]

    def described(self, fixture: Any, spent: Tally) -> list[Any]:
        code = code_of(fixture)
        place = "" if code is None else "%s:%d" % (self.reporter.relative(code.co_filename), code.co_firstlineno)
        slowest = self.reporter.relocate(spent.slowest)
        known = [spent.seconds, spent.calls, spent.teardown, spent.sleeping]
        return [fixture.argname, str(fixture.scope), place, *known, slowest]


def code_of(fixture: Any) -> Any:
    return getattr(getattr(fixture.func, "__func__", fixture.func), "__code__", None)


def is_parameter(fixture: Any) -> bool:
    """For pytest, a parameter of a test is a fixture too."""
    return getattr(code_of(fixture), "co_name", "") == "get_direct_param_fixture_func"


def longest(spent: Iterable[tuple[Any, Tally]]) -> list[tuple[Any, Tally]]:
    known = [each for each in spent if each[1].seconds + each[1].teardown >= LEAST]
    return sorted(known, key=lambda each: -each[1].seconds - each[1].teardown)[:ROWS]


def rows_of(spent: Iterable[tuple[str, Tally]]) -> list[list[Any]]:
    return [[name, each.seconds, each.calls] for name, each in longest(spent)]
