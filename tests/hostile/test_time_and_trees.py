"""Hostile projects that take for ever, and trees of processes that will not end."""

import re

import pytest

from tests.support.protocol.hostile_server import ANSWER_SECONDS, SLACK, HostileServer, timed
from tests.support.waiting import limits_until
from tests.support.workbench import Failure

BEFORE = "def test_before(): pass\n"
# What a project calls just before it hangs, so that a test knows whether its time limit was long enough to get there.
REACHED = "import os, signal, time\ndef reach(): os.close(os.open('reached', os.O_CREAT))\n"
# From SIGINT to SIGABRT, and a second more.
GRACE = 2 + 1
FURTHER_TRIES = 5
# Seconds that each further try has in addition.
LONGER = 2

STUCK = {
    "sleeps": "while True: time.sleep(600)",
    "busy": "while True: pass",
    "ignores": """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True: time.sleep(600)
    """,
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP); time.sleep(600)",
}


def body(source: str) -> str:
    """The lines of a function, one level in."""
    lines = [line.strip("\n") for line in source.splitlines() if line.strip()]
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join("    " + line[margin:] for line in lines)


def with_stuck_test(source: str) -> dict[str, str]:
    return {
        "test_a.py": BEFORE,
        "test_b.py": f"{REACHED}def test_stuck():\n    reach()\n{body(source)}\n\ndef test_never(): pass\n",
    }


def timed_out(server: HostileServer, *, telling: str) -> tuple[int, Failure]:
    """From the limit on pytest has two seconds to tell where it is, which a busy machine may not give it at once."""
    for limit in limits_until(server.root / "reached"):
        failure = server.failure("timeout", timeout=limit)
    for _ in range(FURTHER_TRIES):
        if telling in failure.message:
            break
        limit += LONGER
        failure = server.failure("timeout", timeout=limit)
    return limit, failure


@pytest.mark.parametrize("how", STUCK)
def test_a_stuck_test_ends_at_the_limit_with_what_had_finished_and_its_own_stack(
    server: HostileServer, how: str
) -> None:
    server.project(with_stuck_test(STUCK[how]))

    limit, failure = timed_out(server, telling="stack| ")

    assert failure.message.splitlines()[0] == f"pytest execution exceeded timeout of {limit} seconds"
    assert (failure.data["timeout_exceeded"], failure.data["exit_code"], failure.data["signal"]) == (True, None, None)
    assert failure.data["command"][1:] == ["-m", "pytest"]
    assert failure.data["duration"] < limit + GRACE + SLACK
    assert "running: test_b.py::test_stuck" in failure.message
    partial = failure.data["partial"]
    assert [test["node_id"] for test in partial["tests"]] == ["test_a.py::test_before"]
    assert (partial["running"], partial["not_run"]) == (["test_b.py::test_stuck"], 1)
    stack = [line for line in failure.message.splitlines() if line.startswith("stack| ")]
    assert any("test_stuck" in line for line in stack), failure.message


@pytest.mark.parametrize("where", ["test_a.py", "conftest.py"])
def test_hanging_at_import_is_a_timeout_in_collection(server: HostileServer, where: str) -> None:
    server.project({"test_a.py": BEFORE, where: f"{REACHED}reach()\nwhile True: time.sleep(600)\n"})

    _, failure = timed_out(server, telling=where)

    assert "collect" in failure.message.lower()
    assert where in failure.message
    assert failure.data["partial"] is None


SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(600)']"


def test_a_grandchild_that_holds_the_output_delays_nothing(server: HostileServer) -> None:
    server.project(
        {
            "test_a.py": f"""
            import subprocess, sys
            def test_starts(capfd):
                with capfd.disabled():
                    subprocess.Popen({SLEEPER})
            """
        }
    )

    answer, seconds = timed(server.result)

    assert (answer["verdict"], answer["summary"]["passed"]) == ("passed", 1)
    assert seconds < ANSWER_SECONDS + SLACK
    assert tells_of_processes(answer["notices"]) == 1


def tells_of_processes(notices: list[str]) -> int:
    """The number of processes that a notice says were ended."""
    found = [match for notice in notices if (match := re.search(r"\b(\d+)\b[^.]*\bprocess", notice))]
    assert len(found) == 1, notices
    return int(found[0].group(1))


STRAYS = {
    "new sessions": (3, "for _ in range(3): subprocess.Popen(SLEEPER, start_new_session=True, env={}, cwd='/')"),
    "daemons": (
        2,
        """
        for _ in range(2):
            middle = os.fork()
            if middle == 0:
                os.setsid()
                if os.fork() == 0:
                    os.chdir("/")
                    os.closerange(0, 64)
                    os.execve(SLEEPER[0], SLEEPER, {})
                os._exit(0)
            os.waitpid(middle, 0)
        """,
    ),
    "a storm": (
        40,
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for _ in range(40):
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
                os._exit(0)
        """,
    ),
}


@pytest.mark.parametrize(
    ("how", "ending"),
    [*((how, "") for how in STRAYS), ("daemons", "os.kill(os.getpid(), signal.SIGKILL)")],
)
def test_stray_processes_are_ended_and_counted(server: HostileServer, how: str, ending: str) -> None:
    number, source = STRAYS[how]
    start = f"import os, signal, subprocess, sys, time\nSLEEPER = {SLEEPER}\n"
    server.project({"test_a.py": f"{start}def test_starts():\n{body(source)}\n    {ending}\n"})

    answer = server.call()

    if ending:
        assert isinstance(answer, Failure)
        assert answer.data["error_type"] == "crash"
    else:
        assert isinstance(answer, dict)
        assert answer["verdict"] == "passed"
        assert tells_of_processes(answer["notices"]) == number


# Each process only lives to start the next one; bounded, should it ever get away.
RUNAWAY = """
    import os, time

    def test_starts():
        if os.fork() == 0:
            os.setsid()
            end = time.monotonic() + 60
            while time.monotonic() < end:
                if os.fork():
                    os._exit(0)
                os.setsid()
            os._exit(0)
"""


def test_processes_that_keep_forking_away_are_caught(server: HostileServer) -> None:
    server.project({"test_a.py": RUNAWAY})

    answer = server.result()

    assert answer["verdict"] == "passed"
    assert tells_of_processes(answer["notices"]) >= 1


KILLS = {
    "its group": "os.killpg(0, signal.SIGKILL)",
    "its parent": "os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)",
    "the group of its parent": "os.killpg(os.getpgid(os.getppid()), signal.SIGKILL); time.sleep(600)",
}


@pytest.mark.parametrize("whom", KILLS)
def test_a_test_that_kills_what_is_above_it_is_a_crash_and_its_strays_are_ended(
    server: HostileServer, whom: str
) -> None:
    stray = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True, env={})"
    source = f"import os, signal, subprocess, sys, time\n{BEFORE}def test_kills():\n    {stray}\n    {KILLS[whom]}\n"
    server.project({"test_a.py": source})

    failure = server.failure("crash")

    assert "running: test_a.py::test_kills" in failure.message
    assert failure.data["partial"]["summary"]["passed"] == 1


def test_a_test_that_stops_its_supervisor_gets_no_more_time_than_any_other(server: HostileServer) -> None:
    source = f"{REACHED}{BEFORE}def test_stops():\n    reach()\n    os.kill(os.getppid(), signal.SIGSTOP)\n"
    server.project({"test_a.py": f"{source}    time.sleep(600)\n"})

    for limit in limits_until(server.root / "reached"):
        failure = server.failure("timeout", timeout=limit, detail="full")

    assert failure.message.splitlines()[0] == f"pytest execution exceeded timeout of {limit} seconds"
    assert "running: test_a.py::test_stops" in failure.message
    # What it had to tell is not lost: it is continued at the time limit.
    assert "KeyboardInterrupt" in failure.data["stdout"]


READS_STDIN = """
    import os, sys
    def test_reads(capfd):
        assert os.read(0, 100) == b""
        with capfd.disabled():
            assert os.read(0, 100) == b""
            assert open(0, closefd=False).readline() == ""
    def test_has_no_terminal():
        assert not os.isatty(0)
        try: os.open("/dev/tty", os.O_RDWR)
        except OSError: return
        raise AssertionError("there is a terminal")
"""


def test_a_test_that_reads_stdin_meets_its_end_and_steals_no_request(server: HostileServer) -> None:
    server.project({"test_a.py": READS_STDIN})

    number = server.begin()
    pings = [server.request("ping") for _ in range(20)]

    assert all("result" in server.reply(ping) for ping in pings)
    answer = server.answer(number)
    assert isinstance(answer, dict)
    assert (answer["verdict"], answer["summary"]["passed"]) == ("passed", 2)


DEBUGGERS = {
    "breakpoint": "breakpoint()",
    "input": "import sys; sys.stdin = sys.__stdin__; input('name? ')",
}


@pytest.mark.parametrize("how", DEBUGGERS)
def test_a_debugger_finds_nobody_to_talk_to_and_hangs_nothing(server: HostileServer, how: str) -> None:
    server.project({"test_a.py": f"{BEFORE}def test_asks():\n    {DEBUGGERS[how]}\n    assert 0\n"})

    answer = server.call()

    if isinstance(answer, Failure):
        assert answer.data["error_type"] == "interrupted"
        assert answer.data["partial"]["summary"]["passed"] == 1
    else:
        assert (answer["verdict"], answer["summary"]["failed"]) == ("failed", 1)


def test_forked_children_that_ended_by_themselves_are_no_strays(server: HostileServer) -> None:
    source = "import os\ndef test_forks():\n    for _ in range(30):\n        if os.fork() == 0: os._exit(0)\n"
    server.project({"test_a.py": source})

    answer = server.result()

    assert (answer["verdict"], answer["notices"]) == ("passed", [])
