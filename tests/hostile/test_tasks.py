"""Calls that become tasks: the same answers, ends and traces as calls that are waited for."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.server.tasks import EXTENSION
from tests.support.projects.hanging import MOMENTS, hanging
from tests.support.projects.sources import SLOW_STEPS
from tests.support.protocol.dialogues import STATELESS, enveloped
from tests.support.protocol.hostile_server import HostileServer, within
from tests.support.protocol.hostile_web import MODERN, HostileWeb
from tests.support.protocol.raw_client import Message
from tests.support.protocol.task_clients import META, HasTasks, TaskServer, TaskWeb
from tests.support.waiting import PATIENCE

PROJECT = {
    "test_mixed.py": "def test_fine(): pass\ndef test_bad(): assert 1 == 2\n",
    "test_broken.py": "import not_there\n",
}
SLOW = {"test_slow.py": "import time\ndef test_slow(): time.sleep(600)\n"}
# Calls have a default of one second, and those of clients with tasks that of the operator's ceiling.
HASTY = """
import sys
from pytest_mcp.cli.main import main
from pytest_mcp.config import model
model.DEFAULT_TIMEOUT = 1
sys.argv = [word for word in sys.argv if not word.startswith("--timeout")]
sys.exit(main())
"""
CALLS: list[dict[str, Any]] = [
    {"path": "test_mixed.py"},
    {"path": "test_mixed.py", "detail": "full"},
    {"path": "test_broken.py"},
    {"path": "nowhere", "verbosity": 9},
    {"node_ids": ["test_mixed.py::test_gone"]},
    {"tool": "investigate_failure", "node_id": "test_mixed.py::test_bad", "runs": 2},
]
VOLATILE = re.compile(r"\d+\.\d+(e-\d+)?s?|pytest-mcp-[0-9a-f]{16}")


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., TaskServer]]:
    started: list[TaskServer] = []

    def start(*flags: str) -> TaskServer:
        started.append(TaskServer(tmp_path_factory.mktemp("tasks"), *flags))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
def server(start: Callable[..., TaskServer]) -> TaskServer:
    """Every call of it becomes a task at once."""
    return start("--task-after=0").ready()


def stable(reply: Message) -> str:
    """Without times, names of folders and what the SDK adds to a reply of its own era."""
    result = {name: value for name, value in reply.get("result", {}).items() if name not in ("_meta", "resultType")}
    return VOLATILE.sub("", json.dumps([result, reply.get("error")], sort_keys=True))


def test_a_task_ends_with_what_the_call_would_have_been_answered(
    server: TaskServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    waiting = HostileServer(tmp_path_factory.mktemp("waiting")).greeted()

    def answers(each: HostileServer) -> list[Message]:
        each.project(PROJECT)
        told = [each.reply(each.begin(**call)) for call in CALLS]
        each.project(SLOW)
        return [*told, each.reply(each.begin(timeout=1))]

    as_tasks, waited_for = answers(server), answers(waiting)
    waiting.close()

    for task, answer in zip(as_tasks, waited_for, strict=True):
        assert stable(task).replace(str(server.base), "") == stable(answer).replace(str(waiting.base), "")
    server.assert_unharmed()


def test_a_call_that_is_answered_soon_is_no_task(start: Callable[..., TaskServer]) -> None:
    server = start().greeted()
    server.project(PROJECT)

    reply = super(HasTasks, server).reply(server.begin(path="test_mixed.py"))

    assert reply["result"]["structuredContent"]["verdict"] == "failed"


def test_a_task_says_how_far_its_run_is_and_sends_no_notifications(server: TaskServer) -> None:
    server.project({"tests/test_steps.py": SLOW_STEPS, "tests/go0": ""})
    asked = {"name": "execute_tests", "arguments": {}, "_meta": META | {"progressToken": "steps"}}

    task = server.handle(server.request("tools/call", asked))["taskId"]
    within(PATIENCE, lambda: server.about("tasks/get", task)["statusMessage"].startswith("1/4"))
    state = server.about("tasks/get", task)
    for number in range(1, 4):
        (server.root / "tests" / f"go{number}").touch()
    end = server.ended(task)

    assert (state["status"], state["statusMessage"]) == ("working", "1/4 · 0 failed · tests/test_steps.py")
    assert state["createdAt"] < state["lastUpdatedAt"] < end["lastUpdatedAt"]
    assert (end["status"], end["result"]["structuredContent"]["summary"]["total"]) == ("completed", 4)
    assert server.notifications == []


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cancelled_task_leaves_nothing(server: TaskServer, moment: str) -> None:
    task = server.handle(hanging(server, MOMENTS[moment]))["taskId"]

    assert [server.about("tasks/cancel", task)["resultType"] for _ in range(2)] == ["complete"] * 2

    assert server.ended(task)["status"] == "cancelled"
    server.assert_unharmed()


def test_cancelling_a_task_after_its_end_changes_nothing(server: TaskServer) -> None:
    server.project(PROJECT)
    task = server.begun(path="test_mixed.py")
    end = server.ended(task)

    server.about("tasks/cancel", task)

    assert server.about("tasks/get", task) == end


def test_a_call_that_is_cancelled_before_it_becomes_a_task_leaves_nothing(start: Callable[..., TaskServer]) -> None:
    server = start().ready()
    number = hanging(server)

    server.cancel(number)

    server.assert_unharmed()
    assert number not in server.replies


def close_stdin(server: TaskServer) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()


def terminate(server: HostileServer) -> None:
    os.kill(server.pid, signal.SIGTERM)


def kill(server: HostileServer) -> None:
    os.kill(server.pid, signal.SIGKILL)


@pytest.mark.parametrize("end", [close_stdin, terminate, kill])
def test_the_end_of_the_server_ends_the_runs_of_its_tasks(
    server: TaskServer, end: Callable[[TaskServer], None]
) -> None:
    server.handle(hanging(server))

    end(server)

    server.assert_gone()


@pytest.mark.parametrize("end", [terminate, kill])
def test_on_http_too(tmp_path: Path, end: Callable[[HostileServer], None]) -> None:
    """Nobody is connected while the task runs."""
    web = modern(tmp_path)
    web.handle(hanging(web))

    end(web)

    web.assert_gone()
    HostileWeb.close(web)


def test_a_client_on_http_that_leaves_before_it_has_a_task_has_cancelled_the_call(tmp_path: Path) -> None:
    web = modern(tmp_path, "--task-after=600")
    number = hanging(web)

    web.exchanges[number].close()

    within(PATIENCE, lambda: not web.leftovers())
    HostileWeb.close(web)


def test_two_hundred_tasks_at_once_end_one_after_the_other_or_when_they_are_cancelled(server: TaskServer) -> None:
    server.project(PROJECT)

    tasks = [server.begun(path="test_mixed.py") for _ in range(200)]
    for task in tasks[5:]:
        server.about("tasks/cancel", task)
    ends = [server.ended(task) for task in tasks]

    assert len(set(tasks)) == 200
    assert [end["result"]["structuredContent"]["summary"]["failed"] for end in ends[:5]] == [1] * 5
    assert {end["status"] for end in ends[5:]} == {"cancelled"}
    server.assert_unharmed()


def test_an_unknown_task_is_an_error_that_says_where_tasks_are_kept(server: TaskServer) -> None:
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        error = server.about(method, "786512e2")

        assert (error["code"], error["data"]["validation_errors"][0]["type"]) == (-32602, "unknown_task")
        assert "of this server process" in error["message"]


def test_a_client_without_tasks_waits_and_cannot_ask_for_one(server: TaskServer) -> None:
    server.project(PROJECT)
    task = server.begun(path="test_mixed.py")
    server.send(enveloped("plain", "tools/call", name="execute_tests", arguments={"path": "test_mixed.py"}))
    server.send(enveloped("ask", "tasks/get", taskId=task))

    answer, refusal = server.reply("plain")["result"], server.reply("ask")["error"]

    assert answer["structuredContent"]["verdict"] == "failed"
    assert refusal["code"] == -32021
    assert refusal["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


def test_after_a_handshake_there_are_no_tasks(new_server: Callable[..., HostileServer]) -> None:
    server = new_server("--task-after=0").greeted()
    server.project(PROJECT)

    answer = server.result(path="test_mixed.py")
    refusal = server.reply(server.request("tasks/get", {"taskId": "a"}))["error"]

    assert answer["verdict"] == "failed"
    assert refusal["code"] == -32601


def test_without_tasks_the_server_announces_none_and_waits(start: Callable[..., TaskServer]) -> None:
    server = start("--task-after=never")
    discovered = server.reply(server.request("server/discover"))["result"]
    server.project(PROJECT)

    reply = super(HasTasks, server).reply(server.begin(path="test_mixed.py"))

    assert "extensions" not in discovered["capabilities"]
    assert reply["result"]["structuredContent"]["verdict"] == "failed"
    assert server.about("tasks/get", "a")["code"] == -32601


def test_the_first_answer_announces_tasks(start: Callable[..., TaskServer]) -> None:
    server = start()

    discovered = server.reply(server.request("server/discover"))["result"]

    assert discovered["capabilities"]["extensions"] == {EXTENSION: {}}
    assert discovered["supportedVersions"][-1] == STATELESS


def modern(base: Path, *flags: str) -> TaskWeb:
    web = TaskWeb(base, "--task-after=0", *flags)
    web.era = MODERN
    return web


def test_on_http_another_server_says_that_it_does_not_have_the_task(tmp_path_factory: pytest.TempPathFactory) -> None:
    webs = [modern(tmp_path_factory.mktemp(name)) for name in ("one", "other")]
    for web in webs:
        web.project(PROJECT)

    task = webs[0].begun(path="test_mixed.py")
    end, elsewhere = webs[0].ended(task), webs[1].about("tasks/get", task)
    for web in webs:
        HostileWeb.close(web)

    assert end["result"]["structuredContent"]["summary"]["failed"] == 1
    assert (elsewhere["code"], elsewhere["data"]["field"]) == (-32602, "taskId")
    assert webs[0].leftovers() == []


def test_the_time_limit_of_a_task_is_the_ceiling(tmp_path: Path) -> None:
    server = TaskServer(tmp_path, "--task-after=0", program=("-c", HASTY))
    server.project({"test_slow.py": "import time\ndef test_slow(): time.sleep(2)\n"})
    plain = enveloped("plain", "tools/call", name="execute_tests", arguments={"path": "test_slow.py"})

    state = server.ended(server.begun())
    server.send(plain)
    error = server.reply("plain")["error"]
    server.close()

    assert state["result"]["structuredContent"]["verdict"] == "passed"
    assert error["data"]["error_type"] == "timeout"


def test_the_time_limit_of_a_task_is_the_operators_if_there_is_one(
    start: Callable[..., TaskServer],
) -> None:
    server = start("--task-after=0", "--timeout=1")
    server.project(SLOW)

    state = server.ended(server.begun())

    assert state["status"] == "failed"
    assert state["error"]["data"]["error_type"] == "timeout"
    assert state["statusMessage"] == "pytest execution exceeded timeout of 1 seconds"
