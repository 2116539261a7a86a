"""`changed` with `--history-map`: real runs, then edits. The rules are tested in `tests/unit/history`."""

from typing import Any

import pytest

from pytest_mcp.changes import differences, reach
from pytest_mcp.config.model import Config, History
from pytest_mcp.history import affected, maps, project_name
from pytest_mcp.history.opening import open_store
from tests.support.git import git
from tests.support.workbench import Workbench, call, succeeded

FILES = {
    "shop.py": """
RATE = 2
KNOWN = {}

class Counter:
    def __init__(self):
        self.count = 0
    def add(self):
        self.count += step()

COUNTER = Counter()

def total(prices):
    return sum(map(taxed, prices))

def taxed(price):
    return price * RATE

def name():
    return "shop"

def step():
    return 1

def remember(key):
    KNOWN[key] = value(key)

def value(key):
    return key

def known(key, cache={}):
    if key not in cache:
        cache[key] = compute(key)
    return cache[key]

def compute(key):
    return key * 2

def label():
    return "a label"
""",
    "conftest.py": """
import pytest, shop

@pytest.fixture(scope="module")
def shop_name():
    return shop.name()
""",
    "test_shop.py": """
import shop

LABEL = shop.label()

def test_total(): assert shop.total([1, 2]) == 6
def test_taxed(): assert shop.taxed(1) == 2
def test_name(shop_name): assert shop_name == "shop"
def test_name_again(shop_name): assert shop_name == "shop"
""",
    "test_state.py": """
import shop

def test_count(): shop.COUNTER.add()
def test_counted(): assert shop.COUNTER.count == 1
def test_remember(): shop.remember("a")
def test_remembered(): assert shop.KNOWN == {"a": "a"}
def test_known(): assert shop.known(3) == 6
def test_known_again(): assert shop.known(3) == 6
""",
    "test_profiler.py": """
import cProfile, pytest, shop

@pytest.fixture(scope="module")
def profiled():
    return cProfile.Profile().runcall(shop.name)

def test_profiled(profiled): pass
def test_profiled_again(profiled): pass
""",
    "test_unseen.py": """
import sys, pytest, shop

@pytest.fixture(scope="module")
def unseen():
    sys.setprofile(lambda *_: None)
    sys.settrace(None)
    told = shop.name()
    sys.setprofile(None)
    return told

def test_unseen(unseen): pass
def test_unseen_again(unseen): pass
""",
}
# The recorder may be a profiler itself, and makes way for that of a test.
PROFILED = {"test_profiler.py::test_profiled", "test_profiler.py::test_profiled_again"}
NAMES = {"test_shop.py::test_name", "test_shop.py::test_name_again", *PROFILED}
# A fixture that no profiler and no tracer sees: then none of its tests is recorded.
UNSEEN = {"test_unseen.py::test_unseen", "test_unseen.py::test_unseen_again"}
TAXED = {"test_shop.py::test_total", "test_shop.py::test_taxed"}


@pytest.fixture
def repository(bench: Workbench) -> Workbench:
    bench.write(FILES)
    for command in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "first")):
        git(*command, cwd=bench.root)
    return bench


def configured(repository: Workbench) -> Config:
    """The history is inside of the project, which is no change of it."""
    return repository.config._replace(history=History(str(repository.root / "history.db"), map=True))


async def execute(repository: Workbench, **arguments: Any) -> dict[str, Any]:
    return succeeded(await call("execute_tests", arguments, configured(repository)))


def edit(repository: Workbench, old: str, new: str) -> None:
    text = (repository.root / "shop.py").read_text(encoding="utf-8")
    assert old in text
    repository.write({"shop.py": text.replace(old, new)})


async def selected(repository: Workbench, old: str, new: str) -> set[str]:
    """The recorded tests that run if the file is edited like this, which it is only for a moment."""
    config = configured(repository)
    edit(repository, old, new)
    changes = (await differences.of_ref(config, "HEAD")).changes
    found = await affected.narrow(reach.examine(changes, config.root), changes, config)
    edit(repository, new, old)
    tests = {node_id for node_id in executed(config) if node_id.partition("::")[0] not in found.unreached}
    return tests.difference(found.unaffected)


def executed(config: Config) -> dict[str, set[str]]:
    assert config.history is not None
    store = open_store(config.history.address)
    found = maps.read(store, project_name.of(config.root))
    store.close()
    tests = [pair for run in found.runs for pair in run.tests.items()]
    return {node_id: {found.functions[each].name for each in ran} for node_id, (ran, _) in tests}


def of_state(*names: str) -> set[str]:
    return {f"test_state.py::test_{name}" for name in names}


async def test_tests_that_executed_what_changed_are_selected_and_no_others(repository: Workbench) -> None:
    assert (await execute(repository, path="test_shop.py", workers=2))["verdict"] == "passed"
    by_workers = executed(configured(repository))
    assert (await execute(repository))["verdict"] == "passed"
    by_one = executed(configured(repository))

    assert len(by_workers) == 4
    assert by_one.keys() >= PROFILED
    assert all("name" in by_one.get(node_id, {"name"}) for node_id in UNSEEN)
    assert by_workers == {node_id: by_one[node_id] for node_id in by_workers}
    assert by_one["test_shop.py::test_total"] == {"test_total", "total", "taxed"}
    assert await selected(repository, "price * RATE", "price * (RATE + 0)") == TAXED
    # By a fixture that they share.
    assert await selected(repository, 'return "shop"', 'return "sh" + "op"') == NAMES | (UNSEEN & by_one.keys())
    # Some tests only look at what another test has left behind.
    assert await selected(repository, "return 1", "return 2 - 1") == of_state("count", "counted")
    assert await selected(repository, "return key\n", "return key * 1\n") == of_state("remember", "remembered")
    assert await selected(repository, "key * 2", "2 * key") == of_state("known", "known_again")
    # It ran while one file was imported.
    assert await selected(repository, "a label", "the label") == NAMES - PROFILED | TAXED
    # What runs at import can affect every test that imports it.
    assert await selected(repository, "RATE = 2", "RATE = 1 + 1") == by_one.keys()

    edit(repository, 'return "shop"', 'return "sh" + "op"')
    repository.write({"test_new.py": "import shop\ndef test_new(): pass\n"})
    answer = await execute(repository, changed="HEAD", detail="tests")

    assert {test["node_id"] for test in answer["tests"]} == {*NAMES, *UNSEEN, "test_new.py::test_new"}
    count = 1 + len(NAMES | UNSEEN)
    assert answer["notices"][0].startswith(f"changed since HEAD: {count} of 15 tests can be reached (2 files changed)")
    assert "Chosen by what each test executed in recorded runs (of " in answer["notices"][0]

    # Now some tests were recorded with other code than that of HEAD, and also what differs from that counts.
    edit(repository, "price * RATE", "price * (RATE + 0)")
    git("commit", "-qam", "second", cwd=repository.root)
    assert await selected(repository, "return 1", "return 2 - 1") == {
        *of_state("count", "counted"),
        *TAXED,
        "test_new.py::test_new",
    }
