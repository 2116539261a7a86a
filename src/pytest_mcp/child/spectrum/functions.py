"""The pytest plugin that records which functions of the project each test executes.

In come a job with `map` and the calls of the run; out comes one record for each test, and one at the end for what ran
outside of tests, as at import, and for state that tests have left to each other. A test also executes what fixtures
that it shares with others have run. A function is told once by file and qualified name, then by its number. What
follows from it is decided in the server. Standard library and pytest's public names only; pytest 7.0 and newer.
"""

from __future__ import annotations

import inspect
import os
import sys
from contextlib import suppress
from threading import get_ident
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Generator, Iterable, Iterator

import pytest
from call_events import Codes, recorder
from code_names import CodeNames
from long_lived import LongLived
from number_ranges import ranges
from object_graph import identity, is_class, is_state
from project_files import ProjectFiles
from state_uses import Left

if TYPE_CHECKING:
    from launcher import Job
    from reporter import Reporter

# What a test does that no recorder sees: other processes, and reading the project's own source.
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec"}
LISTS = {"os.listdir", "os.scandir", "glob.glob"}
# The most functions in one record.
MOST_FUNCTIONS = 20_000


class FunctionMap:
    def __init__(self, reporter: Reporter, job: Job) -> None:
        self.reporter = reporter
        self.process = os.getpid()
        self.getpid = os.getpid
        self.files = ProjectFiles(job["root"])
        self.names = CodeNames()
        self.recorder = recorder(self.files.has)
        # Files that were imported before this began.
        self.unseen = self.loaded_files()
        self.numbers: dict[int, int] = {}
        self.codes: list[CodeType] = []
        # What ran outside of tests; what fixtures that several tests share have run.
        self.outside: Codes = {}
        self.shared: dict[int, tuple[Any, Codes, int]] = {}
        self.used: Codes = {}
        self.is_complete = self.is_opaque = False
        # Tests by number, and those of which not everything is known.
        self.number_of_test = 0
        self.incomplete: set[int] = set()
        self.in_test = False
        self.long_lived = LongLived()
        self.left = Left()
        # Tests that get objects by parameters.
        self.given: set[int] = set()
        self.imported: list[Any] = []
        self.modules_seen = self.told = 0
        self.watch()
        self.recorder.resume()

    def modules(self) -> Iterator[Any]:
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(module, ModuleType) and isinstance(file, str) and self.recorder.has(file):
                yield module

    def loaded_files(self) -> list[str]:
        return sorted(self.files.relative(module.__file__) for module in self.modules())

    def watch(self) -> None:
        """An audit hook cannot be removed."""
        root, replaced_by, thread = self.files.root, self.recorder.replaced_by, get_ident()
        looked_at = {"open", *replaced_by, *STARTS, *LISTS}

        def audit(event: str, arguments: Any) -> None:
            if event == "open":
                path = arguments[0]
                if self.in_test and type(path) is str and path.endswith(".py") and path.startswith(root):
                    self.is_opaque = True
            elif event in STARTS:
                self.is_opaque = True
            elif event in replaced_by:
                # Also if it is set again afterwards. A new thread sets it by itself.
                if not self.recorder.is_switching and get_ident() == thread:
                    self.is_complete = self.recorder.make_way(event, sys._getframe()) and self.is_complete
            elif event in LISTS and self.in_test:
                path = os.path.join(os.getcwd(), os.fsdecode(arguments[0] or "."))
                self.is_opaque = self.is_opaque or (path + os.sep).startswith(root)

        def guarded(event: str, arguments: Any) -> None:
            if event in looked_at:
                with suppress(Exception):
                    audit(event, arguments)

        sys.addaudithook(guarded)

    # --- outside of tests ----------------------------------------------------------------------

    # The trace function costs time in pytest's own code, so it is set only while tests run.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        self.recorder.pause()
        self.recorder.end_imports()
        with suppress(Exception):
            self.long_lived.changed(self.project_modules())

    def project_modules(self) -> list[Any]:
        """Looked for again if there are more."""
        if len(sys.modules) != self.modules_seen:
            self.modules_seen, self.imported = len(sys.modules), list(self.modules())
        return self.imported

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        with suppress(Exception):
            self.tell_outside()

    def pytest_unconfigure(self) -> None:
        with suppress(Exception):
            self.recorder.remove()

    def tell_outside(self) -> None:
        self.outside.update(self.recorder.take())
        imported = dict(self.recorder.imported)
        self.outside.update(imported.pop("", {}))
        known = len(self.codes)
        ran = ranges(self.numbered(self.outside.values()))
        imports = [
            [self.files.relative(file), ranges(self.numbered(codes.values()))] for file, codes in imported.items()
        ]
        states = [
            [ranges(set(state.tests)), *(ranges(self.numbered(codes)) for codes in state[1:])]
            for state in self.left.states(self.long_lived, self.modules(), list(self.recorder.known.values()))
        ]
        self.reporter.emit(
            "outside_functions",
            process=self.process,
            first=known,
            new=self.described(known),
            ran=ran,
            imports=imports,
            states=states,
            given=ranges(self.given),
            unseen=self.unseen,
            whole=self.recorder.sees_all,
        )

    # --- tests ---------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, None, None]:
        self.outside.update(self.recorder.take())
        self.used, self.is_complete, self.is_opaque, self.in_test = {}, True, False, True
        self.number_of_test += 1
        yield
        self.in_test = False
        self.incomplete.update([] if self.is_complete else [self.number_of_test])
        ran = self.recorder.take()
        # It only informs, and must never raise into pytest.
        with suppress(Exception):
            self.finish(item, {**ran, **self.used})

    def finish(self, item: Any, ran: Codes) -> None:
        if self.getpid() != self.process:
            return
        changed = self.long_lived.changed(self.project_modules())
        if self.is_complete and isinstance(item, pytest.Function):
            self.left.add(self.told, changed)
            if any(is_state(value) or is_class(value) for value in parameters(item)):
                self.given.add(self.told)
            self.told += 1
            self.tell(item, ran)
        elif changed:
            # Of no test that is told, so of every one.
            self.outside.update(ran)

    def tell(self, item: Any, ran: Codes) -> None:
        own = getattr(inspect.unwrap(item.obj), "__code__", None)
        if isinstance(own, CodeType) and self.recorder.is_ours(own):
            ran[identity(own)] = own
            self.recorder.known.setdefault(identity(own), own)
        known = len(self.codes)
        numbers = ranges(self.numbered(ran.values()))
        self.reporter.emit(
            "executed_functions",
            id=self.reporter.relocate(item.nodeid),
            process=self.process,
            first=known,
            new=self.described(known),
            ran=numbers,
            opaque=self.is_opaque,
        )

    # The outermost wrappers: hooks of the project that belong to a phase are recorded too.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, None, None]:
        yield from self.recording()
        self.note_fixtures(item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, None, None]:
        yield from self.recording()
        # Those that it asked for by `getfixturevalue`.
        self.note_fixtures(item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        yield from self.recording()

    def recording(self) -> Iterator[None]:
        self.is_complete = self.recorder.resume() and self.is_complete
        try:
            yield
        finally:
            self.is_complete = self.recorder.pause() and self.is_complete

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, None, None]:
        if fixturedef.scope == "function":
            yield
            return
        before = self.recorder.take()
        yield
        own = self.recorder.take()
        self.shared[identity(fixturedef)] = (fixturedef, own, self.number_of_test)
        self.recorder.current.update(before)
        self.recorder.current.update(own)

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        self.shared.pop(identity(fixturedef), None)

    def note_fixtures(self, item: Any) -> None:
        with suppress(Exception):
            names = set(getattr(item, "fixturenames", ()))
            names.update(getattr(getattr(item, "_request", None), "_fixture_defs", ()))
            for fixture, ran, test in self.shared.values():
                if fixture.argname in names and item.nodeid.startswith(fixture.baseid or ""):
                    self.used.update(ran)
                    self.is_complete = self.is_complete and test not in self.incomplete

    # --- in numbers ----------------------------------------------------------------------------

    def numbered(self, codes: Iterable[CodeType]) -> set[int]:
        return {self.number(code) for code in codes}

    def number(self, code: CodeType) -> int:
        found = self.numbers.get(identity(code))
        if found is None:
            found = self.numbers[identity(code)] = len(self.codes)
            self.codes.append(code)
        return found

    def described(self, first: int) -> list[list[str]]:
        """File and qualified name of those that were not told before."""
        new = self.codes[first : first + MOST_FUNCTIONS]
        return [[self.files.relative(code.co_filename), self.qualified(code)] for code in new]

    def qualified(self, code: CodeType) -> str:
        return getattr(code, "co_qualname", None) or self.names.looked_up(code)


def parameters(item: Any) -> Iterable[Any]:
    callspec = getattr(item, "callspec", None)
    return () if callspec is None else callspec.params.values()
