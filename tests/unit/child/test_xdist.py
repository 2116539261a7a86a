"""The parts of `child` that need no run: ids without groups, and values that xdist can send."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pytest_mcp

# In a Python of its own: the child's modules import each other by bare name.
PROGRAM = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("launcher", sys.argv[1])
launcher = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launcher)
worker, controller = launcher.ours("xdist_worker"), launcher.ours("xdist_controller")

class Text(str): pass
class Silent:
    def __str__(self): raise RuntimeError

values = [1, 2**99, -2**31, -2**31 - 1, None, b"x", ("a", {1}), {"k": [Text("t")]}]
values += ["a\\udcff", Text("x"), Silent(), {(Text("k"),): frozenset()}]
sent = [worker.sendable(value) for value in values]
print(json.dumps([repr(sent), [controller.ungrouped(nodeid) for nodeid in json.loads(sys.argv[2])]]))
"""
IDS = {
    "test_a.py::test_a": "test_a.py::test_a",
    "test_a.py::test_a@group": "test_a.py::test_a",
    "test_a.py::test_a[x]@a_b": "test_a.py::test_a[x]",
    "test_a.py::test_a[x@y]": "test_a.py::test_a[x@y]",
    "test_a.py::test_a[x@y]@g": "test_a.py::test_a[x@y]",
    "a@b/test_a.py::test_a": "a@b/test_a.py::test_a",
}


@pytest.fixture(scope="module")
def answers() -> Any:
    launcher = Path(pytest_mcp.__file__).parent / "child" / "launcher.py"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, launcher, json.dumps(list(IDS))], capture_output=True, check=True
    )
    return json.loads(done.stdout)


def test_what_xdist_cannot_send_is_sent_as_text(answers: Any) -> None:
    unshown = "'[the value cannot be shown: turning it into text raised RuntimeError]'"

    numbers = "1, 633825300114114700748351602688, -2147483648, '-2147483649'"
    others = "None, b'x', ('a', {1}), {'k': ['t']}, 'a\\\\udcff', 'x'"
    assert answers[0] == f"[{numbers}, {others}, {unshown}, {{('k',): frozenset()}}]"


def test_the_group_of_an_id_is_what_xdist_has_appended(answers: Any) -> None:
    assert answers[1] == list(IDS.values())
