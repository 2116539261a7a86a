"""The entries by which clients start this server for a project, and what keeps them from it, for `doctor`.

Nothing is started: the file may be a repository's own, and its command any program.
"""

from collections.abc import Iterator, Mapping, Sequence
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
    # Without a file for projects, both places are the user's.
    pairs = [(client, user) for client in CLIENTS for user in (False, True) if user or client.project]
    return [entry for client, user in pairs for entry in _in_file(client, Location(machine, root, user), root)]


def _in_file(client: Client, place: Location, root: Path) -> Iterator[ClientEntry]:
    path = place.path(client)
    if not files.holds(path.exists):
        return
    name = str(path if place.user else path.relative_to(root))
    try:
        entries = settings_file.value(place.checked(path), [client.servers])
    except SettingsError as error:
        yield ClientEntry(client.title, name, None, error.why)
        return
    fix = f"pytest-mcp setup {client.name}{' --user' * (place.user and bool(client.project))}"
    for entry in filter(is_ours, entries.values() if isinstance(entries, Mapping) else ()):
        words, started = server_arguments(entry) or [], program(entry)
        served = option_value(words, "--root") or "."
        is_here = served == "." or _VARIABLE in served or files.holds(partial(Path(served).samefile, root))
        if is_here or not place.user:
            problem = _problem(started, words, place, root) if started else None
            python = option_value(words, "--python") if is_here else None
            yield ClientEntry(client.title, name, started, problem, fix if problem else None, python)


def _problem(started: str, words: Sequence[str], place: Location, root: Path) -> str | None:
    is_path = "/" in started or "\\" in started
    if _VARIABLE not in started and not place.which(str(root / started) if is_path else started):
        return f"{started} {'does not exist or cannot be executed' if is_path else 'is not on your PATH'}"
    for flag in ("--root", "--python"):
        path = Path(option_value(words, flag) or ".")
        if path.is_absolute() and not files.holds(path.exists):
            return f"its {flag} {path} does not exist"
    return None


def common_python(entries: Sequence[ClientEntry], root: Path, own: Sequence[str]) -> str | None:
    """The Python with which all of them start the server, if it may be started here.

    A repository must not decide which program runs. So the user's own settings name it, in a place outside of the
    project, or it is one of `own`.
    """
    usable = [entry for entry in entries if entry.program and entry.problem is None]
    pythons = {entry.python for entry in usable}
    python = pythons.pop() if len(pythons) == 1 else None
    outside = [Path(entry.file) for entry in usable if Path(entry.file).is_absolute()]
    is_trusted = python in own or any(not file.is_relative_to(root) for file in outside)
    return python if python and is_trusted and Path(python).is_absolute() else None
