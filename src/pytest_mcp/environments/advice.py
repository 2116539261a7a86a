"""The one line that gives a project a usable Python with pytest, or one more package.

In come the root, the folder that a call pointed at and the rejected candidates; out comes the advice. What it says
deletes nothing, and what it creates is found by `interpreter`. Only files are read for it. What each manager needs is
in `managers/`, which environments exist elsewhere in `nearby`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_mcp.api.advice import Sentence, by_operator, in_shell
from pytest_mcp.environments import nearby, shell, virtualenv
from pytest_mcp.environments.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.environments.managers import lookup
from pytest_mcp.environments.managers.protocol import Manager, Project
from pytest_mcp.environments.managers.registry import MANAGERS, PLAIN

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
        declared = manager.declared(project)
        if declared is not None and package in declared.packages:
            return in_shell(manager.install_line(project, declared))
    adding = next((manager for manager in managers if manager.can_add), PLAIN)
    fix = in_shell(adding.install_line(project, None))
    return fix if _is_usable(fix) else Sentence(f"install {package} into the environment of the project's Python")


def installation(root: Path, python: Path, home: Path, search_path: str) -> Sentence | None:
    """The line that installs the project in the folder `home` itself into the environment of this Python."""
    line = PLAIN.project_line(Project(root, home, lookup.nearest(home, root), [python], search_path=search_path))
    return in_shell(line) if line is not None and _is_usable(line) else None


def _is_usable(line: str) -> bool:
    """Agents paste it into a shell. Names of files can make it very long or break it into lines."""
    return line.isprintable() and len(line) <= _LONGEST_LINE


def _remedy(project: Project, rejected: Sequence[Candidate]) -> Sentence:
    root = project.root
    if any(candidate.source == OPERATORS_CHOICE for candidate in rejected):
        into = PLAIN.install_line(project, PLAIN.declared(project)) if project.lacking else None
        return Sentence(_CORRECT) if into is None else in_shell(into)
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
        if declared := manager.declared(project):
            return in_shell(manager.install_line(project, declared))
    # What pip can install is more than a manager adds that only builds the project.
    adding = [manager for manager in managers if not manager.builds(project.home) or not PLAIN.declared(project)]
    return in_shell(adding[0].install_line(project, None)) if adding else None


def _on_path(project: Project) -> Sentence | None:
    """In containers the system's Python often has everything. An environment of the project is preferred."""
    return None if project.lacking else nearby.on_path(project.search_path)


def _installed(project: Project) -> list[Manager]:
    return [manager for manager in _managers(project) if project.has_program(manager.name)]


def _uninstalled(project: Project) -> Sentence | None:
    """The manager has to be installed, unless pip can do without it."""
    managers = _managers(project)
    if not managers or project.lacking or PLAIN.finds_something(project):
        return None
    line = managers[0].install_line(project, managers[0].declared(project))
    return Sentence(f"install {managers[0].name}, which is not on PATH, and run: ", in_shell(line))


def _managers(project: Project) -> list[Manager]:
    used = [
        each for each in lookup.used(project.home) if not each.builds(project.home) or project.has_program(each.name)
    ]
    able = [manager for manager in used if manager.can_install(project)]
    if not able:
        return [manager for manager in MANAGERS if manager.shared_home(project.home.folder)]
    return [manager for manager in able if manager.is_locked(project)] or able


def _unmanaged(project: Project, others: Sequence[Path]) -> Sentence:
    """If the only environment has an unusual name, a symlink makes it the project's."""
    new = project.root / virtualenv.FOLDERS[0]
    steps = []
    if others and not project.lacking:
        steps = [*shell.aside(new, project.root), ["ln", "-s", others[0].name, new.name]]
        project = replace(project, lacking=[virtualenv.python(others[0])])
    install = PLAIN.install_line(project, PLAIN.declared(project))
    return in_shell(" && ".join(filter(None, [shell.line(steps), install])))
