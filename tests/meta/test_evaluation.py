"""The bugs of `make evaluation` are bugs, hidden tests tell mended ones, and a model's stream is read rightly."""

import json
from pathlib import Path

import pytest

from bench.evaluation.__main__ import HIDDEN, is_mended
from bench.evaluation.bugs import BUGS
from bench.evaluation.workers import runs_in, write
from scripts.environments import ENVIRONMENTS

PYTHON = ENVIRONMENTS["demo"].python


@pytest.mark.parametrize("name", sorted({*BUGS} - {"hang"}))
def test_a_hidden_test_fails_before_the_bug_is_mended_and_passes_after(name: str, tmp_path: Path) -> None:
    bug = BUGS[name]
    write(tmp_path, bug.files)

    # Of what depends on the order the hidden test is alone.
    assert name == "order" or not is_mended(bug, tmp_path, PYTHON)
    write(tmp_path, bug.mended)
    assert is_mended(bug, tmp_path, PYTHON)
    assert (tmp_path / HIDDEN).exists()


def test_only_runs_of_tests_are_counted_in_a_models_stream() -> None:
    uses = {"a": {"command": "python -m pytest -q"}, "b": {"command": "ls"}, "c": {}}
    names = {"a": "Bash", "b": "Bash", "c": "mcp__pytest__execute_tests"}
    calls = [{"type": "tool_use", "id": key, "name": names[key], "input": uses[key]} for key in uses]
    results: list[dict[str, object]] = [
        {"type": "tool_result", "tool_use_id": key, "content": f"read {key}"} for key in ("a", "b")
    ]
    results.append({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "read c"}]})
    stream = [json.dumps({"message": {"content": part}}) for part in (calls, results, "only text")]

    assert runs_in([*stream, "", '{"type": "result"}']) == ["read a", "read c"]
