"""The one line that gives a project a usable Python with pytest, or one more package.

What it says deletes nothing, and what it creates is found by `interpreter`. Only files are read for it. Environments
that exist elsewhere come from `nearby`, the line of each manager from `install_lines`.
"""

from collections.abc import Sequence
from pathlib import Path

from pytest_mcp.api.advice import Sentence, by_operator, in_shell
from pytest_mcp.python import install_lines, nearby, virtualenv
from pytest_mcp.python.install_lines import (
    Situation,
    declaration,
    install_line,
    into_first,
    project_options,
    shell_line,
)
from pytest_mcp.python.interpreter import LEAST_PYTEST, OPERATORS_CHOICE, Candidate
from pytest_mcp.python.managers import CONDA, PLAIN, Manager, nearest_managed, used_managers

_NAME_IT = f"start pytest-mcp with {OPERATORS_CHOICE} and the path of the project's Python"
_MAX_LINE = 2_000


def remedy(
    root: Path,
    rejected: Sequence[Candidate],
    *,
    folder: Path | None = None,
    search_path: str = "",
    with_members: bool = True,
) -> Sentence:
    """`search_path` is where programs are looked for, as in PATH. Without members, their environments do not count."""
    # The first that was tried is the nearest; one further away may belong to another project.
    if rejected and rejected[0].has_old_pytest:
        old = [candidate.python for candidate in rejected if candidate.has_old_pytest]
        renewal = _situation(root, folder or root, old, search_path)
        return in_shell(shell_line(into_first(renewal, ["--upgrade", f"pytest>={LEAST_PYTEST}"])))
    lacking = [candidate.python for candidate in rejected if candidate.lacks_pytest]
    situation = _situation(root, folder or root, lacking, search_path)
    if not any(candidate.source == OPERATORS_CHOICE for candidate in rejected):
        tried = {virtualenv.prefix_of(candidate.python) for candidate in rejected}
        fix = nearby.lead(root, situation.folder, tried, with_members=with_members) or _managed(situation)
    else:
        correct = Sentence(f"correct {OPERATORS_CHOICE}, or omit it to use the project's own environment")
        fix = in_shell(install_line(PLAIN, situation)) if lacking else correct
    return fix if _is_usable(fix) else by_operator(_NAME_IT)


def addition(package: str, chosen: Candidate, root: Path, folder: Path, search_path: str) -> Sentence:
    """The line that adds a package to the environment that is used; the package is installed if it is declared."""
    situation = _situation(root, folder, [chosen.python], search_path, package)
    managers = [] if chosen.source == OPERATORS_CHOICE else _installed(situation)
    for manager in (*managers, PLAIN):
        declared = declaration(manager, situation)
        if declared is not None and package in declared.packages:
            return in_shell(install_line(manager, situation))
    fix = in_shell(install_line(next(filter(install_lines.can_add, managers), PLAIN), situation, add=True))
    return fix if _is_usable(fix) else Sentence(f"install {package} into the environment of the project's Python")


def installation(root: Path, python: Path, home: Path, search_path: str) -> Sentence | None:
    """The line that installs the project in the folder `home` itself, and its requirements, for this Python."""
    situation = _situation(root, home, [python], search_path)
    options = project_options(situation, home)
    line = shell_line(into_first(situation, options)) if options else ""
    return in_shell(line) if line and _is_usable(line) else None


def _situation(
    root: Path, folder: Path, lacking: Sequence[Path], search_path: str, package: str = "pytest"
) -> Situation:
    inside = folder if folder.is_relative_to(root) else root
    return Situation(root, inside, nearest_managed(inside, root), lacking, package, search_path)


def _is_usable(line: str) -> bool:
    """Agents paste it into a shell. Names of files can make it very long or break it into lines."""
    return line.isprintable() and len(line) <= _MAX_LINE


def _managed(situation: Situation) -> Sentence:
    """The first manager that declares pytest, otherwise the first one, which adds it. pip's line if there is none."""
    if installed := _installed(situation):
        declaring = [each for each in installed if declaration(each, situation)]
        return in_shell(install_line((declaring or installed)[0], situation))
    if not situation.lacking:
        # In containers the system's Python often has everything. An environment of the project is preferred.
        if on_path := nearby.on_path(situation.search_path):
            return on_path
        # The manager has to be installed, unless pip can do without it: there is something that it reads.
        for_pip = declaration(PLAIN, situation) or project_options(situation, situation.root)
        if (managers := _managers(situation)) and not for_pip:
            line = in_shell(install_line(managers[0], situation))
            return Sentence(f"install {managers[0].name}, which is not on PATH, and run: ", line)
    return in_shell(install_line(PLAIN, situation))


def _installed(situation: Situation) -> list[Manager]:
    return [manager for manager in _managers(situation) if situation.has_program(manager.name)]


def _managers(situation: Situation) -> list[Manager]:
    """Those that have locked the project, otherwise all that it uses."""
    home = situation.home
    used = [each for each in used_managers(home, by_backend=False) if _can_install(each, situation)]
    return [each for each in used if each.has_locked(home)] or used


def _can_install(manager: Manager, situation: Situation) -> bool:
    if manager is CONDA:
        # Not into an environment that works and is not conda's.
        return not situation.lacking or virtualenv.is_condas(virtualenv.prefix_of(situation.lacking[0]))
    return not manager.needs_pyproject or (situation.home.folder / "pyproject.toml").is_file()
