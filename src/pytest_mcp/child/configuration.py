"""Which file configures pytest for this call, and the options that keep those above the root out of it.

Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

import os
from typing import Any

INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
INI_SECTIONS = (
    ("pyproject.toml", ("[tool.pytest]", "[tool.pytest.")),
    ("tox.ini", ("[pytest]",)),
    ("setup.cfg", ("[tool:pytest]",)),
)


def confinement(job: Any, run_dir: str) -> list[str]:
    """Options that keep ini files and conftests above the root out of the run.

    With a configuration inside the root pytest stops there by itself. Without one it would go on
    looking upward, so it is told where the project ends.
    """
    root = job["root"]
    if job["configuration"] is not None:
        return []
    options = ["--rootdir=" + root, "--confcutdir=" + root]
    if find_configuration(os.path.dirname(root), None) is not None:
        empty = os.path.join(run_dir, "pytest.ini")
        with open(empty, "w", encoding="utf-8") as handle:
            handle.write("[pytest]\n")
        options += ["-c", empty]
    return options


def common_directory(targets: list[str], root: str) -> str:
    if not targets:
        return root
    common = os.path.commonpath(targets)
    return common if os.path.isdir(common) else os.path.dirname(common)


def find_configuration(folder: str, last: str | None) -> str | None:
    """The nearest file that configures pytest, from this folder up to the last one."""
    while True:
        for name in INI_FILES:
            if os.path.isfile(os.path.join(folder, name)):
                return os.path.join(folder, name)
        for name, sections in INI_SECTIONS:
            if contains(os.path.join(folder, name), sections):
                return os.path.join(folder, name)
        parent = os.path.dirname(folder)
        if folder == last or parent == folder:
            return None
        folder = parent


def contains(path: str, sections: tuple[str, ...]) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            return any(line.lstrip().startswith(sections) for line in handle)
    except OSError:
        return False
