"""Whether a folder is no project but has projects below it, such as a folder of checkouts: nothing is run there.

In comes the root; out comes the sentence that refuses it, or None. Only files are looked at. Such projects have
nothing to do with each other, and nobody has asked for the code of all of them to be executed.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from pytest_mcp.environments import files, project, project_root
from pytest_mcp.environments.managers import lookup
from pytest_mcp.text import in_line

# One of these makes the folder itself a project, as does a file of a manager.
_FILES = (*project_root.PACKAGE_FILES, *project_root.SETTINGS, "requirements.txt", "conftest.py")
# A folder that is no project and holds more than can be searched is not one project.
_MOST_FOLDERS = 2_000
_LONGEST_SECONDS = 1.0
_UNSEARCHED = (".git", "node_modules", "__pycache__")


def refusal(root: Path) -> str | None:
    if _is_project(root):
        return None
    what = _first_below(root)
    if what is None:
        return None
    advice = "start pytest-mcp in one of them or pass it with --root, or give this folder a pyproject.toml if it is one"
    return f"{in_line(str(root))} is not a project, but has {what}: {advice}."


def _is_project(folder: Path) -> bool:
    named = any(files.holds((folder / name).exists) for name in _FILES)
    return named or bool(lookup.used(project.read(folder)))


def _first_below(root: Path) -> str | None:
    deadline = time.monotonic() + _LONGEST_SECONDS
    for count, folder in enumerate(_below(root)):
        if project_root.is_package(folder) or files.holds((folder / ".git").exists):
            return f"projects below it, such as {in_line(str(folder.relative_to(root)))}"
        if count >= _MOST_FOLDERS or time.monotonic() > deadline:
            return "more folders below it than can be searched for projects"
    return None


def _below(root: Path) -> Iterator[Path]:
    """Breadth first. What a symlink leads to is looked at, but not searched."""
    level = [root]
    while level:
        inner = [found for each in level if not each.is_symlink() for found in files.folders(each)]
        level = [each for each in inner if each.name not in _UNSEARCHED and not lookup.is_environment(each)]
        yield from level
