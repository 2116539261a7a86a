"""The pytest plugin that tries mutants of changed lines, each in a fork of a process that has only collected.

One fork runs all tests and tells which changed lines each of them runs. Then comes a fork for each mutant, with the
tests that ran its line, until one fails. A kill counts only if the same tests pass in a fork without the mutant. What a
fork cannot show is not tried: `living_code` decides it. While a mutant is tried its file is mutated on disk too, for
new imports and other processes: all of this happens in a copy of the checkout.
"""

from __future__ import annotations

import gc
import os
import threading
from contextlib import contextmanager, suppress
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import pytest
from fork import Forks, Limit
from living_code import LivingCode, NotHonest, Patch, Same
from source_lines import ranges_of
from tests_in_fork import TestsInFork, base_name, has_failed, numbers

if TYPE_CHECKING:
    from reporter import Reporter

    from pytest_mcp.process.job import Job

# For one mutant tests are chosen that take so long together.
MAX_SECONDS = 10.0
# Mutants are begun for so many seconds at least, and as many times as the job says as long as all tests took.
LEAST_SECONDS = 20.0
# How often all tests are begun again behind one that ends the process.
MAX_DEATHS = 5
# How many tests are named of a mutant that survives.
NAMED = 3
# Mutated files have times of their own, so that no cache of one stands for another one.
FUTURE = 100_000


class Proving(TestsInFork):
    def __init__(self, reporter: Reporter, job: Job, run_dir: str) -> None:
        super().__init__(reporter, job)
        self.forks = Forks(run_dir)
        self.started = self.clock()
        # Of each test that passes, the changed lines that it runs.
        self.ran: dict[int, dict[str, set[int]]] = {}
        self.at_import: dict[str, set[int]] = {}
        # Tests that pass one after the other without a mutant, and those that do not.
        self.steady: set[tuple[int, ...]] = set()
        self.unsteady: set[int] = set()
        self.is_traced = bool(self.wanted) and self.recorder.resume()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.session, self.items = session, list(session.items)
        if self.is_traced:
            self.is_traced = self.recorder.pause()
            self.at_import = self.lines_of(self.recorder.take())
        gc.collect()
        self.living = LivingCode(self.path_of, self.root)
        gc.freeze()
        self.forks.remember_offsets()
        has_threads = threading.active_count() > 1
        self.emit_lines(has_threads)
        if self.proof["limits"] is not None:
            self.run_each(self.proof["limits"])
        elif self.items:
            self.run_all()
            self.reporter.emit("probing_ended")
            self.try_mutants(has_threads)
        gc.unfreeze()
        return True

    def emit_lines(self, has_threads: bool) -> None:
        code = {}
        for path in self.wanted:
            with suppress(Exception):
                code[path] = ranges_of(self.living.lines_with_code(path) & self.wanted[path])
        imported = {path: ranges_of(lines) for path, lines in self.at_import.items()}
        self.reporter.emit("changed_code", code=code, imported=imported, threads=has_threads)

    # --- without a mutant ----------------------------------------------------------------------

    def run_all(self) -> None:
        """Again behind a test that ends the process."""
        left = list(range(len(self.items)))
        for _ in range(1 + MAX_DEATHS):
            rest = self.proof["seconds"] - (self.clock() - self.started)
            if not left or rest <= 0:
                return
            ended = self.forks.run(partial(self.run_tests, left, traced=True), Limit(rest, rest))
            begun = [record["test"] for record in ended.records if record["k"] == "begun"]
            for record in ended.records:
                if record["k"] == "ended":
                    self.take_plain(record)
            if ended.how == "done" or not begun:
                return
            if begun[-1] not in self.seconds:
                self.emit_probed(begun[-1], {"outcome": ended.how, "seconds": 0.0})
            left = left[left.index(begun[-1]) + 1 :]

    def take_plain(self, record: dict[str, Any]) -> None:
        place = record["test"]
        self.seconds[place] = record["seconds"]
        if record["outcome"] == "passed":
            self.ran[place] = {path: numbers(ranges) for path, ranges in record["lines"].items()}
        self.emit_probed(place, record)

    def emit_probed(self, place: int, record: dict[str, Any]) -> None:
        self.reporter.emit(
            "probed",
            id=self.name_of(place),
            outcome=record["outcome"],
            seconds=record["seconds"],
            raised=record.get("raised", []),
            message=record.get("message", ""),
            lines=record.get("lines", {}),
        )

    def run_each(self, limits: dict[str, float]) -> None:
        """Each test in a fork of its own, so that one that hangs or breaks something spoils no other."""
        for place in range(len(self.items)):
            self.seconds[place] = limits.get(self.name_of(place), 0.0)
            ended = self.forks.run(partial(self.run_tests, [place]), self.limit([place]))
            found = [record for record in ended.records if record["k"] == "ended"]
            self.emit_probed(place, found[0] if found else {"outcome": ended.how, "seconds": 0.0})

    # --- with one ------------------------------------------------------------------------------

    def try_mutants(self, has_threads: bool) -> None:
        left, taken = self.proof["most"], self.clock() - self.started
        seconds = min(self.proof["seconds"], taken + max(LEAST_SECONDS, self.proof["times"] * taken))
        for mutant in self.proof["mutants"]:
            if left <= 0 or self.clock() - self.started > seconds:
                return
            outcome = self.try_mutant(mutant, has_threads)
            if outcome == "harmful":
                # The files of the project are not what they were, or there is no room for more processes.
                return
            left -= outcome in ("killed", "survived", "unstable")

    def try_mutant(self, mutant: Any, has_threads: bool) -> str:
        try:
            told = self.tried(mutant, has_threads)
        except NotHonest as error:
            told = {"outcome": "untried", "why": str(error)}
        except Same:
            told = {"outcome": "same"}
        except OSError as error:
            told = {"outcome": "harmful", "why": type(error).__name__}
        known: dict[str, Any] = {"why": "", "tests": []}
        self.reporter.emit("tried", number=mutant["number"], **{**known, **told})
        return str(told["outcome"])

    def tried(self, mutant: Any, has_threads: bool) -> dict[str, Any]:
        path, start, end, text = mutant["file"], mutant["start"], mutant["end"], mutant["text"].encode("utf-8")
        lines = set(range(mutant["line"], mutant["last"] + 1))
        near = [place for place, ran in self.ran.items() if not lines.isdisjoint(ran.get(path, ()))]
        ran_at_import = not lines.isdisjoint(self.at_import.get(path, ()))
        if not near and not ran_at_import:
            return {"outcome": "unseen"}
        patch = self.living.patch(path, start, end, text)
        tests = self.chosen(near)
        if has_threads:
            raise NotHonest("threads that began during the imports are not in a fork")
        if not tests:
            raise NotHonest("it runs during the imports" if ran_at_import else "its tests do not always pass")
        source = self.living.source(path)
        with self.on_disk(path, source[:start] + text + source[end:], mutant["number"]):
            how, begun = self.attempt(tests, patch)
        if how == "passed" and ran_at_import:
            raise NotHonest("its line ran during the imports too")
        return self.judged(how, begun, tests)

    def judged(self, how: str, begun: list[int], tests: list[int]) -> dict[str, Any]:
        if how == "passed":
            return {"outcome": "survived", "tests": self.names(tests[:NAMED])}
        if begun and self.passes(tests[: tests.index(begun[-1]) + 1]):
            return {"outcome": "killed", "why": how, "tests": self.names(begun[-1:])}
        self.unsteady.update(begun[-1:])
        return {"outcome": "unstable", "why": "its tests fail in a fork without it too"}

    def chosen(self, near: list[int]) -> list[int]:
        """New and changed tests first, then the fastest."""
        first = self.proof["first"]
        near.sort(key=lambda place: (base_name(self.name_of(place)) not in first, self.seconds[place]))
        seconds = accumulate(self.seconds[place] for place in near)
        chosen = [place for place, so_far in zip(near, seconds) if so_far <= MAX_SECONDS] or near[:1]
        return [place for place in chosen if place not in self.unsteady]

    def passes(self, tests: list[int]) -> bool:
        """Whether all of them pass, one after the other, without a mutant."""
        if tuple(tests) not in self.steady and self.attempt(tests, Patch([], []))[0] == "passed":
            self.steady.add(tuple(tests))
        return tuple(tests) in self.steady

    def attempt(self, tests: list[int], patch: Patch) -> tuple[str, list[int]]:
        """`passed` if all of them do in a fork, or how it ended before that; and those that began."""

        def work(say: Callable[..., Any]) -> None:
            patch.apply()
            self.run_tests(tests, say)

        ended = self.forks.run(work, self.limit(tests))
        self.drop_output()
        begun = [record["test"] for record in ended.records if record["k"] == "begun"]
        outcomes = [record["outcome"] for record in ended.records if record["k"] == "ended"]
        if ended.how != "done":
            return ended.how, begun
        has_passed = len(outcomes) == len(tests) and not has_failed(outcomes)
        return "passed" if has_passed else "failed", begun

    @contextmanager
    def on_disk(self, path: str, content: bytes, number: int) -> Iterator[None]:
        file = os.path.join(self.root, path)
        times = os.stat(file)
        write(file, content, times.st_mtime + FUTURE + number)
        try:
            yield
        finally:
            write(file, self.living.source(path), times.st_mtime)

    def drop_output(self) -> None:
        """What a fork that was killed has left in the file that captures output."""
        capture = self.session.config.pluginmanager.getplugin("capturemanager")
        with suppress(Exception):
            capture.read_global_capture()

    # --- small ---------------------------------------------------------------------------------

    def name_of(self, place: int) -> str:
        return self.reporter.relocate(self.items[place].nodeid)

    def names(self, places: Sequence[int]) -> list[str]:
        return [self.name_of(place) for place in places]


def write(file: str, content: bytes, modified: float) -> None:
    with open(file, "wb") as handle:
        handle.write(content)
    os.utime(file, (modified, modified))
