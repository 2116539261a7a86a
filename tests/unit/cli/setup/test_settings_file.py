"""Settings files on a real disk: what is changed, what is kept, and what is refused."""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli.setup import settings_file
from pytest_mcp.cli.setup.settings_file import SettingsError, changed, value, write

KEYS, TOML_KEYS = ("mcpServers", "pytest"), ("mcp_servers", "pytest")
ENTRY = {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]}
# Few, so that they meet each other and the keys of the path.
NAMES = st.sampled_from(["mcpServers", "pytest", "other", 'q"', "ключ", ""])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def without_ours(values: dict[str, Any]) -> dict[str, Any]:
    servers = {name: each for name, each in values.get(KEYS[0], {}).items() if name != KEYS[1]}
    return {
        **{name: each for name, each in values.items() if name != KEYS[0]},
        **({KEYS[0]: servers} if servers else {}),
    }


@given(
    values=st.dictionaries(NAMES.filter(lambda name: name != KEYS[0]), VALUES, max_size=4),
    servers=st.dictionaries(NAMES, VALUES, max_size=3),
    layout=st.sampled_from([None, 2, 4, "\t"]),
)
def test_every_other_value_stays_when_an_entry_comes_and_goes(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any], servers: dict[str, Any], layout: Any
) -> None:
    before = {**values, KEYS[0]: servers}
    path = written(tmp_path_factory.mktemp("home") / "a.json", json.dumps(before, indent=layout).encode())

    write(changed(path, KEYS, ENTRY))
    there = json.loads(path.read_bytes())
    write(changed(path, KEYS, None))
    after = json.loads(path.read_bytes()) if path.exists() else {}

    assert there == {**before, KEYS[0]: {**servers, KEYS[1]: ENTRY}}
    assert after == without_ours(before)


@pytest.mark.parametrize(
    "content",
    [
        b'{\n    "a": 1,\n    "mcpServers": {\n        "x": {}\n    }\n}',
        b'{\r\n\t"a": "\xc3\xbc"\r\n}\r\n',
        b'{\n  "a": []\n}\n',
    ],
)
def test_a_json_file_keeps_its_indentation_line_ends_and_last_line(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path / "a.json", content)

    write(changed(path, KEYS, ENTRY))
    write(changed(path, KEYS, None))

    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "text", ['{"a": "//x", /* , */ "b": [1, 2,], // }\n}', '{"a": "//x", "b": [1, 2] /* no end */ , /**/ }']
)
def test_comments_and_trailing_commas_are_read_and_a_file_with_them_is_marked(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "a.jsonc", text.encode())

    assert settings_file.read(text) == {"a": "//x", "b": [1, 2]}
    with pytest.raises(SettingsError):
        write(changed(path, KEYS, ENTRY))
    assert not changed(path, ["b"], [1, 2]).is_needed


TOML = b'model = "o3" # mine\n\n[mcp_servers.x]\nkey = [\n  "[a]",\n]\n'


@pytest.mark.parametrize("content", [TOML, TOML.replace(b"\n", b"\r\n"), b"# only words\n"])
def test_a_new_table_is_a_marked_block_at_the_end_and_goes_without_a_trace(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path / "a.toml", content)

    write(changed(path, TOML_KEYS, ENTRY))
    there = path.read_bytes()
    write(changed(path, TOML_KEYS, None))

    newline = b"\r\n" if b"\r\n" in content else b"\n"
    assert there.startswith(content + newline + b"# pytest-mcp:begin" + newline + b"[mcp_servers.pytest]" + newline)
    assert there.endswith(newline + b"# pytest-mcp:end" + newline)
    assert tomllib.loads(there.decode())["mcp_servers"]["pytest"] == ENTRY
    assert path.read_bytes() == content


def test_a_table_of_an_older_version_is_replaced_in_its_place_and_removed(tmp_path: Path) -> None:
    before, after = "a = 1\n\n[mcp_servers.x]\ny = 1\n", "\n# of the next\n[other]\nz = 2\n"
    old = '\n[ mcp_servers . "pytest" ] # mine\ncommand = "old"\n\n[mcp_servers.pytest.env]\nKEY = "v"\n'
    path = written(tmp_path / "a.toml", (before + old + after).encode())

    write(changed(path, TOML_KEYS, {**ENTRY, "env": {"KEY": "v"}}))
    there = path.read_text(encoding="utf-8")
    write(changed(path, TOML_KEYS, None))

    assert there.startswith(before + "\n[mcp_servers.pytest]\ncommand = ")
    assert there.endswith('env = {KEY = "v"}\n' + after)
    assert path.read_text(encoding="utf-8") == before + after


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b'{\n  "a": 1\n  "b": 2\n}', "line 3 column 3"),
        ("a.json", b'{"mcpServers": []}', "an object with 'pytest' was expected"),
        ("a.json", b'{"a": 1, "a": 2}', "a key twice"),
        ("a.json", b'{"a": 1e999}', "not JSON compliant"),
        ("a.json", b"\xff\xfe{}", "utf-8"),
        ("a.json", b"[" * 100_000, "recursion"),
        ("a.toml", b"a = \n", "line 1, column 5"),
        ("a.toml", b"mcpServers = {pytest = {a = 1}}\n", "was not changed"),
        ("a.toml", b"[mcpServers.pytest]\na = 1979-05-27\n[b]\n[mcpServers.pytest.c]\n", "was not changed"),
    ],
)
def test_a_text_that_cannot_be_changed_safely_is_told_with_its_place_and_left_alone(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = written(tmp_path / name, content)

    with pytest.raises(SettingsError) as trouble:
        changed(path, KEYS, ENTRY)

    assert str(path) in str(trouble.value)
    assert words in str(trouble.value)


def test_a_folder_a_pipe_a_loop_of_links_or_a_value_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")

    for name in ("folder.json", "pipe.json", "loop.json"):
        with pytest.raises(SettingsError):
            changed(tmp_path / name, KEYS, ENTRY)
    with pytest.raises(SettingsError):
        changed(tmp_path / "a.json", KEYS, {"command": os.fsdecode(b"/bin/\xff")})


def test_a_link_is_written_through_and_not_deleted_nor_is_its_target(tmp_path: Path) -> None:
    target = written(tmp_path / "dotfiles" / "mcp.json", b"{}\n")
    link = tmp_path / "mcp.json"
    link.symlink_to(target)

    write(changed(link, KEYS, ENTRY))
    carried = value(target, KEYS)
    write(changed(link, KEYS, None))

    assert carried == ENTRY
    assert link.readlink() == target
    assert target.read_bytes() == b"{}\n"


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="Python has no way to set attributes elsewhere")
def test_mode_group_and_attributes_of_a_file_stay_and_it_gets_a_new_time(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b"{}")
    path.chmod(0o640)
    os.utime(path, (1, 1))
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    before = path.stat()

    write(changed(path, KEYS, ENTRY))

    write(changed(tmp_path / "new.json", KEYS, ENTRY))

    now = path.stat()
    assert (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid) == (0o640, before.st_uid, before.st_gid)
    assert os.getxattr(path, "user.note") == b"mine"
    assert now.st_mtime > 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "new.json"]


@pytest.mark.parametrize("meanwhile", [b'{"other": 1}', None, "link"])
def test_a_file_that_changed_after_it_was_shown_is_not_written(tmp_path: Path, meanwhile: bytes | str | None) -> None:
    path, other = written(tmp_path / "a.json", b"{}"), written(tmp_path / "other.json", b"{}")
    change = changed(path, KEYS, ENTRY)
    path.unlink()
    if isinstance(meanwhile, bytes):
        written(path, meanwhile)
    elif meanwhile:
        path.symlink_to(other)

    with pytest.raises(SettingsError):
        write(change)

    assert (path.read_bytes() if path.exists() else None) == (b"{}" if meanwhile == "link" else meanwhile)
    assert other.read_bytes() == b"{}"
