"""An investigation that is cancelled, or whose server ends, while a test hangs in the copy of the base."""

import os
import signal

from tests.support.git import git
from tests.support.projects.hanging import STUBBORN
from tests.support.protocol.hostile_server import GONE_SECONDS, HostileServer, NewServer, within
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
