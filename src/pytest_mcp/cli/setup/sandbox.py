"""`setup --sandbox`: the server of one project inside a program that confines it: srt, bubblewrap, or VS Code with its
own srt. Nothing here confines anything.

srt and bubblewrap are told what can be read, so a folder that nobody thought of is hidden. Folders that hide something
are empty and in memory: what is written there is gone with the server. VS Code can only be told what cannot be read.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest_mcp
from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.config.history import is_postgres
from pytest_mcp.config.model import Config, ConfigError
from pytest_mcp.python import files, git_files, interpreter, virtualenv

# What programs of the system need, and what the folders of a user are found in.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/sys")
_TEMPORARY = "/tmp"  # noqa: S108 - it is empty, and the sandbox's own
_EMPTY = (_TEMPORARY, "/var/tmp", "/run")  # noqa: S108
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
# Below the home: settings that git needs, and what VS Code is told to hide.
_GIT_SETTINGS = (".gitconfig", ".config/git/config", ".config/git/attributes", ".config/git/ignore")
_SECRETS = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials"),
    *(".config/gcloud", ".config/gh", ".config/git/credentials", ".password-store", ".local/share/keyrings"),
)
_HOST = re.compile(r"(?:\*\.)?\w[\w-]*(?:\.[\w-]+)*(?::\d+)?|\[[0-9a-fA-F:]+\](?::\d+)?")
_GUARDED_BY_SRT = {".git": ("hooks", "config"), ".claude": ("commands", "agents")}
# What srt needs besides; and what shows whether this machine lets a user make a sandbox.
_SRT_NEEDS = ("bwrap", "socat", "rg")
ISOLATION = "bwrap"
TRIAL = ("--unshare-all", "--ro-bind", "/", "/", "true")
# As many as the system follows.
MAX_LINKS = 40


@dataclass(frozen=True)
class Sandbox:
    # The path of srt or bwrap.
    program: str
    root: Path
    home: Path
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    hosts: tuple[str, ...]

    @property
    def is_srt(self) -> bool:
        return Path(self.program).name == "srt"

    def protected(self, own: Path) -> list[Path]:
        """What git and clients outside start by themselves, as far as it is there or is written now."""
        names = {name.partition("/")[0] for client in CLIENTS for name in (*client.project, client.sign) if name}
        found = {self.root / name for name in {".git", *names} if files.holds((self.root / name).exists)}
        return sorted(found | ({own} if own.is_relative_to(self.root) else set()))

    def also_writing(self, words: Sequence[str]) -> "Sandbox":
        """With what an entry for bubblewrap lets runs write already."""
        written = [Path(path) for word, path in pairwise(words) if word == "--bind-try"]
        return replace(self, writable=tuple(dict.fromkeys([*self.writable, *written])))

    def words(self, own: Path, settings: Path) -> list[str]:
        """What comes before the server's command, in the entry in this file."""
        if self.is_srt:
            outside = ["/usr/bin/env", f"TMPDIR={settings.parent}", self.program, "--settings", str(settings), "--"]
            return [*outside, "env", f"TMPDIR={_TEMPORARY}"]
        places = dict.fromkeys((*map(Path, _EMPTY), self.home), "--tmpfs")
        places |= dict.fromkeys(self.readable, "--ro-bind-try") | dict.fromkeys(self.writable, "--bind-try")
        # The rest is for a user with the rights of root, who may write settings of the kernel.
        places |= dict.fromkeys((*self.protected(own), *map(Path, _KERNEL)), "--ro-bind-try")
        mounts = [[places[path], *[str(path)] * (1 + ("bind" in places[path]))] for path in sorted(places)]
        first = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--dev", "/dev"]
        last = ["--remount-ro", "/", "--chdir", str(self.root), "--setenv", "TMPDIR", _TEMPORARY, "--"]
        return [self.program, *first, "--proc", "/proc", *[word for mount in mounts for word in mount], *last]

    def srt_settings(self, own: Path, settings: Path | None) -> dict[str, Any]:
        """In srt's own words. In its settings' folder it connects runs with its proxy; that must be seen from inside.

        Without settings for VS Code, which cannot be told what is read: what is worth hiding.
        """
        reading = {"denyRead": ["/"], "allowRead": [*map(str, (*self.readable, settings and settings.parent))]}
        if settings is None:
            reading = {"denyRead": [*(str(self.home / name) for name in _SECRETS), "/run"]}
        kept = [str(each) for path in self.protected(own) for each in _for_srt(path)]
        writing = {"allowWrite": [*map(str, self.writable)], "denyWrite": kept}
        return {"network": {"allowedDomains": [*self.hosts], "deniedDomains": []}, "filesystem": reading | writing}


def engine(root: Path, search_path: str | None) -> str:
    """The path of srt, or of bubblewrap where srt would not work."""
    srt, *needs = (shutil.which(name, path=search_path) for name in ("srt", *_SRT_NEEDS))
    program = srt if srt and all(needs) else needs[0]
    # A repository must not decide which program runs.
    if program is None or Path(program).is_relative_to(root):
        raise ConfigError("A sandbox needs bubblewrap: install it, and srt to let single hosts through.")
    return program


def _for_srt(path: Path) -> list[Path]:
    """srt protects some names in a folder itself, and cannot if one is not there and nothing can be made there."""
    is_complete = all((path / name).exists() for name in _GUARDED_BY_SRT.get(path.name, ()))
    return [path] if is_complete else sorted(path.iterdir())


class Allowance(NamedTuple):
    """What was typed: hosts, and paths from the root."""

    hosts: Sequence[str] = ()
    writes: Sequence[str] = ()


def sandbox(program: str, config: Config, home: Path, command: Sequence[str], allowed: Allowance) -> Sandbox:
    """Raises ConfigError for a host or path that cannot be allowed, and if no Python would be left to run the tests."""
    if config.root in {home, *home.parents}:
        raise ConfigError("A sandbox is for one project, and this folder contains your home.")
    for host in allowed.hosts:
        if not _HOST.fullmatch(host):
            raise ConfigError(f"--sandbox-allow needs a host, for example api.example.com, not {host!r}.")
    written = [config.root / Path(path).expanduser() for path in allowed.writes]
    if missing := [path for path in written if not path.exists()]:
        raise ConfigError(f"--sandbox-write needs a folder or file that exists: {missing[0]} does not.")
    pythons = [each.python for each in interpreter.visible(config, config.root) if each.problem is None]
    if not pythons:
        raise ConfigError("A sandbox needs the Python that runs the tests: name it with --python.")
    if config.history and not is_postgres(config.history.address):
        written.append(Path(config.history.address).parent)
    # srt starts a filter from its own package inside.
    package = Path(os.path.realpath(program)).parents[1]
    needed = [package, *_around(config.root, home, command), *chain.from_iterable(map(_installation, pythons))]
    is_too_much = {*home.parents, home, config.root}
    readable = dict.fromkeys(path for path in (*map(Path, _SYSTEM), *needed, *written) if path not in is_too_much)
    there = [path for path in readable if files.holds(path.exists) and readable.keys().isdisjoint(path.parents)]
    return Sandbox(program, config.root, home, (*there, config.root), (config.root, *written), tuple(allowed.hosts))


def _around(root: Path, home: Path, command: Sequence[str]) -> Iterator[Path]:
    """The server, git's settings, and the repository that the root is in: other folders of it would look deleted."""
    yield from (Path(pytest_mcp.__file__).parent, Path(command[0]), *_installation(Path(sys.executable)))
    yield from (home / name for name in _GIT_SETTINGS)
    if checkout := git_files.find(root):
        yield checkout.top
        yield from [checkout.main / ".git"] if checkout.main else []


def _installation(python: Path) -> Iterator[Path]:
    """The environment of this Python, and the one that it was made from, by every name that leads there."""
    prefix = virtualenv.prefix_of(python)
    base = re.findall(r"^home\s*=\s*(.+?)\s*$", files.text(prefix / virtualenv.SETTINGS), re.MULTILINE)
    for each in (python, *(Path(folder) / python.name for folder in base)):
        yield from map(virtualenv.prefix_of, _hops(each))


def _hops(path: Path) -> Iterator[Path]:
    """The path, and where its links lead."""
    yield path
    for _ in range(MAX_LINKS):
        if not path.is_symlink():
            break
        yield (path := Path(os.path.normpath(path.parent / path.readlink())))
    yield Path(os.path.realpath(path))
