"""pip in a plain virtual environment: for projects that use no manager.

Environments are found by their usual names and by VIRTUAL_ENV. Pytest may be declared in a requirements file, an
extra or a group, of the folder that a call points at or of one above it, up to the root.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pytest_mcp.environments import files, requirements, shell, virtualenv
from pytest_mcp.environments.managers import conda, uv
from pytest_mcp.environments.managers.protocol import Manager, Project
from pytest_mcp.environments.project import read
from pytest_mcp.environments.requirements import Declaration, Names, best
from pytest_mcp.environments.shell import Step

# The first pip with `--group`. Installing it is a no-op where it is there.
_WITH_GROUPS = "pip>=25.1"
_FILES = ("*requirements*.txt", "requirements/*.txt")
# In each folder.
_MOST_FILES = 20


class Pip(Manager):
    name = "pip"
    variable = "VIRTUAL_ENV"

    def is_environment(self, prefix: Path) -> bool:
        return virtualenv.is_environment(prefix)

    def declared(self, project: Project) -> Declaration | None:
        """In the nearest folder: in a file, an extra or a group, in this order."""
        homes = files.upward(project.folder, project.root)
        return next(filter(None, (_declared(folder, project.root) for folder in homes)), None)

    def install_line(self, project: Project, declared: Declaration | None) -> str:
        """Into the first environment that works, otherwise into a new one together with the project."""
        if project.lacking:
            return shell.line(_steps_into(project, declared))
        new = project.root / virtualenv.FOLDERS[0]
        options = [*_of_project(project, declared), *_options(project, declared)]
        return shell.line(
            [
                # A broken environment is kept: `venv` cannot repair it, and `venv --clear` would delete its contents.
                *shell.aside(new, project.root),
                ["python3", "-m", "venv", new.name],
                *_pip_steps(shell.shown(virtualenv.python(new), project.root), options),
            ]
        )

    def finds_something(self, project: Project) -> bool:
        """Whether the project can be built, has a requirements.txt, or declares pytest where pip reads it."""
        return self.declared(project) is not None or bool(_of_project(project, None))

    def project_line(self, project: Project) -> str | None:
        """Install the project itself and its requirements into the first environment; None if it has neither."""
        options = _of_project(project, Declaration((), frozenset(), folder=project.folder))
        return shell.line(_steps_into(project, Declaration(tuple(options), frozenset()))) if options else None


def _steps_into(project: Project, declared: Declaration | None) -> list[Step]:
    python, root, options = project.lacking[0], project.root, _options(project, declared)
    prefix, shown = virtualenv.of(python), shell.shown(python, root)
    if declared is None and conda.is_environment(prefix):
        return [conda.add(project.package, prefix, root)]
    if lacks_pip(prefix) and uv.is_made_by_uv(prefix) and project.has_program("uv"):
        return [["uv", "pip", "install", "--python", shown, *options]]
    return [*([[shown, "-m", "ensurepip"]] if lacks_pip(prefix) else []), *_pip_steps(shown, options)]


def lacks_pip(prefix: Path) -> bool:
    """False if unknown: an environment that sees the packages of others may find pip there."""
    said = virtualenv.settings(prefix)
    sees_others = said.get("include-system-site-packages") == "true"
    return bool(said) and not sees_others and not virtualenv.has(prefix, "pip")


def _options(project: Project, declared: Declaration | None) -> tuple[str, ...]:
    return declared.options if declared else (project.package,)


def _pip_steps(python: str, options: Sequence[str]) -> list[Step]:
    install = [python, "-m", "pip", "install"]
    return [*([[*install, _WITH_GROUPS]] if "--group" in options else []), [*install, *options]]


def _place(folder: Path, root: Path) -> str:
    """As pip is told it: with a dot, since a bare name would be a package of the index."""
    return "." if folder == root else f"./{folder.relative_to(root).as_posix()}"


def _declared(folder: Path, root: Path) -> Declaration | None:
    place = _place(folder, root)
    found = [file for pattern in _FILES for file in sorted(islice(folder.glob(pattern), _MOST_FILES))]
    listed = [
        Declaration(("-r", str(Path(place, file.relative_to(folder)))), of_file(file), file.name)
        for file in found[:_MOST_FILES]
        if file.name.isprintable()
    ]
    main, *others = requirements.standard(read(folder), group="--group", extra="-e")
    packaged = [replace(main, options=("-e", place))]
    packaged += [replace(each, options=("-e", f"{place}[{each.name}]")) for each in others if each.options[0] == "-e"]
    start = "" if folder == root else f"{place}/pyproject.toml:"
    grouped = [
        replace(each, options=("--group", f"{start}{each.name}")) for each in others if "--group" in each.options
    ]
    kinds = [each for each in map(best, (listed, packaged, grouped)) if each is not None]
    chosen = max(kinds, key=lambda each: each.weight, default=None)
    return chosen and replace(chosen, folder=folder)


def _of_project(project: Project, declared: Declaration | None) -> list[str]:
    """The project itself, if it can be built, and its requirements.txt, unless `declared` contains them."""
    folder = (declared and declared.folder) or project.root
    place, options = _place(folder, project.root), declared.options if declared else ()
    is_built = read(folder).table("build-system") or (folder / "setup.py").is_file()
    usual = str(Path(place, "requirements.txt"))
    built = ["-e", place] if is_built and "-e" not in options else []
    listed = ["-r", usual] if (folder / "requirements.txt").is_file() and usual not in options else []
    return [*built, *listed]


def of_file(file: Path) -> Names:
    """Files that it includes are listed on their own."""
    return requirements.names(files.text(file).splitlines())
