"""What poetry is asked about a project, and what its answer means.

In come a folder and the environment; out comes the question, unless asking would write something or be about
another project. Where poetry keeps its environments is told from its settings; which of them are the project's
it must say itself.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_mcp.environments import user_dirs, virtualenv
from pytest_mcp.environments.managers.query import Question, Unanswered, complaint
from pytest_mcp.environments.project import table, toml
from pytest_mcp.events.run import Exit

# All environments with a mark on the one in use. `env info` tells of none when PATH has another Python first.
_ARGUMENTS = ("--no-plugins", "--no-interaction", "--no-ansi", "env", "list", "--full-path")
_IN_USE = " (Activated)"
# What decides which environment is the project's, as far as it lies in its folder.
_FILES = ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")


def question(folder: Path, environment: Mapping[str, str]) -> Question:
    settings = _settings(environment)
    store = _store([toml(folder / "poetry.toml"), toml(settings)], folder, environment)
    notes = store / "envs.toml"
    if not (folder / "pyproject.toml").is_file():
        raise Unanswered("poetry was not asked: without a pyproject.toml here it would take one from a folder above")
    if gone := _missing(notes, folder):
        raise Unanswered(f"poetry was not asked: its environment {gone} is gone, and it would change {notes}")
    sources = (*(folder / name for name in _FILES), settings, store, notes)
    return Question("poetry", _ARGUMENTS, folder, environment, sources=sources)


def read(ended: Exit) -> list[Path]:
    """The environment in use, or all if none is: those with the newest Python first."""
    if ended.code != 0:
        raise complaint("poetry", ended)
    lines = [line.strip() for line in ended.stdout.splitlines()]
    in_use = [line.removesuffix(_IN_USE) for line in lines if line.endswith(_IN_USE)]
    return virtualenv.newest_first(path for path in map(Path, in_use or lines) if path.is_absolute())


def _settings(environment: Mapping[str, str]) -> Path:
    chosen = environment.get("POETRY_CONFIG_DIR")
    folder = Path(chosen) if chosen else user_dirs.folder("config", environment) / "pypoetry"
    return folder / "config.toml"


def _store(settings: list[Mapping[str, Any]], folder: Path, environment: Mapping[str, str]) -> Path:
    cache = _first(environment.get("POETRY_CACHE_DIR"), *(each.get("cache-dir") for each in settings))
    named = _first(
        environment.get("POETRY_VIRTUALENVS_PATH"), *(table(each, "virtualenvs").get("path") for each in settings)
    )
    usual = str(user_dirs.folder("cache", environment) / "pypoetry")
    path = (named or "{cache-dir}/virtualenvs").replace("{cache-dir}", cache or usual)
    return folder / user_dirs.expanded(path, environment)


def _first(*values: object) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _missing(notes: Path, folder: Path) -> str | None:
    """The environment that was chosen for this folder, if it is gone. Poetry would strike out its note of it."""
    ending = f"-{user_dirs.mark(os.path.normcase(folder.resolve()))}"
    for name, minor in _chosen(toml(notes)):
        kept = f"{name}-py{minor}"
        if name.endswith(ending) and not virtualenv.is_there(notes.parent / kept):
            return kept
    return None


def _chosen(notes: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Environments by name, each with the version of Python that was chosen for it."""
    for name in notes:
        if isinstance(minor := table(notes, name).get("minor"), str):
            yield name, minor.strip()
