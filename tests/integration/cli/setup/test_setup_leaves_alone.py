"""What `pytest-mcp setup` does not touch: entries of others, links in projects, and what may not be written."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands.desk import SERVER, Desk

# Makes the superuser, who may do anything, obey the modes of files, as everybody else does.
OBEYING = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")


def test_a_file_that_cannot_be_read_is_left_alone_and_the_others_are_served(desk: Desk) -> None:
    broken = desk.project / ".mcp.json"
    broken.write_bytes(b'{"mcpServers": {]}')

    done = desk.typed("claude-code", "gemini", "--yes")

    assert done.returncode == 1
    assert "line 1 column 17" in done.stderr
    assert "Traceback" not in done.stderr
    assert f'"command": "{SERVER}"' in done.stdout.split("Gemini CLI")[0]
    assert broken.read_bytes() == b'{"mcpServers": {]}'
    assert (desk.project / ".gemini" / "settings.json").exists()


def test_a_file_is_deleted_only_if_nothing_else_is_in_it_and_a_folder_too(desk: Desk) -> None:
    kept = [desk.project / "opencode.json", desk.project / ".codex" / "config.toml"]
    kept[1].parent.mkdir()
    kept[0].write_bytes(b'{"theme": "x"}')
    kept[1].write_bytes(b"# mine\n")
    other = desk.project / ".gemini" / "GEMINI.md"
    other.parent.mkdir()
    other.touch()

    desk.typed("opencode", "codex", "gemini", "--yes")
    done = desk.typed("--remove", "--yes")

    assert done.returncode == 0
    assert [file.read_bytes() for file in kept] == [b'{"theme": "x"}', b"# mine\n"]
    assert list(other.parent.iterdir()) == [other]


FOREIGN = [
    {"command": "my-pytest-mcp-wrapper", "args": ["--key", "secret"]},
    {"command": "bash", "args": ["-c", "KEY=secret exec pytest-mcp"]},
    {"url": "https://x.org/pytest-mcp?key=secret"},
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda entry: str(next(iter(entry.values()))))
def test_an_entry_of_somebody_else_is_neither_replaced_nor_taken_out(desk: Desk, foreign: dict[str, object]) -> None:
    path = desk.project / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"pytest": foreign}}), encoding="utf-8")
    content = path.read_bytes()

    put_in = desk.typed("claude-code", "--yes")
    taken_out = desk.typed("claude-code", "--remove", "--yes")
    all_taken_out = desk.typed("--remove", "--yes")

    assert (put_in.returncode, taken_out.returncode, all_taken_out.returncode) == (1, 0, 0)
    assert str(foreign.get("command", "no command")) in put_in.stderr
    assert "secret" not in put_in.stderr + put_in.stdout + taken_out.stdout
    assert path.read_bytes() == content


def test_secrets_of_neighbours_are_not_shown(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"other": {"env": {"KEY": "hunter2"}}}}')

    for arguments in (["--print"], ["--yes"], ["--remove", "--print"], ["--remove", "--yes"]):
        done = desk.typed("claude-code", *arguments)

        assert done.returncode == 0
        assert SERVER in done.stdout
        assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_file_that_git_tracks_is_not_deleted(desk: Desk, version: str) -> None:
    desk.typed("cursor", "zed", "--yes")
    git = ["git", "-C", str(desk.project), "-c", f"index.version={version}"]
    for words in (["init", "--quiet"], ["add", ".cursor", ".zed"], ["update-index", "--index-version", version]):
        subprocess.run([*git, *words], check=True)

    done = desk.typed("--remove", "--yes")

    assert [(desk.project / name).read_bytes() for name in (".cursor/mcp.json", ".zed/settings.json")] == [b"{}\n"] * 2
    assert "deleted" not in done.stdout


@pytest.fixture
def obeying() -> Sequence[str]:
    if os.geteuid() != 0:
        return ()
    program = shutil.which(OBEYING[0])
    if program is None:
        pytest.skip("the superuser may write everything, and setpriv is not here to forbid it")
    return (program, *OBEYING[1:])


def test_what_is_read_only_is_told_in_one_sentence_and_stays(desk: Desk, obeying: Sequence[str]) -> None:
    locked_file = desk.project / ".mcp.json"
    locked_file.write_bytes(b"{}")
    locked_file.chmod(0o444)
    secret = desk.project / "opencode.json"
    secret.write_bytes(b"{}")
    secret.chmod(0o000)
    desk.project.chmod(0o555)

    done = desk.typed_behind(obeying, "claude-code", "codex", "opencode", "--yes")
    desk.project.chmod(0o755)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 3
    assert [path.name for path in sorted(desk.project.iterdir())] == [".mcp.json", "opencode.json"]
    assert locked_file.read_bytes() == b"{}"


@pytest.mark.parametrize("place", ["home/settings.json", "shop/package.json", "shop/none.json"])
def test_a_link_in_a_project_is_not_followed_wherever_it_leads(desk: Desk, place: str) -> None:
    target = desk.home.parent / place
    if "none" not in place:
        target.write_bytes(b"{}")
    (desk.project / ".mcp.json").symlink_to(target)
    (desk.project / "real").mkdir()
    (desk.project / ".cursor").symlink_to("real")
    before = desk.files()

    done = desk.typed("claude-code", "cursor", "--yes")
    out = desk.typed("claude-code", "--remove", "--yes")

    assert (done.returncode, out.returncode) == (1, 1)
    assert str(target) in done.stderr
    assert desk.files() == before


def test_a_project_that_is_reached_by_a_link_is_set_up(desk: Desk) -> None:
    link = desk.home / "shop"
    link.symlink_to(desk.project)

    done = desk.typed("cursor", "--yes", cwd=Path("/"), options=["--root", str(link)])

    assert done.returncode == 0
    assert (desk.project / ".cursor" / "mcp.json").is_file()


def test_a_link_among_the_users_own_settings_is_followed_and_told(desk: Desk) -> None:
    target = desk.home / "dotfiles" / "gemini.json"
    target.parent.mkdir()
    target.write_bytes(b"{}\n")
    link = desk.home / ".gemini" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(target)

    done = desk.typed("gemini", "--user", "--yes")

    assert done.returncode == 0
    assert f"{link} (symlink to {target})" in done.stdout
    assert link.is_symlink()
    assert "pytest" in json.loads(target.read_bytes())["mcpServers"]
