"""Which tests recorded runs rule out: real files and tables, without a run of pytest."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_mcp.api.reach import Reach
from pytest_mcp.changes import reach
from pytest_mcp.changes.differences import Changes
from pytest_mcp.changes.state import CodeState
from pytest_mcp.events.functions import ExecutedFunctions, OutsideFunctions
from pytest_mcp.history import affected, executed, maps
from pytest_mcp.history.maps import KnownSources, RunMap, Source, Stored, Unit
from pytest_mcp.history.opening import open_store
from tests.support.history.histories import run_row
from tests.support.projects.project_files import write_files

SHOP = """
def total(prices):
    return sum(prices)

def name():
    return (lambda: "shop")()

def at_import():
    return 1

class Cart:
    def add(self): pass

class Big(Cart):
    pass

ONE = at_import()
"""
FILES = {
    "shop.py": SHOP,
    "other.py": "def helper(): return 1\n",
    "test_shop.py": "import shop\ndef test_total(): shop.total([])\ndef test_name(): shop.name()\n",
    "test_more.py": "import shop\ndef test_cart(): shop.Cart().add()\ndef test_opaque(): pass\n",
    "test_alone.py": "def test_alone(): pass\n",
}
# By number: what each test ran, and what ran at import.
FUNCTIONS = [
    *(["test_shop.py", "test_total"], ["shop.py", "total"], ["test_shop.py", "test_name"], ["shop.py", "name"]),
    *(["shop.py", "name.<locals>.<lambda>"], ["test_more.py", "test_cart"], ["shop.py", "Cart.add"]),
    *(["test_more.py", "test_opaque"], ["test_alone.py", "test_alone"], ["shop.py", "at_import"]),
    ["shop.py", "<module>"],
]
RAN = {
    "test_shop.py::test_total": "0-1",
    "test_shop.py::test_name": "2-4",
    "test_more.py::test_cart": "5-6",
    "test_more.py::test_opaque": "7",
    "test_alone.py::test_alone": "8",
}
TOTAL, NAME, CART, OPAQUE, ALONE = RAN
OF_SHOP = {TOTAL, NAME, CART, OPAQUE}

Selected = Callable[[Mapping[str, str]], set[str]]


def recorded(
    root: Path, *, started: float | None = None, unseen: list[str] | None = None, known: KnownSources | None = None
) -> RunMap:
    told = [
        ExecutedFunctions(
            process=1, first=number and 11, new=[] if number else FUNCTIONS, ran=ran, id=name, opaque=name == OPAQUE
        )
        for number, (name, ran) in enumerate(RAN.items())
    ]
    last = OutsideFunctions(
        process=1, first=11, new=[], ran="9-10", imports=[], states=[], given="", unseen=unseen or [], whole=True
    )
    code = CodeState("c" * 40, "s", dirty=False)
    found = executed.of_run([*told, last], root, started or time.time() + 60, code, known or {})
    assert found is not None
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path / "project", FILES)


def stored(root: Path, found: RunMap) -> Stored:
    store = open_store(str(root.parent / "history.db"))
    maps.write(store, store.record(run_row(), []), "shop", found)
    try:
        return maps.read(store, "shop")
    finally:
        store.close()


def narrowed(root: Path, past: Stored, edited: Mapping[str, str]) -> Reach:
    """What a change of the files reaches, compared with what they are in FILES."""
    write_files(root, edited)
    changes = Changes("main", "0" * 40, frozenset(edited), frozenset())
    before = {name: FILES[name].encode() for name in edited if name in FILES}
    return affected.narrowed_by(reach.examine(changes, root), changes, before, past)


def chosen(found: Reach) -> set[str]:
    return {name for name in RAN if name not in found.unaffected and name.partition("::")[0] not in found.unreached}


@pytest.fixture
def selected(root: Path) -> Selected:
    past = stored(root, recorded(root))
    return lambda edited: chosen(narrowed(root, past, edited))


def shop(old: str, new: str) -> dict[str, str]:
    assert old in SHOP
    return {"shop.py": SHOP.replace(old, new)}


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        (shop("sum(prices)", "len(prices)"), {TOTAL}),
        (shop('"shop"', '"s"'), {NAME}),
        (shop("add(self): pass", "add(self): return 1"), {CART}),
        # Lines that only moved, and comments.
        (shop("def name", "# a comment\n\ndef name"), set()),
        # A new function, and a signature that changed, by its name.
        (shop("def name", "def new(): pass\n\ndef name"), set()),
        (shop("total(prices)", "total(prices, tax=0)"), {TOTAL}),
        # A new method of a class with bases can take the place of another.
        (shop("(Cart):\n    pass", "(Cart):\n    def add(self): pass"), OF_SHOP),
        # What runs at import.
        (shop("ONE = at", "TWO = at"), OF_SHOP),
        (shop("return 1", "return 2"), OF_SHOP),
        ({"shop.py": "def broken(:\n"}, OF_SHOP),
        # A test that changed, and one that is new.
        ({"test_more.py": FILES["test_more.py"].replace("add()", "add() or 1")}, {CART, OPAQUE}),
        # Nobody imports it.
        ({"other.py": "def helper(): return 2\n"}, set()),
    ],
)
def test_a_change_selects_the_tests_that_executed_it(
    edited: Mapping[str, str], expected: set[str], selected: Selected
) -> None:
    found = selected(edited)

    # What a test does in other processes is never known.
    assert found - {OPAQUE} == expected - {OPAQUE}
    assert OPAQUE in found or not {"shop.py", "test_more.py"} & edited.keys()


def test_the_commit_of_the_recorded_run_is_named(root: Path) -> None:
    found = narrowed(root, stored(root, recorded(root)), shop('"shop"', '"s"'))

    assert (found.recorded, found.reason) == ("ccccccc", None)
    assert set(found.unaffected) == {TOTAL, CART}


def test_without_a_recorded_run_the_imports_decide(root: Path) -> None:
    found = narrowed(root, Stored({}, []), shop('"shop"', '"s"'))

    assert chosen(found) == OF_SHOP
    assert found.recorded is None


def test_what_differs_from_the_recorded_code_counts_as_well(root: Path) -> None:
    """The run was of another commit than the base."""
    write_files(root, shop("sum(prices)", "max(prices)"))
    past = stored(root, recorded(root))

    assert chosen(narrowed(root, past, shop('"shop"', '"s"'))) == {NAME, TOTAL, OPAQUE}


def test_a_file_that_was_written_during_the_run_is_not_known(root: Path) -> None:
    later = time.time() + 100
    past = recorded(root, started=time.time() + 60)
    os.utime(root / "shop.py", (later, later))
    written = recorded(root, started=time.time() + 60)

    assert past.sources["shop.py"].units["total"] != ""
    assert written.sources["shop.py"] == maps.Source(executed.UNKNOWN, {})
    assert chosen(narrowed(root, stored(root, written), shop("sum(prices)", "len(prices)"))) == OF_SHOP


def test_code_is_part_of_the_function_around_it(root: Path) -> None:
    found = recorded(root)

    assert found.tests[NAME].units == {Unit("test_shop.py", "test_name"), Unit("shop.py", "name")}
    assert found.outside == {Unit("shop.py", "at_import"), Unit("shop.py", "<module>")}


def test_any_function_of_a_file_that_was_imported_before_the_recorder_began_may_have_run_then(root: Path) -> None:
    past = stored(root, recorded(root, unseen=["shop.py"]))

    assert chosen(narrowed(root, past, shop("sum(prices)", "len(prices)"))) == OF_SHOP


def test_a_version_of_a_file_that_is_stored_is_not_parsed_again(root: Path) -> None:
    stored_before = Source(recorded(root).sources["shop.py"].hash, {"stored": "code"})

    found = recorded(root, known={("shop.py", stored_before.hash): stored_before, ("shop.py", "other"): Source("", {})})

    assert found.sources["shop.py"] is stored_before


def test_of_a_run_without_tests_nothing_is_recorded(root: Path) -> None:
    assert executed.of_run([], root, time.time(), CodeState(), {}) is None
