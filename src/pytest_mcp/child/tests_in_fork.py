"""Runs chosen tests in a fork, and tells of each how it ended, what it raised and which of the wanted lines it ran."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Sequence

import pytest
from describe import safe_text
from fork import Limit, allow
from line_events import Lines, recorder
from line_tracing import FixtureLines, ProjectFiles, explaining_code, merged
from living_code import LivingCode, clear
from source_lines import ranges_of

if TYPE_CHECKING:
    from reporter import Reporter

    from pytest_mcp.process.job import Job

# The limits of a test in a fork, in seconds: so much, and so many times what it took without a mutant.
CPU_SECONDS, CLOCK_SECONDS = 1.0, 10.0
CPU_TIMES, CLOCK_TIMES = 4.0, 5.0
MAX_MESSAGE = 300


class TestsInFork(FixtureLines):
    living: LivingCode

    def __init__(self, reporter: Reporter, job: Job) -> None:
        assert job["proof"] is not None
        self.reporter, self.proof, self.root = reporter, job["proof"], job["root"]
        self.files = ProjectFiles(self.root)
        self.wanted = {path: numbers(ranges) for path, ranges in self.proof["lines"].items()}
        super().__init__(recorder(self.is_wanted, explaining_code(), self.wanted_of))
        self.clock = time.monotonic
        self.items: list[Any] = []
        self.seconds: dict[int, float] = {}
        self.reports: list[Any] = []
        self.raised: list[tuple[str, list[str], str]] = []

    def is_wanted(self, name: str) -> bool:
        return self.files.below_root(name) and self.files.known[name] in self.wanted

    def wanted_of(self, name: str) -> set[int]:
        return self.wanted[self.files.known[name]]

    def path_of(self, name: str) -> str | None:
        return self.files.known[name] if self.files.below_root(name) else None

    def limit(self, places: Sequence[int]) -> Limit:
        seconds = sum(self.seconds.get(place, 0.0) for place in places)
        return Limit(CPU_SECONDS + CPU_TIMES * seconds, CLOCK_SECONDS + CLOCK_TIMES * seconds)

    def run_tests(self, places: Sequence[int], say: Callable[..., Any], traced: bool = False) -> None:
        """To the end if all are traced, else to the first failure."""
        is_traced = traced and bool(self.wanted) and self.recorder.resume()
        for index, place in enumerate(places):
            following = self.items[places[index + 1]] if index + 1 < len(places) else None
            say("begun", test=place)
            if traced:
                # What a test takes from a cache it does not run.
                clear(self.living.caches)
            else:
                allow(self.limit([place]).cpu)
            ended = self.run_test(self.items[place], following)
            lines = self.lines_of(merged(self.recorder.take(), *self.used)) if is_traced else {}
            say("ended", test=place, lines={path: ranges_of(each) for path, each in lines.items()}, **ended)
            if not traced and has_failed([ended["outcome"]]):
                break

    def run_test(self, item: Any, following: Any) -> dict[str, Any]:
        self.reports, self.raised, self.used = [], [], []
        started = self.clock()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return {"seconds": self.clock() - started, "outcome": self.outcome(), **self.cause()}

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> None:
        if call.excinfo is not None:
            names = [each.__name__ for each in call.excinfo.type.__mro__]
            self.raised.append((call.when, names, safe_text("the message", str, call.excinfo.value)[:MAX_MESSAGE]))

    def outcome(self) -> str:
        outcomes = {report.outcome for report in self.reports}
        return next((each for each in ("failed", "skipped", "passed") if each in outcomes), "unknown")

    def cause(self) -> dict[str, Any]:
        failed = {report.when for report in self.reports if report.outcome in ("failed", "skipped")}
        for when, names, message in self.raised:
            if when in failed:
                return {"raised": names, "message": message}
        return {"raised": [], "message": ""}

    def lines_of(self, lines: Lines) -> dict[str, set[int]]:
        """The wanted ones."""
        files: dict[str, set[int]] = {}
        for entry in lines.values():
            path = self.path_of(entry.code.co_filename)
            if path is not None and path in self.wanted:
                files.setdefault(path, set()).update(entry.lines & self.wanted[path])
        return {path: each for path, each in files.items() if each}


def has_failed(outcomes: Sequence[str]) -> bool:
    return not {"passed", "skipped"}.issuperset(outcomes)


def base_name(node_id: str) -> str:
    return node_id.partition("[")[0]


def numbers(ranges: str) -> set[int]:
    pairs = (each.partition("-") for each in ranges.split(",") if each)
    return {line for first, _, last in pairs for line in range(int(first), int(last or first) + 1)}
