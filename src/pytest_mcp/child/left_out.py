"""Why tests that were asked for do not run: what deselected them, where pytest searched, which marks there are.

All of it only explains; the server puts it into words.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import pytest
from import_origins import parts_in_project

if TYPE_CHECKING:
    from pytest_mcp.process.job import Job

# The options that exclude tests, each with the name of its value in pytest's configuration.
OPTIONS = (
    ("-m", "markexpr"),
    ("-k", "keyword"),
    ("--deselect", "deselect"),
    ("--ignore", "ignore"),
    ("--ignore-glob", "ignore_glob"),
)
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
# The modules of pytest, and of an xdist worker.
NOT_OTHERS = ("_pytest.", "__channelexec__")
OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
# How pytest begins to say that an argument does not exist, and how many arguments are tried again one by one.
NOT_FOUND = "not found: "
MAX_UNCLEAR = 20


def without_parameters(argument: str) -> str:
    name = argument.find("::")
    parameters = -1 if name < 0 else argument.find("[", name)
    return argument if parameters < 0 else argument[:parameters]


def first_lines(messages: Iterable[object]) -> set[str]:
    return {str(message).partition("\n")[0] for message in messages}


def refusals(session: pytest.Session, arguments: Sequence[str]) -> set[str]:
    try:
        session.perform_collect(arguments)
    except pytest.UsageError as error:
        return first_lines(error.args)
    return set()


class SelectionFacts:
    """What is kept while tests are selected, and compared with the targets that a call named."""

    def __init__(self, job: Job, relocate: Callable[[str], str], relative: Callable[[str], str]) -> None:
        self.named = job["named"]
        self.covered = job["covered"]
        self.root = job["root"]
        self.relocate = relocate
        self.relative = relative
        # Reading the marks of every test takes time, so it is done only if the call selects by marks.
        self.marks: set[str] | None = set() if job["by_marks"] else None
        self.collected: Sequence[Any] = ()
        self.deselected: list[tuple[list[str], Sequence[Any]]] = []
        self.by: set[str] = set()
        # Deselected by our own choice among the tests that were asked for, so they count as found.
        self.unchosen: list[Any] = []

    def keep(self, items: Sequence[Any]) -> None:
        if self.named:
            self.collected = list(items)

    def keep_deselected(self, items: Sequence[Any], config: Any) -> None:
        with suppress(Exception):
            if self.marks is not None:
                self.marks |= marks_of(items)
            by = who_deselects(config, self.place_of)
            if by is None:
                self.unchosen += items if self.named else ()
                return
            self.by.update(by)
            if self.named:
                self.deselected.append((by, list(items)))

    def report(self, kept: Sequence[Any], config: Any, emit: Callable[..., Any]) -> None:
        if self.marks is not None:
            emit("marks", registered=registered_marks(config), used=sorted(self.marks | marks_of(kept)))
        if not kept:
            emit("nothing_selected", **reasons(config, self.relative))
        skipped_files = getattr(config.pluginmanager.get_plugin("lfplugin"), "_skipped_files", 0)
        by_cache = self.by.union(["--lf"] if skipped_files else []).intersection(BY_CACHE)
        if by_cache:
            emit("from_cache", options=sorted(by_cache))
        if self.named:
            for fields in self.left_out([*kept, *self.unchosen], config):
                emit("left_out", **fields)
            emit("compared")
            # Keep no reference to items while the tests run: pytest would free them.
            self.collected, self.deselected, self.unchosen = (), [], []

    def uncovered(self, items: Iterable[Any]) -> list[str]:
        """Ids that another argument covers were not passed to pytest; returns those that do not exist, as arguments."""
        missing = self.without_test([node_id for node_id, _ in self.covered], items)
        return [argument for node_id, argument in self.covered if node_id in missing]

    def missing(self, session: pytest.Session, messages: Sequence[object]) -> Sequence[object]:
        """pytest's messages, about every id that does not exist. Nothing will run, so it may collect once more.

        pytest knows nothing of ids that another one covers. From 9.2 on it leaves out parameters, so that it seems to
        miss every test of a function.
        """
        said, plain = first_lines(messages), without_parameters
        unclear = [each for each in session.config.args if NOT_FOUND + plain(each) in said and each != plain(each)]
        there = [each for each in unclear[:MAX_UNCLEAR] if NOT_FOUND + plain(each) not in refusals(session, [each])]
        gone = [each for each in session.config.args if said.intersection((NOT_FOUND + each, NOT_FOUND + plain(each)))]
        gone = [each for each in gone if each not in there]
        rest = [each for each in session.config.args if each not in gone]
        more = refusals(session, rest) if gone and rest and self.covered else []
        others = [each for each in messages if not gone or not str(each).startswith(NOT_FOUND)]
        return [*others, *(NOT_FOUND + each for each in gone), *more]

    def left_out(self, kept: Iterable[Any], config: Any) -> Iterator[dict[str, Any]]:
        """The fields of one record for each target of which no test is left."""
        left = self.without_test(self.named, kept)
        if not left:
            return
        deselected_by = {id(item): by for by, items in self.deselected for item in items}
        reasons: dict[str, list[list[str]]] = {name: [] for name in self.named if name in left}
        silent = list(changers(config, self.place_of)) or ["unknown"]
        for item in self.collected:
            for name in left.intersection(self.names_of(item)):
                reasons[name].append(deselected_by.get(id(item), silent))
        from_cache = ["--lf"] if config.getoption("lf", False) else []
        for name, tests in reasons.items():
            by = list(dict.fromkeys(chain.from_iterable(tests)))
            yield {"id": name, "found": len(tests), "by": by or from_cache}

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
        # After each name, before and after its parameters.
        plain = names.partition("[")[0]
        ends = [match.start() for match in re.finditer("::", plain)] + [len(plain), len(names)]
        yield from (path + "::" + names[:end] for end in ends)

    def place_of(self, path: str, module: str) -> str:
        """A path in the project, or the name of a plugin."""
        below = parts_in_project(path, self.root)
        return "/".join(below).lstrip("/") if below is not None else module.partition(".")[0] or "unknown"


def who_deselects(config: Any, place_of: Callable[[str, str], str]) -> list[str] | None:
    """What called the hook `pytest_deselected`: the frame below pluggy's; None if that is ours."""
    frame: Any = sys._getframe(1)
    while is_ours(frame.f_code):
        frame = frame.f_back
    while frame.f_globals.get("__name__", "").partition(".")[0] == "pluggy":
        frame = frame.f_back
    if is_ours(frame.f_code):
        return None
    module = frame.f_globals.get("__name__", "")
    option = OPTION_OF.get((module, frame.f_code.co_name)) or OPTION_OF.get((module, None))
    if option is None:
        return [place_of(frame.f_code.co_filename, module)]
    return with_values(option, config.getoption(dict(OPTIONS).get(option, ""), None)) or [option]


def changers(config: Any, place_of: Callable[[str, str], str]) -> Iterator[str]:
    """What may have removed an item without reporting it: every hook of others that gets all items."""
    for hook in config.hook.pytest_collection_modifyitems.get_hookimpls():
        module = getattr(hook.function, "__module__", None) or ""
        code = getattr(hook.function, "__code__", None)
        if not module.startswith(NOT_OTHERS) and (code is None or not is_ours(code)):
            yield place_of("" if code is None else code.co_filename, module)


def is_ours(code: Any) -> bool:
    return bool(code.co_filename.startswith(OURS))


# --- nothing is selected -----------------------------------------------------------------------


def reasons(config: Any, relative: Callable[[str], str]) -> dict[str, Any]:
    places = [str(argument).partition("::")[0] for argument in config.args]
    return {
        "options": [option for name, key in OPTIONS for option in with_values(name, config.getoption(key, None))],
        "patterns": [str(pattern) for pattern in config.getini("python_files")],
        "places": [relative(place) for place in places],
    }


def with_values(option: str, value: Any) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else [value] if value else []
    return ["%s %s" % (option, each) for each in values]


def remembered_failures(config: Any) -> dict[str, int]:
    """The fields of the record `remembered`, from pytest's own cache."""
    names = {"failures": "cache/lastfailed", "tests": "cache/nodeids"}
    return {field: len(config.cache.get(name, ())) for field, name in names.items()}


# --- marks -------------------------------------------------------------------------------------


def registered_marks(config: Any) -> list[str]:
    return [mark_of(line) for line in config.getini("markers")]


def mark_of(line: Any) -> str:
    """The name that a line of the setting `markers` registers."""
    return str(line).partition(":")[0].partition("(")[0].strip()


def marks_of(items: Iterable[Any]) -> set[str]:
    return {str(mark.name) for item in items for mark in item.iter_markers()}
