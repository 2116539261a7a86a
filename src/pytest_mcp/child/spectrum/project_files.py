"""Which files are the project's: under the root, neither installed there nor ours. Standard library only."""

from __future__ import annotations

import os
import sys

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Folders of installed packages, also in an environment inside the root.
INSTALLED = ("site-packages", "dist-packages", "node_modules", ".tox", ".nox")


class ProjectFiles:
    def __init__(self, root: str) -> None:
        self.known: dict[str, str] = {}
        self.root = root + os.sep
        self.folder = os.getcwd()
        self.foreign = [os.path.realpath(folder) + os.sep for folder in (sys.prefix, sys.base_prefix, OURS)]
        self.foreign = [folder for folder in self.foreign if not self.root.startswith(folder)]

    def has(self, name: str) -> bool:
        path = self.real(name)
        below = path[len(self.root) :].replace(os.sep, "/")
        self.known[name] = below
        return (
            not name.startswith("<")
            and path.startswith(self.root)
            and not path.startswith(tuple(self.foreign))
            and not any(part in INSTALLED for part in below.split("/"))
        )

    def real(self, name: str) -> str:
        """Code from a relative entry of sys.path has a relative name. The root is a real path already."""
        try:
            return os.path.realpath(os.path.join(self.folder, name))
        except (OSError, ValueError):
            return ""

    def relative(self, name: str) -> str:
        return self.known[name]
