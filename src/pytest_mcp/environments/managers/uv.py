"""uv: an environment `.venv` beside pyproject.toml, which the members of a workspace share.

That environment is found like any other `.venv`, so uv is not asked.
"""

from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_mcp.environments import files, requirements, shell, virtualenv
from pytest_mcp.environments.managers.protocol import Manager, Project
from pytest_mcp.environments.project import Manifest, read, strings
from pytest_mcp.environments.requirements import Declaration


class Uv(Manager):
    name = "uv"
    files = ("uv.lock", "uv.toml")
    table = ("tool", "uv")
    lock = "uv.lock"
    needs_pyproject = True
    variable = "UV_PROJECT_ENVIRONMENT"

    def is_used(self, manifest: Manifest) -> bool:
        """`uv init --lib` writes its build backend, and no lock before the first `uv sync`."""
        return super().is_used(manifest) or manifest.table("build-system").get("build-backend") == "uv_build"

    def shared_home(self, folder: Path) -> Path | None:
        found = workspace(folder)
        return None if found is None else found.folder

    def has_member(self, manifest: Manifest, inside: Path) -> bool:
        found = manifest.table("tool", "uv", "workspace")
        return matches(inside, found.get("members")) and not matches(inside, found.get("exclude"))

    def declared(self, project: Project) -> Declaration | None:
        """In a workspace, the nearest folder that declares it."""
        shared = _workspace_inside(project)
        homes = map(read, files.upward(project.folder, shared.folder)) if shared else [project.home]
        return next(filter(None, map(_declared, homes)), None)

    def install_line(self, project: Project, declared: Declaration | None) -> str:
        """If the workspace is above the root, the root gets an environment of its own."""
        shared = _workspace_inside(project)
        is_above = shared is None and workspace(project.folder) is not None
        home = (shared or project.home).folder
        environment = (project.root if is_above else home) / virtualenv.FOLDERS[0]
        # uv replaces a broken environment, but refuses a folder that is not an environment.
        steps = [] if virtualenv.is_environment(environment) else shell.aside(environment, project.root)
        # Without `--inexact`, uv removes packages that were installed by other means.
        keeping = ["--inexact"] if environment in map(virtualenv.of, project.lacking) else []
        sync = ["uv", "sync", *project.at("--project", home), *(["--all-packages"] if shared else []), *keeping]
        if declared is not None:
            steps = [*steps, [*sync, *declared.options]]
        elif shared is not None:
            into = ["--python", shell.shown(environment, project.root)]
            steps = [*steps, [*sync, "--all-groups"], ["uv", "pip", "install", *into, project.package]]
        else:
            steps = [*steps, ["uv", "add", *project.at("--project"), "--dev", project.package]]
        return shell.line(steps, variables=f'{self.variable}="$PWD"/{environment.name}' if is_above else "")


def is_made_by_uv(prefix: Path) -> bool:
    return "uv" in virtualenv.settings(prefix)


def _declared(home: Manifest) -> Declaration | None:
    legacy = Declaration(("--group", "dev"), requirements.names(home.table("tool", "uv").get("dev-dependencies")))
    return requirements.best([*requirements.standard(home, group="--group", extra="--extra"), legacy])


def workspace(start: Path) -> Manifest | None:
    """The workspace that the project of this folder belongs to."""
    upward = [folder for folder in (start, *start.parents) if files.holds((folder / "pyproject.toml").is_file)]
    for manifest in map(read, upward):
        if found := manifest.table("tool", "uv", "workspace"):
            inside = upward[0].relative_to(manifest.folder)
            is_member = upward[0] == manifest.folder or matches(inside, found.get("members"))
            return manifest if is_member and not matches(inside, found.get("exclude")) else None
    return None


def _workspace_inside(project: Project) -> Manifest | None:
    """Files above the root are ignored."""
    found = workspace(project.folder)
    return found if found is not None and found.folder.is_relative_to(project.root) else None


def matches(path: Path, patterns: object) -> bool:
    """A star stands for one folder, two stars for any number of them."""
    for pattern in map(PurePosixPath, strings(patterns)):
        pairs = zip(path.parts, pattern.parts, strict=False)
        if len(path.parts) == len(pattern.parts) and all(fnmatchcase(part, wanted) for part, wanted in pairs):
            return True
        if "**" in pattern.parts and fnmatchcase(str(path), str(pattern)):
            return True
    return False
