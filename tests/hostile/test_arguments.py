"""Hostile arguments. Nothing starts, nothing is written, nothing is read."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.protocol.hostile_server import HostileServer

# Importing anything of this project leaves a file.
CANARY = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
FILES = {
    "conftest.py": CANARY,
    "X.py": CANARY,
    "options": "--co\n",
    "victim/keep": "keep\n",
    "test_a.py": f"{CANARY}def test_a(): pass\n",
    "sub/test_b.py": f"{CANARY}def test_b(): pass\n",
}


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every name below a folder with what it holds."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not path.is_relative_to(folder / "tmp")
    }


def refuse_all(server: HostileServer, calls: list[dict[str, Any]]) -> None:
    """Each call is refused, and after all of them every file around is as it was."""
    before = contents(server.base)
    for arguments in calls:
        for tool in ("execute_tests", "discover_tests"):
            if tool == "discover_tests" and not set(arguments) <= {"path", "pattern", "markers", "keywords"}:
                continue
            failure = server.refused(tool, **arguments)
            assert failure.message.startswith(f"Invalid params: {failure.data['field']}: ")
            named = {fault["field"].partition(".")[0] for fault in failure.data["validation_errors"]}
            assert named == set(arguments), failure.message
            assert len(failure.message) < 8000
            assert len(str(failure.data["received_value"])) < 700
    assert contents(server.base) == before
    assert server.leftovers() == []


def everywhere(*values: str) -> list[dict[str, Any]]:
    return [arguments for value in values for arguments in ({"path": value}, {"node_ids": [value]})]


OPTIONS = (
    "--co", "-pX", "-p", "-p X", "--basetemp=victim", "--junitxml=written.xml", "-c", "-coptions", "-ox=y",
    "-o", "--rootdir=/", "--", "-", "--pyargs", "-rA", "--debug=written", "--co::test_a", "-pX::test_a",
)  # fmt: skip


def test_an_option_is_no_path_and_no_node_id(server: HostileServer) -> None:
    server.project(FILES)

    refuse_all(server, everywhere(*OPTIONS))


def test_a_file_of_options_is_never_opened(server: HostileServer) -> None:
    server.project(FILES)
    # Whoever opens it waits for ever for somebody to write into it.
    os.mkfifo(server.root / "fifo")
    values = ("@options", "@fifo", "@/etc/passwd", "@")
    expressions: list[dict[str, Any]] = [
        {name: value} for value in values for name in ("keywords", "markers", "pattern")
    ]

    refuse_all(server, everywhere(*values, "@fifo::test_a"))
    refuse_all(server, expressions)


def test_paths_that_lead_out_of_the_root_are_refused(server: HostileServer) -> None:
    server.project(FILES)
    sibling = server.root.with_name("project-other")
    sibling.mkdir()
    (sibling / "test_c.py").write_text(CANARY)
    outside = [
        "..", "../project-other/test_c.py", "sub/../../project-other", "sub/../test_a.py", "/", "/etc", str(sibling),
        str(server.base), f"{server.root}/../project-other", f"{server.root}-other/test_c.py", "~", "~root", "~/x",
        "C:\\Windows", "C:/Windows", "\\\\server\\share", "//etc/passwd", "\\\\?\\C:\\x", "file:///etc", "..\\x",
        "/proc/self/cwd", "/dev/stdin", "nowhere.py", "",
    ]  # fmt: skip

    refuse_all(server, everywhere(*outside))


def test_links_that_lead_out_of_the_root_are_refused_and_loops_end(server: HostileServer) -> None:
    outside = server.base / "outside"
    outside.mkdir()
    (outside / "test_c.py").write_text(CANARY)
    links = {
        "test_file.py": f"-> {outside / 'test_c.py'}",
        "folder": f"-> {outside}",
        "up": "-> ..",
        "test_loop.py": "-> test_loop.py",
        "one": "-> two",
        "two": "-> one",
        "test_gone.py": "-> nowhere",
    }
    server.project({**FILES, **links})

    refuse_all(server, everywhere(*links, "folder/test_c.py", "up/outside/test_c.py", "one/x", "folder/test_c.py::t"))
    refuse_all(server, everywhere("up/project", "up/project/sub", f"{server.root}/up/project/test_a.py"))


def test_characters_that_hide_and_lists_that_flood_are_refused(server: HostileServer) -> None:
    server.project(FILES)
    odd = ["a\0b", "a\nb", "a\rb", "a\tb", "\x1b[31m", "a\x7f", "a\u202eb", "a\u200bb", "a\u2028b", "\ufeffa"]
    named = [f"test_a.py::{value}" for value in odd]
    expressions: list[dict[str, Any]] = [{"keywords": value, "markers": value} for value in odd if value != "a\tb"]

    refuse_all(server, everywhere(*odd, "x" * 1_000_000, "a/" * 3000))
    refuse_all(server, [{"node_ids": named}, {"node_ids": ["test_a.py"] * 10_000}, {"node_ids": []}])
    refuse_all(server, [*expressions, {"pattern": "test\0*"}, {"pattern": "x" * 1_000_000}])
    refuse_all(server, [{"path": "a\udc80"}, {"keywords": "a\ud800"}, {"node_ids": ["test_a.py::\udfff"]}])


EXPRESSIONS = {
    "a and": 6, "(a": 3, "a)": 2, "a b": 3, "and": 1, "not": 4, "a or or b": 6, "a & b": 3, "a\\'": 3, "'a": 1,
    "": 1, " ": 1, "()": 2, "(" * 500 + "a" + ")" * 500: 51, "not " * 500 + "a": 201,
    " or ".join(["a"] * 300): 1001, " or ".join(["a"] * 1000): None,
    "__import__('os')": 11, "a;b": 2, "--": 1, "a" * 5000: None,
}  # fmt: skip


def test_expressions_that_pytest_cannot_take_are_refused_with_their_column(server: HostileServer) -> None:
    server.project(FILES)

    refuse_all(server, [{"keywords": expression} for expression in EXPRESSIONS])
    refuse_all(server, [{"markers": f"m(x={value})"} for value in ("²", "1" * 5000, "1.5", "a", "'", "m(y=1)", "")])
    for expression, column in EXPRESSIONS.items():
        failure = server.refused(keywords=expression)
        assert column is None or not expression or f"column {column}:" in failure.message, failure.message


def test_values_of_the_wrong_kind_are_refused_and_every_fault_is_listed(server: HostileServer) -> None:
    server.project(FILES)
    wrong: list[Any] = [True, [], {}, "1s", "\uff11", "1e3", 1.5, 0, -1, 10**9, 10**30, float("nan"), float("inf")]
    numbers = [{"timeout": value, "maxfail": value, "max_tokens": value} for value in wrong]
    others: list[dict[str, Any]] = [
        {"verbosity": 3, "failfast": 1, "color": "yes", "show_capture": 0, "detail": "all", "path": 1, "pattern": 1},
        {"env": {}, "args": ["-x"], "plugins": ["X"], "python": "/bin/sh", "cwd": "/", "": 1, "Path": "."},
        {"node_ids": 1, "markers": 1, "keywords": ["a"]},
        {"node_ids": [None, 1, {}, [], True]},
    ]

    refuse_all(server, [*numbers, *others])
    faults = server.refused(**others[0]).data["validation_errors"]

    assert sorted(fault["field"] for fault in faults) == sorted(others[0])
    assert "result" not in server.reply(server.request("tools/call", {"name": "execute_tests", "arguments": [1]}))


@pytest.mark.parametrize(
    "arguments",
    [
        {"node_ids": ["test_a.py", "scripts/deploy.py"]},
        {"node_ids": ["scripts/deploy.py::test_x"]},
        {"path": "notes.txt"},
        {"path": "scripts/deploy.py", "pattern": "*.py"},
        {"pattern": "[]a-ztest]*.py"},
        {"path": "linked.py"},
    ],
    ids=str,
)
def test_a_file_the_project_would_not_collect_is_not_executed(server: HostileServer, arguments: dict[str, Any]) -> None:
    harmful = "import pathlib\npathlib.Path(__file__).with_name('deployed').touch()\n"
    server.project(
        {
            "X.py": harmful,
            "scripts/deploy.py": f"{harmful}def test_x(): pass\n",
            "linked.py": "-> scripts/deploy.py",
            "notes.txt": ">>> import pathlib\n>>> pathlib.Path('deployed').touch()\n",
            "test_a.py": "def test_a(): pass\n",
        }
    )

    server.refused(**arguments)

    assert list(server.root.rglob("deployed")) == []


@pytest.mark.parametrize("name", ["gone", "漢" * 4000])
def test_many_missing_ids_are_a_small_error_that_says_why_once(server: HostileServer, name: str) -> None:
    server.project({"test_a.py": "def test_a(): pass\n"})
    ids = [f"test_a.py::{name}{number}" for number in range(500 if name == "gone" else 100)]

    reply = server.reply(server.begin(node_ids=ids))

    data = reply["error"]["data"]
    assert len(json.dumps(reply, ensure_ascii=False).encode()) < 20_000
    assert (reply["error"]["code"], data["error_type"], data["field"]) == (-32602, "usage_error", "node_ids.0")
    assert json.dumps(data["validation_errors"]).count(data["detail"]) == 1
