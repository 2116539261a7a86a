"""`pytest-mcp setup` as a person types it: in a home and a project of their own, at a terminal and without one."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_mcp.cli.commands.setup import CLIENTS_BY_NAME
from pytest_mcp.cli.setup.clients import CLIENTS

COMMAND = [sys.executable, "-m", "pytest_mcp"]
SERVER = str(Path(sys.executable).parent / "pytest-mcp")
# Long enough for the slowest machine to start Python and ask.
PATIENCE = 60
# Makes the superuser, who may do anything, obey the modes of files, as everybody else does.
OBEYING = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")


@dataclass(frozen=True)
class Desk:
    """A home folder and a project, both empty."""

    home: Path
    project: Path

    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.home / "bin"), "HOME": str(self.home), "LANG": "C.UTF-8"}

    def typed(
        self, *arguments: str, cwd: Path | None = None, before: Sequence[str] = (), options: Sequence[str] = ()
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*before, *COMMAND, *options, "setup", *arguments],
            cwd=cwd or self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def answered(self, answer: bytes | signal.Signals, *arguments: str) -> tuple[int, str]:
        """At a terminal: the exit code, and all that was to be read there."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, "setup", *arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        ) as process:
            os.close(theirs)
            said = read_until(ours, b"[Y/n] ")
            if isinstance(answer, signal.Signals):
                process.send_signal(answer)
            # Behind a signal it wakes a program that had not begun to read yet; the signal still comes first.
            with contextlib.suppress(OSError):
                os.write(ours, answer if isinstance(answer, bytes) else b"\n")
            said += read_until(ours, None)
            process.wait(PATIENCE)
        os.close(ours)
        return process.returncode, said.decode()

    def files(self) -> dict[str, bytes]:
        folder = self.home.parent
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def servers(self, name: str = ".mcp.json") -> dict[str, dict[str, object]]:
        servers = json.loads((self.project / name).read_text(encoding="utf-8"))["mcpServers"]
        assert isinstance(servers, dict)
        return servers


def read_until(terminal: int, words: bytes | None) -> bytes:
    said = b""
    while words is None or words not in said:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # the other side has closed the terminal
            return said
        if not more:
            return said
        said += more
    return said


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "home", tmp_path / "shop")
    desk.home.mkdir()
    desk.project.mkdir()
    return desk


@pytest.mark.parametrize("level", [[], ["--user"]], ids=["project", "user"])
@pytest.mark.parametrize("name", CLIENTS_BY_NAME)
def test_every_client_is_set_up_once_and_taken_out_again(desk: Desk, name: str, level: list[str]) -> None:
    first = desk.typed(name, *level, "--yes")
    after_first = desk.files()
    second = desk.typed(name, *level, "--yes")
    after_second = desk.files()
    out = desk.typed("--remove", name, *level, "--yes")

    assert (first.returncode, second.returncode, out.returncode) == (0, 0, 0)
    assert first.stderr + second.stderr + out.stderr == ""
    ((path, content),) = after_first.items()
    assert str(desk.home.parent / path) in first.stdout
    assert SERVER.encode() in content
    assert after_second == after_first
    # Nobody knows who has made a file, so it stays, with nothing of ours in it.
    ((left, rest),) = desk.files().items()
    assert left == path
    assert rest in (b"{}\n", b"", CLIENTS_BY_NAME[name].skeleton.encode())
    assert "The file is empty now" in out.stdout


def test_what_was_in_a_file_stays_byte_for_byte(desk: Desk) -> None:
    settings = desk.project / ".zed" / "settings.json"
    settings.parent.mkdir()
    content = b'// mine\r\n{\r\n\t"theme": "One", // dark\r\n}'
    settings.write_bytes(content)

    there = desk.typed("zed", "--yes")
    between = settings.read_bytes()
    gone = desk.typed("--remove", "--yes")

    assert (there.returncode, gone.returncode) == (0, 0)
    assert between.startswith(b'// mine\r\n{\r\n\t"theme": "One", // dark\r\n\t"context_servers": {\r\n')
    assert settings.read_bytes() == content


def test_the_entry_starts_a_server(desk: Desk) -> None:
    desk.typed("claude-code", "--yes")
    entry = desk.servers()["pytest"]
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    assert isinstance(entry["args"], list)

    answer = subprocess.run(
        [str(entry["command"]), *entry["args"]],
        cwd=desk.project,
        env={},
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout

    assert json.loads(answer)["result"]["serverInfo"]["name"] == "pytest-mcp"


def test_without_names_those_are_meant_that_are_found(desk: Desk) -> None:
    (desk.project / ".vscode").mkdir()
    (desk.home / ".gemini").mkdir()
    program = desk.home / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)

    done = desk.typed("--yes")

    assert done.returncode == 0
    assert "Found: Codex, Gemini CLI, VS Code. Not found: Claude Code, Claude Desktop" in done.stdout
    assert {Path(name).name for name in desk.files()} == {"codex", "config.toml", "settings.json", "mcp.json"}


def test_when_no_client_is_found_the_names_are_told(desk: Desk) -> None:
    done = desk.typed("--yes")

    assert done.returncode == 1
    assert all(client.name in done.stdout for client in CLIENTS)


def test_print_shows_the_difference_and_writes_nothing(desk: Desk) -> None:
    done = desk.typed("cursor", "--print")

    assert done.returncode == 0
    assert f"+++ {desk.project}/.cursor/mcp.json" in done.stdout
    assert '+      "args": ["--root", "${workspaceFolder}"]' in done.stdout
    assert desk.files() == {}


def test_without_a_terminal_nothing_is_written_unasked(desk: Desk) -> None:
    done = desk.typed("cursor")

    assert done.returncode == 1
    assert "--yes" in done.stdout
    assert desk.files() == {}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"\n", 0),
        (b"y\n", 0),
        (b"YES\n", 0),
        (b"n\n", 1),
        (b"what\n", 1),
        (b"\x04", 1),
        (signal.SIGINT, -signal.SIGINT),
    ],
)
def test_at_a_terminal_the_answer_decides(desk: Desk, answer: bytes | signal.Signals, code: int) -> None:
    returned, said = desk.answered(answer, "gemini")

    assert returned == code
    assert "Traceback" not in said
    assert said.index("+++ ") < said.index("[Y/n]")
    assert bool(desk.files()) == (code == 0)


def test_in_a_home_folder_the_users_own_settings_are_meant(desk: Desk) -> None:
    done = desk.typed("codex", "windsurf", "gemini", "--yes", cwd=desk.home)

    assert done.returncode == 1
    assert "Windsurf" in done.stderr
    assert set(desk.files()) == {"home/.codex/config.toml", "home/.gemini/settings.json"}


def test_two_projects_have_two_entries_where_they_share_a_file(desk: Desk) -> None:
    other = desk.home / "shop"
    other.mkdir()
    path = desk.home / ".codeium" / "windsurf" / "mcp_config.json"

    for folder in (desk.project, other, desk.project):
        desk.typed("windsurf", "--yes", cwd=folder)
    both = json.loads(path.read_bytes())["mcpServers"]
    desk.typed("windsurf", "--remove", "--yes", cwd=desk.project)

    assert {name: entry["args"][1] for name, entry in both.items()} == {
        "pytest-shop": str(desk.project),
        "pytest-shop-2": str(other),
    }
    assert list(json.loads(path.read_bytes())["mcpServers"]) == ["pytest-shop-2"]


def test_what_is_typed_before_the_command_is_meant_for_the_server(desk: Desk) -> None:
    desk.typed("codex", "--yes", options=["--python", "venv/bin/python", "--timeout", "900", "--no-spare"])

    entry = tomllib.loads((desk.project / ".codex" / "config.toml").read_text(encoding="utf-8"))["mcp_servers"][
        "pytest"
    ]
    assert entry["args"] == [f"--python={desk.project}/venv/bin/python", "--timeout=900", "--no-spare"]
    assert entry["tool_timeout_sec"] == 960


def test_root_names_another_project(desk: Desk) -> None:
    done = desk.typed("claude-code", "--yes", cwd=Path("/"), options=["--root", str(desk.project)])

    assert done.returncode == 0
    assert list(desk.files()) == ["shop/.mcp.json"]


def test_a_file_that_cannot_be_read_is_left_alone_and_the_others_are_served(desk: Desk) -> None:
    broken = desk.project / ".mcp.json"
    broken.write_bytes(b'{"mcpServers": {,}}')

    done = desk.typed("claude-code", "gemini", "--yes")

    assert done.returncode == 1
    assert "line 1, column 17" in done.stderr
    assert "Traceback" not in done.stderr
    assert f'"command": "{SERVER}"' in done.stdout.split("Gemini CLI")[0]
    assert broken.read_bytes() == b'{"mcpServers": {,}}'
    assert (desk.project / ".gemini" / "settings.json").exists()


def test_an_entry_that_differs_is_shown_and_replaced_in_its_place(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"pytest": {"command": "pytest-mcp"}, "b": {}}} // end\n')

    shown = desk.typed("claude-code", "--print")
    replaced = desk.typed("claude-code", "--yes")

    assert '-    "command": "pytest-mcp"\n' in shown.stdout
    assert f'+    "command": "{SERVER}"' in shown.stdout
    assert replaced.returncode == 0
    assert path.read_bytes().endswith(b', "b": {}}} // end\n')
    assert SERVER.encode() in path.read_bytes()


def test_the_same_values_in_another_layout_are_in_place(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_text(
        json.dumps({"mcpServers": {"pytest": {"args": [], "type": "stdio", "command": SERVER}}}), encoding="utf-8"
    )
    content = path.read_bytes()

    done = desk.typed("claude-code")

    assert (done.returncode, path.read_bytes()) == (0, content)


FOREIGN = [
    {"command": "my-pytest-mcp-wrapper", "args": ["--key", "secret"]},
    {"command": "/opt/pytest-mcp/bin/other", "env": {"KEY": "secret"}},
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
    for said in (put_in.stderr, taken_out.stdout):
        assert "It was not changed" in said
        assert str(foreign.get("command", "no command")) in said
        assert "secret" not in said
    assert path.read_bytes() == content


def test_secrets_of_neighbours_are_not_shown(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"other": {"env": {"KEY": "hunter2"}}}}')

    for arguments in (["--print"], ["--yes"], ["--remove", "--print"], ["--remove", "--yes"]):
        done = desk.typed("claude-code", *arguments)

        assert done.returncode == 0
        assert SERVER in done.stdout
        assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize("content", [b"", b"{}", b'{\n  "$schema": "https://opencode.ai/config.json"\n}\n'])
def test_a_file_and_a_folder_that_were_there_stay(desk: Desk, content: bytes) -> None:
    files = [desk.project / "opencode.json", desk.project / ".cursor" / "mcp.json"]
    files[1].parent.mkdir()
    for file in files:
        file.write_bytes(content)
    (desk.project / ".gemini").mkdir()

    desk.typed("opencode", "cursor", "gemini", "--yes")
    done = desk.typed("--remove", "--yes")

    assert done.returncode == 0
    assert [file.read_bytes() for file in files] == [content or b"{}"] * 2
    assert (desk.project / ".gemini").is_dir()


def test_with_nothing_to_take_out_everything_is_as_asked_for(desk: Desk) -> None:
    assert desk.typed("--remove", "--yes").returncode == 0
    assert desk.typed("--remove", "codex").returncode == 0


@pytest.mark.parametrize(
    ("options", "arguments"),
    [([], ["emacs"]), ([], ["--yes", "--print"]), (["--root", "nowhere"], []), (["--timeout", "0"], ["codex"])],
)
def test_misuse_is_one_sentence_and_two(desk: Desk, options: list[str], arguments: list[str]) -> None:
    done = desk.typed(*arguments, options=options)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert desk.files() == {}


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

    done = desk.typed("claude-code", "codex", "opencode", "--yes", before=obeying)
    desk.project.chmod(0o755)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 3
    assert [path.name for path in sorted(desk.project.iterdir())] == [".mcp.json", "opencode.json"]
    assert locked_file.read_bytes() == b"{}"


def test_a_file_that_may_be_written_is_written_though_its_folder_takes_no_new_ones(
    desk: Desk, obeying: Sequence[str]
) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b"{}")
    desk.project.chmod(0o555)

    done = desk.typed("claude-code", "--yes", before=obeying)
    desk.project.chmod(0o755)

    assert (done.returncode, done.stderr) == (0, "")
    assert list(desk.servers()) == ["pytest"]
    assert [each.name for each in desk.project.iterdir()] == [".mcp.json"]


def test_a_read_only_home_is_told_in_one_sentence(desk: Desk, obeying: Sequence[str]) -> None:
    desk.home.chmod(0o555)

    done = desk.typed("codex", "--user", "--yes", before=obeying)
    desk.home.chmod(0o755)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_another_server_by_our_name_is_left_alone(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"pytest": {"command": "uvx", "args": ["other"], "env": {"KEY": "v"}}}}')
    content = path.read_bytes()

    done = desk.typed("claude-code", "--yes")

    assert (done.returncode, path.read_bytes()) == (1, content)
    assert "an entry 'pytest' that starts uvx" in done.stderr


def test_what_somebody_added_to_the_entry_stays(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"pytest": {"command": "pytest-mcp", "env": {"KEY": "v"}}}}')

    desk.typed("claude-code", "--yes")

    entry = json.loads(path.read_bytes())["mcpServers"]["pytest"]
    assert (entry["command"], entry["env"]) == (SERVER, {"KEY": "v"})


@pytest.mark.parametrize("place", ["home/settings.json", "shop/package.json", "shop/.mcp.json.real", "shop/none.json"])
def test_a_link_in_a_project_is_not_followed_wherever_it_leads(desk: Desk, place: str) -> None:
    target = desk.home.parent / place
    if "none" not in place:
        target.write_bytes(b"{}")
    (desk.project / ".mcp.json").symlink_to(target)
    before = desk.files()

    done = desk.typed("claude-code", "--yes")
    out = desk.typed("claude-code", "--remove", "--yes")

    assert (done.returncode, out.returncode) == (1, 1)
    assert str(target) in done.stderr
    assert desk.files() == before


def test_a_folder_in_a_project_that_is_a_link_is_not_followed(desk: Desk) -> None:
    (desk.project / "real").mkdir()
    (desk.project / ".cursor").symlink_to("real")

    done = desk.typed("cursor", "--yes")

    assert done.returncode == 1
    assert list((desk.project / "real").iterdir()) == []


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
