"""pytest-cov's threshold in a run of a part of the suite: it is told, and does not fail the run.

It is lifted while pytest-cov compares, so the exit code is still pytest's own, and whatever else fails the run does.
Afterwards pytest-cov says in its own words that the threshold is not reached. Standard library and pytest only.
"""

from __future__ import annotations

import os
from typing import Any, Generator, Sequence

import pytest

PLUGIN = "_cov"
PACKAGE = "pytest_cov"


class LiftedThreshold:
    def __init__(self, targets: Sequence[str]) -> None:
        self.targets = targets

    # The outermost, because pytest-cov compares in a wrapper too.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, None, None]:
        options = None if self.has_whole_suite(session.config) else options_of(session.config)
        limit = getattr(options, "cov_fail_under", None)
        if options is None or type(limit) not in (int, float):
            yield
            return
        options.cov_fail_under = 0
        yield
        options.cov_fail_under = limit

    def has_whole_suite(self, config: Any) -> bool:
        """A member of a monorepo is named by its folder, which is the root of its settings."""
        return any(os.path.join(str(config.rootpath), "").startswith(os.path.join(path, "")) for path in self.targets)


def options_of(config: Any) -> Any:
    plugin = config.pluginmanager.get_plugin(PLUGIN)
    is_known = type(plugin).__module__.partition(".")[0] == PACKAGE
    return getattr(plugin, "options", None) if is_known else None
