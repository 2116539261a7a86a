"""Small projects of which it is known why a test fails in them: the corpus of `investigate_failure`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_mcp.investigation.result import Kind
from tests.support.workbench import NEWEST

Files = Mapping[str, str]
VICTIM = "test_victim.py::test_it"


@dataclass(frozen=True)
class Truth:
    """A project, the test that is investigated, and what is true of it."""

    files: Files
    kind: Kind
    # Kinds that are right as well, where chance decides what can be seen.
    also: tuple[Kind, ...] = ()
    polluters: tuple[str, ...] = ()
    # A part of the evidence.
    evidence: str = ""
    # What is committed first, before `files` are written; None: there is no repository.
    committed: Files | None = None
    node_id: str = VICTIM
    arguments: Mapping[str, int] = field(default_factory=dict)
    environment: str = NEWEST


def filled(name: str, tests: int = 10) -> dict[str, str]:
    """A file of tests that do nothing."""
    return {name: "".join(f"def test_{number}(): pass\n" for number in range(tests))}


SHOP = {
    "shop.py": """
        import functools, os, pathlib
        PRICES = {}
        def price(name): return PRICES.get(name, 1)
        def mode(): return os.environ.get("SHOP_MODE", "live")
        @functools.cache
        def settings(): return {"mode": mode()}
    """,
    "pytest.ini": "[pytest]\n",
}


def _in_order(polluters: tuple[str, ...], files: Files, evidence: str = "") -> Truth:
    return Truth({**SHOP, **files}, "order_dependent", polluters=polluters, evidence=evidence)


def _polluted(polluter: str, victim: str, **further: str) -> Truth:
    """A test of another file, between tests that do nothing, makes the last test of the suite fail."""
    files = {
        **filled("test_a.py"),
        "test_b.py": f"import os, shop\ndef test_before(): pass\n{polluter}\ndef test_after(): pass\n",
        "test_victim.py": f"import os, shop\ndef test_first(): pass\n{victim}\n",
    }
    return _in_order(("test_b.py::test_pollutes",), files | further)


ORDER = {
    "a leaked global": _polluted(
        "def test_pollutes(): shop.PRICES['tea'] = 9", "def test_it(): assert shop.price('tea') == 1"
    ),
    "an environment variable": _polluted(
        "def test_pollutes(): os.environ['SHOP_MODE'] = 'test'", "def test_it(): assert shop.mode() == 'live'"
    ),
    "a patched module": _polluted(
        "def test_pollutes(): shop.price = lambda name: 0", "def test_it(): assert shop.price('tea') == 1"
    ),
    "a changed working directory": _polluted(
        "def test_pollutes(tmp_path): os.chdir(tmp_path)",
        "def test_it(): assert os.path.exists('data.txt')",
        **{"data.txt": "x"},
    ),
    "a cached singleton": _polluted(
        "def test_pollutes(monkeypatch):\n    monkeypatch.setenv('SHOP_MODE', 'test')\n    shop.settings()",
        "def test_it(): assert shop.settings()['mode'] == 'live'",
    ),
    "a database file": _polluted(
        "import sqlite3\ndef test_pollutes():\n    with sqlite3.connect('shop.db') as db:"
        " db.execute('insert into orders values (1)')",
        "import sqlite3\ndef test_it():\n    with sqlite3.connect('shop.db') as db:"
        " assert db.execute('select * from orders').fetchall() == []",
        **{
            "conftest.py": """
                import pathlib, sqlite3
                pathlib.Path("shop.db").unlink(missing_ok=True)
                with sqlite3.connect("shop.db") as db: db.execute("create table orders (number)")
            """
        },
    ),
    "an import": _in_order(
        ("test_b.py",),
        filled("test_a.py")
        | {
            "test_b.py": "import shop\nshop.PRICES['tea'] = 9\ndef test_harmless(): pass\n",
            "test_victim.py": "import shop\ndef test_it(): assert shop.price('tea') == 1\n",
        }
        | filled("test_z.py"),
    ),
    "two that pollute together": _in_order(
        ("test_a.py::test_tea", "test_b.py::test_milk"),
        {
            "test_a.py": "import shop\ndef test_tea(): shop.PRICES['tea'] = 9\ndef test_other(): pass\n",
            "test_b.py": "import shop\ndef test_milk(): shop.PRICES['milk'] = 9\ndef test_other(): pass\n",
            "test_victim.py": "import shop\ndef test_it(): assert shop.price('tea') + shop.price('milk') < 18\n",
        },
    ),
    "a test that needs another": _in_order(
        ("test_victim.py::test_creates",),
        {
            "test_victim.py": """
                import shop
                def test_other(): pass
                def test_creates(): shop.PRICES["tea"] = 9
                def test_between(): pass
                def test_it(): assert shop.price("tea") == 9
            """
        },
    ),
    "a test that needs one of another file": _in_order(
        ("test_b.py::test_creates",),
        filled("test_a.py")
        | {
            "test_b.py": "import shop\ndef test_creates(): shop.PRICES['tea'] = 9\ndef test_other(): pass\n",
            "test_victim.py": "import shop\ndef test_it(): assert shop.price('tea') == 9\n",
        },
    ),
    "something that outlives the process": _in_order(
        (),
        {
            "test_a.py": "import pathlib\ndef test_writes(): pathlib.Path('left').touch()\n",
            "test_victim.py": "import pathlib\ndef test_it(): assert not pathlib.Path('left').exists()\n",
        },
        evidence="left something behind",
    ),
}


def _flaky(body: str, *, runs: int = 15, evidence: str = "") -> Truth:
    source = f"import os, sys, threading, time\ndef test_it():\n    {body}\n"
    return Truth({**SHOP, "test_victim.py": source}, "flaky", evidence=evidence, arguments={"runs": runs})


FLAKY = {
    "by time": _flaky("assert time.time_ns() // 1_000 % 2"),
    "by hash seed": _flaky("assert hash('tea') % 2", evidence="the seed decides"),
    "by the order of a set": _flaky("assert list({'tea', 'milk'}) == ['tea', 'milk']", evidence="the seed decides"),
    "by threads": _flaky(
        "sys.setswitchinterval(1e-6); seen = []\n"
        "    def work(number): sum(range(20_000)); [None for _ in range(20_000)]; seen.append(number)\n"
        "    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]\n"
        "    [each.start() for each in workers]; [each.join() for each in workers]\n"
        "    assert sum(place * number for place, number in enumerate(seen)) % 2",
        runs=40,
    ),
    "one in three": _flaky("assert os.urandom(1)[0] % 3"),
}
# With pytest-randomly, which seeds random numbers and shuffles the tests.
SHUFFLED = {
    "by random numbers": Truth(
        {**SHOP, "test_victim.py": "import random\ndef test_it(): assert random.random() < 0.5\n"},
        "flaky",
        evidence="--randomly-seed=",
        arguments={"runs": 15},
        environment="plugins",
    ),
    "by a test that comes later in the file": Truth(
        {
            **SHOP,
            "test_victim.py": """
                import shop
                def test_it(): assert shop.price("tea") == 1
                def test_other(): pass
                def test_pollutes(): shop.PRICES["tea"] = 9
            """,
        },
        "order_dependent",
        polluters=("test_victim.py::test_pollutes",),
        environment="plugins",
    ),
}
RARE = Truth(
    {**SHOP, "test_victim.py": "import os\ndef test_it(): assert os.urandom(1)[0] % 20\n"},
    "passes",
    also=("flaky",),
    evidence="%",
)

GOOD = {**SHOP, "test_victim.py": "import shop\ndef test_it(): assert shop.price('tea') == 1\n"}
BROKEN_SHOP = {"shop.py": "def price(name): return 2\n"}


def _since(committed: Files, files: Files, evidence: str, kind: Kind = "deterministic", node_id: str = VICTIM) -> Truth:
    return Truth(files, kind, committed=committed, evidence=evidence, node_id=node_id)


BASE = {
    "at the base too": _since(
        {**GOOD, **BROKEN_SHOP}, {"shop.py": "def price(name): return 1 + 1\n"}, "fails the same", kind="pre_existing"
    ),
    "with another value at the base": _since(
        {**GOOD, **BROKEN_SHOP},
        {"shop.py": "def price(name): return 3\n"},
        "by the same statement with other values: AssertionError: assert 2 == 1",
    ),
    "only now": _since(GOOD, BROKEN_SHOP, "passes (1 run)"),
    "renamed since": _since(
        GOOD,
        {**BROKEN_SHOP, "test_victim.py": "import shop\ndef test_new(): assert shop.price('tea') == 1\n"},
        "not there",
        node_id="test_victim.py::test_new",
    ),
    "moved since": _since(
        GOOD,
        {**BROKEN_SHOP, "test_new.py": GOOD["test_victim.py"]},
        "its file is not there",
        node_id="test_new.py::test_it",
    ),
    "not collectable at the base": _since(
        {**GOOD, "test_victim.py": "import nowhere\n"},
        {**BROKEN_SHOP, "test_victim.py": GOOD["test_victim.py"]},
        "cannot be collected",
    ),
    "for another reason at the base": _since(
        {**GOOD, "shop.py": "def price(name): raise KeyError(name)\n"}, BROKEN_SHOP, "another cause"
    ),
    "in a src layout with a package of the checkout installed": _since(
        {
            "src/shop.py": "def price(name): return 1\n",
            "test_victim.py": GOOD["test_victim.py"],
            "pytest.ini": "[pytest]\n",
        },
        {"src/shop.py": "def price(name): return 2\n"},
        "passes (1 run)",
    ),
}
PASSING = Truth({**GOOD, **filled("test_a.py")}, "passes", evidence="alone: PPPPP")
ALWAYS = Truth({**GOOD, **BROKEN_SHOP}, "deterministic", evidence="alone: FFFFF")
UNCOLLECTED = Truth({**SHOP, "test_victim.py": "import nowhere\ndef test_it(): pass\n"}, "deterministic")

CORPUS: dict[str, Truth] = {
    **{f"order: {name}": truth for name, truth in ORDER.items()},
    **{f"flaky: {name}": truth for name, truth in FLAKY.items()},
    **{f"base: {name}": truth for name, truth in BASE.items()},
    **{f"shuffled: {name}": truth for name, truth in SHUFFLED.items()},
    "flaky: one in twenty": RARE,
    "passing": PASSING,
    "always": ALWAYS,
    "its file cannot be imported": UNCOLLECTED,
}
