"""The entries by which clients start this server for a project, and what keeps them from it, for `doctor`.

Nothing is started: the file may be a repository's own, and its command any program.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_mcp.cli.setup import settings_file
from pytest_mcp.cli.setup.clients import CLIENTS, Client
from pytest_mcp.cli.setup.entries import is_ours, option_value, program, server_arguments
from pytest_mcp.cli.setup.plan import Location, Machine
from pytest_mcp.cli.setup.settings_file import SettingsError
from pytest_mcp.python import files

# A variable of the client in a value: only the client knows what it is.
_VARIABLE = "${"


@dataclass(frozen=True)
class ClientEntry:
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


def for_project(root: Path, machine: Machine) -> list[ClientEntry]:
    places = [Location(machine, root, user) for user in (False, True)]
    # Without a file for projects, both places are the user's.
    pairs = [(client, place) for client in CLIENTS for place in places if place.user or client.project]
    return [entry for client, place in pairs for entry in _in_file(client, place, root)]


def _in_file(client: Client, place: Location, root: Path) -> Iterator[ClientEntry]:
    path = place.path(client)
    if not files.holds(path.exists):
        return
    shown = str(path if place.user else path.relative_to(root))
    try:
        entries = settings_file.value(place.checked(path), [client.servers])
    except SettingsError as error:
        yield ClientEntry(client.title, shown, None, error.why)
        return
    fix = f"pytest-mcp setup {client.name}{' --user' * (place.user and bool(client.project))}"
    for entry in filter(is_ours, entries.values() if isinstance(entries, Mapping) else ()):
        words = server_arguments(entry) or []
        served = option_value(words, "--root") or "."
        # Nothing but a variable is the project that the client has opened.
        is_open = served == "." or (served.startswith(_VARIABLE) and served.endswith("}"))
        is_here = is_open or files.holds(partial(Path(served).samefile, root))
        if is_here or not place.user or _VARIABLE in served:
            started, python = program(entry), option_value(words, "--python") if is_here else None
            problem = started and (_why_not(started, place) or _what_is_gone(words))
            yield ClientEntry(client.title, shown, started, problem or None, fix if problem else None, python)


def _why_not(started: str, place: Location) -> str | None:
    if _VARIABLE in started:
        return None
    if "/" not in started and "\\" not in started:
        return None if place.which(started) else f"{started} is not on your PATH"
    path = (place.root or Path()) / started
    if not files.holds(path.exists):
        return f"{started} does not exist"
    return None if os.access(path, os.X_OK) else f"{started} cannot be executed"


def _what_is_gone(words: Sequence[str]) -> str | None:
    for flag in ("--root", "--python"):
        path = Path(option_value(words, flag) or ".")
        if path.is_absolute() and not files.holds(path.exists):
            return f"its {flag} {path} does not exist"
    return None


def startable(entries: Iterable[ClientEntry], root: Path, own: Iterable[str]) -> tuple[ClientEntry, str] | None:
    """The first entry whose Python may be started, and that Python: the user's own settings name it, or it is in `own`.

    A repository must not decide which program runs, so a Python that only a file of the project names is not started,
    even if that is a place of the user's settings.
    """
    trusted = list(own)
    for entry in entries:
        if entry.python is not None and entry.problem is None:
            is_users = Path(entry.file).is_absolute() and not Path(entry.file).is_relative_to(root)
            if is_users and Path(entry.python).is_absolute():
                return entry, entry.python
            for python in trusted:
                if _is_same_python(entry.python, python):
                    return entry, python
    return None


def _is_same_python(one: str, other: str) -> bool:
    """Of the same folder: in another one, a symlink to the same Python has other packages."""
    try:
        return all(os.path.realpath(path(one)) == os.path.realpath(path(other)) for path in (str, os.path.dirname))
    except (OSError, ValueError):
        return False
