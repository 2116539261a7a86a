"""poetry: keeps environments in a folder of the user, and is asked which ones are the project's.

It is not asked where that would change its own notes, or where it would answer for a project above.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_mcp.process.job import Exit
from pytest_mcp.python import files, user_dirs, virtualenv
from pytest_mcp.python.asked import AskedManager
from pytest_mcp.python.manager import Variables
from pytest_mcp.python.manifest import Manifest, table, toml
from pytest_mcp.python.query import Question, Unanswered, complaint

# Lists all environments and marks the one in use. `env info` lists none if PATH has another Python first.
_ARGUMENTS = ("--no-plugins", "--no-interaction", "--no-ansi", "env", "list", "--full-path")
_IN_USE = " (Activated)"
# Files of the project that decide which environment is used.
_SOURCES = ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")


# Where its installer puts the program.
_PROGRAMS = ".local/share/pypoetry/venv/bin"


class Poetry(AskedManager):
    name = "poetry"
    files = ("poetry.lock", "poetry.toml")
    table = ("tool", "poetry")
    lock = "poetry.lock"
    needs_pyproject = True

    def has_member(self, manifest: Manifest, inside: Path) -> bool:
        """poetry has no workspaces: a root depends on its members by their paths."""
        poetry = manifest.table("tool", "poetry")
        lists = [poetry, *(table(poetry, "group", name) for name in table(poetry, "group"))]
        tables = [table(each, "dependencies") for each in lists]
        needs = [need for each in tables for need in each.values() if isinstance(need, Mapping)]
        return any(isinstance(need.get("path"), str) and Path(need["path"]) == inside for need in needs)

    def question(self, folder: Path, variables: Variables) -> Question:
        settings = _settings(variables)
        store = _store([toml(folder / "poetry.toml"), toml(settings)], folder, variables)
        notes = store / "envs.toml"
        if not (folder / "pyproject.toml").is_file():
            raise Unanswered("poetry was not asked: without a pyproject.toml here it would use one of a folder above")
        if gone := _missing(notes, folder):
            raise Unanswered(f"poetry was not asked: its environment {gone} is gone, and it would change {notes}")
        sources = (*(folder / name for name in _SOURCES), settings, store, notes)
        question = Question(self.name, _ARGUMENTS, folder, variables, {"POETRY_ACTIVE": None}, sources)
        return replace(question, programs=_PROGRAMS)

    def read(self, ended: Exit) -> list[Path]:
        """The environment in use, or all of them if none is, newest Python first."""
        if ended.code != 0:
            raise complaint(self.name, ended)
        lines = [line.strip() for line in ended.stdout.splitlines()]
        in_use = [line.removesuffix(_IN_USE) for line in lines if line.endswith(_IN_USE)]
        return virtualenv.newest_first(path for path in map(Path, in_use or lines) if path.is_absolute())


def _settings(variables: Variables) -> Path:
    chosen = variables.get("POETRY_CONFIG_DIR")
    folder = Path(chosen) if chosen else user_dirs.folder("config", variables) / "pypoetry"
    return folder / "config.toml"


def _store(settings: list[Mapping[str, Any]], folder: Path, variables: Variables) -> Path:
    cache = _first(variables.get("POETRY_CACHE_DIR"), *(each.get("cache-dir") for each in settings))
    named = _first(
        variables.get("POETRY_VIRTUALENVS_PATH"), *(table(each, "virtualenvs").get("path") for each in settings)
    )
    usual = str(user_dirs.folder("cache", variables) / "pypoetry")
    path = (named or "{cache-dir}/virtualenvs").replace("{cache-dir}", cache or usual)
    return folder / user_dirs.expanded(path, variables)


def _first(*values: object) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _missing(notes: Path, folder: Path) -> str | None:
    """The environment chosen for this folder, if it is gone. poetry would then delete its note of it."""
    ending = f"-{user_dirs.mark(os.path.normcase(folder.resolve()))}"
    for name, minor in _chosen(toml(notes)):
        kept = f"{name}-py{minor}"
        if name.endswith(ending) and not files.holds((notes.parent / kept).exists):
            return kept
    return None


def _chosen(notes: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Names of environments, each with the version of Python chosen for it."""
    for name in notes:
        if isinstance(minor := table(notes, name).get("minor"), str):
            yield name, minor.strip()
