"""Workspaces of uv, whose members share the environment of the workspace.

That environment is found like any other `.venv`, so uv is not asked.
"""

from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_mcp.python import files
from pytest_mcp.python.files import Manifest, read_manifest, strings


def workspace(folder: Path, root: Path | None = None) -> Path | None:
    """The workspace that the project of this folder belongs to; with a root, only one that is not above it."""
    upward = [place for place in (folder, *folder.parents) if files.holds((place / "pyproject.toml").is_file)]
    for manifest in map(read_manifest, upward):
        if manifest.table("tool", "uv", "workspace"):
            is_own = upward[0] == manifest.folder or has_member(manifest, upward[0].relative_to(manifest.folder))
            is_inside = root is None or manifest.folder.is_relative_to(root)
            return manifest.folder if is_own and is_inside else None
    return None


def has_member(manifest: Manifest, inside: Path) -> bool:
    """Whether the workspace has a member in this folder, as seen from its own."""
    declared = manifest.table("tool", "uv", "workspace")
    return _matches(inside, declared.get("members")) and not _matches(inside, declared.get("exclude"))


def _matches(path: Path, patterns: object) -> bool:
    """A star stands for one folder, two stars for any number of them."""
    for pattern in map(PurePosixPath, strings(patterns)):
        pairs = zip(path.parts, pattern.parts, strict=False)
        if len(path.parts) == len(pattern.parts) and all(fnmatchcase(part, wanted) for part, wanted in pairs):
            return True
        if "**" in pattern.parts and fnmatchcase(str(path), str(pattern)):
            return True
    return False
