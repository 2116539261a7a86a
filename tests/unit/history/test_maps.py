"""The tables of what tests execute: what is written is read, and what nothing refers to is deleted."""

from contextlib import closing
from dataclasses import replace

import pytest

from pytest_mcp.history import maps
from pytest_mcp.history.maps import RunMap, Source, TestMap, Unit, pack, unpack
from pytest_mcp.history.opening import open_store, reading
from pytest_mcp.history.store import Store, Unavailable
from tests.support.history.histories import passing, run_row

CART, TOTAL, OLD = Unit("shop.py", "cart"), Unit("shop.py", "total"), Unit("shop.py", "old")
FIRST, SECOND = (f"tests/test_a.py::test_{number}" for number in range(2))
SOURCES = {"shop.py": Source("h1", {"cart": "c1", "total": "t1", "old": "o1", "<module>": "m1"})}
RUN = RunMap(
    "c" * 40,
    dirty=False,
    whole=True,
    sources=SOURCES,
    outside=frozenset({OLD}),
    tests={
        FIRST: TestMap(frozenset({CART, TOTAL}), opaque=False),
        SECOND: TestMap(frozenset({TOTAL}), opaque=True),
    },
)


def record(store: Store, found: RunMap, project: str = "shop") -> None:
    maps.write(store, store.record(run_row(project=project), passing(2)), project, found)


def executed(store: Store) -> dict[str, tuple[set[Unit], bool]]:
    found = maps.read(store, "shop")
    tests = [pair for run in found.runs for pair in run.tests.items()]
    return {name: ({found.functions[each] for each in ran}, opaque) for name, (ran, opaque) in tests}


def test_what_is_written_is_read(address: str) -> None:
    store = open_store(address)
    record(store, RUN)
    record(store, RUN, "another project")

    found = maps.read(store, "shop")

    (run,) = found.runs
    assert (run.commit, run.dirty, run.whole, run.sources) == (RUN.commit, False, True, SOURCES)
    assert {found.functions[each] for each in run.outside} == {OLD}
    assert executed(store) == {FIRST: ({CART, TOTAL}, False), SECOND: ({TOTAL}, True)}
    store.close()


def test_versions_of_files_are_known_as_long_as_all_of_their_units_are(address: str) -> None:
    store = open_store(address)
    record(store, RUN)
    known = maps.known_sources(store, "shop")
    with store.transaction() as into:
        into.execute("DELETE FROM functions WHERE name = ?", ("old",))

    assert known == {("shop.py", "h1"): SOURCES["shop.py"]}
    assert maps.known_sources(store, "shop") == {}
    store.close()


def test_a_damaged_list_of_ids_makes_the_history_unavailable(address: str) -> None:
    with closing(open_store(address)) as store:
        record(store, RUN)
        with store.transaction() as damage:
            damage.execute("UPDATE executed SET function_ids = ?", (b"damaged",))

    with pytest.raises(Unavailable), reading(address) as store:
        maps.read(store, "shop")


def test_a_later_run_replaces_what_its_tests_executed_and_unused_rows_are_deleted(address: str) -> None:
    store = open_store(address)
    record(store, RUN, "another project")
    record(store, RUN)
    later = Source("h2", {"cart": "c2", "total": "t1", "<module>": "m1"})
    part = replace(RUN, sources={"shop.py": later}, outside=frozenset(), tests={FIRST: RUN.tests[SECOND]})

    record(store, part)
    both = store.select("SELECT hash FROM sources WHERE project = 'shop' ORDER BY hash")
    record(store, replace(part, tests=dict.fromkeys((FIRST, SECOND), TestMap(frozenset({CART}), opaque=False))))

    assert both == [("h1",), ("h2",)]
    assert executed(store) == {FIRST: ({CART}, False), SECOND: ({CART}, False)}
    assert store.select("SELECT hash FROM sources WHERE project = 'shop'") == [("h2",)]
    left = store.select("SELECT name, code FROM functions WHERE project = 'shop' ORDER BY name")
    assert left == [("<module>", "m1"), ("cart", "c2"), ("total", "t1")]
    assert store.select("SELECT COUNT(*) FROM functions WHERE project <> 'shop'") == [(4,)]
    store.close()


def test_a_test_whose_functions_are_gone_is_not_ruled_out(address: str) -> None:
    store = open_store(address)
    record(store, RUN)
    with store.transaction() as into:
        into.execute("DELETE FROM functions WHERE name = 'cart'")
        into.execute("DELETE FROM sources")

    found = maps.read(store, "shop")

    assert [run.sources for run in found.runs] == [{}]
    assert found.runs[0].tests[FIRST][1]
    store.close()


@pytest.mark.parametrize("ids", [[], [1], [3, 1, 2, 2], [2**31, 7, 2**32 - 1]])
def test_lists_of_ids_are_packed_in_order_and_once(ids: list[int]) -> None:
    assert list(unpack(pack(ids))) == sorted(set(ids))
