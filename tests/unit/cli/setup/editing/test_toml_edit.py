"""Editing TOML: compared with `tomllib` for the values, and with the old bytes for what is kept."""

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pytest_mcp.cli.setup.editing.toml_edit import TomlError, drop, put, read
from tests.support.invented.toml_documents import documents, is_toml

KEYS = ("mcp_servers", "pytest")
ENTRY = {"command": "/bin/pytest-mcp", "args": ["--root", "a b"], "tool_timeout_sec": 300}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ENTRIES = st.fixed_dictionaries({"command": TEXTS, "args": st.lists(TEXTS, max_size=2), "startup": st.integers(0, 99)})


@given(documents(), ENTRIES)
@example("", ENTRY)
@example("x = 1", ENTRY)
@example("x = 1\r\ny = 2\n", ENTRY)
@example("\n", ENTRY)
def test_to_take_out_undoes_to_put_in_byte_for_byte(text: str, entry: dict[str, Any]) -> None:
    assume(is_toml(text))

    changed = put(text, KEYS, entry)

    assert drop(changed, KEYS) == text


@given(documents(), ENTRIES)
def test_only_one_table_changes(text: str, entry: dict[str, Any]) -> None:
    assume(is_toml(text))
    before = tomllib.loads(text)

    after = read(put(text, KEYS, entry))

    assert after == before | {"mcp_servers": before.get("mcp_servers", {}) | {"pytest": entry}}


@given(documents(), documents(), ENTRIES)
def test_a_table_is_replaced_where_it_stands(before: str, behind: str, entry: dict[str, Any]) -> None:
    assume(is_toml(before))
    text = put(before, KEYS, {"command": "old"}) + "\n" + behind
    assume(is_toml(text))
    start = len(before)

    changed = put(text, KEYS, entry)

    assert changed.startswith(before)
    assert read(changed)["mcp_servers"]["pytest"] == entry
    assert drop(changed, KEYS) == drop(text, KEYS)
    assert changed[start:].lstrip().startswith("[mcp_servers.pytest]")


def test_a_new_table_stands_at_the_end_behind_an_empty_line() -> None:
    assert put('model = "o3"\n', KEYS, ENTRY) == (
        'model = "o3"\n'
        "\n"
        "[mcp_servers.pytest]\n"
        'command = "/bin/pytest-mcp"\n'
        'args = ["--root", "a b"]\n'
        "tool_timeout_sec = 300\n"
    )


def test_a_key_behind_a_dotted_table_keeps_its_place_which_tomlkit_does_not_manage() -> None:
    """Why this editor is written by hand (python-poetry/tomlkit#588). If the last line fails, tomlkit is fixed: try it
    again instead of `toml_edit`."""
    text = 'mcp_servers.other.command = "x"\nmodel = "o3"\n'
    servers = {"other": {"command": "x"}, "pytest": {"command": "y"}}
    document: Any = tomlkit.parse(text)

    document["mcp_servers"]["pytest"] = {"command": "y"}

    assert read(put(text, KEYS, {"command": "y"})) == {"mcp_servers": servers, "model": "o3"}
    assert read(tomlkit.dumps(document)) == {"mcp_servers": servers | {"pytest": {"command": "y", "model": "o3"}}}


def test_comments_on_the_next_table_stay_when_the_one_before_goes() -> None:
    text = "[mcp_servers.pytest]\ncommand = 'x' # ours\n\n# on the next\n[other]\ny = 1\n"

    assert drop(text, KEYS) == "\n# on the next\n[other]\ny = 1\n"


def test_tables_below_it_go_with_it_wherever_they_stand() -> None:
    text = "[mcp_servers.pytest]\nx = 1\n\n[other]\n\n[mcp_servers.pytest.env]\nA = 'b'\n\n[last]\n"

    assert drop(text, KEYS) == "\n[other]\n\n[last]\n"
    assert read(put(text, KEYS, ENTRY)) == {"mcp_servers": {"pytest": ENTRY}, "other": {}, "last": {}}


def test_tables_below_it_that_do_not_change_stay_as_they_are_written() -> None:
    env = "[mcp_servers.pytest.env]  # mine\nA = 'b'\n"
    text = f"[mcp_servers.pytest]\nx = 1\n\n[other]\n\n{env}"

    changed = put(text, KEYS, {"x": 2, "env": {"A": "b"}})

    assert changed == f"[mcp_servers.pytest]\nx = 2\n\n[other]\n\n{env}"


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.pytest]\nenv = {A = 'b', \"c d\" = [1]}\n",
        "[mcp_servers.pytest]\nenv.A = 'b'\nenv.\"c d\" = [1]\n",
        "[mcp_servers.pytest.env]\nA = 'b'\n\"c d\" = [1]\n",
    ],
)
def test_a_table_within_it_is_written_in_one_line(text: str) -> None:
    changed = put(text, KEYS, {"x": 2, "env": {"A": "b", "c d": [1]}})

    assert changed == '[mcp_servers.pytest]\nx = 2\nenv = {A = "b", "c d" = [1]}\n'


@pytest.mark.parametrize(
    "text", ["mcp_servers = {pytest = {x = 1}}", "mcp_servers.pytest.x = 1", "[mcp_servers]\npytest = {}"]
)
def test_a_table_without_a_header_of_its_own_is_left_alone(text: str) -> None:
    with pytest.raises(TomlError):
        put(text, KEYS, ENTRY)
    with pytest.raises(TomlError):
        drop(text, KEYS)


def test_what_is_no_table_is_left_alone() -> None:
    with pytest.raises(TomlError):
        put("mcp_servers = 1", KEYS, ENTRY)


def test_what_is_not_there_needs_no_change() -> None:
    assert drop("[mcp_servers.other]\n", KEYS) == "[mcp_servers.other]\n"
