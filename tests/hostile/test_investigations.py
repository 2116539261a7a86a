"""An investigation that is cancelled, or whose server ends, while a test hangs in the copy of the base."""

import os
import signal

import pytest

from tests.support.git import git
from tests.support.hanging import STUBBORN
from tests.support.hostile_server import GONE_SECONDS, HostileServer, NewServer, within
from tests.support.waiting import PATIENCE


def hanging_at_the_base(server: HostileServer) -> str:
    """The id of a call that has reached the copy. The test fails at once in the checkout."""
    there = server.root / "there"
    server.project({"test_a.py": f"{STUBBORN}\ndef test_a():\n    pathlib.Path({str(there)!r}).touch()\n    hang()\n"})
    git("init", "--quiet", cwd=server.root)
    git("add", "--all", cwd=server.root)
    git("commit", "--quiet", "-m", "base", cwd=server.root)
    (server.root / "test_a.py").write_text("def test_a(): assert 0\n", encoding="utf-8")
    number = server.begin("investigate_failure", node_id="test_a.py::test_a", runs=2)
    within(PATIENCE, there.exists)
    return number


def test_a_cancelled_investigation_is_not_answered_and_leaves_no_copy(server: HostileServer) -> None:
    number = hanging_at_the_base(server)

    server.cancel(number)

    within(GONE_SECONDS, lambda: not (server.leftovers() or server.folders()))
    server.answers_a_plain_call()
    assert number not in server.replies


@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_however_the_server_ends_no_copy_is_left(new_server: NewServer, how: str) -> None:
    server = new_server("--no-spare").greeted()
    hanging_at_the_base(server)

    os.kill(server.process.pid, signal.Signals[how])

    server.assert_gone()
