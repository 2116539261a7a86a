"""uv: an environment `.venv` beside pyproject.toml, which the members of a workspace share.

That environment is found like any other `.venv`, so uv is not asked.
"""

from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_mcp.python import files
from pytest_mcp.python.files import Manifest, read_manifest, strings
from pytest_mcp.python.manager import Manager


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
        """The workspace that the project of this folder belongs to."""
        upward = [place for place in (folder, *folder.parents) if files.holds((place / "pyproject.toml").is_file)]
        for manifest in map(read_manifest, upward):
            if manifest.table("tool", "uv", "workspace"):
                is_member = upward[0] == manifest.folder or self.has_member(
                    manifest, upward[0].relative_to(manifest.folder)
                )
                return manifest.folder if is_member else None
        return None

    def has_member(self, manifest: Manifest, inside: Path) -> bool:
        workspace = manifest.table("tool", "uv", "workspace")
        return matches(inside, workspace.get("members")) and not matches(inside, workspace.get("exclude"))


def matches(path: Path, patterns: object) -> bool:
    """A star stands for one folder, two stars for any number of them."""
    for pattern in map(PurePosixPath, strings(patterns)):
        pairs = zip(path.parts, pattern.parts, strict=False)
        if len(path.parts) == len(pattern.parts) and all(fnmatchcase(part, wanted) for part, wanted in pairs):
            return True
        if "**" in pattern.parts and fnmatchcase(str(path), str(pattern)):
            return True
    return False
