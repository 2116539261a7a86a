"""Row H2: servers that are started by shells, services and containers of all kinds."""

import os
import signal
import subprocess
import sys

import pytest

from tests.support.protocol.hostile_server import GONE_SECONDS, NewServer, within
from tests.support.waiting import limits_until
from tests.support.workbench import Workbench

# As a background shell, nohup and a careless service would start it, and worse.
CARELESSLY = """
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
os.umask(0o777)
del os.environ["HOME"]
os.execv(sys.executable, [sys.executable, "-m", "pytest_mcp", *sys.argv[1:]])
"""
SEES_SIGNALS = """
    import os, signal, time

    def test_signals():
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
        ignored = {number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN}
        assert ignored == {signal.SIGPIPE, signal.SIGXFSZ}  # Python's own
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_stuck():
        open("reached", "w").close()
        time.sleep(600)
"""


def test_signals_that_were_ignored_or_blocked_and_an_umask_change_nothing(new_server: NewServer) -> None:
    server = new_server("--no-spare", program=("-c", CARELESSLY)).greeted()
    server.project({"test_a.py": SEES_SIGNALS})

    for limit in limits_until(server.root / "reached"):
        failure = server.failure("timeout", timeout=limit)
    server.process.send_signal(signal.SIGTERM)

    assert (failure.data["partial"]["summary"]["passed"], failure.data["partial"]["running"]) == (
        1,
        ["test_a.py::test_stuck"],
    ), failure.message
    assert any("test_stuck" in line for line in failure.message.splitlines() if line.startswith("stack| "))
    server.assert_gone()


def test_a_server_that_nohup_started_lives_on_when_its_terminal_is_closed(new_server: NewServer) -> None:
    server = new_server("--no-spare", program=("-c", CARELESSLY)).greeted()

    os.kill(server.process.pid, signal.SIGHUP)

    server.answers_a_plain_call()
    server.process.send_signal(signal.SIGINT)
    within(GONE_SECONDS, lambda: server.process.poll() == -signal.SIGINT)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_stream_that_was_closed_is_as_good_as_an_empty_one(bench: Workbench, closed: int) -> None:
    bench.write({"test_a.py": "def test_a(): pass\n"})
    command = [sys.executable, "-m", "pytest_mcp", f"--root={bench.root}", f"--python={bench.python}", "run"]

    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *command],
        env={"PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"1 passed" in done.stdout) is (closed != 1)
