"""A child that was started ahead is, for the code it runs, the same as one that was not, and as a shell's pytest.

A probing project is run three ways, and everything it sees is compared. What may differ stands here by name.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.process.spare import Spare
from pytest_mcp.python import interpreter
from tests.support.runs.standby import execute, waiting_child
from tests.support.waiting import until
from tests.support.workbench import GENERATIONS, Workbench

PROBE = Path(__file__).with_name("probe.py")
FACTS = "facts.json"

CONFTEST = """
import os, pathlib
import probe

AT_IMPORT = probe.facts()
NUMBER = os.getpid()
COMMAND = pathlib.Path("/proc/self/cmdline").read_bytes().decode().split("\\0")
"""

# It fails on purpose, so that what assertion rewriting makes of it is seen as well.
TEST = """
import json, pathlib
import conftest, probe

def test_probe(tmp_path, recwarn):
    seen = {
        "at import": conftest.AT_IMPORT,
        "in a test": probe.facts(),
        "number": conftest.NUMBER,
        "command": conftest.COMMAND,
        "from a new process": probe.from_a_new_process(),
    }
    pathlib.Path("facts.json").write_text(json.dumps(seen, default=str))
    assert [1, 3] == [1, 4]
"""

# Between a child that was started ahead and one that was not.
AHEAD_ALLOWED = {
    "original argv": "the number of the pipe on which it waited is one argument more",
    "frozen objects": "what it imported was put out of the garbage collector's sight later, with more around it",
}

# Between a child of the server and `python -m pytest` in a shell.
SHELL_ALLOWED = {
    **AHEAD_ALLOWED,
    "argv": "the server's own options stand there",
    "leads its session": "a shell's job shares the session of its terminal",
    "leads its group": "as above; here the shell is another test",
    "stack": "the launcher's frames stand where those of `-m` stand",
    "modules": "`-m` is the work of one",
    "__main__ has": "`-m` gives it a place for annotations",
    "open files": "the report",
    "bytecode": "a cache that may be stale is not read",
}


@pytest.fixture
def probing(bench: Workbench) -> Workbench:
    bench.write({"probe.py": PROBE.read_text(), "conftest.py": CONFTEST, "test_probe.py": TEST, "called": ""})
    bench.write({"pytest.ini": "[pytest]\naddopts = -p no:cacheprovider\nfilterwarnings = ignore::UserWarning\n"})
    return bench


def seen(bench: Workbench) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((bench.root / FACTS).read_text())
    (bench.root / FACTS).unlink()
    return facts


def in_the_shell(bench: Workbench) -> dict[str, Any]:
    os.utime(bench.root / "called")
    bench.shell("-q")
    return seen(bench)


async def by_the_server(bench: Workbench, spare: Spare) -> dict[str, Any]:
    os.utime(bench.root / "called")
    result = await execute(bench, spare)
    assert result.summary.failed == 1
    assert "[1]: 3 != 4" in str(result.tests[0].traceback)
    return seen(bench)


def differences(one: dict[str, Any], other: dict[str, Any], when: str) -> dict[str, tuple[Any, Any]]:
    """Of each name that differs, what only the one has and what only the other has."""
    found = {}
    for name, here in one[when].items():
        there = other[when][name]
        if here != there and isinstance(here, list):
            found[name] = (
                [entry for entry in here if entry not in there],
                [entry for entry in there if entry not in here],
            )
        elif here != there:
            found[name] = (here, there)
    return found


@pytest.mark.parametrize("environment", GENERATIONS)
async def test_code_under_test_sees_no_difference_but_the_named_ones(probing: Workbench, environment: str) -> None:
    bench = probing.using(environment)
    spare = Spare(wanted=True, fingerprint=interpreter.state)
    # Once before, so that all of them find the same byte code.
    in_the_shell(bench)

    async with spare.kept():
        cold = await by_the_server(bench, spare)
        await until(lambda: waiting_child(spare))
        child = waiting_child(spare)
        ahead = await by_the_server(bench, spare)
    shell = in_the_shell(bench)

    assert ahead["number"] == child
    assert len(ahead["command"]) == len(cold["command"]) + 1, "it had to start anew"
    for when in ("at import", "in a test"):
        assert differences(cold, ahead, when).keys() <= AHEAD_ALLOWED.keys()
        from_the_shell = differences(shell, ahead, when)
        assert from_the_shell.keys() <= SHELL_ALLOWED.keys()
        missing, added = from_the_shell["modules"]
        assert set(missing) <= {"pkgutil", "runpy"}
        assert added == []
        assert from_the_shell["__main__ has"] == (["__annotations__"], [])
        assert from_the_shell["open files"] == ([], ["report"])
    assert [way["from a new process"] for way in (shell, cold, ahead)] == [42, 42, 42]
