"""Runs that did not come to their end, with the oldest and the newest pytest; others are in tests/hostile."""

from typing import Any

import pytest

from pytest_mcp.process import process
from pytest_mcp.report import serialize, tokens
from tests.support.waiting import limits_until
from tests.support.workbench import NEWEST, PYTESTS, Workbench

BEFORE = "def test_before(): pass\n"


async def failed_run(bench: Workbench, files: dict[str, str], **arguments: Any) -> tuple[str, str, dict[str, Any]]:
    bench.write(files)
    failure = await bench.refused("execute_tests", **arguments)
    assert failure.code == -32000
    return failure.data["error_type"], failure.message, failure.data


async def test_an_installed_plugin_that_cannot_be_imported_is_not_blamed_on_the_settings(
    every_bench: Workbench,
) -> None:
    files = {
        "broken-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n",
        "broken-1.0.dist-info/entry_points.txt": "[pytest11]\nbroken = broken\n",
        "broken.py": "import no_such_module\n",
        "pytest.ini": "[pytest]\n",
        "test_a.py": BEFORE,
    }

    kind, message, _ = await failed_run(every_bench, files)

    assert kind == "usage_error"
    assert "ModuleNotFoundError: No module named 'no_such_module'" in message.partition("\n")[0]
    assert "pytest.ini" not in message.partition("\n")[0]


INTERRUPTIONS = {
    "pytest.exit": "import pytest\ndef test_stop(): pytest.exit('enough', returncode=0)\n",
    "keyboard": "def test_stop(): raise KeyboardInterrupt\n",
    "a signal": "import os, signal\ndef test_stop(): os.kill(os.getpid(), signal.SIGINT)\n",
}


@pytest.mark.parametrize(
    ("environment", "how"), [*((NEWEST, how) for how in INTERRUPTIONS), (PYTESTS[0], "pytest.exit")]
)
async def test_an_interruption_is_an_error_with_what_had_finished(bench: Workbench, environment: str, how: str) -> None:
    files = {"test_a.py": "def test_bad(): assert 0\n", "test_b.py": INTERRUPTIONS[how]}

    kind, message, data = await failed_run(bench.using(environment), files)

    assert kind == "interrupted"
    assert message.startswith("pytest execution failed: interrupted (")
    assert data["partial"]["summary"]["failed"] == 1


async def test_an_internal_error_of_pytest_is_told_from_a_failing_test(every_bench: Workbench) -> None:
    hook = "def pytest_runtest_logfinish(nodeid):\n    raise LookupError('broken hook\\nof ours')\n"

    kind, message, data = await failed_run(every_bench, {"conftest.py": hook, "test_a.py": BEFORE})

    assert (kind, data["exit_code"]) == ("pytest_internal", 3)
    headline = message.splitlines()[0]
    assert headline.endswith("LookupError: broken hook of ours (raised by conftest.py:2: in pytest_runtest_logfinish)")


@pytest.mark.parametrize(("body", "code"), [("assert 0", 0), ("pass", 1), ("pass", 77)])
async def test_an_exit_status_that_does_not_fit_is_a_failed_run_with_a_notice(
    bench: Workbench, body: str, code: int
) -> None:
    hook = f"def pytest_sessionfinish(session): session.exitstatus = {code}\n"
    bench.write({"conftest.py": hook, "test_a.py": f"def test_a(): {body}\n"})

    answer = await bench.execute()

    assert (answer["verdict"], answer["exit_code"]) == ("failed", code)
    assert f"pytest exited with {code}" in answer["notices"][0]


LINGERS = "import atexit, threading, time\natexit.register(time.sleep, 600)\n"
LINGERS += "threading.Thread(target=time.sleep, args=(600,)).start()\n"


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not exit is killed sooner than in earnest."""
    monkeypatch.setattr(process, "LINGER_SECONDS", 0.2)


async def test_hooks_after_the_session_have_the_time_of_the_call(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take longer than a process may take to exit, which a busy machine does not do at once either."""
    monkeypatch.setattr(process, "LINGER_SECONDS", 3)
    hook = "import pathlib, time\ndef pytest_unconfigure():\n    time.sleep(4)\n    pathlib.Path('done').touch()\n"
    bench.write({"conftest.py": hook, "test_a.py": BEFORE})

    answer = await bench.execute()

    assert (answer["verdict"], answer["exit_code"], answer["notices"]) == ("passed", 0, [])
    assert (bench.root / "done").exists()


ENDS_BADLY = {
    "nothing": "",
    "an error": "def pytest_unconfigure(): raise RuntimeError('cannot be taken down')\n",
    "an exit": "import sys\ndef pytest_unconfigure(): sys.exit(1)\n",
    "a hook around all": """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main():
    outcome = yield
    outcome.force_result(1)
""",
}


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("how", ENDS_BADLY)
async def test_a_process_that_does_not_exit_has_the_exit_code_that_it_would_have_had(
    bench: Workbench, how: str
) -> None:
    bench.write({"conftest.py": LINGERS + ENDS_BADLY[how], "test_a.py": BEFORE})

    answer = await bench.execute()

    expected = ("passed", 0, 1) if how == "nothing" else ("failed", 1, 1)
    assert (answer["verdict"], answer["exit_code"], answer["summary"]["passed"]) == expected
    assert len([notice for notice in answer["notices"] if "did not exit" in notice]) == 1


SUPPORT = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "support.py": """
        import pathlib
        def reach(): pathlib.Path('reached').touch()
        def wait(*things):
            reach()
            while True: pass
    """,
}
# Each with the frames above the last one.
STUCK: dict[str, tuple[dict[str, str], list[str]]] = {
    "with arguments that take long to show": (
        {
            "test_a.py": """
                from support import wait
                class Slow:
                    def __repr__(self): wait()
                def test_stuck(): wait(Slow())
            """
        },
        ["test_a.py:4: in test_stuck"],
    ),
    "that swallows the interruption": (
        {
            "test_a.py": """
                from support import wait
                def test_stuck():
                    try: wait()
                    except KeyboardInterrupt: wait()
            """
        },
        ["test_a.py:4: in test_stuck"],
    ),
    "called by a library": (
        {"test_a.py": "import re, support\ndef test_stuck(): re.sub('a', support.wait, 'a')\n"},
        ["test_a.py:2: in test_stuck"],
    ),
    "in a recursion": (
        {
            "test_a.py": """
                from support import wait
                def down(n): down(n - 1) if n else wait()
                def test_stuck(): down(20)
            """
        },
        ["test_a.py:3: in test_stuck", "... 15 more", *["test_a.py:2: in down"] * 6],
    ),
    "in a conftest": (
        {"conftest.py": "import sys; sys.path.insert(0, '.')\nimport support\nsupport.wait()\n", "test_a.py": BEFORE},
        ["conftest.py:3: in <module>"],
    ),
    "in a hook after the session": (
        {"conftest.py": "import support\ndef pytest_unconfigure(): support.wait()\n", "test_a.py": BEFORE},
        ["conftest.py:2: in pytest_unconfigure"],
    ),
}


@pytest.mark.parametrize("how", STUCK)
async def test_a_timeout_names_the_test_and_the_frames_of_the_project_and_no_others(bench: Workbench, how: str) -> None:
    files, frames = STUCK[how]

    for limit in limits_until(bench.root / "reached"):
        kind, message, _ = await failed_run(bench, {**SUPPORT, **files}, timeout=limit)

    lines = message.splitlines()
    shown = [line for line in lines if line.startswith(("stack| ", "stderr| "))]
    assert kind == "timeout"
    assert shown == [f"stack| {frame}" for frame in (*frames, "support.py:5: in wait")]
    assert ("running: test_a.py::test_stuck" in lines) == ("def test_stuck" in files["test_a.py"])


LOCKED = """
import pathlib, time
import pytest
def lock():
    pathlib.Path('reached').touch()
    time.sleep(600)
"""
SWALLOWS = {
    "a bare except": "try: lock()\n    except: pass\n",
    "pytest.raises": "with pytest.raises(BaseException): lock()\n",
    "__del__": "type('Held', (), {'__del__': lambda self: lock()})()\n",
    "another exception": "try: lock()\n    except BaseException: raise ValueError('closed') from None\n",
}


@pytest.mark.parametrize("how", SWALLOWS)
async def test_a_test_that_was_running_at_the_time_limit_is_stuck_whatever_it_does_after(
    every_bench: Workbench, how: str
) -> None:
    source = f"{BEFORE}{LOCKED}def test_stuck():\n    {SWALLOWS[how]}def test_after(): assert 0\n"

    for limit in limits_until(every_bench.root / "reached"):
        kind, message, data = await failed_run(every_bench, {"test_a.py": source}, timeout=limit)

    partial = data["partial"]
    assert kind == "timeout"
    assert "1 of 3 tests had finished, 0 failed." in message.splitlines()
    assert "running: test_a.py::test_stuck" in message.splitlines()
    assert (partial["running"], partial["not_run"]) == (["test_a.py::test_stuck"], 1)
    assert (partial["summary"]["passed"], partial["summary"]["failed"]) == (1, 0)


async def test_an_import_that_was_running_at_the_time_limit_is_stuck_whatever_it_does_after(
    every_bench: Workbench,
) -> None:
    source = f"{LOCKED}if True:\n    {SWALLOWS['a bare except']}{BEFORE}"

    for limit in limits_until(every_bench.root / "reached"):
        kind, message, data = await failed_run(every_bench, {"test_a.py": source}, timeout=limit)

    assert kind == "timeout"
    assert "pytest was still collecting tests." in message.splitlines()
    assert (data["partial"], data["collection_errors"]) == (None, [])


async def test_helpers_of_multiprocessing_may_tidy_up(bench: Workbench) -> None:
    source = """
    from multiprocessing import shared_memory

    def test_leaks():
        shared_memory.SharedMemory(name="pytest_mcp_leak", create=True, size=16)
    """
    bench.write({"test_a.py": source})

    first = await bench.execute()
    second = await bench.execute()

    assert (first["verdict"], second["verdict"]) == ("passed", "passed")
    assert second["notices"] == []


async def test_a_timeout_in_a_large_suite_is_a_small_error_and_full_has_everything(bench: Workbench) -> None:
    passing = "import pytest\n@pytest.mark.parametrize('n', range(1000))\ndef test_it(n): pass\n"
    failing = "".join(f"def test_{n}(): assert {{'id': {n}}} == {{'id': {n + 1}}}\n" for n in range(20))
    stuck = "import pathlib, time\ndef test_stuck():\n    pathlib.Path('reached').touch()\n    time.sleep(600)\n"
    files = {"test_a.py": failing, "test_b.py": passing, "test_c.py": passing, "test_d.py": stuck, "test_e.py": passing}

    for limit in limits_until(bench.root / "reached"):
        kind, message, data = await failed_run(bench, files, timeout=limit)
    (bench.root / "reached").unlink()
    for limit in limits_until(bench.root / "reached"):
        _, _, full = await failed_run(bench, {}, timeout=limit, detail="full")

    assert kind == "timeout"
    assert "stack| test_d.py:4: in test_stuck" in message
    assert tokens.estimate(serialize.line({"code": -32000, "message": message, "data": data})) <= 600
    assert data.keys() == full.keys()
    partial = data["partial"]
    assert (partial["running"], partial["not_run"], partial["summary"]["failed"]) == (
        ["test_d.py::test_stuck"],
        1000,
        20,
    )
    assert sum(cause["count"] for cause in partial["failure_groups"]) + len(partial["tests"]) >= 20
    assert partial["rerun"] == {"path": "test_a.py"}
    assert "test session starts" in full["stdout"]
    assert len(full["partial"]["tests"]) == 2020
