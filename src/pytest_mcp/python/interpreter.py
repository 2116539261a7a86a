"""Which Python is the project's own, and when that choice may not be the one that was meant.

Candidates come in order, each with its source and, if it cannot be started, the problem. Whether it has pytest is known
only when the launcher runs in it. PATH and a manager's `run` are never used: both may pick the pytest of another
environment.
"""

import os
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_mcp import text
from pytest_mcp.config.model import Config
from pytest_mcp.python import files, git_files, uv, virtualenv
from pytest_mcp.python.files import Stamp, stamped
from pytest_mcp.python.managers import ACTIVE, environments_in, kept_environments, nearest_managed, why_not_active
from pytest_mcp.python.virtualenv import FOLDERS

OPERATORS_CHOICE = "--python"
# The oldest that the child runs on.
LEAST_PYTHON = "3.8"
LEAST_PYTEST = "7.0"
# Trying one may cost a process.
MAX_CANDIDATES = 10
# The longest path or reason, in characters.
MAX_WORDS = 500
_IS_PYTHON = re.compile("python|pypy|graalpy", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    python: Path
    source: str
    problem: str | None = None
    lacks_pytest: bool = False
    has_old_pytest: bool = False

    def rejected(self, problem: str, *, lacks_pytest: bool = False, has_old_pytest: bool = False) -> "Candidate":
        return replace(self, problem=problem, lacks_pytest=lacks_pytest, has_old_pytest=has_old_pytest)

    def described(self) -> dict[str, Any]:
        """Each value is one short line: it contains names of folders, which a repository chooses."""
        problem = None if self.problem is None else short(self.problem)
        return {"python": short(str(self.python)), "source": short(self.source), "problem": problem}

    def path_from(self, root: Path) -> str:
        """Its path as it is seen from the root."""
        return short(str(self.python.relative_to(root) if self.python.is_relative_to(root) else self.python))

    @property
    def line(self) -> str:
        return "tried {python} ({source}): {problem}".format(**self.described())


def short(words: str) -> str:
    return text.safe_line(text.cut_middle(words, MAX_WORDS, separator=" "))


async def candidates(config: Config, folder: Path) -> AsyncIterator[Candidate]:
    """Lazily: the later ones may cost running a manager."""
    # A command looks at the visible ones before it loads the event loop.
    from pytest_mcp.process.background import in_thread  # noqa: PLC0415

    for candidate in await in_thread(lambda: visible(config, folder)):
        yield candidate
    if config.python is None:
        nearest = await in_thread(lambda: nearest_managed(folder, config.root))
        for answer in await kept_environments(nearest, config.environment, config.root):
            if answer.python is None:
                yield Candidate(Path(answer.manager), answer.source, answer.problem)
            else:
                yield _inspected(answer.python, answer.source)
        for candidate in _of_main_checkout(config.root, folder):
            yield candidate


def visible(config: Config, folder: Path) -> list[Candidate]:
    """Candidates that files and variables show: the operator's choice alone, or all of them."""
    if config.python is not None:
        return [_inspected(config.python, OPERATORS_CHOICE)]
    by_folder: dict[str, Candidate] = {}
    inside = [each for place in files.upward(folder, config.root) for each in environments_in(place)]
    kept = [_inspected(python, source) for source, python in inside]
    for candidate in (*_of_folders(config.root, folder), *_active(config, folder), *kept):
        # The same environment may be found twice.
        by_folder.setdefault(os.path.realpath(candidate.python.parent), candidate)
    return list(by_folder.values())[:MAX_CANDIDATES]


def pointed_at(places: Sequence[Path], root: Path) -> Path:
    """The folder that contains all these places inside the root."""
    if not places:
        return root
    common = Path(os.path.commonpath(places))
    return common if common.is_dir() else common.parent


def state(python: Path) -> list[Stamp]:
    """A fingerprint of this Python's environment, which may change while a process starts."""
    settings = (python.parent / virtualenv.SETTINGS, virtualenv.prefix_of(python) / virtualenv.SETTINGS)
    return [*stamped((python, *settings, *virtualenv.packages(virtualenv.prefix_of(python)))).values()]


def _of_folders(root: Path, folder: Path, *, whose: str = "the project root") -> Iterator[Candidate]:
    """Nearest first: in a repository of several projects each has its own."""
    for place in files.upward(folder, root):
        where = whose if place == root else str(place.relative_to(root))
        for name in FOLDERS:
            if os.path.lexists(place / name):
                yield _inspected(virtualenv.python(place / name), f"{name} in {where}")


def _active(config: Config, folder: Path) -> Iterator[Candidate]:
    for variable in ACTIVE:
        if value := config.environment.get(variable):
            # A relative path starts from the folder of the manager's project.
            home = uv.workspace(folder, config.root) or nearest_managed(folder, config.root).folder
            prefix = home / value
            problem = why_not_active(variable, prefix, config.environment)
            candidate = _inspected(virtualenv.python(prefix), variable)
            yield candidate if problem is None else candidate.rejected(problem)


def _of_main_checkout(root: Path, folder: Path) -> Iterator[Candidate]:
    """A linked worktree seldom has an environment of its own, so that of its main checkout is used."""
    checkout = git_files.find(root)
    if checkout is not None and checkout.main is not None:
        mirrored = checkout.main / root.relative_to(checkout.top)
        yield from _of_folders(mirrored, mirrored / folder.relative_to(root), whose="the main checkout")


def _inspected(python: Path, source: str) -> Candidate:
    candidate = Candidate(python, source)
    if files.holds(python.is_dir):
        return candidate.rejected("is a folder, not an interpreter")
    if not files.holds(python.exists):
        dangling = " (a symlink to a Python that is gone)" if files.holds(python.is_symlink) else ""
        return candidate.rejected(f"does not exist{dangling}")
    if not os.access(python, os.X_OK):
        return candidate.rejected("is not executable")
    # A repository could name any program here, which would be started.
    if source != OPERATORS_CHOICE and not _IS_PYTHON.search(Path(os.path.realpath(python)).name):
        return candidate.rejected(f"is a symlink to {os.path.realpath(python)}, which is not a Python")
    return candidate


# Doubts: only files are looked at, and a clear choice gives none


def doubts(chosen: Candidate, rejected: Sequence[Candidate], places: Sequence[Path], config: Config) -> list[str]:
    """`places` are what the call points at, inside the root."""
    if config.python is not None:
        return []
    folder = pointed_at(places, config.root)
    return [
        *_passed_over(chosen, rejected, config.root),
        *_rivals(chosen, visible(config, folder), config.root),
        *_nearer(folder, places, config.root),
    ]


def _passed_over(chosen: Candidate, rejected: Sequence[Candidate], root: Path) -> list[str]:
    """The project's own environments that cannot be used. Variables may be stale, so they do not count."""
    own = [other for other in rejected if other.lacks_pytest or other.python.is_relative_to(root)]
    reasons = [f"{other.path_from(root)} cannot be used: {short(other.problem or '')}" for other in own]
    return [f"The tests ran with {chosen.path_from(root)} because {reason}." for reason in reasons]


def _rivals(chosen: Candidate, every: Sequence[Candidate], root: Path) -> list[str]:
    """Later candidates that would have worked too: an active one, or one in the same folder."""
    pythons = [other.python for other in every]
    later = every[pythons.index(chosen.python) + 1 :] if chosen.python in pythons else []
    rivals = [other for other in later if _competes(other, chosen)]
    if not rivals:
        return []
    named = text.few(f"{other.path_from(root)} ({short(other.source)})" for other in rivals)
    ran_with = f"The tests ran with {chosen.path_from(root)}"
    return [f"{ran_with}; {named} has pytest too. The operator can choose with --python."]


def _competes(other: Candidate, chosen: Candidate) -> bool:
    """Several environments of one manager do not compete, nor do those of outer projects."""
    prefix = virtualenv.prefix_of(other.python)
    sibling = prefix.name in FOLDERS and prefix.parent == virtualenv.prefix_of(chosen.python).parent
    return other.problem is None and (other.source in ACTIVE or sibling) and virtualenv.has(prefix, "pytest")


def _nearer(folder: Path, places: Sequence[Path], root: Path) -> list[str]:
    """Projects with environments of their own, whose tests ran together in another one."""
    own = {
        str(place.relative_to(root))
        for target in places
        for place in (target, *target.parents)
        if place != folder and place.is_relative_to(folder)
        if any(virtualenv.has(place / name, "pytest") for name in FOLDERS)
    }
    named = text.few(map(short, sorted(own)))
    return [f"These have their own environments: {named}. Call each alone to use it."] if own else []
