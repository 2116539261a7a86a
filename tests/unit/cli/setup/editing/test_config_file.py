"""Settings files on a real disk: what is changed, what is kept, and what is refused."""

import json
import os
import stat
from pathlib import Path

import pytest

from pytest_mcp.cli.setup.editing.config_file import (
    ConfigFileError,
    added,
    is_empty,
    removed,
    sample,
    table,
    write,
)
from tests.support.invented.settings_files import ENTRY, KEYS, TOML_KEYS, written

SKELETON = '{\n  "$schema": "x"\n}\n'


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

    write(added(path, keys, ENTRY))
    entries = table(path, keys[:1])
    write(removed(path, keys))

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

    write(added(link, KEYS, ENTRY))
    carried = table(target, KEYS[:1])
    write(removed(link, KEYS))

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
        write(added(path, KEYS, ENTRY))

    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert table(second, KEYS[:1]) == {"pytest": ENTRY}
    assert len(list(tmp_path.iterdir())) == 3


def test_a_new_file_has_the_mode_that_the_user_wants_for_new_files(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain", b"")

    write(added(tmp_path / "a.json", KEYS, ENTRY))

    assert (tmp_path / "a.json").stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("meanwhile", [b'{"other": 1}', None])
def test_a_file_that_changed_after_it_was_shown_is_not_written(tmp_path: Path, meanwhile: bytes | None) -> None:
    path = written(tmp_path / "a.json", b"{}")
    change = added(path, KEYS, ENTRY)
    path.unlink()
    if meanwhile is not None:
        written(path, meanwhile)

    with pytest.raises(ConfigFileError):
        write(change)

    assert (path.read_bytes() if path.exists() else None) == meanwhile


def test_a_link_that_came_meanwhile_is_not_followed(tmp_path: Path) -> None:
    path, other = written(tmp_path / "a.json", b"{}"), written(tmp_path / "other.json", b"{}")
    change = added(path, KEYS, ENTRY)
    path.unlink()
    path.symlink_to(other)

    with pytest.raises(ConfigFileError):
        write(change)

    assert other.read_bytes() == b"{}"


def test_a_file_that_came_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    change = added(path, KEYS, ENTRY)
    written(path, b"{}")

    with pytest.raises(ConfigFileError):
        write(change)

    assert path.read_bytes() == b"{}"


def test_a_sample_is_the_entry_in_its_tables() -> None:
    assert sample(Path("a.toml"), TOML_KEYS, {"command": "x"}) == '[mcp_servers.pytest]\ncommand = "x"'
    assert sample(Path("a.json"), KEYS, {}) == '{\n  "mcpServers": {\n    "pytest": {}\n  }\n}'


def test_behind_a_link_into_a_folder_that_is_gone_nothing_is_made(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "gone" / "settings.json")
    change = added(link, KEYS, ENTRY)

    with pytest.raises(ConfigFileError, match="which does not exist"):
        write(change)

    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(("name", "keys"), [("a.json", KEYS), ("a.toml", TOML_KEYS)])
@pytest.mark.parametrize("skeleton", ["", SKELETON])
def test_a_file_that_was_made_is_deleted_when_its_entry_is_taken_out(
    tmp_path: Path, name: str, keys: tuple[str, str], skeleton: str
) -> None:
    path = tmp_path / name
    skeleton = skeleton if name == "a.json" else ""

    write(added(path, keys, ENTRY, skeleton))
    content = path.read_bytes()
    write(added(path, keys, {**ENTRY, "more": ["x"]}, skeleton))
    write(removed(path, keys, skeleton))

    assert content.endswith(b"\n")
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"\n", b'{"mcpServers": {"pytest": {}}}', SKELETON.encode()])
@pytest.mark.parametrize("skeleton", ["", SKELETON])
def test_a_file_that_was_there_stays_whatever_it_held(tmp_path: Path, content: bytes, skeleton: str) -> None:
    path = written(tmp_path / "a.json", content)

    write(added(path, KEYS, ENTRY, skeleton))
    write(removed(path, KEYS, skeleton))

    assert path.exists()
    assert isinstance(json.loads(path.read_bytes()), dict)


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n", b"# mine\n"])
def test_a_toml_file_that_was_there_stays_byte_for_byte(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path / "a.toml", content)

    write(added(path, TOML_KEYS, ENTRY))
    write(removed(path, TOML_KEYS))

    assert path.read_bytes() == content


def test_a_file_with_a_second_name_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write(added(path, KEYS, ENTRY))
    os.link(path, tmp_path / "b.json")

    write(removed(path, KEYS))

    assert path.read_bytes() == (tmp_path / "b.json").read_bytes() == b"{}\n"


def test_a_new_file_has_its_skeleton_and_is_empty_with_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    write(added(path, KEYS, ENTRY, SKELETON))
    new = table(path, ())
    path.write_text(SKELETON, encoding="utf-8")

    assert new == {"$schema": "x", KEYS[0]: {KEYS[1]: ENTRY}}
    assert is_empty(path, SKELETON)
    assert not is_empty(path)


def test_a_link_that_leads_nowhere_gets_its_file(tmp_path: Path) -> None:
    link = tmp_path / "mcp.json"
    link.symlink_to(tmp_path / "later.json")

    write(added(link, KEYS, ENTRY))

    assert table(tmp_path / "later.json", KEYS[:1]) == {"pytest": ENTRY}
    assert link.is_symlink()
