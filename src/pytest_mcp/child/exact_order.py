"""Runs exactly the tests that a job names, in its order, in one process and to the last of them.

It is a plugin beside the reporter. Whatever other plugins choose or sort, they do it before. A named test that was not
collected is ignored. Standard library and pytest's public names only; pytest 7.0 and newer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator

import pytest

if TYPE_CHECKING:
    from launcher import Job

# Options of pytest and of pytest-xdist that would end the run early or share the tests out, and what turns them off.
OFF = {"maxfail": 0, "stepwise": False, "dist": "no", "tx": [], "numprocesses": None}


class ExactOrder:
    def __init__(self, job: Job) -> None:
        self.root = job["root"]
        self.places = {node_id: place for place, node_id in enumerate(job["ids"] or ())}

    # Before the plugins that act on these options.
    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        for name, value in OFF.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    # The outermost wrapper: all other plugins have deselected and sorted when it continues.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[pytest.Item]) -> Generator[None, None, None]:
        yield
        found: dict[str, pytest.Item] = {}
        others = []
        for item in items:
            node_id = self.relocate(item.nodeid, config)
            if node_id in self.places and node_id not in found:
                found[node_id] = item
            else:
                others.append(item)
        items[:] = [found[node_id] for node_id in sorted(found, key=self.places.__getitem__)]
        if others:
            config.hook.pytest_deselected(items=others)

    def relocate(self, nodeid: str, config: Any) -> str:
        """As the reporter names it: relative to the server's root, not to pytest's."""
        path, separator, rest = nodeid.partition("::")
        absolute = os.path.join(str(config.rootpath), path)
        if absolute.startswith(self.root + os.sep):
            path = os.path.relpath(absolute, self.root).replace(os.sep, "/")
        return path + separator + rest
