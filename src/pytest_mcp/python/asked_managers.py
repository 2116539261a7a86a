"""poetry and pipenv: they keep environments in a folder of the user, and only they can tell which is the project's.

They are asked, except where asking would write something or bring an answer for another project. Answers cost a
second, so they are cached for as long as the files they depend on are unchanged.
"""

import os
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pytest_mcp.process.job import Exit
from pytest_mcp.python import files, query, user_dirs, virtualenv
from pytest_mcp.python.files import Manifest, Stamp, stamped, table, toml
from pytest_mcp.python.manager import Answers, Manager, Variables
from pytest_mcp.python.query import Question, Unanswered, complaint

if TYPE_CHECKING:
    import anyio

Found = TypeVar("Found")

# Lists all environments and marks the one in use. `env info` lists none if PATH has another Python first.
_ENV_LIST = ("--no-plugins", "--no-interaction", "--no-ansi", "env", "list", "--full-path")
_IN_USE = " (Activated)"
# Files of the project that decide which environment poetry uses.
_POETRY_SOURCES = ("pyproject.toml", "poetry.lock", "poetry.toml", ".venv", ".python-version")
# Where poetry's installer puts the program.
_POETRY_PROGRAMS = ".local/share/pypoetry/venv/bin"

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


@dataclass(frozen=True)
class Finding(Generic[Found]):
    """An answer, and the stamps of its files from before the search; None if it must not be cached."""

    answer: Found
    stamps: Mapping[Path, Stamp] | None


@dataclass
class _Search(Generic[Found]):
    """A search in progress. It ends without a finding if the call that began it was cancelled."""

    over: "anyio.Event"
    finding: Finding[Found] | None = None


class Cache(Generic[Found]):
    def __init__(self) -> None:
        self._kept: dict[Hashable, Finding[Found]] = {}
        self._searches: dict[Hashable, _Search[Found]] = {}

    async def get(self, key: Hashable, find: Callable[[], Awaitable[Finding[Found]]]) -> Found:
        while (other := self._searches.get(key)) is not None:
            await other.over.wait()
            if other.finding is not None:
                return other.finding.answer
        kept = self._kept.get(key)
        if kept is not None and kept.stamps == stamped(kept.stamps or ()):
            return kept.answer
        finding = await self._search(key, find)
        if finding.stamps is not None:
            self._kept[key] = finding
        return finding.answer

    async def _search(self, key: Hashable, find: Callable[[], Awaitable[Finding[Found]]]) -> Finding[Found]:
        # A command finds its interpreter before it loads the event loop.
        import anyio  # noqa: PLC0415

        search = self._searches[key] = _Search[Found](anyio.Event())
        try:
            search.finding = await find()
            return search.finding
        finally:
            del self._searches[key]
            search.over.set()


class AskedManager(Manager):
    _cache: ClassVar["Cache[Answers]"] = Cache()
    keeps_elsewhere = True

    @abstractmethod
    def question(self, folder: Path, variables: Variables) -> Question:
        """Raises `Unanswered` where the program would write something or answer for another project."""

    @abstractmethod
    def read(self, ended: Exit) -> list[Path]:
        """The environments that the program named. Raises `Unanswered` if it failed."""

    async def environments(self, manifest: Manifest, variables: Variables, root: Path) -> Answers:
        # Variables are part of the key: they decide which program is found and where it keeps environments.
        key = (self.name, manifest.folder, root, frozenset(variables.items()))
        return await self._cache.get(key, partial(self._find, manifest.folder, variables, root))

    async def _find(self, folder: Path, variables: Variables, root: Path) -> Finding[Answers]:
        try:
            question = replace(self.question(folder, variables), root=root)
            program = query.find(question)
            before = stamped((program, *question.sources))
            answers = self._answers(self.read(await query.ask(question, program)))
        except Unanswered as reason:
            return Finding(self.no_answer(str(reason)), stamps=None)
        pythons = [answer.python for answer in answers if answer.python and not answer.problem]
        if len(pythons) < len(answers):
            return Finding(answers, stamps=None)
        settings = [virtualenv.prefix_of(python) / virtualenv.SETTINGS for python in pythons]
        return Finding(answers, stamps=before | stamped((*pythons, *settings)))

    def _answers(self, prefixes: list[Path]) -> Answers:
        """Only several need their names."""
        named = [(prefix, prefix.name if len(prefixes) > 1 else "") for prefix in prefixes]
        return tuple(self.answer(self.python(prefix), name) for prefix, name in named) or self.no_answer()


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
        sources = (*(folder / name for name in _POETRY_SOURCES), settings, store, notes)
        question = Question(self.name, _ENV_LIST, folder, variables, {"POETRY_ACTIVE": None}, sources)
        return replace(question, programs=_POETRY_PROGRAMS)

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
    """Where poetry keeps environments."""
    caches = [variables.get("POETRY_CACHE_DIR"), *(each.get("cache-dir") for each in settings)]
    cache = _first_text(caches) or str(user_dirs.folder("cache", variables) / "pypoetry")
    tables = [table(each, "virtualenvs") for each in settings]
    paths = [variables.get("POETRY_VIRTUALENVS_PATH"), *(each.get("path") for each in tables)]
    path = (_first_text(paths) or "{cache-dir}/virtualenvs").replace("{cache-dir}", cache)
    return folder / user_dirs.expanded(path, variables)


def _first_text(values: Iterable[object]) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _missing(notes: Path, folder: Path) -> str | None:
    """The environment chosen for this folder, if it is gone. poetry would then delete its note of it."""
    ending = f"-{user_dirs.mark(os.path.normcase(folder.resolve()))}"
    noted = toml(notes)
    for name in noted:
        minor = table(noted, name).get("minor")
        if isinstance(minor, str) and name.endswith(ending):
            kept = f"{name}-py{minor.strip()}"
            if not files.holds((notes.parent / kept).exists):
                return kept
    return None


class Pipenv(AskedManager):
    name = "pipenv"
    files = ("Pipfile", "Pipfile.lock")
    lock = "Pipfile.lock"

    def question(self, folder: Path, variables: Variables) -> Question:
        chosen = variables.get("WORKON_HOME")
        usual = f"{variables.get('XDG_DATA_HOME') or '~/.local/share'}/virtualenvs"
        store = folder / user_dirs.expanded(chosen or usual, variables)
        if not store.is_dir():
            # pipenv would create the folder.
            raise Unanswered(self.nothing_yet)
        sources = (*(folder / name for name in _PIPENV_SOURCES), store)
        return Question(self.name, ("--venv",), folder, variables, _PIPENV_SETTINGS, sources)

    def read(self, ended: Exit) -> list[Path]:
        if ended.code == 0:
            return [path for path in map(Path, ended.stdout.split("\n")) if path.is_absolute()]
        if _NONE_YET in ended.stderr:
            return []
        raise complaint(self.name, ended)
