"""Which managers a project uses, and which environments they keep for it.

In come a folder, or its manifest and the server's environment variables; out come managers, or answers in the order
of `managers`. Which answer is used is decided in `interpreter`.
"""

from pathlib import Path

from pytest_mcp.python import files
from pytest_mcp.python.manager import Answer, Manager, Variables
from pytest_mcp.python.managers import MANAGERS
from pytest_mcp.python.manifest import Manifest, read_manifest


def used(manifest: Manifest) -> list[Manager]:
    by_signs = [manager for manager in MANAGERS if manager.is_used(manifest)]
    # A member of a workspace is installed by the workspace's manager, whatever builds it.
    shared = [manager for manager in MANAGERS if manifest.pyproject and manager.shared_home(manifest.folder)]
    return by_signs or shared or [manager for manager in MANAGERS if manager.builds(manifest)]


def nearest(start: Path, root: Path) -> Manifest:
    """The manifest of the first folder upward that uses a manager, otherwise the root's."""
    manifests = map(read_manifest, files.upward(start, root))
    return next(filter(used, manifests), None) or read_manifest(root)


def is_environment(folder: Path) -> bool:
    return any(manager.is_environment(folder) for manager in MANAGERS)


async def environments(manifest: Manifest, variables: Variables, root: Path) -> list[Answer]:
    return [answer for manager in used(manifest) for answer in await manager.environments(manifest, variables, root)]
