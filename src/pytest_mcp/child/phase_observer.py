"""Around each phase of a test, with detail full only: it costs every test a little.

Log records are kept for the report. Before pytest 8.0 the length of an assertion's diff depended on the general
verbosity alone, so that is raised while a test runs. Public pytest only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generator

import pytest

if TYPE_CHECKING:
    from json_report import Stages

# Whole diffs.
VERBOSE = 2


class Observer:
    def __init__(self, option: Any, stages: Stages) -> None:
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
            with self.stages.logging_of(when):
                yield
        finally:
            self.option.verbose = before
