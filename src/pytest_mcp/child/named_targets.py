"""Compares the targets that a call named with the tests that pytest found and kept.

In come names, pytest's items and what deselected them; out come the names of which no test is left, and why.
Standard library and pytest's public names only.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import pytest
from import_origins import INSTALLED, relative_parts
from selection_facts import OPTIONS, said
from source_lines import ends_of_names

if TYPE_CHECKING:
    from launcher import Job

# Which option deselects in which function of pytest's own modules; None stands for any function of the module.
OPTION_OF = {
    ("_pytest.mark", "deselect_by_keyword"): "-k",
    ("_pytest.mark", "deselect_by_mark"): "-m",
    ("_pytest.main", None): "--deselect",
    ("_pytest.cacheprovider", None): "--lf",
    ("_pytest.stepwise", None): "--stepwise",
}
# Options that select by what failed last time.
BY_CACHE = ("--lf", "--stepwise")


class Comparison:
    def __init__(self, job: Job, relocate: Callable[[str], str]) -> None:
        self.named = job["named"]
        self.covered = job["covered"]
        self.root = job["root"]
        self.relocate = relocate
        self.found: Sequence[Any] = ()
        self.deselected: list[tuple[list[str], Sequence[Any]]] = []
        self.by: set[str] = set()

    def keep(self, items: Sequence[Any]) -> None:
        """Keep what pytest found, before anything is deselected."""
        if self.named:
            self.found = list(items)

    def keep_deselected(self, items: Sequence[Any], config: Any) -> None:
        with suppress(Exception):
            by = who_deselects(config, self.place_of)
            self.by.update(by)
            if self.named:
                self.deselected.append((by, list(items)))

    def tell(self, kept: Iterable[Any], config: Any, emit: Callable[..., Any]) -> None:
        skipped_files = getattr(config.pluginmanager.get_plugin("lfplugin"), "_skipped_files", 0)
        left_out = self.by.union(["--lf"] if skipped_files else []).intersection(BY_CACHE)
        if left_out:
            emit("from_cache", options=sorted(left_out), certain=True)
        if self.named:
            for told in self.left_out(kept, config):
                emit("left_out", **told)
            emit("compared")
            # Keep no reference to items while the tests run: pytest would free them.
            self.found, self.deselected = (), []

    def tell_of_workers(self, config: Any, emit: Callable[..., Any]) -> None:
        """What xdist's workers deselected is not known here. With --lf they can have: they share the cache."""
        known_failures = getattr(config.pluginmanager.get_plugin("lfplugin"), "lastfailed", None)
        options = ["--lf"] if config.getoption("lf", False) and known_failures else []
        if options:
            emit("from_cache", options=options, certain=False)

    def uncovered(self, items: Iterable[Any]) -> list[str]:
        """Ids that another argument covers were not passed to pytest; returns those that do not exist, as arguments."""
        missing = self.without_test([node_id for node_id, _ in self.covered], items)
        return [argument for node_id, argument in self.covered if node_id in missing]

    def further_missing(self, session: pytest.Session, messages: Sequence[object]) -> Sequence[object]:
        """Nothing will run, so also look for the ids that were not passed to pytest."""
        missing = {str(message).partition("\n")[0] for message in messages}
        arguments = session.config.args
        rest = [argument for argument in arguments if "not found: " + argument not in missing]
        if self.covered and rest and len(rest) < len(arguments):
            try:
                session.perform_collect(rest)
            except pytest.UsageError as error:
                return error.args
        return []

    def left_out(self, kept: Iterable[Any], config: Any) -> Iterator[dict[str, Any]]:
        """The fields of one record for each target of which no test is left."""
        left = self.without_test(self.named, kept)
        if not left:
            return
        told_by = {id(item): by for by, items in self.deselected for item in items}
        counts = dict.fromkeys(left, 0)
        reasons: dict[str, dict[str, None]] = {name: {} for name in left}
        silent = list(changers(config, self.place_of)) or ["unknown"]
        for item in self.found:
            for name in left.intersection(self.names_of(item)):
                counts[name] += 1
                reasons[name].update(dict.fromkeys(told_by.get(id(item), silent)))
        from_cache = ["--lf"] if config.getoption("lf", False) else []
        for name in self.named:
            if name in left:
                yield {"id": name, "found": counts[name], "by": list(reasons[name]) if counts[name] else from_cache}

    def without_test(self, names: Iterable[str], items: Iterable[Any]) -> set[str]:
        left = set(names)
        for item in items:
            if not left:
                break
            left.difference_update(self.names_of(item))
        return left

    def names_of(self, item: Any) -> Iterator[str]:
        """Every name that selects this test. Ids made by plugins may not begin with the file."""
        path, _, names = self.relocate(item.nodeid).partition("::")
        yield "."
        for place in {path, self.relocate(str(item.path))}:
            yield place
            yield from (place[:index] for index, character in enumerate(place) if character == "/")
        yield from (path + "::" + names[:end] for end in ends_of_names(names))

    def place_of(self, path: str, module: str) -> str:
        """A path in the project, or the name of a plugin."""
        below = relative_parts(path, self.root)
        if below is None or any(part in INSTALLED for part in below):
            return module.partition(".")[0] or "unknown"
        return "/".join(below).lstrip("/")


def who_deselects(config: Any, place_of: Callable[[str, str], str]) -> list[str]:
    """What called the hook `pytest_deselected`: the first frame that is neither pluggy's nor ours."""
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] == "pluggy" or is_ours(frame.f_code):
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    option = OPTION_OF.get((module, frame.f_code.co_name)) or OPTION_OF.get((module, None))
    if option is None:
        return [place_of(frame.f_code.co_filename, module)]
    return said(option, config.getoption(dict(OPTIONS).get(option, ""), None)) or [option]


def changers(config: Any, place_of: Callable[[str, str], str]) -> Iterator[str]:
    """What may have removed an item without reporting it: every hook of others that gets all items."""
    for found in config.hook.pytest_collection_modifyitems.get_hookimpls():
        module = getattr(found.function, "__module__", None) or ""
        code = getattr(found.function, "__code__", None)
        if not module.startswith("_pytest.") and (code is None or not is_ours(code)):
            yield place_of("" if code is None else code.co_filename, module)


def is_ours(code: Any) -> bool:
    return bool(code.co_filename.startswith(os.path.dirname(os.path.abspath(__file__)) + os.sep))
