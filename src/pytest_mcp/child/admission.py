"""The pytest plugin that keeps out what a call names and the project's own collection would not take.

In come the job's files and folders; out come a record and a refusal before any conftest is imported, or
collectors without the doctests of modules that the project leaves alone. Standard library and pytest only.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generator

import pytest
from project_collection import Collection, matches
from source_lines import is_misread, out_of_reach

if TYPE_CHECKING:
    from channel import Channel
    from launcher import Job


# More of them are not told one by one.
MOST_UNREACHABLE = 1000


class Admission:
    def __init__(self, channel: Channel, job: Job) -> None:
        self.emit = channel.emit
        self.root = job["root"]
        self.files = job["explicit_files"]
        self.places = job["targets"]
        self.folders = [place for place in self.places if place not in self.files]

    # A wrapper, so that it comes before every plugin that loads code of the project here, as pytest-django does.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> Generator[None, None, None]:
        collection = Collection(early_config, early_config.known_args_namespace) if self.files else None
        refused = [path for path in self.files if collection is not None and not collection.takes(path)]
        if refused:
            self.emit("refused", files=refused)
            raise pytest.UsageError("not a test file: " + ", ".join(refused))
        if is_misread(self.root) and not self.places and not early_config.getini("testpaths"):
            # pytest would give itself the root's whole path, and then read a test's name in it.
            args.append(os.curdir)
            early_config.invocation_params = with_argument(early_config, os.curdir)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        if not self.places or not config.getoption("doctestmodules", False):
            return
        collection = Collection(config, config.option)
        if config.getoption("dist", "no") == "no":
            config.pluginmanager.register(Doctests(self.emit, collection, self.root))
        elif not all(map(collection.reaches, self.folders)):
            config.invocation_params = without_doctest_modules(config)
            self.emit("doctests_left_out", count=None, first=None)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # What only explains may be missing; it must never raise into pytest.
        with suppress(Exception):
            unreachable = out_of_reach({str(item.path) for item in session.items}, self.root)
            if unreachable:
                self.emit("unreachable", files=unreachable[:MOST_UNREACHABLE])


class Doctests:
    """Leaves out the doctests of modules that are imported for them alone, and that the project does not test."""

    def __init__(self, emit: Any, collection: Collection, root: str) -> None:
        self.emit = emit
        self.collection = collection
        self.root = root
        self.left_out: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collect_file(self, file_path: Any) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is None and self.is_foreign(str(file_path)):
            collectors = outcome.get_result()
            kept = [collector for collector in collectors if not imports_its_file(collector)]
            if len(kept) < len(collectors):
                self.left_out.append(os.path.relpath(str(file_path), self.root).replace(os.sep, "/"))
                outcome.force_result(kept)

    def is_foreign(self, path: str) -> bool:
        if matches(path, self.collection.modules):
            return False
        return not self.collection.reaches(path) or self.collection.is_ignored_by_a_hook(path)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self) -> Generator[None, Any, None]:
        yield
        if self.left_out:
            self.emit("doctests_left_out", count=len(self.left_out), first=self.left_out[0])


def without_doctest_modules(config: Any) -> Any:
    """What xdist hands to its workers: they collect, have no plugin of ours, and read the project's addopts anew."""
    options = [option for option in config.getini("addopts") if option != "--doctest-modules"]
    return with_argument(config, "--override-ini=addopts=" + " ".join(map(shlex.quote, options)))


def with_argument(config: Any, argument: str) -> Any:
    given = config.invocation_params
    return type(given)(args=(*given.args, argument), plugins=given.plugins, dir=given.dir)


def imports_its_file(collector: Any) -> bool:
    """A file that is named gets a collector for tests too, whatever its name."""
    return any(kind.__name__ in ("DoctestModule", "Module") for kind in type(collector).__mro__)
