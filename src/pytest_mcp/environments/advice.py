"""The one line that gives a project a usable Python with pytest, or one more package.

In come the root, the folder that a call pointed at and the rejected candidates; out comes a `Fix`, to be run in the
root. It deletes nothing, and what it creates is found by `interpreter`. Only files are read for it. What each manager
needs is in `managers/`, which environments exist elsewhere in `nearby`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_mcp.api.errors import Fix
from pytest_mcp.environments import nearby, shell, virtualenv
from pytest_mcp.environments.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.environments.managers import lookup
from pytest_mcp.environments.managers.protocol import Manager, Project
from pytest_mcp.environments.managers.registry import MANAGERS, PLAIN

_CORRECT = f"correct {OPERATORS_CHOICE}, or omit it to use the project's own environment"
_NAME_IT = f"start pytest-mcp with {OPERATORS_CHOICE} and the path of the project's Python"
_LONGEST_LINE = 2_000


def remedy(root: Path, rejected: Sequence[Candidate], *, folder: Path | None = None) -> Fix:
    fix = _remedy(root, rejected, folder if folder is not None and folder.is_relative_to(root) else root)
    return fix if _is_usable(fix) else Fix(_NAME_IT, for_operator=True)


def addition(package: str, chosen: Candidate, root: Path, folder: Path) -> Fix:
    """The line that adds a package to the environment that is used; the package is installed if it is declared."""
    inside = folder if folder.is_relative_to(root) else root
    project = Project(root, inside, lookup.nearest(inside, root), [chosen.python], package)
    managers = [] if chosen.source == OPERATORS_CHOICE else _managers(project)
    for manager in (*managers, PLAIN):
        declared = manager.declared(project)
        if declared is not None and package in declared.packages:
            return Fix(manager.install_line(project, declared))
    adding = next((manager for manager in managers if manager.can_add), PLAIN)
    fix = Fix(adding.install_line(project, None))
    return fix if _is_usable(fix) else Fix(f"install {package} into the environment of the project's Python")


def _is_usable(fix: Fix) -> bool:
    """Agents paste it into a shell. Names of files can make it very long or break it into lines."""
    return fix.line.isprintable() and len(fix.line) <= _LONGEST_LINE


def _remedy(root: Path, rejected: Sequence[Candidate], folder: Path) -> Fix:
    lacking = [candidate.python for candidate in rejected if candidate.lacks_pytest]
    project = Project(root, folder, lookup.nearest(folder, root), lacking)
    if any(candidate.source == OPERATORS_CHOICE for candidate in rejected):
        return Fix(PLAIN.install_line(project, PLAIN.declared(project)) if lacking else _CORRECT)
    tried = {virtualenv.of(candidate.python) for candidate in rejected}
    return (
        nearby.lead(root, folder, tried)
        or _managed(project)
        or nearby.of_tools(root, tried)
        or _unmanaged(project, nearby.renamed(root, tried))
    )


def _managed(project: Project) -> Fix | None:
    """The first manager that declares pytest; otherwise the first one, which adds it."""
    managers = _managers(project)
    for manager in managers:
        if declared := manager.declared(project):
            return Fix(manager.install_line(project, declared))
    return Fix(managers[0].install_line(project, None)) if managers else None


def _managers(project: Project) -> list[Manager]:
    able = [manager for manager in lookup.used(project.home) if manager.can_install(project)]
    if not able:
        return [manager for manager in MANAGERS if manager.shared_home(project.home.folder)]
    return [manager for manager in able if manager.is_locked(project)] or able


def _unmanaged(project: Project, others: Sequence[Path]) -> Fix:
    """If the only environment has an unusual name, a symlink makes it the project's."""
    new = project.root / virtualenv.FOLDERS[0]
    steps = []
    if others and not project.lacking:
        steps = [*shell.aside(new, project.root), ["ln", "-s", others[0].name, new.name]]
        project = replace(project, lacking=[virtualenv.python(others[0])])
    install = PLAIN.install_line(project, PLAIN.declared(project))
    return Fix(" && ".join(filter(None, [shell.line(steps), install])))
