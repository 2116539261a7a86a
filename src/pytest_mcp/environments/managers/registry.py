"""Which environments poetry, pdm, hatch and pipenv keep for a project.

In come the manifest and the server's environment; out come answers in order, each with a Python or with the reason
why there is none. Nothing is made, installed or written for it. Poetry and pipenv are asked; what pdm and hatch would
say stands in files, and asking them can install something. Which answer is taken is decided in `interpreter`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pytest_mcp.environments import files, user_dirs, virtualenv
from pytest_mcp.environments.managers import hatch, poetry, query
from pytest_mcp.environments.managers.cache import Finding, Memory, stamped
from pytest_mcp.environments.managers.query import Question, Unanswered, complaint
from pytest_mcp.environments.project import Manager, Manifest
from pytest_mcp.events.run import Exit

Environment: TypeAlias = Mapping[str, str]

_ORDER: tuple[Manager, ...] = ("poetry", "pdm", "hatch", "pipenv")
_PDMS_CHOICE = ".pdm-python"
_LONGEST_PATH = 4096
_PDMS_PACKAGES = "__pypackages__"
_FILES_OF_PIPENV = ("Pipfile", "Pipfile.lock", ".venv")
_SETTINGS_OF_PIPENV = {
    "PIPENV_IGNORE_VIRTUALENVS": "1",
    "PIPENV_VERBOSITY": "-1",
    "PIPENV_DONT_LOAD_ENV": "1",
    # The folder itself, and none above it.
    "PIPENV_MAX_DEPTH": "1",
}
_NONE_BY_PIPENV = "No virtualenv has been created"


@dataclass(frozen=True)
class Answer:
    manager: str
    python: Path | None
    source: str
    problem: str | None = None


Answers: TypeAlias = tuple[Answer, ...]

_memory: Memory[Answers] = Memory()


async def environments(manifest: Manifest, environment: Environment, root: Path) -> list[Answer]:
    """Those of the managers that the manifest names, and of no other. No program that lies in the root is started."""
    answers: list[Answer] = []
    for manager in _ORDER:
        if manager not in manifest.managers:
            continue
        if manager in _ASKED:
            # Variables decide too: which program is found, and where it keeps what.
            key = (manager, manifest.folder, root, frozenset(environment.items()))
            answers += await _memory.recall(key, partial(_find_out, manager, manifest.folder, environment, root))
        else:
            answers += _READ[manager](manifest, environment)
    return answers


async def _find_out(manager: Manager, folder: Path, environment: Environment, root: Path) -> Finding[Answers]:
    prepare, read = _ASKED[manager]
    try:
        question = replace(prepare(folder, environment), root=root)
        program = query.find(question)
        before = stamped((program, *question.sources))
        answers = _answers(manager, read(await query.ask(question, program)))
    except Unanswered as reason:
        return Finding(_none(manager, str(reason)), stamps=None)
    pythons = [answer.python for answer in answers if answer.python and not answer.problem]
    if len(pythons) < len(answers):
        return Finding(answers, stamps=None)
    settings = [python.parent.parent / virtualenv.SETTINGS for python in pythons]
    return Finding(answers, stamps=before | stamped((*pythons, *settings)))


def _pipenv(folder: Path, environment: Environment) -> Question:
    chosen = environment.get("WORKON_HOME")
    usual = f"{environment.get('XDG_DATA_HOME') or '~/.local/share'}/virtualenvs"
    store = folder / user_dirs.expanded(chosen or usual, environment)
    if not store.is_dir():
        # It would make the folder.
        raise Unanswered(_nothing_yet("pipenv"))
    sources = (*(folder / name for name in _FILES_OF_PIPENV), store)
    return Question("pipenv", ("--venv",), folder, environment, _SETTINGS_OF_PIPENV, sources)


def _read_pipenv(ended: Exit) -> list[Path]:
    if ended.code == 0:
        return [path for path in map(Path, ended.stdout.split("\n")) if path.is_absolute()]
    if _NONE_BY_PIPENV in ended.stderr:
        return []
    raise complaint("pipenv", ended)


def _pdm(manifest: Manifest, _environment: Environment) -> Answers:
    named = files.text(manifest.folder / _PDMS_CHOICE, _LONGEST_PATH).strip()
    if not named.isprintable():
        return _none("pdm", f"what {_PDMS_CHOICE} holds is no path")
    if not named:
        return _none("pdm", "pdm has chosen no Python for this project yet")
    python = manifest.folder / named
    answer = _answer("pdm", python)
    has_its_own = virtualenv.is_environment(python.parent.parent)
    if answer.problem is None and not has_its_own and (manifest.folder / _PDMS_PACKAGES).is_dir():
        answer = replace(answer, problem=f"does not see {_PDMS_PACKAGES}, where pdm keeps this project's packages")
    return (answer,)


def _hatch(manifest: Manifest, environment: Environment) -> Answers:
    try:
        kept = hatch.environments(manifest, environment)
    except (OSError, RuntimeError, ValueError) as error:
        return _none("hatch", f"the folder of hatch's environments cannot be told: {error}")
    found = tuple(_answer("hatch", virtualenv.python(each.prefix), each.name) for each in kept)
    return found or _none("hatch", _nothing_yet("hatch"))


_ASKED: Mapping[Manager, tuple[Callable[[Path, Environment], Question], Callable[[Exit], list[Path]]]] = {
    "poetry": (poetry.question, poetry.read),
    "pipenv": (_pipenv, _read_pipenv),
}
_READ: Mapping[Manager, Callable[[Manifest, Environment], Answers]] = {"pdm": _pdm, "hatch": _hatch}


def _answers(manager: Manager, kept: Sequence[Path]) -> Answers:
    """Only several need their names."""
    several = len(kept) > 1
    found = tuple(_answer(manager, virtualenv.python(prefix), prefix.name if several else "") for prefix in kept)
    return found or _none(manager, _nothing_yet(manager))


def _answer(manager: Manager, python: Path, name: str = "") -> Answer:
    source = f"{manager}'s environment {name}".rstrip()
    return Answer(manager, python, source, None if virtualenv.is_there(python) else "does not exist")


def _none(manager: Manager, problem: str) -> Answers:
    return (Answer(manager, None, f"{manager}'s environment", problem),)


def _nothing_yet(manager: Manager) -> str:
    return f"{manager} has made no environment for this project yet"
