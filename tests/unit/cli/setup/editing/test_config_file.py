"""Settings files on a real disk: what is changed, what is kept, and what is refused."""

import json
import os
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_mcp.cli.setup.editing import jsonc_edit
from pytest_mcp.cli.setup.editing.config_file import (
    Change,
    ConfigFileError,
    added,
    difference,
    is_empty,
    removed,
    sample,
    table,
    write,
)
from tests.support.invented import jsonc_documents, toml_documents

KEYS = ("mcpServers", "pytest")
ENTRY = {"command": "/bin/pytest-mcp", "args": []}
TOML_KEYS = ("mcp_servers", "pytest")
MEMBERS = frozenset({"command", "args"})
CANARY = "hunter2-canary"


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def carried_out(change: Change) -> None:
    write(change)


@pytest.mark.parametrize(
    ("name", "keys", "content"),
    [
        ("a.json", KEYS, b"{}"),
        ("a.json", KEYS, b"{}\n"),
        ("a.json", KEYS, b'{"mcpServers": {}}'),
        ("a.json", KEYS, b'\xef\xbb\xbf{\r\n\t"a": 1, // why\r\n\t"mcpServers": {\r\n\t}\r\n}\r\n'),
        ("a.jsonc", KEYS, b'// words\n{\n  "mcpServers": {\n    "x": {}, /* y */\n  },\n}'),
        ("a.json", KEYS, '{"ключ": "→"}'.encode()),
        ("a.toml", TOML_KEYS, b'model = "o3"'),
        ("a.toml", TOML_KEYS, b"\xef\xbb\xbf# words\r\n\r\n[mcp_servers.x]\r\ny = 1\r\n\r\n"),
    ],
)
def test_what_is_added_and_taken_out_leaves_every_byte_as_it_was(
    tmp_path: Path, name: str, keys: tuple[str, str], content: bytes
) -> None:
    path = written(tmp_path / name, content)

    carried_out(added(path, keys, ENTRY))
    entries = table(path, keys[:1])
    carried_out(removed(path, keys))

    assert entries["pytest"] == ENTRY
    assert path.read_bytes() == content


def test_to_take_out_what_is_not_there_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b'{"mcpServers": {"other": 1}}')

    assert not removed(path, KEYS).is_needed
    assert not removed(tmp_path / "none.json", KEYS).is_needed


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b'{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ("a.json", b'{"mcpServers": []}', "line 1, column 16"),
        ("a.json", b"\xff\xfe{}", "not UTF-8"),
        ("a.json", b"[" * 100_000, "line 1"),
        ("a.toml", b"a = \n", "line 1, column 5"),
        ("a.toml", b'mcpServers = "x"\n', "was not changed"),
        ("a.toml", b"a = " + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_text_that_cannot_be_changed_is_told_with_its_place_and_left_alone(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = written(tmp_path / name, content)

    with pytest.raises(ConfigFileError) as trouble:
        added(path, KEYS, ENTRY)

    assert str(path) in str(trouble.value)
    assert words in str(trouble.value)
    assert path.read_bytes() == content


def test_a_folder_or_a_pipe_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")

    for name in ("folder.json", "pipe.json", "folder.json/a.json/b.json"):
        path = tmp_path / name
        if name.count("/"):
            written(tmp_path / "folder.json" / "a.json", b"{}")
        with pytest.raises(ConfigFileError):
            added(path, KEYS, ENTRY)


def test_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError):
        added(tmp_path / "a.json", KEYS, {"command": os.fsdecode(b"/bin/\xff")})


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    target = written(tmp_path / "dotfiles" / "mcp.json", b"{}\n")
    link = tmp_path / "mcp.json"
    link.symlink_to(target)

    carried_out(added(link, KEYS, ENTRY))
    carried = table(target, KEYS[:1])
    carried_out(removed(link, KEYS))

    assert carried == {"pytest": ENTRY}
    assert link.readlink() == target
    assert target.read_bytes() == b"{}\n"


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    link = tmp_path / "mcp.json"
    link.symlink_to(link)

    with pytest.raises(ConfigFileError):
        added(link, KEYS, ENTRY)


def test_mode_and_second_names_of_a_file_stay(tmp_path: Path) -> None:
    private, named = written(tmp_path / "private.json", b"{}"), written(tmp_path / "named.json", b"{}")
    private.chmod(0o600)
    second = tmp_path / "second.json"
    second.hardlink_to(named)

    for path in (private, named):
        carried_out(added(path, KEYS, ENTRY))

    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert table(second, KEYS[:1]) == {"pytest": ENTRY}
    assert len(list(tmp_path.iterdir())) == 3


def test_a_new_file_has_the_mode_that_the_user_wants_for_new_files(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain", b"")

    carried_out(added(tmp_path / "a.json", KEYS, ENTRY))

    assert (tmp_path / "a.json").stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("meanwhile", [b'{"other": 1}', None])
def test_a_file_that_changed_after_it_was_shown_is_not_written(tmp_path: Path, meanwhile: bytes | None) -> None:
    path = written(tmp_path / "a.json", b"{}")
    change = added(path, KEYS, ENTRY)
    path.unlink()
    if meanwhile is not None:
        written(path, meanwhile)

    with pytest.raises(ConfigFileError):
        carried_out(change)

    assert (path.read_bytes() if path.exists() else None) == meanwhile


def test_a_link_that_came_meanwhile_is_not_followed(tmp_path: Path) -> None:
    path, other = written(tmp_path / "a.json", b"{}"), written(tmp_path / "other.json", b"{}")
    change = added(path, KEYS, ENTRY)
    path.unlink()
    path.symlink_to(other)

    with pytest.raises(ConfigFileError):
        carried_out(change)

    assert other.read_bytes() == b"{}"


def test_a_file_that_came_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    change = added(path, KEYS, ENTRY)
    written(path, b"{}")

    with pytest.raises(ConfigFileError):
        carried_out(change)

    assert path.read_bytes() == b"{}"


def test_a_sample_is_the_entry_in_its_tables() -> None:
    assert sample(Path("a.toml"), TOML_KEYS, {"command": "x"}) == '[mcp_servers.pytest]\ncommand = "x"\n'
    assert sample(Path("a.json"), KEYS, {}) == '{\n  "mcpServers": {\n    "pytest": {}\n  }\n}'


def test_behind_a_link_into_a_folder_that_is_gone_nothing_is_made(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "gone" / "settings.json")
    change = added(link, KEYS, ENTRY)

    with pytest.raises(ConfigFileError, match="which does not exist"):
        write(change)

    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(("name", "keys", "left"), [("a.json", KEYS, b"{}\n"), ("a.toml", TOML_KEYS, b"")])
def test_a_file_that_was_made_stays_as_an_empty_one_when_its_entry_is_taken_out(
    tmp_path: Path, name: str, keys: tuple[str, str], left: bytes
) -> None:
    path = tmp_path / ".client" / name

    write(added(path, keys, ENTRY))
    content = path.read_bytes()
    write(removed(path, keys))

    assert content.endswith(b"\n")
    assert path.read_bytes() == left
    assert is_empty(path)


@pytest.mark.parametrize("content", [b"", b"\n", b'{"mcpServers": {"pytest": {}}}', b'{\n  "$schema": "x"\n}\n'])
def test_a_file_that_was_there_stays_whatever_it_held(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path / "a.json", content)

    carried_out(added(path, KEYS, ENTRY))
    carried_out(removed(path, KEYS))

    assert path.exists()
    assert isinstance(json.loads(path.read_bytes()), dict)


def test_a_new_file_begins_as_its_skeleton(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    skeleton = '{\n  "$schema": "x"\n}\n'

    carried_out(added(path, KEYS, ENTRY, skeleton))
    first = path.read_text(encoding="utf-8")
    carried_out(removed(path, KEYS))

    assert first.startswith('{\n  "$schema": "x",\n')
    assert path.read_text(encoding="utf-8") == skeleton
    assert is_empty(path, skeleton)
    assert not is_empty(path)


def test_a_link_that_leads_nowhere_gets_its_file(tmp_path: Path) -> None:
    link = tmp_path / "mcp.json"
    link.symlink_to(tmp_path / "later.json")

    carried_out(added(link, KEYS, ENTRY))

    assert table(tmp_path / "later.json", KEYS[:1]) == {"pytest": ENTRY}
    assert link.is_symlink()


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


def an_acl() -> bytes:
    """An access control list that lets one more user read: version 2, then tag, permissions and number of each row."""
    rows = [
        (0x01, 6, 0xFFFFFFFF),
        (0x02, 4, 12345),
        (0x04, 4, 0xFFFFFFFF),
        (0x10, 4, 0xFFFFFFFF),
        (0x20, 0, 0xFFFFFFFF),
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


@pytest.mark.skipif(sys.platform != "linux", reason="Python has no way to set them elsewhere")
@pytest.mark.parametrize(
    ("name", "value"), [("user.note", lambda: b"mine"), ("system.posix_acl_access", an_acl)], ids=["user", "acl"]
)
def test_extended_attributes_of_a_file_stay(tmp_path: Path, name: str, value: Callable[[], bytes]) -> None:
    path = written(tmp_path / "a.json", b"{}")
    try:
        os.setxattr(path, name, value())
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    before = (path.stat().st_mode, os.getxattr(path, name))

    carried_out(added(path, KEYS, ENTRY))
    carried_out(removed(path, KEYS))

    assert (path.stat().st_mode, os.getxattr(path, name)) == before


@pytest.mark.skipif(sys.platform != "linux", reason="Python has no way to set them elsewhere")
def test_a_file_does_not_get_the_access_list_of_its_folder(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b"{}")
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", an_acl())
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    before = os.listxattr(path)

    carried_out(added(path, KEYS, ENTRY))

    assert os.listxattr(path) == before


def test_the_group_of_a_file_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b"{}")
    path.chmod(0o640)
    known = path.stat()
    others = [group for group in os.getgroups() if group != known.st_gid] or [known.st_gid + 1]
    try:
        os.chown(path, -1, others[0])
    except PermissionError:
        pytest.skip("this user is in one group only")

    carried_out(added(path, KEYS, ENTRY))

    now = path.stat()
    assert (now.st_gid, now.st_uid, now.st_mode) == (others[0], known.st_uid, known.st_mode)
    assert now.st_ino != known.st_ino
