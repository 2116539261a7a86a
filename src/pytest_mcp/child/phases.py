"""One phase of a test (setup, call, teardown): what is done around it, and its report as the fields of a record.

In comes pytest's report, with whatever tests and plugins have put into it; out come plain values. A part that
cannot be turned into text is replaced by a sentence that says so; the outcome is reported anyway. Standard library
and pytest's public names only.
"""

from __future__ import annotations

from contextlib import nullcontext
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Callable, Generator

import pytest
from describe import Clip, describe_subtest, skip_reason, text_of, told, unshown

if TYPE_CHECKING:
    from json_report import Stages

# With this verbosity pytest shows whole diffs.
VERBOSE = 2


class Observer:
    """Hooks around each phase. They cost every test a little, so they are registered only where they are needed.

    Before pytest 8.0 only the general verbosity set the length of an assertion's diff, so it is raised while a test
    runs. With detail full, log records are kept for the report.
    """

    def __init__(self, option: Any, stages: Stages | None) -> None:
        self.option = option
        self.stages = stages
        # A pytest with a verbosity for assertions got it on the command line.
        self.least_verbose = option.verbose if hasattr(pytest.Config, "get_verbosity") else VERBOSE

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        yield from self.observing("setup")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        yield from self.observing("call")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        yield from self.observing("teardown")

    def observing(self, when: str) -> Generator[None, None, None]:
        before = self.option.verbose
        self.option.verbose = max(before, self.least_verbose)
        try:
            with self.stages.logging_of(when) if self.stages else nullcontext():
                yield
        finally:
            self.option.verbose = before


def fields_of(report: Any, context: Any, clip: Clip, relative: Callable[[str], str], root: str) -> dict[str, Any]:
    """Only the report of a subtest has a context."""
    crash = crash_of(report)
    return {
        "when": str(report.when),
        "outcome": str(report.outcome),
        "xfail": told("the reason of the xfail", str, report.wasxfail) if hasattr(report, "wasxfail") else None,
        "message": message_of(report, crash, clip),
        "location": location_of(crash, relative),
        "traceback": clip(told("the traceback", text_of, report, root)) if report.outcome == "failed" else None,
        "sections": sections_of(report, clip),
        "subtest": None if context is None else told("the subtest", describe_subtest, context),
    }


def crash_of(report: Any) -> Any:
    try:
        return getattr(report.longrepr, "reprcrash", None)
    except Exception:  # noqa: BLE001 - a plugin's object; the report is made without it
        return None


def message_of(report: Any, crash: Any, clip: Clip) -> str | None:
    if report.outcome == "skipped":
        return told("the reason of the skip", skip_reason, report.longrepr)
    return None if crash is None else clip(told("the message", lambda: crash.message))


def location_of(crash: Any, relative: Callable[[str], str]) -> list[object] | None:
    try:
        return None if crash is None else [relative(str(crash.path)), int(crash.lineno)]
    except Exception:  # noqa: BLE001 - as above
        return None


def sections_of(report: Any, clip: Clip) -> list[list[str]]:
    try:
        sections = list(report.sections)
    except Exception as error:  # noqa: BLE001 - as above
        sections = [("Captured output", unshown("what was captured", error))]
    title, text = itemgetter(0), itemgetter(1)
    return [[told("a title", title, entry), clip(told("this section", text, entry))] for entry in sections]
