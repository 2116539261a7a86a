"""Which lines of a shell are answered with the call of a tool: those that are a test run, and no other."""

import io
import json
from argparse import Namespace
from typing import Any

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.cli.commands import hook

A_TEST = "tests/test_a.py::test_b[1-x]"
RUNS: dict[str, dict[str, Any]] = {
    "pytest": {},
    f"pytest -x {A_TEST}": {"failfast": True, "node_ids": [A_TEST]},
    f"pytest '{A_TEST}' tests -q": {"node_ids": [A_TEST, "tests"]},
    "py.test -q": {},
    ".venv/bin/pytest -k 'a and b'": {"keywords": "a and b"},
    'pytest -k "a; it\'s" -m=slow': {"keywords": "a; it's", "markers": "slow"},
    "python -m pytest": {},
    "/p/.venv/bin/python3 -m pytest -q /p/tests": {"node_ids": ["/p/tests"]},
    "uv run pytest": {},
    "poetry run python -m pytest": {},
    "cd /p && pytest -q 2>&1 | tail -20": {},
    "source .venv/bin/activate; pytest": {},
    "cd .\npytest": {},
    "timeout 60 pytest": {"timeout": 60},
    "pytest -q || true": {},
    "pytest -vv -rA --tb=short --no-header -n auto --maxfail 3": {"workers": "auto", "maxfail": 3},
    "pytest -n4 -l -s": {"workers": 4, "locals": True, "show_capture": True},
    'pytest -m "not slow" >/dev/null 2>&1; echo "exit $?"': {"markers": "not slow"},
    "set -o pipefail; pytest | grep -E 'FAILED|ERROR' | head -5": {},
    "pytest\n": {},
}


@pytest.mark.parametrize("line", RUNS)
def test_a_line_that_only_runs_tests_is_answered_with_the_call_that_does_the_same(line: str) -> None:
    assert hook.test_run(line, "/p", "/p") == RUNS[line]
    assert RUNS[line].keys() <= ExecuteTests.model_fields.keys()


OTHER_LINES = {
    "runs no pytest": [
        *("", "ls", "grep -r pytest .", "pip install pytest", "pytest-mcp run", "git commit -m 'a; pytest'"),
        *('echo "a; pytest"', "command pytest -q", "docker run image pytest", "uv run --with x pytest"),
        *("python -c 'import pytest'", "python script.py -m pytest", "# pytest\nls"),
    ],
    "does more than test": [
        *("echo data > file && pytest", "make build && pytest", "pytest && git push", "pytest | tee log"),
        *("pytest > out.txt; cat out.txt", "pytest &", "cat notes.txt; pytest", "cat data | pytest"),
        *("source prepare.sh && pytest", "pytest tests/a.py; pytest tests/b.py"),
    ],
    "is nothing that the tool can do": [
        *("pytest --version", "pytest --collect-only", "pytest --pdb tests/test_a.py", "pytest --junitxml=out.xml"),
        *("pytest --lf", "pytest -p no:randomly", "pytest -k", "DEBUG=1 pytest", "pytest tests/test_*.py"),
        *("pytest $TARGET", "cd packages/shop && pytest", "pytest; cd /elsewhere && pytest", "timeout 1m pytest"),
        *("pytest /elsewhere/tests", "pytest ../other", "pytest @args.txt", "pytest -n 0", "pytest --maxfail=0"),
        *("pytest -x --maxfail=3", "/usr/bin/python3 -m pytest", "/elsewhere/.venv/bin/pytest"),
        *("source /elsewhere/.venv/bin/activate && pytest",),
    ],
    "is not understood": [
        *("cat <<EOF\npytest\nEOF", "echo $(pytest)", "echo `pytest`", 'echo "$(rm file)"; pytest'),
        *("for x in a b; do pytest; done", "pytest 'unclosed", "echo it\\'s; pytest", "pytest |& tail"),
    ],
}


@pytest.mark.parametrize("kind", OTHER_LINES)
def test_every_other_line_runs_as_it_is(kind: str) -> None:
    assert [line for line in OTHER_LINES[kind] if hook.test_run(line, "/p", "/p") is not None] == []


def test_paths_count_from_the_project() -> None:
    assert hook.test_run("pytest tests", "/p/packages", "/p") is None
    assert hook.test_run("cd .. && pytest tests", "/p/packages", "/p") == {"node_ids": ["tests"]}


def answered(call: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setenv(hook.PROJECT, "/p")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(call)))

    assert hook.main(Namespace(), lambda: pytest.fail("no settings are needed")) == 0

    return capsys.readouterr().out


def called(line: str) -> bytes:
    return json.dumps({"tool_name": "Bash", "cwd": "/p", "tool_input": {"command": line}}).encode()


def test_a_refusal_says_what_to_call_instead(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = json.loads(answered(called("pytest -x tests"), monkeypatch, capsys))["hookSpecificOutput"]

    assert said["permissionDecision"] == "deny"
    assert (
        'execute_tests of the MCP server `pytest` instead, with {"failfast": true, "node_ids": ["tests"]}'
        in (said["permissionDecisionReason"])
    )


@pytest.mark.parametrize(
    "call",
    [
        called("pytest " + "x" * hook.MAX_INPUT_BYTES),
        called("pytest" + ";" * 1_000_000),
        called("pytest\n" * 700_000),
        b"[" * 1_000_000,
        b"",
        b"\xff",
        b"{}",
    ],
)
def test_a_call_that_is_too_long_or_no_call_lets_the_command_run(
    call: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(call, monkeypatch, capsys) == ""
