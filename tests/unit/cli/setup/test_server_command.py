"""The command that starts this copy again, for every way to install and start it."""

import os
import sys
from pathlib import Path

import pytest

from pytest_mcp.cli.setup.plan import server_command, source, this_installation
from pytest_mcp.config.model import ConfigError
from tests.support.commands.installations import running


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_an_installed_command_is_named_by_its_whole_path_as_it_was_typed(tmp_path: Path) -> None:
    """An upgrade changes what a link leads to."""
    script = executable(tmp_path / "venv" / "bin" / "pytest-mcp")
    link = tmp_path / "pytest-mcp"
    link.symlink_to(script)

    assert server_command(running(tmp_path / "venv", script=link)) == [str(link)]
    assert server_command(running(tmp_path / "venv")) == [str(script)]


def test_without_a_command_python_is_named(tmp_path: Path) -> None:
    assert server_command(running(tmp_path)) == [str(tmp_path / "bin" / "python"), "-P", "-m", "pytest_mcp"]
    assert server_command(running(tmp_path), portable=True) == ["pytest-mcp"]


@pytest.mark.parametrize(
    ("prefix", "program", "arguments"),
    [
        (".cache/uv/archive-v0/Ab3", "uvx", ["--from", "pytest-mcp-server", "pytest-mcp"]),
        (".local/share/pipx/.cache/ab3", "pipx", ["run", "--spec", "pytest-mcp-server", "pytest-mcp"]),
    ],
)
def test_from_a_cache_the_launcher_is_named_and_never_the_cache(
    tmp_path: Path, prefix: str, program: str, arguments: list[str]
) -> None:
    cached = tmp_path / prefix
    script = executable(cached / "bin" / "pytest-mcp")
    launcher = executable(tmp_path / "bin" / program)
    installation = running(cached, script=script, search_path=f"{cached / 'bin'}{os.pathsep}{launcher.parent}")

    everywhere = server_command(installation._replace(source="/home/ann/copy"), portable=True)

    assert server_command(installation) == [str(launcher), *arguments]
    assert everywhere == [program, *arguments]
    with pytest.raises(ConfigError):
        server_command(running(cached, script=script, search_path=str(tmp_path)))


@pytest.mark.parametrize("prefix", [".local/share/uv/tools/pytest-mcp-server", ".local/pipx/venvs/pytest-mcp-server"])
def test_what_a_launcher_has_installed_for_good_is_named_itself(tmp_path: Path, prefix: str) -> None:
    script = executable(tmp_path / prefix / "bin" / "pytest-mcp")

    assert server_command(running(tmp_path / prefix, script=script)) == [str(script)]


GIT = {"url": "https://x.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ({"url": "file:///src/my%20copy", "dir_info": {}}, "/src/my copy"),
        ({"url": "https://x.org/a.whl", "archive_info": {}}, "https://x.org/a.whl"),
        (GIT, "git+https://x.org/r.git@abc"),
    ],
)
def test_a_launcher_is_given_what_this_copy_came_from(origin: dict[str, object], expected: str) -> None:
    assert source(origin) == expected


def test_the_running_program_is_what_this_process_is() -> None:
    installation = this_installation()

    assert (installation.python, installation.prefix) == (Path(sys.executable), Path(sys.prefix))
    assert installation.script.is_absolute()
