"""Shards of real suites: together they are the suite, whatever the order of collection."""

from typing import Any

from pytest_mcp import engine
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Shard
from pytest_mcp.report import shard_reports
from pytest_mcp.report.report import Report
from pytest_mcp.report.shard_reports import ShardGiven, merged_shards
from pytest_mcp.run.run import Project
from tests.support.workbench import Workbench

# Collected in another order each time.
SHUFFLED = """
import random

def pytest_collection_modifyitems(items):
    random.SystemRandom().shuffle(items)
"""
FILES = {
    "conftest.py": SHUFFLED,
    "test_a.py": "import pytest\n@pytest.mark.parametrize('n', [3, 1, 2])\ndef test_n(n): assert n != 2\n",
    "deep/test_b.py": "class TestB:\n    def test_one(self): pass\n    def test_two(self): pass\n",
    "deep/er/test_c.py": "def test_c(): pass\n",
    "test_d.py": "import unittest\nclass TestD(unittest.TestCase):\n    def test_d(self): pass\n",
    "test_e.py": "import pytest\npytest.skip('no database', allow_module_level=True)\n",
}


async def run(bench: Workbench, number: int, of: int, **asked: Any) -> Report:
    config = bench.config._replace(shard=Shard(number, of, None))
    request = ExecuteTests.model_validate({"detail": "tests"} | asked, context=config.bounds)
    return await engine.execute(request, Project(config))


async def all_of(bench: Workbench, of: int, **asked: Any) -> list[Report]:
    """One after the other, as on machines that know nothing of each other."""
    return [await run(bench, number, of, **asked) for number in range(1, of + 1)]


def together(shards: list[Report]) -> Report:
    """As they are read from files."""
    files = [shard_reports.to_json(shard) for shard in shards]
    return merged_shards([ShardGiven(f"{number}.json", shard_reports.parse(text)) for number, text in enumerate(files)])


def ids(shard: Report) -> list[str]:
    return [test.node_id for test in shard.tests if "::" in test.node_id]


async def test_workers_run_the_same_share(bench: Workbench) -> None:
    bench.write({name: text for name, text in FILES.items() if name != "conftest.py"})

    alone, shared = await run(bench, 2, 2), await run(bench, 2, 2, workers=2)

    assert (ids(shared), shared.shard) == (ids(alone), alone.shard)


async def test_three_shards_are_exactly_the_suite(every_bench: Workbench) -> None:
    every_bench.write(FILES)
    suite = await every_bench.execute(detail="tests")

    shards = await all_of(every_bench, 3)

    found = [name for shard in shards for name in ids(shard)]
    assert sorted(found) == sorted(test["node_id"] for test in suite["tests"] if "::" in test["node_id"])
    assert [sorted({name.partition("::")[0] for name in ids(shard)}) for shard in shards] == [
        ["test_a.py"],
        ["deep/test_b.py"],
        ["deep/er/test_c.py", "test_d.py"],
    ]
    whole = together(shards)
    assert whole.summary.model_copy(update={"duration": 0}).model_dump() == suite["summary"] | {"duration": 0}
    assert (whole.verdict, whole.rerun) == ("failed", suite["rerun"])


async def test_a_shard_of_named_targets_does_not_miss_those_of_the_others(bench: Workbench) -> None:
    bench.write(FILES)
    asked = {"node_ids": ["test_d.py", "deep/test_b.py::TestB::test_one"]}

    shards = await all_of(bench, 3, **asked)

    assert [shard.verdict for shard in shards] == ["passed", "passed", "no_tests"]
    assert [ids(shard) for shard in shards] == [["deep/test_b.py::TestB::test_one"], ["test_d.py::TestD::test_d"], []]
    assert together(shards).verdict == "passed"


async def test_files_that_cannot_be_collected_are_counted_once(bench: Workbench) -> None:
    bench.write(FILES | {"test_f.py": "import nowhere\n"})

    shards = await all_of(bench, 2)

    whole = together(shards)
    assert [shard.verdict for shard in shards] == ["failed", "failed"]
    assert (whole.verdict, whole.exit_code, whole.summary.errors) == ("failed", 2, 1)


async def test_machines_that_collect_different_tests_are_not_one_suite(bench: Workbench) -> None:
    """As where one of them lacks a package, and a module skips itself there."""
    bench.write(FILES)
    first = await run(bench, 1, 2, keywords="not test_n")
    bench.write({"test_d.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n"})
    second = await run(bench, 2, 2, keywords="not test_n")

    assert [first.verdict, second.verdict] == ["passed", "passed"]
    assert together([first, second]).verdict == "incomplete"
