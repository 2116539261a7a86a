"""What passes between server, supervisor and child has one shape on both sides."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

import pytest_mcp
from pytest_mcp.process.job import Job
from pytest_mcp.process.supervisor_protocol import ENDING
from pytest_mcp.run.decode import KINDS, Record, parse
from pytest_mcp.run.events import Ending

PACKAGE = Path(pytest_mcp.__file__).parent
CHILD = sorted((PACKAGE / "child").rglob("*.py"))


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def emitted() -> Iterator[tuple[str, list[str | None]]]:
    """Each record that the child writes by name: its kind and its keys; None stands for keys from a mapping."""
    for node in (node for path in CHILD for node in nodes(path)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("emit") and node.args:
            kind = ast.literal_eval(node.args[0])
            yield kind, [keyword.arg for keyword in node.keywords]


def test_the_child_uses_every_key_of_its_job_and_no_other() -> None:
    used = {
        ast.literal_eval(node.slice)
        for path in CHILD
        for node in nodes(path)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("job", "self.job")
    }

    assert used == Job.__required_keys__


def test_every_kind_of_event_is_written_by_the_child_and_one_by_the_supervisor() -> None:
    # Written as text, for speed: see `channel`.
    as_text = {"started", "started_at", "finished"}
    assert {kind for kind, _ in emitted()} | as_text == set(KINDS) - {"ending"}
    assert parse(ENDING.strip()) == Record(0, Ending())


@pytest.mark.parametrize(("kind", "keys"), list(emitted()))
def test_a_record_has_the_fields_of_its_event(kind: str, keys: list[str | None]) -> None:
    expected = get_type_hints(KINDS[kind])

    assert set(keys) <= {*expected, None}
    assert None in keys or len(keys) == len(expected)
