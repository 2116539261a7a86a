"""The entries by which clients start this server for a project, and what keeps them from it.

In come the root and the machine; out come our entries in the settings of known clients. Nothing is started: the file
may be a repository's own, and its command any program. Which entries are ours is decided in `ownership`. Of their
Pythons, `startable` names one that a check may start.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.cli.setup import server_options
from pytest_mcp.cli.setup.client import Client, Machine
from pytest_mcp.cli.setup.editing import config_file
from pytest_mcp.cli.setup.editing.config_file import ConfigFileError
from pytest_mcp.cli.setup.known_clients import CLIENTS
from pytest_mcp.cli.setup.location import Location, exists
from pytest_mcp.cli.setup.ownership import is_ours, program, server_arguments

# A variable of the client in a value: only the client knows what it is.
_VARIABLE = "${"


@dataclass(frozen=True)
class FoundEntry:
    client: str
    file: str
    # What the entry starts; None for a server on HTTP, and if the file cannot be read.
    program: str | None
    # Why the client cannot start the server; None if nothing was found.
    problem: str | None = None
    # The command that writes the entry anew.
    fix: str | None = None
    # Its --python, if it is for this project.
    python: str | None = None


def for_project(root: Path, machine: Machine) -> list[FoundEntry]:
    places = [Location(machine, root, user) for user in (False, True)]
    return [
        found
        for client in CLIENTS
        for place in places
        # Without a file for projects, both are the user's.
        if place.user or place.level(client) == "project"
        for found in _in_file(client, place, root)
    ]


def _in_file(client: Client, place: Location, root: Path) -> Iterator[FoundEntry]:
    path = place.path(client)
    if not exists(path):
        return
    shown = str(path if place.user else path.relative_to(root))
    try:
        entries = config_file.table(place.checked_path(client), [client.servers])
    except ConfigFileError as error:
        yield FoundEntry(client.title, shown, None, str(error).removeprefix(f"{path} ").removesuffix("."))
        return
    command = f"pytest-mcp setup {client.name}{' --user' * (place.user and bool(client.project))}"
    for entry in filter(is_ours, entries.values()):
        if not (place.user and _is_for_another(entry, root)):
            problem = _problem(entry, place)
            fix = command if problem else None
            yield FoundEntry(client.title, shown, program(entry), problem, fix, _python(entry, root))


def startable(entries: Iterable[FoundEntry], root: Path, own: Iterable[str]) -> tuple[FoundEntry, str] | None:
    """The first entry whose Python may be started, and that Python: the user's own settings name it, or it is in `own`.

    A repository must not decide which program runs, so a Python that only a file of the project names is not started.
    """
    trusted = list(own)
    for entry in entries:
        if entry.python is None or entry.problem is not None:
            continue
        if _is_users(entry, root) and Path(entry.python).is_absolute():
            return entry, entry.python
        for python in trusted:
            if _is_same_python(entry.python, python):
                return entry, python
    return None


def _is_users(entry: FoundEntry, root: Path) -> bool:
    """A file in the project may be the repository's, even in a place of the user's settings."""
    return Path(entry.file).is_absolute() and not Path(entry.file).is_relative_to(root)


def _is_same_python(one: str, other: str) -> bool:
    """Of the same folder: in another one, a symlink to the same Python has other packages."""
    try:
        return all(os.path.realpath(path(one)) == os.path.realpath(path(other)) for path in (str, os.path.dirname))
    except (OSError, ValueError):
        return False


def _python(entry: Mapping[str, Any], root: Path) -> str | None:
    words = server_arguments(entry) or []
    served = server_options.value(words, "--root") or "."
    # Nothing but a variable is the project that the client has opened.
    is_here = (served.startswith(_VARIABLE) and served.endswith("}")) or _is_same(root / served, root)
    return server_options.value(words, "--python") if is_here else None


def _is_for_another(entry: Mapping[str, Any], root: Path) -> bool:
    """Whether it serves one other project."""
    value = server_options.value(server_arguments(entry) or [], "--root")
    return value is not None and _VARIABLE not in value and not _is_same(Path(value), root)


def _is_same(path: Path, root: Path) -> bool:
    try:
        return path.is_absolute() and path.samefile(root)
    except (OSError, ValueError):
        # It is gone, or no file can have this name.
        return False


def _problem(entry: Mapping[str, Any], place: Location) -> str | None:
    started = program(entry)
    if started is None:
        return None
    if (why := _why_not(started, place)) is not None:
        return why
    for flag in ("--root", "--python"):
        value = server_options.value(server_arguments(entry) or [], flag)
        path = Path(value or ".")
        if path.is_absolute() and not exists(path):
            return f"its {flag} {value} does not exist"
    return None


def _why_not(started: str, place: Location) -> str | None:
    if _VARIABLE in started:
        return None
    if "/" not in started and "\\" not in started:
        return None if place.found(started) else f"{started} is not on your PATH"
    path = (place.root or Path()) / started
    if not exists(path):
        return f"{started} does not exist"
    return None if os.access(path, os.X_OK) else f"{started} cannot be executed"
