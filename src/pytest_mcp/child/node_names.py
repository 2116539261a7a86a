"""Node ids and paths, relative to the server's root.

pytest's own are relative to its rootdir, which in a monorepo is a folder below ours.
"""

from __future__ import annotations

import os

from xdist_controller import ungrouped


class NodeNames:
    def __init__(self, root: str) -> None:
        self.root = self.rootdir = root
        # Whether xdist appends the names of groups to ids.
        self.is_grouped = False
        self.relocated: dict[str, str] = {}

    def plain(self, nodeid: str) -> str:
        return ungrouped(nodeid) if self.is_grouped else nodeid

    def relocate(self, nodeid: str) -> str:
        path, separator, rest = self.plain(nodeid).partition("::")
        if path not in self.relocated:
            self.relocated[path] = self.relative(os.path.join(self.rootdir, path))
        return self.relocated[path] + separator + rest

    def relative(self, path: str) -> str:
        absolute = os.path.join(self.rootdir, path)
        inside = absolute == self.root or absolute.startswith(self.root + os.sep)
        return (os.path.relpath(absolute, self.root) if inside else absolute).replace(os.sep, "/")
