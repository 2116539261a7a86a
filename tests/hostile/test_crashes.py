"""Hostile projects that kill, cripple or never start their process."""

import pytest

from tests.support.protocol.hostile_server import HostileServer, NewServer
from tests.support.workbench import NEWEST, Failure, python_of

BEFORE = "def test_before(): pass\n"
AFTER = "def test_after(): pass\n"


def between(source: str) -> dict[str, str]:
    """A test before and a test after the one that does it."""
    start = "import ctypes, os, resource, shutil, signal, sys\n"
    return {"test_a.py": f"{start}{BEFORE}def test_does_it():\n    {source}\n{AFTER}"}


SIGNALS = {"SIGSEGV": ("ctypes.string_at(0)", "Segmentation fault"), "SIGABRT": ("os.abort()", "Aborted")}


@pytest.mark.parametrize("name", SIGNALS)
def test_a_fatal_signal_is_a_crash_with_its_name_its_stack_and_what_had_finished(
    server: HostileServer, name: str
) -> None:
    source, said = SIGNALS[name]
    server.project(between(source))

    failure = server.failure("crash")

    assert failure.message.splitlines()[0] == f"pytest subprocess terminated with signal {name}"
    assert (failure.data["signal"], failure.data["exit_code"]) == (name, None)
    assert f"stderr| Fatal Python error: {said}" in failure.message
    assert "in test_does_it" in failure.message
    assert "running: test_a.py::test_does_it" in failure.message
    assert [test["node_id"] for test in failure.data["partial"]["tests"]] == ["test_a.py::test_before"]


def test_a_kill_from_inside_is_told_from_one_of_ours(server: HostileServer) -> None:
    server.project(between("os.kill(os.getpid(), signal.SIGKILL)"))

    failure = server.failure("crash")

    assert (failure.data["signal"], failure.data["timeout_exceeded"]) == ("SIGKILL", False)
    assert failure.message.splitlines()[0] == "pytest subprocess terminated with signal SIGKILL"
    assert "not by pytest-mcp" in failure.message
    assert "memory" in failure.message
    assert failure.data["partial"]["summary"]["passed"] == 1


def test_running_out_of_memory_fails_the_test_that_does(server: HostileServer) -> None:
    size = "int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + 64 * 2**20"
    server.project(between(f"resource.setrlimit(resource.RLIMIT_AS, ({size},) * 2); bytearray(2**30)"))

    answer = server.call()

    report = answer.data["partial"] if isinstance(answer, Failure) else answer
    assert report["verdict"] in ("failed", "incomplete")
    assert report["summary"]["passed"] >= 1
    if not isinstance(answer, Failure):
        assert answer["tests"][0]["message"].startswith("MemoryError")


@pytest.mark.parametrize(("name", "kind"), [("SIGINT", "interrupted"), ("SIGTERM", "crash")])
def test_a_signal_from_inside_is_an_interruption_or_a_crash(server: HostileServer, name: str, kind: str) -> None:
    server.project(between(f"os.kill(os.getpid(), signal.{name})"))

    failure = server.failure(kind)

    assert failure.data["signal"] == (None if kind == "interrupted" else name)
    assert failure.data["partial"]["summary"]["passed"] == 1


CRIPPLES = {
    "closes every descriptor": "os.closerange(0, 1024)",
    "puts another file over every descriptor": """
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(64):
        if number != null: os.dup2(null, number)""",
    "may open nothing": "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
    "may open nothing and has closed everything": (
        "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)); os.closerange(3, 1024)"
    ),
    "may write nothing": "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
    "deletes its working directory": "shutil.rmtree(os.getcwd())",
    "patches the library": "import json, time; os.write = os.open = os.fstat = json.dumps = time.time = None",
}


@pytest.mark.parametrize("how", CRIPPLES)
def test_a_crippled_process_keeps_what_it_had_and_passes_only_with_every_result(
    server: HostileServer, how: str
) -> None:
    server.project(between(CRIPPLES[how]))

    answer = server.call(timeout=10)

    report = answer.data["partial"] if isinstance(answer, Failure) else answer
    assert report is not None, answer
    outcomes = {test["node_id"].partition("::")[2]: test["outcome"] for test in report["tests"]}
    assert outcomes["test_before"] == "passed"
    if isinstance(answer, Failure):
        assert answer.data["error_type"] in ("crash", "pytest_internal", "timeout")
    elif answer["verdict"] == "passed":
        assert set(outcomes.values()) == {"passed"}
        assert (len(outcomes), answer["exit_code"]) == (3, 0)


# Python itself cannot write the traceback of this one.
UNWRITABLE = "bad = SyntaxError('bad'); bad.filename, bad.lineno, bad.text = 5, 'x', 7; raise bad\n"


@pytest.mark.parametrize("source", ["import not_there\n", "def f(:\n", "raise SystemError('no')\n", UNWRITABLE])
def test_a_conftest_that_cannot_be_imported_is_named_with_line_and_type(server: HostileServer, source: str) -> None:
    server.project({"conftest.py": f"import os\n{source}", "test_a.py": BEFORE})

    answer = server.result()

    (error,) = answer["collection_errors"]
    assert (error["file"], error["line"]) == ("conftest.py", 2)
    assert error["error_type"] in ("ModuleNotFoundError", "SyntaxError", "SystemError")
    assert answer["verdict"] == "failed"


UNUSABLE: dict[str, tuple[dict[str, str | bytes], str]] = {
    "no environment": ({}, "No environment was found"),
    "pytest missing": ({".venv": f"-> {python_of('no-pytest').parent.parent}"}, "No module named 'pytest'"),
    "Python missing": ({".venv/bin/activate": "\n"}, "does not exist"),
    "a link to a Python that is gone": ({".venv/bin/python": "-> /nowhere/python3"}, "link"),
    "a folder": ({".venv/bin/python/file": "\n"}, "folder"),
    "not a program": ({".venv/bin/python": b"\0nothing"}, "executable"),
    "a loop": ({".venv/bin/python": "-> python"}, "does not exist"),
}


def test_an_unusable_environment_says_what_was_tried_and_one_line_that_fixes_it(new_server: NewServer) -> None:
    usable = {".venv": f"-> {python_of(NEWEST).parent.parent}"}
    server = new_server(python=None).ready(**usable)

    for files, problem in UNUSABLE.values():
        server.project({"test_a.py": BEFORE, **files})
        failure = server.failure("environment")

        assert problem in failure.message
        assert str(server.root / ".venv" if files else server.root) in failure.message
        assert failure.message.splitlines()[-1].startswith("fix: ")
        assert len(failure.data["environment"]["candidates"]) == (1 if files else 0)
    (server.root / ".venv/bin/python").unlink()
    (server.root / ".venv/bin/python").write_text("#!/bin/sh\necho broken interpreter >&2\nexit 9\n")
    (server.root / ".venv/bin/python").chmod(0o755)
    assert "broken interpreter" in server.failure("environment").message
    server.assert_unharmed()
