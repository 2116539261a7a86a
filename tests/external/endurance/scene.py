"""A project, the folder for temporary files beside it, and servers that are started there."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.projects.project_files import write_files
from tests.support.protocol import servers
from tests.support.protocol.raw_client import RawClient
from tests.support.workbench import Workbench


@dataclass(frozen=True)
class Scene:
    root: Path
    temporary: Path

    @classmethod
    def made_in(cls, folder: Path, files: Mapping[str, str]) -> "Scene":
        scene = cls(folder / "project", folder / "tmp")
        scene.temporary.mkdir()
        write_files(scene.root, files)
        return scene

    def server(self) -> RawClient:
        """One after its handshake."""
        command = servers.command(self.root, Workbench(self.root).python)
        environment = {"PATH": os.environ["PATH"], "TMPDIR": str(self.temporary), "PYTEST_MCP_NO_SHARE": "1"}
        return RawClient(command, cwd=self.root, env=environment).greeted()
