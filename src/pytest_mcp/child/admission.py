"""The pytest plugin that refuses what a call names and the project's own collection would not take.

In come the job's files and folders. A file that is no test file is refused before any conftest is imported; of
other modules that the project does not collect, the doctests are left out. Standard library and pytest only.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generator

import pytest
from ini_files import with_argument
from project_collection import Collection
from source_lines import is_misread, out_of_reach
from xdist_controller import PLUGIN

if TYPE_CHECKING:
    from channel import Channel
    from launcher import Job


# The most files that one record lists.
MOST_UNREACHABLE = 1000


class Admission:
    def __init__(self, channel: Channel, job: Job) -> None:
        self.emit = channel.emit
        self.root = job["root"]
        self.files = job["explicit_files"]
        self.places = job["targets"]
        self.folders = [place for place in self.places if place not in self.files]

    # A wrapper, so that it runs before plugins that import code of the project in this hook, as pytest-django does.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> Generator[None, None, None]:
        collection = Collection(early_config, early_config.known_args_namespace) if self.files else None
        self.refuse([path for path in self.files if collection is not None and not collection.takes(path)])
        if is_misread(self.root) and not self.places and not early_config.getini("testpaths"):
            # pytest would use the root's absolute path as its argument, and take a part of it for the name of a test.
            args.append(os.curdir)
            early_config.invocation_params = with_argument(early_config, os.curdir)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        if self.places and config.getoption("doctestmodules", False):
            config.pluginmanager.register(Doctests(self.emit, Collection(config, config.option), self.root))

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_xdist_setupnodes(self, config: Any) -> None:
        """For xdist's workers without our plugins."""
        if not config.getoption("doctestmodules", False) or any(PLUGIN in arg for arg in config.invocation_params.args):
            return
        collection = Collection(config, config.option)
        collection.learn_from_conftests()
        self.refuse([path for path in self.files if collection.is_foreign(path)])
        if any(map(collection.leaves_out, self.folders)):
            config.invocation_params = without_doctest_modules(config)
            self.emit("doctests_left_out", count=None, first=None)

    def refuse(self, files: list[str]) -> None:
        if files:
            self.emit("refused", files=files)
            raise pytest.UsageError("not a test file: " + ", ".join(files))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # Only explains, so it may be missing; it must never raise into pytest.
        with suppress(Exception):
            unreachable = out_of_reach({str(item.path) for item in session.items}, self.root)
            if unreachable:
                self.emit("unreachable", files=unreachable[:MOST_UNREACHABLE])


class Doctests:
    """Leaves out modules that would be imported only for doctests, and that the project does not collect."""

    def __init__(self, emit: Any, collection: Collection, root: str) -> None:
        self.emit = emit
        self.collection = collection
        self.root = root
        self.left_out: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collect_file(self, file_path: Any) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is None and self.collection.is_foreign(str(file_path)):
            collectors = outcome.get_result()
            kept = [collector for collector in collectors if not imports_its_file(collector)]
            if len(kept) < len(collectors):
                self.left_out.append(os.path.relpath(str(file_path), self.root).replace(os.sep, "/"))
                outcome.force_result(kept)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self) -> Generator[None, Any, None]:
        yield
        if self.left_out:
            self.emit("doctests_left_out", count=len(self.left_out), first=self.left_out[0])


def without_doctest_modules(config: Any) -> Any:
    """Arguments for xdist's workers, which read the project's addopts again."""
    options = [option for option in config.getini("addopts") if option != "--doctest-modules"]
    return with_argument(config, "--override-ini=addopts=" + " ".join(map(shlex.quote, options)))


def imports_its_file(collector: Any) -> bool:
    """Besides doctests, pytest gives a named file a collector for tests, whatever its name."""
    return any(kind.__name__ in ("DoctestModule", "Module") for kind in type(collector).__mro__)
