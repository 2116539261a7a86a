"""The one line that gives a project a usable Python with pytest, or one more package.

In come the root, the folder that a call pointed at and the rejected candidates; out comes the advice. What it says
deletes nothing, and what it creates is found by `interpreter`. Only files are read for it. The line of each manager
is in `install_lines.py`, which environments exist elsewhere in `nearby`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_mcp.api.advice import Sentence, by_operator, in_shell
from pytest_mcp.python import install_lines as lines
from pytest_mcp.python import lookup, nearby, shell, virtualenv
from pytest_mcp.python.install_lines import Project
from pytest_mcp.python.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.python.manager import Manager
from pytest_mcp.python.managers import MANAGERS, PLAIN

_CORRECT = f"correct {OPERATORS_CHOICE}, or omit it to use the project's own environment"
_NAME_IT = f"start pytest-mcp with {OPERATORS_CHOICE} and the path of the project's Python"
_LONGEST_LINE = 2_000


def remedy(root: Path, rejected: Sequence[Candidate], *, folder: Path | None = None, search_path: str = "") -> Sentence:
    """`search_path` is where programs are looked for, as in PATH."""
    inside = folder if folder is not None and folder.is_relative_to(root) else root
    lacking = [candidate.python for candidate in rejected if candidate.lacks_pytest]
    fix = _remedy(Project(root, inside, lookup.nearest(inside, root), lacking, search_path=search_path), rejected)
    return fix if _is_usable(fix) else by_operator(_NAME_IT)


def addition(package: str, chosen: Candidate, root: Path, folder: Path, search_path: str) -> Sentence:
    """The line that adds a package to the environment that is used; the package is installed if it is declared."""
    inside = folder if folder.is_relative_to(root) else root
    project = Project(root, inside, lookup.nearest(inside, root), [chosen.python], package, search_path)
    managers = [] if chosen.source == OPERATORS_CHOICE else _installed(project)
    for manager in (*managers, PLAIN):
        declared = lines.declared(manager, project)
        if declared is not None and package in declared.packages:
            return in_shell(lines.line(manager, project, declared))
    fix = in_shell(lines.line(next(filter(lines.can_add, managers), PLAIN), project, None))
    return fix if _is_usable(fix) else Sentence(f"install {package} into the environment of the project's Python")


def installation(root: Path, python: Path, home: Path, search_path: str) -> Sentence | None:
    """The line that installs the project in the folder `home` itself into the environment of this Python."""
    line = lines.of_project(Project(root, home, lookup.nearest(home, root), [python], search_path=search_path))
    return in_shell(line) if line is not None and _is_usable(line) else None


def _is_usable(line: str) -> bool:
    """Agents paste it into a shell. Names of files can make it very long or break it into lines."""
    return line.isprintable() and len(line) <= _LONGEST_LINE


def _remedy(project: Project, rejected: Sequence[Candidate]) -> Sentence:
    root = project.root
    if any(candidate.source == OPERATORS_CHOICE for candidate in rejected):
        return in_shell(_by_pip(project)) if project.lacking else Sentence(_CORRECT)
    tried = {virtualenv.of(candidate.python) for candidate in rejected}
    return (
        nearby.lead(root, project.folder, tried)
        or _managed(project)
        or nearby.of_tools(root, tried)
        or _on_path(project)
        or _unmanaged(project, nearby.renamed(root, tried))
    )


def _managed(project: Project) -> Sentence | None:
    """The first manager that declares pytest; otherwise the first one, which adds it."""
    managers = _installed(project)
    if not managers:
        return _on_path(project) or _uninstalled(project)
    for manager in managers:
        if declared := lines.declared(manager, project):
            return in_shell(lines.line(manager, project, declared))
    # What pip can install is more than a manager adds that only builds the project.
    adding = [each for each in managers if not each.builds(project.home) or not lines.declared(PLAIN, project)]
    return in_shell(lines.line(adding[0], project, None)) if adding else None


def _on_path(project: Project) -> Sentence | None:
    """In containers the system's Python often has everything. An environment of the project is preferred."""
    return None if project.lacking else nearby.on_path(project.search_path)


def _installed(project: Project) -> list[Manager]:
    return [manager for manager in _managers(project) if project.has_program(manager.name)]


def _uninstalled(project: Project) -> Sentence | None:
    """The manager has to be installed, unless pip can do without it."""
    managers = _managers(project)
    if not managers or project.lacking or lines.finds_something(project):
        return None
    line = lines.line(managers[0], project, lines.declared(managers[0], project))
    return Sentence(f"install {managers[0].name}, which is not on PATH, and run: ", in_shell(line))


def _managers(project: Project) -> list[Manager]:
    used = [
        each for each in lookup.used(project.home) if not each.builds(project.home) or project.has_program(each.name)
    ]
    able = [manager for manager in used if lines.can_install(manager, project)]
    if not able:
        return [manager for manager in MANAGERS if manager.shared_home(project.home.folder)]
    locks = [each for each in able if each.lock is not None and (project.home.folder / each.lock).is_file()]
    return locks or able


def _unmanaged(project: Project, others: Sequence[Path]) -> Sentence:
    """If the only environment has an unusual name, a symlink makes it the project's."""
    if not others or project.lacking:
        return in_shell(_by_pip(project))
    link = [*shell.aside(project.new, project.root), ["ln", "-s", others[0].name, project.new.name]]
    into = replace(project, lacking=[virtualenv.python(others[0])])
    return in_shell(f"{shell.line(link)} && {_by_pip(into)}")


def _by_pip(project: Project) -> str:
    return lines.line(PLAIN, project, lines.declared(PLAIN, project))
