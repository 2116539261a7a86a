"""What is recorded of real runs, and that nothing else changes."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.config.model import History
from tests.support.git import commit_all
from tests.support.history.postgres import silent_postgres
from tests.support.protocol import servers
from tests.support.protocol.raw_client import RawClient
from tests.support.workbench import Workbench, call, succeeded

SECRET = "hunter2"
# A third of the time that a server once waited for its history.
ENDING_SECONDS = 20
PROJECT = {
    "pyproject.toml": '[project]\nname = "My_Shop"\n',
    "tests/test_shop.py": f"""
import pytest

@pytest.fixture
def broken():
    raise OSError("no {SECRET}")

@pytest.mark.parametrize("number", [1, 2])
def test_fails(number):
    password = "{SECRET}"
    print(password)
    assert {{"total": number}} == password

def test_passes(): pass
def test_error(broken): pass
@pytest.mark.skip(reason="{SECRET}")
def test_skipped(): pass
""",
}


@pytest.fixture
def project(bench: Workbench) -> Workbench:
    bench.write(PROJECT)
    commit_all(bench.root)
    return bench


async def execute(project: Workbench, history: Path, **arguments: Any) -> dict[str, Any]:
    config = project.config._replace(history=History(str(history)))
    return succeeded(await call("execute_tests", arguments, config))


async def test_a_run_is_recorded_whole_without_source_output_and_values(project: Workbench, tmp_path: Path) -> None:
    history = tmp_path / "history.db"
    (project.root / "new.py").write_text("", encoding="utf-8")

    answer = await execute(project, history, keywords="not nothing", path="tests", workers=2)

    assert SECRET.encode() not in history.read_bytes()
    stored = sqlite3.connect(history)
    stored.row_factory = sqlite3.Row
    (run,) = map(dict, stored.execute("SELECT * FROM runs"))
    known = ("project", "root", "dirty", "selection", "verdict", "passed", "failed", "skipped", "errors", "duration")
    summary = answer["summary"]
    assert [run[name] for name in known] == [
        *("my-shop", str(project.root), 1, '{"keywords":"not nothing","path":"tests"}', "failed", 1, 2, 1, 1),
        summary["duration"],
    ]
    assert len(run["commit_id"]) == 40
    assert len(run["state"]) == 64
    rows = stored.execute("SELECT node_id, outcome, cause FROM results JOIN tests ON tests.id = test_id ORDER BY 1")
    results = {node_id.partition("::")[2]: (outcome, cause) for node_id, outcome, cause in rows}
    assert {name: outcome for name, (outcome, _) in results.items()} == {
        "test_error": "E",
        "test_fails[1]": "F",
        "test_fails[2]": "F",
        "test_passes": "P",
        "test_skipped": "S",
    }
    # One cause for both parameters, another for the fixture, none for what did not fail.
    assert len({cause for _, cause in results.values()}) == 3
    assert results["test_fails[1]"] == results["test_fails[2]"]
    assert {worker for (worker,) in stored.execute("SELECT worker FROM results")} <= {"gw0", "gw1"}
    stored.close()


async def test_a_history_that_cannot_be_used_changes_nothing_but_one_notice(project: Workbench) -> None:
    plain = await project.execute()

    answer = await execute(project, project.root)

    notice = f"This run is not recorded in the history: {project.root} is not a regular file."
    assert [each for each in answer["notices"] if each not in plain["notices"]] == [notice]
    for one in (plain, answer):
        one["summary"].pop("duration")
        one.pop("notices")
        for test in one["tests"]:
            test.pop("duration")
    assert answer == plain


@pytest.mark.parametrize("greets", [False, True])
def test_a_database_that_never_answers_holds_up_neither_an_answer_nor_the_end(
    project: Workbench, tmp_path: Path, *, greets: bool
) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    with silent_postgres(greets=greets) as address:
        command = servers.command(project.root, project.python, "--history", address)
        with RawClient(command, cwd=project.root, log=tmp_path / "log") as client:
            client.greeted()
            answer = client.reply(client.begin())["result"]["structuredContent"]
            refused = client.reply(client.begin("test_history", about="flaky"))["error"]

            assert client.close(ENDING_SECONDS) == 0

    told = [notice for notice in answer["notices"] if "history" in notice or "recorded" in notice]
    assert len(told) == 1
    assert told[0].startswith("This run is not recorded in the history: ")
    assert refused["message"].startswith("The history cannot be read: ")
