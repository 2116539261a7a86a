"""Which targets of a call have different environments, as in a monorepo.

In come the targets that a call names; out come the same targets, together where they have one environment. Only files
and variables are looked at: which environment really has pytest is known when it runs.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import Config
from pytest_mcp.python import interpreter, lookup, virtualenv


def split(targets: Iterable[Target], config: Config) -> list[list[Target]]:
    """In the order in which they were named."""
    environment_of = cache(lambda folder: of_folder(folder, config))
    parts: dict[Path, list[Target]] = {}
    for target in targets:
        parts.setdefault(environment_of(interpreter.pointed_at([target.path], config.root)), []).append(target)
    return list(parts.values())


def of_folder(folder: Path, config: Config) -> Path:
    """The Python that a run of this folder tries first, or the folder whose manager is asked for one."""
    usable = [candidate.python for candidate in interpreter.visible(config, folder) if candidate.problem is None]
    if usable:
        return next(filter(sees_pytest, usable), usable[0])
    manifest = lookup.nearest(folder, config.root)
    shared = (manager.shared_home(folder) for manager in lookup.used(manifest))
    return next(filter(None, shared), manifest.folder)


def sees_pytest(python: Path) -> bool:
    """Also if it sees the packages of the Python that it was made from."""
    prefix = virtualenv.of(python)
    return virtualenv.has(prefix, "pytest") or virtualenv.settings(prefix).get("include-system-site-packages") == "true"
