"""The one line that gives a project a usable Python with pytest, or one more package.

What it says deletes nothing, and what it creates is found by `interpreter`. Only files are read for it. Environments
that exist elsewhere come from `nearby`, the line of each manager from `install_lines`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_mcp.api.advice import Sentence, by_operator, in_shell
from pytest_mcp.python import nearby, virtualenv
from pytest_mcp.python.install_lines import (
    Situation,
    can_add,
    can_install,
    declaration,
    install_line,
    pip_can_read,
    project_line,
    shell_line,
)
from pytest_mcp.python.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.python.manager import Manager
from pytest_mcp.python.managers import PLAIN, nearest_managed, used_managers

_CORRECT = f"correct {OPERATORS_CHOICE}, or omit it to use the project's own environment"
_NAME_IT = f"start pytest-mcp with {OPERATORS_CHOICE} and the path of the project's Python"
_MAX_LINE = 2_000


def remedy(root: Path, rejected: Sequence[Candidate], *, folder: Path | None = None, search_path: str = "") -> Sentence:
    """`search_path` is where programs are looked for, as in PATH."""
    inside = folder if folder is not None and folder.is_relative_to(root) else root
    lacking = [candidate.python for candidate in rejected if candidate.lacks_pytest]
    situation = Situation(root, inside, nearest_managed(inside, root), lacking, search_path=search_path)
    fix = _remedy(situation, rejected)
    return fix if _is_usable(fix) else by_operator(_NAME_IT)


def addition(package: str, chosen: Candidate, root: Path, folder: Path, search_path: str) -> Sentence:
    """The line that adds a package to the environment that is used; the package is installed if it is declared."""
    inside = folder if folder.is_relative_to(root) else root
    situation = Situation(root, inside, nearest_managed(inside, root), [chosen.python], package, search_path)
    managers = [] if chosen.source == OPERATORS_CHOICE else _installed(situation)
    for manager in (*managers, PLAIN):
        declared = declaration(manager, situation)
        if declared is not None and package in declared.packages:
            return in_shell(install_line(manager, situation, declared))
    fix = in_shell(install_line(next(filter(can_add, managers), PLAIN), situation, None))
    return fix if _is_usable(fix) else Sentence(f"install {package} into the environment of the project's Python")


def installation(root: Path, python: Path, home: Path, search_path: str) -> Sentence | None:
    """The line that installs the project in the folder `home` itself into the environment of this Python."""
    line = project_line(Situation(root, home, nearest_managed(home, root), [python], search_path=search_path))
    return in_shell(line) if line is not None and _is_usable(line) else None


def _is_usable(line: str) -> bool:
    """Agents paste it into a shell. Names of files can make it very long or break it into lines."""
    return line.isprintable() and len(line) <= _MAX_LINE


def _remedy(situation: Situation, rejected: Sequence[Candidate]) -> Sentence:
    if any(candidate.source == OPERATORS_CHOICE for candidate in rejected):
        return in_shell(_by_pip(situation)) if situation.lacking else Sentence(_CORRECT)
    tried = {virtualenv.prefix_of(candidate.python) for candidate in rejected}
    return (
        nearby.lead(situation.root, situation.folder, tried)
        or _managed(situation)
        or _on_path(situation)
        or _unmanaged(situation, nearby.renamed(situation.root, tried))
    )


def _managed(situation: Situation) -> Sentence | None:
    """The first manager that declares pytest; otherwise the first one, which adds it."""
    managers, installed = _managers(situation), _installed(situation)
    if installed:
        declaring = next((each for each in installed if declaration(each, situation)), installed[0])
        return in_shell(install_line(declaring, situation, declaration(declaring, situation)))
    # The manager has to be installed, unless pip can do without it.
    if not managers or situation.lacking or _on_path(situation) or pip_can_read(situation):
        return None
    line = install_line(managers[0], situation, declaration(managers[0], situation))
    return Sentence(f"install {managers[0].name}, which is not on PATH, and run: ", in_shell(line))


def _on_path(situation: Situation) -> Sentence | None:
    """In containers the system's Python often has everything. An environment of the project is preferred."""
    return None if situation.lacking else nearby.on_path(situation.search_path)


def _installed(situation: Situation) -> list[Manager]:
    return [manager for manager in _managers(situation) if situation.has_program(manager.name)]


def _managers(situation: Situation) -> list[Manager]:
    """Those that have locked the project, otherwise all that it uses. Many projects only build with a manager."""
    home = situation.home
    used = [each for each in used_managers(home) if not each.builds(home) and can_install(each, situation)]
    return [each for each in used if each.lock is not None and (home.folder / each.lock).is_file()] or used


def _unmanaged(situation: Situation, others: Sequence[Path]) -> Sentence:
    """If the only environment has an unusual name, a symlink makes it the project's."""
    if not others or situation.lacking:
        return in_shell(_by_pip(situation))
    new = situation.root / virtualenv.FOLDERS[0]
    link = [*situation.aside(new), ["ln", "-s", others[0].name, new.name]]
    into = replace(situation, lacking=[virtualenv.python(others[0])])
    return in_shell(f"{shell_line(link)} && {_by_pip(into)}")


def _by_pip(situation: Situation) -> str:
    return install_line(PLAIN, situation, declaration(PLAIN, situation))
