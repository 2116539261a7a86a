"""Calls that are cancelled, and servers that end in the middle of one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.support.git import commit_all
from tests.support.leftovers import children, is_stopped, kill
from tests.support.projects.hanging import MOMENTS, STUBBORN, hanging
from tests.support.protocol.hostile_server import GONE_SECONDS, HostileServer, NewServer, within
from tests.support.protocol.raw_client import INITIALIZE
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cancelled_call_is_not_answered_and_leaves_nothing(server: HostileServer, moment: str) -> None:
    number = hanging(server, MOMENTS[moment])

    server.cancel(number)

    within(GONE_SECONDS, lambda: not (server.leftovers() or server.folders()))
    server.reply(server.request("ping"))
    assert number not in server.replies


def test_a_call_that_is_cancelled_while_it_starts_is_not_answered(server: HostileServer) -> None:
    server.project({"test_a.py": f"{STUBBORN}\ndef test_a(): hang()\n"})
    numbers = []

    for pings in (0, 0, 1, 5, 20):
        numbers.append(server.begin())
        # Each ping that is answered is a little later: a moment somewhere between the first steps.
        for _ in range(pings):
            server.reply(server.request("ping"))
        server.cancel(numbers[-1])

    within(GONE_SECONDS, lambda: not (server.leftovers() or server.folders()))
    server.answers_a_plain_call()
    assert not set(numbers) & set(server.replies)


def test_cancelling_what_was_answered_or_never_asked_changes_nothing(server: HostileServer) -> None:
    server.project({"test_a.py": "def test_a(): pass\n"})
    number = server.begin()
    server.reply(number)

    server.cancel(number)
    server.cancel("never-asked")

    assert len(server.replies[number]) == 1


def close_stdin(server: HostileServer) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()


def send(name: str) -> Callable[[HostileServer], None]:
    return lambda server: server.process.send_signal(signal.Signals[name])


def kill_group(server: HostileServer) -> None:
    """The server is the leader of a session of its own, so this reaches nobody else."""
    os.killpg(server.process.pid, signal.SIGKILL)


ENDINGS = {
    "stdin closed": close_stdin,
    "SIGINT": send("SIGINT"),
    "SIGTERM": send("SIGTERM"),
    "SIGHUP": send("SIGHUP"),
    "SIGKILL": send("SIGKILL"),
    "group killed": kill_group,
}


@pytest.mark.parametrize("how", ENDINGS)
def test_however_the_server_ends_nothing_of_its_runs_is_left(new_server: NewServer, how: str) -> None:
    server = new_server().greeted()
    hanging(server)

    ENDINGS[how](server)

    server.assert_gone()


def hanging_in_a_mutant(server: HostileServer) -> str:
    """The id of a check that has reached a mutant which hangs, in a fork with processes of its own."""
    there = str(server.root / "there")
    hang = STUBBORN.replace("def hang()", "def hang(there)")
    hang = hang.replace('pathlib.Path(__file__).with_name("there")', "pathlib.Path(there)")
    server.project({"shop.py": "", "stubborn.py": hang})
    commit_all(server.root)
    source = f"def guarded(x):\n    if x == 7:\n        stubborn.hang({there!r})\n    return x\n"
    (server.root / "shop.py").write_text(f"import stubborn\n{source}", encoding="utf-8")
    tests = "import shop\ndef test_guarded(): assert shop.guarded(1) == 1\n"
    (server.root / "test_shop.py").write_text(tests, encoding="utf-8")
    number = server.begin("check_change")
    within(PATIENCE, (server.root / "there").exists)
    return number


@pytest.mark.parametrize("how", ["stdin closed", "SIGKILL"])
def test_however_the_server_ends_nothing_is_left_of_a_mutant_that_hangs(new_server: NewServer, how: str) -> None:
    server = new_server().greeted()
    hanging_in_a_mutant(server)

    ENDINGS[how](server)

    server.assert_gone()


def test_a_cancelled_check_leaves_nothing_of_its_mutants_and_copies(server: HostileServer) -> None:
    number = hanging_in_a_mutant(server)

    server.cancel(number)

    within(GONE_SECONDS, lambda: not (server.leftovers() or server.folders()))
    server.reply(server.request("ping"))
    assert number not in server.replies


# A client that starts a server, asks for a run, and goes on living until somebody ends it.
CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(sys.argv[2].encode())
server.stdin.flush()
time.sleep(600)
"""


def test_a_client_that_dies_takes_the_server_and_its_runs_with_it(new_server: NewServer) -> None:
    watcher = new_server()
    watcher.project({"test_a.py": f"{STUBBORN}\ndef test_a(): hang()\n"})
    close_stdin(watcher)
    watcher.process.wait()
    call = {"name": "execute_tests", "arguments": {}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    program = [sys.executable, "-c", CLIENT, json.dumps(watcher.command), lines]
    with subprocess.Popen(program, cwd="/", env=watcher.environment) as client:
        try:
            within(PATIENCE, (watcher.root / "there").exists)
        finally:
            client.kill()

    watcher.assert_gone()


def supervisors(server: HostileServer) -> list[int]:
    """The two processes of the run's supervisor, the upper one first."""
    (watch,) = children(server.process.pid)
    (worker,) = children(watch)
    return [watch, worker]


def hanging_unsupervised(server: HostileServer) -> str:
    number = hanging(server)
    for pid in supervisors(server):
        os.kill(pid, signal.SIGSTOP)
    return number


def test_a_stopped_supervisor_delays_no_cancelling_and_its_run_ends_with_the_server(new_server: NewServer) -> None:
    server = new_server("--no-spare").ready()

    server.cancel(hanging_unsupervised(server))
    server.assert_unharmed()
    hanging_unsupervised(server)
    ENDINGS["SIGTERM"](server)

    server.assert_gone()


def test_the_run_of_a_stopped_supervisor_ends_when_the_server_is_killed(new_server: NewServer) -> None:
    server = new_server("--no-spare").greeted()
    hanging_unsupervised(server)

    ENDINGS["SIGKILL"](server)

    server.assert_gone()


@pytest.mark.parametrize("which", [0, 1])
def test_a_server_and_its_supervisor_killed_at_once_leave_nothing(new_server: NewServer, which: int) -> None:
    """A supervisor is two processes, so that one of them is there to end what is left."""
    server = new_server("--no-spare").greeted()
    hanging(server)

    # Stopped, neither notices the end of the other one before it is killed too.
    together = (server.process.pid, supervisors(server)[which])
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in together:
            os.kill(pid, number)

    server.assert_gone()


def test_when_everybody_is_killed_at_once_the_next_start_removes_the_folder(new_server: NewServer) -> None:
    server = new_server("--no-spare").greeted()
    hanging(server)
    everything = server.everything()
    # Stopped, none of them notices the end of another one and cleans up.
    together = [server.process.pid, *supervisors(server)]
    for pid in together:
        os.kill(pid, signal.SIGSTOP)
    within(PATIENCE, lambda: all(is_stopped(pid) for pid in together))
    kill(reversed(together))
    server.process.wait()
    (abandoned,) = server.folders()
    kill(everything)

    other = HostileServer(server.base, "--no-spare").greeted()
    other.request("tools/list")

    try:
        within(GONE_SECONDS, lambda: abandoned not in server.folders())
    finally:
        other.close()


def hanging_at_the_base(server: HostileServer) -> str:
    """The id of a call that has reached the copy of the base. The test fails at once in the checkout."""
    there = server.root / "there"
    server.project({"test_a.py": f"{STUBBORN}\ndef test_a():\n    pathlib.Path({str(there)!r}).touch()\n    hang()\n"})
    commit_all(server.root)
    (server.root / "test_a.py").write_text("def test_a(): assert 0\n", encoding="utf-8")
    number = server.begin("investigate_failure", node_id="test_a.py::test_a", runs=2)
    within(PATIENCE, there.exists)
    return number


def test_a_cancelled_investigation_is_not_answered_and_leaves_no_copy_nor_does_the_end_of_the_server(
    new_server: NewServer,
) -> None:
    server = new_server("--no-spare").greeted()
    number = hanging_at_the_base(server)

    server.cancel(number)

    within(GONE_SECONDS, lambda: not (server.leftovers() or server.folders()))
    server.answers_a_plain_call()
    assert number not in server.replies

    hanging_at_the_base(server)
    os.kill(server.process.pid, signal.SIGTERM)

    server.assert_gone()


def test_a_server_that_is_killed_leaves_no_copy(new_server: NewServer) -> None:
    server = new_server("--no-spare").greeted()
    hanging_at_the_base(server)

    os.kill(server.process.pid, signal.SIGKILL)

    server.assert_gone()
