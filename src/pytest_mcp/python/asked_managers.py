"""poetry and pipenv: they keep environments in a folder of the user, and only they can tell which is the project's.

They are asked, except where asking would write something or bring an answer for another project. Answers cost a
second, so they are kept for as long as the files they depend on are unchanged.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_mcp.process.job import Exit
from pytest_mcp.python import files, query, user_dirs, virtualenv
from pytest_mcp.python.files import Manifest, Stamp, stamped, table, toml
from pytest_mcp.python.query import Question, Unanswered, complaint

if TYPE_CHECKING:
    import anyio

# Names, empty for the only one, and Pythons; best first.
Environments = list[tuple[str, Path]]
Variables = Mapping[str, str]

# Lists all environments and marks the one in use. `env info` lists none if PATH has another Python first.
_ENV_LIST = ("--no-plugins", "--no-interaction", "--no-ansi", "env", "list", "--full-path")
_IN_USE = " (Activated)"
# Files of the project that decide which environment is used.
_POETRY_SOURCES = ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")
_PIPENV_SOURCES = ("Pipfile", "Pipfile.lock", ".venv")
_PIPENV_SETTINGS = {
    "PIPENV_ACTIVE": None,
    "PIPENV_PIPFILE": None,
    "PIPENV_IGNORE_VIRTUALENVS": "1",
    "PIPENV_VERBOSITY": "-1",
    "PIPENV_DONT_LOAD_ENV": "1",
    # Look for a Pipfile in the folder itself only.
    "PIPENV_MAX_DEPTH": "1",
}
# pipenv's own words, on stderr.
_NONE_YET = "No virtualenv has been created"

# By question: what was answered, and the stamps of the files it depends on from before it was asked.
_answers: dict[Hashable, tuple[Environments, Mapping[Path, Stamp]]] = {}
# Calls at the same time ask once.
_locks: dict[Hashable, "anyio.Lock"] = {}


def nothing_yet(manager: str) -> Unanswered:
    return Unanswered(f"{manager} has made no environment for this project yet")


async def _ask(question: Question, sources: Iterable[Path], read: Callable[[Exit], list[Path]]) -> Environments:
    # A command finds its interpreter before it loads the event loop.
    import anyio  # noqa: PLC0415

    # Variables are part of the key: they decide which program is found and where it keeps environments.
    key = (question.program, question.folder, question.root, frozenset(question.environment.items()))
    async with _locks.setdefault(key, anyio.Lock()):
        environments, stamps = _answers.get(key, ([], {}))
        if environments and stamps == stamped(stamps):
            return environments
        program = query.find(question)
        before = stamped((program, *sources))
        prefixes = read(await query.ask(question, program))
        if not prefixes:
            raise nothing_yet(question.program)
        # Only several need their names.
        named = [(each.name if len(prefixes) > 1 else "", virtualenv.python(each)) for each in prefixes]
        settings = [prefix / virtualenv.SETTINGS for prefix in prefixes]
        _answers[key] = named, before | stamped((*(python for _, python in named), *settings))
        return named


async def poetry(manifest: Manifest, variables: Variables, root: Path) -> Environments:
    folder, settings = manifest.folder, _poetry_settings(variables)
    store = _poetry_store([toml(folder / "poetry.toml"), toml(settings)], folder, variables)
    notes = store / "envs.toml"
    if not (folder / "pyproject.toml").is_file():
        raise Unanswered("poetry was not asked: without a pyproject.toml here it would use one of a folder above")
    if gone := _missing(notes, folder):
        raise Unanswered(f"poetry was not asked: its environment {gone} is gone, and it would change {notes}")
    sources = (*(folder / name for name in _POETRY_SOURCES), settings, store, notes)
    question = Question("poetry", _ENV_LIST, folder, root, variables, {"POETRY_ACTIVE": None})
    return await _ask(question, sources, read_poetry)


def read_poetry(ended: Exit) -> list[Path]:
    """The environment in use, or all of them if none is, newest Python first."""
    if ended.code != 0:
        raise complaint("poetry", ended)
    lines = [line.strip() for line in ended.stdout.splitlines()]
    in_use = [line.removesuffix(_IN_USE) for line in lines if line.endswith(_IN_USE)]
    return virtualenv.newest_first(path for path in map(Path, in_use or lines) if path.is_absolute())


def _poetry_settings(variables: Variables) -> Path:
    chosen = variables.get("POETRY_CONFIG_DIR")
    folder = Path(chosen) if chosen else user_dirs.folder("config", variables) / "pypoetry"
    return folder / "config.toml"


def _poetry_store(settings: list[Mapping[str, Any]], folder: Path, variables: Variables) -> Path:
    """Where poetry keeps environments."""
    caches = [variables.get("POETRY_CACHE_DIR"), *(each.get("cache-dir") for each in settings)]
    cache = _first_text(caches) or str(user_dirs.folder("cache", variables) / "pypoetry")
    paths = [variables.get("POETRY_VIRTUALENVS_PATH"), *(table(each, "virtualenvs").get("path") for each in settings)]
    path = (_first_text(paths) or "{cache-dir}/virtualenvs").replace("{cache-dir}", cache)
    return folder / user_dirs.expanded(path, variables)


def _first_text(values: Iterable[object]) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _missing(notes: Path, folder: Path) -> str | None:
    """The environment chosen for this folder, if it is gone. poetry would then delete its note of it."""
    ending = f"-{user_dirs.mark(os.path.normcase(folder.resolve()))}"
    noted = toml(notes)
    chosen = [(name, table(noted, name).get("minor")) for name in noted if name.endswith(ending)]
    kept = [f"{name}-py{minor.strip()}" for name, minor in chosen if isinstance(minor, str)]
    return next((name for name in kept if not files.holds((notes.parent / name).exists)), None)


async def pipenv(manifest: Manifest, variables: Variables, root: Path) -> Environments:
    usual = f"{variables.get('XDG_DATA_HOME') or '~/.local/share'}/virtualenvs"
    store = manifest.folder / user_dirs.expanded(variables.get("WORKON_HOME") or usual, variables)
    if not store.is_dir():
        # pipenv would create the folder.
        raise nothing_yet("pipenv")
    sources = (*(manifest.folder / name for name in _PIPENV_SOURCES), store)
    question = Question("pipenv", ("--venv",), manifest.folder, root, variables, _PIPENV_SETTINGS)
    return await _ask(question, sources, _read_pipenv)


def _read_pipenv(ended: Exit) -> list[Path]:
    if ended.code == 0:
        return [path for path in map(Path, ended.stdout.split("\n")) if path.is_absolute()]
    if _NONE_YET in ended.stderr:
        return []
    raise complaint("pipenv", ended)
