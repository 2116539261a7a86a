"""Settings files on a real disk: what is changed, what is left alone, and what is refused."""

import os
import stat
from pathlib import Path

import pytest

from pytest_mcp.configfile import Change, Trouble, added, difference, removed, sample, table, write

KEYS = ("mcpServers", "pytest")
ENTRY = {"command": "/bin/pytest-mcp", "args": []}
TOML_KEYS = ("mcp_servers", "pytest")


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def carried_out(change: Change) -> None:
    write(change, keep=change.path.parent)


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


@pytest.mark.parametrize(("name", "keys"), [("a.json", KEYS), ("a.toml", TOML_KEYS)])
def test_a_file_and_a_folder_that_were_not_there_are_made_and_go_again(
    tmp_path: Path, name: str, keys: tuple[str, str]
) -> None:
    path = tmp_path / ".client" / name

    write(added(path, keys, ENTRY), keep=tmp_path)
    content = path.read_bytes()
    write(removed(path, keys), keep=tmp_path)

    assert content.endswith(b"\n")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_else_or_shall_stay_stays(tmp_path: Path) -> None:
    path, neighbour = tmp_path / "a.json", tmp_path / "b" / "a.json"
    written(tmp_path / "b" / "other", b"")
    for each in (path, neighbour):
        write(added(each, KEYS, ENTRY), keep=tmp_path)

    for each in (path, neighbour):
        write(removed(each, KEYS), keep=tmp_path)

    assert sorted(tmp_path.rglob("*")) == [tmp_path / "b", tmp_path / "b" / "other"]


def test_a_new_file_begins_as_its_skeleton_and_is_gone_when_only_that_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    skeleton = '{\n  "$schema": "x"\n}\n'

    carried_out(added(path, KEYS, ENTRY, skeleton))
    first = path.read_text(encoding="utf-8")
    carried_out(removed(path, KEYS, skeleton))

    assert first.startswith('{\n  "$schema": "x",\n')
    assert not path.exists()


def test_to_take_out_what_is_not_there_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b'{"mcpServers": {"other": 1}}')

    assert not removed(path, KEYS).is_one
    assert not removed(tmp_path / "none.json", KEYS).is_one


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

    with pytest.raises(Trouble) as trouble:
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
        with pytest.raises(Trouble):
            added(path, KEYS, ENTRY)


def test_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(Trouble):
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


def test_a_link_that_leads_nowhere_gets_its_file_and_loses_it_again(tmp_path: Path) -> None:
    link = tmp_path / "mcp.json"
    link.symlink_to(tmp_path / "later.json")

    carried_out(added(link, KEYS, ENTRY))
    made = (tmp_path / "later.json").exists()
    carried_out(removed(link, KEYS))

    assert made
    assert [path.name for path in tmp_path.iterdir()] == ["mcp.json"]


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    link = tmp_path / "mcp.json"
    link.symlink_to(link)

    with pytest.raises(Trouble):
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

    with pytest.raises(Trouble):
        carried_out(change)

    assert (path.read_bytes() if path.exists() else None) == meanwhile


def test_a_file_that_came_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    change = added(path, KEYS, ENTRY)
    written(path, b"{}")

    with pytest.raises(Trouble):
        carried_out(change)

    assert path.read_bytes() == b"{}"


def test_a_difference_is_shown_as_every_diff_is(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b'{\r\n  "secret": 1,\r\n  "b": {}\r\n}')

    shown = difference(added(path, ("b", "c"), {}))

    assert shown.splitlines() == [
        f"--- {path}",
        f"+++ {path}",
        "@@ -2,3 +2,3 @@",
        '   "secret": 1,',
        '-  "b": {}',
        '+  "b": {"c": {}}',
        " }",
        "\\ No newline at end of file",
    ]


def test_a_difference_moves_no_cursor(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b'{\n  "x": "\x7f\xe2\x80\xae",\n  "b": 1\n}\n')

    shown = difference(added(path, ("c",), {}))

    assert "\\x7f\\u202e" in shown


def test_a_sample_is_the_entry_in_its_tables() -> None:
    assert sample(Path("a.toml"), TOML_KEYS, {"command": "x"}) == '[mcp_servers.pytest]\ncommand = "x"\n'
    assert sample(Path("a.json"), KEYS, {}) == '{\n  "mcpServers": {\n    "pytest": {}\n  }\n}'


def test_behind_a_link_into_a_folder_that_is_gone_nothing_is_made(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "gone" / "settings.json")
    change = added(link, KEYS, ENTRY)

    with pytest.raises(Trouble, match="which does not exist"):
        write(change, keep=tmp_path)

    assert not (tmp_path / "gone").exists()
