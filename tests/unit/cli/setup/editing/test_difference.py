"""What a person is shown before a settings file is changed: the entry, and never what others wrote."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_mcp.cli.setup.editing import jsonc_edit
from pytest_mcp.cli.setup.editing.config_file import (
    added,
    difference,
    removed,
)
from tests.support.invented import jsonc_documents, toml_documents
from tests.support.invented.settings_files import ENTRY, KEYS, TOML_KEYS, written

MEMBERS = frozenset({"command", "args"})
CANARY = "hunter2-canary"


def test_a_difference_is_the_entry_alone(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.json", b'{"mcpServers": {"x": "secret", "pytest": {"command": "old", "env": {"K": "v"}}}}'
    )

    shown = difference(added(path, KEYS, {"command": "new", "env": {"K": "v"}}), MEMBERS)

    assert shown.splitlines() == [
        f"--- {path}",
        f"+++ {path}",
        "@@ mcpServers @@",
        '   "pytest": {',
        '-    "command": "old",',
        '+    "command": "new",',
        '     "env": "(not shown)"',
        "   }",
    ]


def test_a_difference_to_no_file_is_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"

    shown = difference(added(path, TOML_KEYS, {"command": "x"}), MEMBERS)

    assert shown.splitlines() == [
        "--- /dev/null",
        f"+++ {path}",
        "@@ a new file @@",
        "+[mcp_servers.pytest]",
        '+command = "x"',
    ]


def test_a_difference_moves_no_cursor(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b"{}")

    shown = difference(added(path, KEYS, {"command": "\x1b\x7f\u202e"}), MEMBERS)

    assert "\\x7f\\u202e" in shown
    assert "\x1b" not in shown


def differences(path: Path, text: str, keys: tuple[str, str], entry: dict[str, Any]) -> str:
    """Everything that is shown while an entry is added, changed and removed."""
    written(path, text.encode())
    shown = ""
    for wanted in (entry, entry | {"command": "other"}, None):
        change = removed(path, keys) if wanted is None else added(path, keys, wanted)
        shown += difference(change, MEMBERS)
        written(path, change.after or b"")
    return shown


@given(text=jsonc_documents.documents() | jsonc_documents.layouts(), own=st.booleans())
@settings(max_examples=12, deadline=None)
def test_what_neighbours_and_comments_in_json_say_is_never_shown(
    tmp_path_factory: pytest.TempPathFactory, text: str, own: bool
) -> None:
    assume(jsonc_documents.has_room(text))
    for plain in ("one, two", "/* a"):
        text = text.replace(plain, plain + CANARY)
    for keys in ((CANARY,), ("mcpServers", "other")):
        text = jsonc_edit.put(text, keys, {"env": {"KEY": CANARY}})
    path = tmp_path_factory.getbasetemp() / "neighbours.json"

    shown = differences(path, text, KEYS, ENTRY | ({"env": {"KEY": CANARY}} if own else {}))

    assert "/bin/pytest-mcp" in shown
    assert CANARY not in shown


@given(before=toml_documents.documents(), behind=toml_documents.documents())
@settings(max_examples=25, deadline=None)
def test_what_neighbours_and_comments_in_toml_say_is_never_shown(
    tmp_path_factory: pytest.TempPathFactory, before: str, behind: str
) -> None:
    ours = f"[mcp_servers.pytest]\ncommand = 'x'\n\n[{CANARY}]\n[mcp_servers.pytest.env]\nK = '{CANARY}'\n"
    text = f"# {CANARY}\nkey = '{CANARY}'\n{before}\n{ours}\n{behind}"
    assume(toml_documents.is_toml(text))
    path = tmp_path_factory.getbasetemp() / "neighbours.toml"

    shown = differences(path, text, TOML_KEYS, ENTRY | {"env": {"K": CANARY}})

    assert "/bin/pytest-mcp" in shown
    assert CANARY not in shown
