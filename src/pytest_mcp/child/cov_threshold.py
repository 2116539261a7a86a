"""pytest-cov's threshold in a run of a part of the suite: it is told, and does not fail the run.

It is lifted while pytest-cov compares, so the exit code is still pytest's own, and whatever else fails the run does.
Afterwards pytest-cov says in its own words that the threshold is not reached. Standard library and pytest only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator

import pytest

if TYPE_CHECKING:
    from launcher import Job
    from reporter import Reporter

PLUGIN = "_cov"
PACKAGE = "pytest_cov"


class LiftedThreshold:
    def __init__(self, reporter: Reporter, job: Job) -> None:
        self.reporter = reporter
        self.names_part: bool = job["part"]
        self.is_filtered: bool = job["filtered"]
        self.shard = job["shard"]
        self.targets: list[str] = job["targets"]
        self.limit: Any = None

    # The innermost: pytest-cov compares in a wrapper too, and what xdist's workers deselected is not known before.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, None, None]:
        yield
        options = options_of(session.config) if self.has_part(session.config) else None
        limit = getattr(options, "cov_fail_under", None)
        if options is not None and type(limit) in (int, float):
            self.limit, options.cov_fail_under = limit, 0

    # Before pytest-cov writes its summary.
    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.limit is not None:
            options_of(session.config).cov_fail_under = self.limit

    def has_part(self, config: Any) -> bool:
        """Where a call's expressions or its change left out nothing, the threshold stands."""
        left_out = bool(self.is_filtered and self.reporter.deselected) or bool(self.reporter.selection.left_out)
        if left_out or (self.shard is not None and self.shard[1] > 1):
            return True
        return self.names_part and not self.names_whole_suite(config)

    def names_whole_suite(self, config: Any) -> bool:
        """A member of a monorepo is named by its folder, which is the root of its settings."""
        root = os.path.join(str(config.rootpath), "")
        return any(root.startswith(os.path.join(path, "")) for path in self.targets)


def options_of(config: Any) -> Any:
    plugin = config.pluginmanager.get_plugin(PLUGIN)
    is_known = type(plugin).__module__.partition(".")[0] == PACKAGE
    return getattr(plugin, "options", None) if is_known else None
