"""Around each phase of a test, where that is needed: it costs every test a little.

Before pytest 8.0 the length of an assertion's diff hung on the general verbosity alone, so that is raised
while a test runs. And with detail full, log records are kept for the report. Public pytest only.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Generator

import pytest

if TYPE_CHECKING:
    from json_report import Stages

# Whole diffs.
VERBOSE = 2


class Observer:
    def __init__(self, option: Any, stages: Stages | None) -> None:
        self.option = option
        self.stages = stages
        # Where there is a verbosity of assertions, the command line has set it.
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
