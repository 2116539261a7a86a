"""H3: rows of groups D and C that hold without Linux's own mechanisms, as on macOS, with one real server.

`PYTEST_MCP_PORTABLE=1` switches /proc, subreapers and parent death signals off. What is alive is asked of `ps`, so
that these tests need no /proc either. What cannot hold, such as finding a daemon that `ps` never showed below the
run, is in docs/reliability.md. tests/unit/process/test_supervisor.py has other sessions, and a system without `ps`.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.process import process_tree
from tests.support.protocol.hostile_server import GONE_SECONDS, HostileServer, within
from tests.support.protocol.hostile_server import SLACK as LATE
from tests.support.waiting import limits_until

STARTS = """
import os, signal, subprocess, sys, time
NAP = [sys.executable, "-c", "import time; time.sleep(600)"]
open("pids", "w").write(str(os.getpid()))
def start():
    with open("pids", "a") as file:
        file.write(" %d" % subprocess.Popen(NAP).pid)
def test_before(): pass
"""
DEAF = "start(); signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"
ENDS = {
    "exits": "start()",
    "crashes": "start(); os.kill(os.getpid(), signal.SIGKILL)",
    "kills its group": "start(); os.killpg(0, signal.SIGKILL)",
    "kills its supervisor": "start(); os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)",
}


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(process_tree.SWITCH, "1")
        server = HostileServer(tmp_path_factory.mktemp("portable")).greeted()
    yield server
    server.close()


def started(server: HostileServer) -> set[int]:
    """The process of pytest, and what its test started."""
    file = server.root / "pids"
    within(GONE_SECONDS + LATE, file.exists)
    return {int(word) for word in file.read_text(encoding="ascii").split()}


def is_gone(pids: set[int]) -> bool:
    table = process_tree._listed()
    assert table, "needs ps"
    return not pids & table.keys()


def files_of(server: HostileServer) -> list[Path]:
    """Of runs: the folder of the spare for the next call is not one."""
    return list(server.temporary.glob("*/job.json"))


@pytest.mark.parametrize("how", ENDS)
def test_without_linux_what_a_run_started_ends_with_it_and_what_it_did_is_told(
    portable: HostileServer, how: str
) -> None:
    portable.project({"test_a.py": f"{STARTS}def test_starts(): {ENDS[how]}\n"})

    answer = portable.call()

    pids = started(portable)
    within(GONE_SECONDS, lambda: is_gone(pids))
    assert files_of(portable) == []
    if isinstance(answer, dict):
        assert (answer["verdict"], answer["summary"]["passed"]) == ("passed", 2)
    else:
        assert answer.data["error_type"] == "crash"
        assert answer.data["partial"]["summary"]["passed"] == 1


def test_without_linux_a_deaf_test_ends_at_its_limit_with_what_it_started(portable: HostileServer) -> None:
    portable.project({"test_a.py": f"{STARTS}def test_starts(): {DEAF}\n"})

    for limit in limits_until(portable.root / "pids"):
        failure = portable.failure("timeout", timeout=limit)

    pids = started(portable)
    within(GONE_SECONDS, lambda: is_gone(pids))
    assert failure.data["partial"]["running"] == ["test_a.py::test_starts"]


def test_without_linux_a_cancelled_call_leaves_nothing(portable: HostileServer) -> None:
    portable.project({"test_a.py": f"{STARTS}def test_starts(): start(); time.sleep(600)\n"})

    number = portable.begin()
    pids = started(portable)
    portable.cancel(number)

    within(GONE_SECONDS + LATE, lambda: is_gone(pids))
    within(GONE_SECONDS, lambda: files_of(portable) == [])


def test_without_linux_a_killed_server_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(process_tree.SWITCH, "1")
    server = HostileServer(tmp_path, "--no-spare").greeted()
    server.project({"test_a.py": f"{STARTS}def test_starts(): start(); time.sleep(600)\n"})
    server.begin()
    pids = started(server)

    os.kill(server.process.pid, signal.SIGKILL)

    within(GONE_SECONDS + LATE, lambda: is_gone(pids))
    within(GONE_SECONDS, lambda: files_of(server) == [])
    server.close()


def test_the_switch_reaches_the_supervisor_and_no_test(portable: HostileServer) -> None:
    """A supervisor without a subreaper is one process, and so is what pytest sees as its parent."""
    source = f"""
        import os
        def test_sees():
            assert {process_tree.SWITCH!r} not in os.environ
            assert os.getsid(os.getppid()) == os.getppid(), "a worker below a watcher would be no session's leader"
    """
    portable.project({"test_a.py": source})

    assert portable.result()["verdict"] == "passed"
