"""What a server in a sandbox may read, write and reach, as srt, bubblewrap and VS Code are told it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.cli.setup import entries, extras
from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.cli.setup.entries import ImpossibleError
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.cli.setup.sandbox import Allowance, Sandbox, sandbox
from pytest_mcp.config.model import ConfigError, Options, configure
from tests.support.commands.plans import plan

CLIENT = {client.name: client for client in CLIENTS}
COMMAND = ["/opt/pytest-mcp", "--timeout=60"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a repository and an environment, made from a Python by two links."""
    root = tmp_path / "home" / "project"
    base = tmp_path / "home" / ".local" / "python-3.12.1" / "bin" / "python3.12"
    for folder in (root / ".git", root / ".venv" / "bin", base.parent, root / ".vscode"):
        folder.mkdir(parents=True)
    base.touch(mode=0o755)
    base.parent.parent.with_name("python-3.12").symlink_to("python-3.12.1")
    named = base.parent.parent.with_name("python-3.12") / "bin"
    (root / ".venv" / "bin" / "python").symlink_to(named / "python3.12")
    (root / ".venv" / "pyvenv.cfg").write_text(f"home = {named}\n", encoding="utf-8")
    return root


def made(root: Path, *, home: Path | None = None, hosts: Sequence[str] = (), writes: Sequence[str] = ()) -> Sandbox:
    config = configure(Options(root=str(root)), {"PATH": "/usr/bin"})
    return sandbox("/usr/bin/srt", config, home or root.parent, ["/opt/pytest-mcp"], Allowance(hosts, writes))


def planned(root: Path, program: str = "/usr/bin/bwrap", **more: Any) -> Plan:
    return plan(root, command=COMMAND, sandbox=replace(made(root), program=program), **more)


def test_every_place_that_the_python_of_the_project_needs_can_be_read_and_the_home_cannot(root: Path) -> None:
    readable = made(root).readable

    pythons = root.parent / ".local"
    assert {pythons / "python-3.12", pythons / "python-3.12.1", Path("/usr"), root} <= {*readable}
    assert not {root.parent, *root.parent.parents} & {*readable}


def test_in_a_subfolder_of_a_repository_all_of_it_can_be_read_because_git_compares_all_of_it(root: Path) -> None:
    (root / "part" / ".venv").mkdir(parents=True)
    (root / "part" / ".venv" / "bin").symlink_to(root / ".venv" / "bin")

    part = made(root / "part", home=root.parent)

    assert root in part.readable
    assert part.writable == (root / "part",)


def test_what_clients_and_git_start_outside_cannot_be_written(root: Path) -> None:
    own = root / ".mcp.json"

    assert made(root).protected(own) == [root / ".git", own, root / ".vscode"]
    assert made(root).protected(root.parent / "mcp.json") == [root / ".git", root / ".vscode"]


@pytest.mark.parametrize("host", ["", "http://example.com", "example.com/path", "a b", "-x", "*"])
def test_what_is_no_host_is_refused(root: Path, host: str) -> None:
    with pytest.raises(ConfigError, match="needs a host"):
        made(root, hosts=(host,))


@pytest.mark.parametrize("host", ["localhost", "api.example.com:443", "*.example.com", "[::1]:80"])
def test_a_host_may_have_a_port_or_stand_for_all_below_it(root: Path, host: str) -> None:
    assert made(root, hosts=(host,)).hosts == (host,)


def test_a_folder_that_is_not_there_a_project_around_the_home_or_one_without_a_python_is_refused(root: Path) -> None:
    with pytest.raises(ConfigError, match="does not"):
        made(root, writes=("absent",))
    with pytest.raises(ConfigError, match="contains your home"):
        made(root, home=root)
    (root / ".venv" / "bin" / "python").unlink()
    with pytest.raises(ConfigError, match="--python"):
        made(root)


@pytest.mark.parametrize("program", ["/usr/bin/bwrap", "/usr/bin/srt"])
def test_an_entry_in_a_sandbox_is_ours_and_keeps_it_and_its_folders_when_it_is_renewed(
    root: Path, program: str
) -> None:
    client, shared = CLIENT["claude-code"], root.parent / "shared"
    shared.mkdir()
    in_sandbox = planned(root, program)
    allowing = replace(in_sandbox.sandbox, writable=(root, shared)) if in_sandbox.sandbox else None

    first = entries.entry(client, replace(in_sandbox, sandbox=allowing), {})
    renewed = entries.entry(client, plan(root, command=["/new/pytest-mcp"]), first)
    again = entries.entry(client, in_sandbox, renewed)

    assert entries.server_arguments(first) == ["--timeout=60"]
    before = [first["command"], *first["args"]][: -len(COMMAND)]
    assert before[-1] in ("--", "TMPDIR=/tmp")
    assert [renewed["command"], *renewed["args"]] == [*before, "/new/pytest-mcp", "--timeout=60"]
    assert again["args"][: len(before) - 1] == before[1:]


def test_bubblewrap_is_told_parents_before_what_is_in_them_and_the_protected_last(root: Path) -> None:
    words = made(root).__class__.words(replace(made(root), program="bwrap"), root / ".mcp.json", Path("unused"))

    mounted = [
        words[index + 1] for index, word in enumerate(words) if word in ("--tmpfs", "--ro-bind-try", "--bind-try")
    ]
    assert mounted == sorted(mounted, key=lambda path: Path(path).parts)
    assert mounted.index(str(root.parent)) < mounted.index(str(root)) < mounted.index(str(root / ".git"))
    assert words[words.index(str(root)) - 1] == "--bind-try"
    assert words[words.index(str(root / ".git")) - 1] == "--ro-bind-try"


def test_srt_is_told_what_can_be_read_and_its_settings_keep_what_was_allowed_before(root: Path) -> None:
    machine = plan().machine._replace(home=root.parent)
    first = planned(root, "/usr/bin/srt", machine=machine)
    more = replace(first, sandbox=made(root, hosts=("api.example.com",)))

    (before,) = extras.extras(CLIENT["claude-code"], more)
    before.change.path.parent.mkdir(parents=True)
    before.change.path.write_bytes(before.change.after or b"")
    (after,) = extras.extras(CLIENT["claude-code"], first)

    settings = json.loads(before.change.after or b"")
    assert settings["network"] == {"allowedDomains": ["api.example.com"], "deniedDomains": []}
    assert settings["filesystem"]["denyRead"] == ["/"]
    assert settings["filesystem"]["allowWrite"] == [str(root)]
    assert str(before.change.path.parent) in settings["filesystem"]["allowRead"]
    assert not after.change.is_needed


def test_srt_is_told_what_is_in_a_folder_where_it_could_not_make_what_it_guards_itself(root: Path) -> None:
    (root / ".git" / "HEAD").touch()
    (root / ".claude" / "commands").mkdir(parents=True)
    (root / ".claude" / "agents").mkdir()

    denied = made(root).srt_settings(root / ".mcp.json", root / "srt.json")["filesystem"]["denyWrite"]

    assert denied == [str(root / name) for name in (".claude", ".git/HEAD", ".mcp.json", ".vscode")]


def test_vs_code_starts_it_in_its_own_and_what_other_servers_may_do_stays(root: Path) -> None:
    file, client = root / ".vscode" / "mcp.json", CLIENT["vscode"]
    theirs = {"network": {"allowedDomains": ["x.example.com"]}, "filesystem": {"denyWrite": ["/srv"]}}
    file.write_text(json.dumps({"sandbox": theirs}), encoding="utf-8")
    allowing = replace(planned(root), sandbox=made(root, hosts=("api.example.com",)))

    made_entry = entries.entry(client, allowing, {})
    (extra,) = extras.extras(client, allowing)

    assert made_entry["sandboxEnabled"] is True
    assert made_entry["command"] == COMMAND[0]
    new = json.loads(extra.change.after or b"")["sandbox"]
    assert new["network"]["allowedDomains"] == ["x.example.com", "api.example.com"]
    assert new["filesystem"]["allowWrite"] == [str(root)]
    assert "/srv" in new["filesystem"]["denyWrite"]
    assert str(root.parent / ".ssh") in new["filesystem"]["denyRead"]


def test_an_entry_for_every_project_or_a_host_without_srt_is_refused(root: Path) -> None:
    with pytest.raises(ImpossibleError, match="every project"):
        entries.entry(CLIENT["claude-code"], planned(root, user=True), {})
    one_host = replace(made(root, hosts=("api.example.com",)), program="/usr/bin/bwrap")
    with pytest.raises(ImpossibleError, match="srt"):
        entries.entry(CLIENT["claude-code"], plan(root, sandbox=one_host), {})
