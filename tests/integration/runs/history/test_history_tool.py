"""Real runs, recorded by one server and asked about by another."""

from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.config.model import Config, History
from pytest_mcp.tools import TOOLS, offered
from tests.support.git import commit_all
from tests.support.workbench import Failure, Workbench, call, succeeded

TESTS = """
from pathlib import Path

def test_always():
    assert 1 == 2

def test_flaky():
    there = Path({marker!r})
    there.touch() if not there.exists() else there.unlink()
    assert not there.exists()
"""


@pytest.fixture
def config(bench: Workbench, tmp_path: Path) -> Config:
    bench.write({"tests/test_shop.py": TESTS.format(marker=str(tmp_path / "marker"))})
    commit_all(bench.root)
    return bench.config._replace(history=History(str(tmp_path / "history.db")))


async def ask(config: Config, **arguments: Any) -> dict[str, Any]:
    return succeeded(await call("test_history", arguments, config))


async def test_recorded_runs_are_told_in_notices_and_answer_every_question(config: Config) -> None:
    first, *_, last = [succeeded(await call("execute_tests", {}, config)) for _ in range(3)]
    flaky, failing, one, slow = (
        await ask(config, about="flaky"),
        await ask(config, about="failing"),
        await ask(config, about="test", node_id="tests/test_shop.py::test_flaky"),
        await ask(config, about="slow"),
    )

    assert first["notices"] == []
    assert [notice.partition(" since")[0] for notice in last["notices"]] == [
        "tests/test_shop.py::test_always: failed in all 2 recorded runs",
        "tests/test_shop.py::test_flaky: flaky: failed 1 of 2 times, with both outcomes on unchanged code.",
    ]
    assert [(each["node_id"], each["pattern"]) for each in flaky["flaky"]] == [
        ("tests/test_shop.py::test_flaky", "FPF")
    ]
    assert [(each["node_ids"], each["runs"]) for each in failing["failing"]] == [
        (["tests/test_shop.py::test_flaky"], 1),
        (["tests/test_shop.py::test_always"], 3),
    ]
    assert (one["test"]["pattern"], one["test"]["failed"]) == ("FPF", 2)
    assert (slow["runs"], slow["slow"]["changed"]) == (3, [])


async def test_without_a_history_there_is_no_such_tool(bench: Workbench, config: Config) -> None:
    refused = await call("test_history", {"about": "flaky"}, bench.config)

    assert isinstance(refused, Failure)
    assert "there is no such tool" in refused.message
    assert offered(bench.config) == TOOLS
    assert [tool.name for tool in offered(config)] == [*(tool.name for tool in TOOLS), "test_history"]


async def test_before_the_first_run_there_are_no_runs_and_no_file(config: Config) -> None:
    assert config.history is not None

    answer = await ask(config, about="flaky")

    assert answer["runs"] == 0
    assert not Path(config.history.address).exists()


async def test_a_history_that_cannot_be_read_is_an_error_and_an_unknown_test_is_none(config: Config) -> None:
    broken = await call("test_history", {"about": "flaky"}, config._replace(history=History(str(config.root))))
    unknown = await ask(config, about="test", node_id="tests/test_shop.py::test_nowhere")

    assert isinstance(broken, Failure)
    assert broken.code == -32000
    assert broken.message == f"The history cannot be read: {config.root} is not a regular file"
    assert unknown["notices"] == ["No run of this test is recorded."]
