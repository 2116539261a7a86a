"""Several servers and commands of one user: they take turns on the cores, whoever of them is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.config.model import CORES
from tests.support.projects.hanging import hanging
from tests.support.protocol.hostile_server import PYTHON, HostileServer, within
from tests.support.waiting import PATIENCE

GATE = """
    import pathlib, pytest, time
    HERE = pathlib.Path(__file__).parent

    def test_gate():
        (HERE / "there").touch()
        while not (HERE / "go").exists(): time.sleep(0.01)

    def test_quick(): pass
"""
# A test that calls a server, as tests of programs that use one do; it is told nothing of the run around it.
NESTED = f"""
    import json, os, subprocess, sys

    def test_nested(tmp_path):
        (tmp_path / "test_inner.py").write_text("def test_inner(): pass")
        command = [{sys.executable!r}, "-m", "pytest_mcp", f"--root={{tmp_path}}", "--python={PYTHON}", "call"]
        plain = {{"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]}}
        told = subprocess.run([*command, "execute_tests"], env=plain, capture_output=True, text=True)
        assert json.loads(told.stdout)["verdict"] == "passed", told
"""

Start = Callable[..., HostileServer]


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Servers of one user."""
    runtime = tmp_path_factory.mktemp("runtime")
    started: list[HostileServer] = []

    def start(*flags: str) -> HostileServer:
        server = HostileServer(tmp_path_factory.mktemp("server"), "--no-spare", *flags, runtime=runtime)
        started.append(server.greeted())
        server.project({"test_gate.py": GATE})
        return server

    yield start
    for server in started:
        server.close()


def begun(server: HostileServer, **arguments: Any) -> str:
    """The id of a call that has reached the gate."""
    number = server.begin(**arguments)
    within(PATIENCE, (server.root / "there").exists)
    return number


def followed(server: HostileServer, **arguments: Any) -> str:
    params = {"name": "execute_tests", "arguments": arguments, "_meta": {"progressToken": "wait"}}
    return server.request("tools/call", params)


def messages(server: HostileServer) -> list[str]:
    return [each["params"]["message"] for each in server.notifications]


def opened(server: HostileServer, number: str) -> dict[str, Any]:
    (server.root / "go").touch()
    answer = server.answer(number)
    assert isinstance(answer, dict), answer
    return answer


def waits(server: HostileServer, ahead: str) -> Callable[[], bool]:
    return lambda: messages(server)[-1:] == [f"waiting to start, {ahead} before it"]


def test_who_finds_no_core_waits_in_turn_without_its_clock_and_hears_how_many_are_before_it(start: Start) -> None:
    busy, second, third = start("--max-workers=64"), start(), start()
    first_call = begun(busy, workers=CORES + 1)
    second_call = followed(second, path="test_gate.py", timeout=5)
    within(PATIENCE, waits(second, "no calls"))
    third_call = followed(third)
    within(PATIENCE, waits(third, "1 call"))

    answers = [opened(busy, first_call)]
    within(PATIENCE, (second.root / "there").exists)
    answers += [opened(second, second_call), opened(third, third_call)]

    assert [answer["verdict"] for answer in answers] == ["passed"] * 3
    numbers = [each["params"]["progress"] for each in third.notifications]
    assert numbers == sorted(set(numbers))


@pytest.mark.skipif(CORES < 2, reason="with one core, none is free beside a call")
def test_auto_takes_the_cores_that_are_free(start: Start) -> None:
    servers = [start("--max-workers=64") for _ in range(2)]
    calls = [begun(servers[0], workers=max(1, CORES - 1)), begun(servers[1], workers="auto")]

    answers = [opened(server, number) for server, number in zip(servers, calls, strict=True)]

    assert answers[1]["notices"] == ["Ran in one process.", f"Only 1 of {CORES} cores were free."]


def test_a_call_of_one_test_passes_and_without_sharing_every_call_does(start: Start) -> None:
    busy, other, alone = start("--max-workers=64"), start(), start("--no-share")
    number = begun(busy, workers=CORES)

    passed = other.result(node_ids=["test_gate.py::test_quick"])
    alone.project({"test_gate.py": "def test_quick(): pass\n"})
    shared_nothing = alone.result()

    assert (passed["verdict"], shared_nothing["verdict"]) == ("passed", "passed")
    opened(busy, number)


def test_a_test_that_calls_a_server_does_not_wait_for_itself(start: Start) -> None:
    server = start("--max-workers=64")
    server.project({"test_nested.py": NESTED})

    answer = server.result(workers=CORES)

    assert answer["verdict"] == "passed", answer


def test_a_notice_tells_of_other_runs_of_the_same_checkout(start: Start) -> None:
    server = start("--max-runs=2")
    first = begun(server, node_ids=["test_gate.py::test_gate"])

    during = server.result(node_ids=["test_gate.py::test_quick"])
    after = opened(server, first)

    told = "Another run of this checkout went on at the same time: "
    assert [each["notices"][0].startswith(told) for each in (during, after)] == [True, True]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_the_cores_of_a_server_that_ends_are_free(start: Start, end: signal.Signals) -> None:
    ending, other = start(), start("--max-workers=64")
    hanging(ending)

    os.kill(ending.pid, end)
    other.project({"test_plain.py": "def test_plain(): pass\n"})
    answer = other.result(workers=CORES)

    assert answer["verdict"] == "passed"
    assert list(other.runtime.rglob("wait-*")) + list(other.runtime.rglob("run-*")) == []


def test_a_cancelled_call_gives_up_its_place(start: Start) -> None:
    busy, leaving, staying = start("--max-workers=64"), start(), start()
    number = begun(busy, workers=CORES)
    left = followed(leaving)
    within(PATIENCE, waits(leaving, "no calls"))
    stayed = followed(staying)
    within(PATIENCE, waits(staying, "1 call"))

    leaving.cancel(left)
    within(PATIENCE, waits(staying, "no calls"))
    answers = [opened(busy, number), opened(staying, stayed)]

    assert [answer["verdict"] for answer in answers] == ["passed", "passed"]


def test_a_command_waits_for_a_server(start: Start, tmp_path: Path) -> None:
    busy = start("--max-workers=64")
    number = begun(busy, workers=CORES)
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest_mcp", f"--root={tmp_path}", f"--python={PYTHON}", "run"]
    with subprocess.Popen(command, env=busy.environment, stdout=subprocess.PIPE, text=True) as process:
        queue = busy.runtime / "pytest-mcp" / "cores"
        within(PATIENCE, lambda: list(queue.glob("wait-*")))
        opened(busy, number)
        told, _ = process.communicate(timeout=PATIENCE)

    assert (process.returncode, "1 passed" in told) == (0, True)
