"""Ways to find code that no import shows: `test_a.py` of each executes what changes. No project here is run."""

import re
from pathlib import Path

import pytest

from pytest_mcp.changed import reach
from pytest_mcp.changed.working_tree import Changes
from tests.support.projects.project_files import write_files

# `=== name`, then `--- file` with its content for each, and `+++ file` with what it is changed to.
TRAPS = dict(trap.split("\n", 1) for trap in Path(__file__).with_name("traps.txt").read_text("utf-8").split("=== ")[1:])
_FILE = re.compile(r"^(---|\+\+\+) (\S+)\n", re.MULTILINE)


@pytest.mark.parametrize("name", TRAPS)
def test_a_test_that_executes_a_change_is_selected(name: str, tmp_path: Path) -> None:
    parts = _FILE.split(TRAPS[name])[1:]
    texts = list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))
    *files, (_, changed, after) = texts
    before = {file: text for _, file, text in files}
    root = write_files(tmp_path / "project", before | {changed: after})
    content = before[changed].encode() if changed in before else None

    found = reach.reach_of(Changes("main", "0" * 40, frozenset({changed}), frozenset()), {changed: content}, root)

    assert before.get(changed) != after
    assert "test_a.py" not in found.unreached
    assert "could not" not in (found.reason or "")
