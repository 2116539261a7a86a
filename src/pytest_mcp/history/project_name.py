"""The name under which a project's runs are recorded, equal on every machine of a team."""

import re
from pathlib import Path

from pytest_mcp.python.manifest import read_manifest

_SEPARATORS = re.compile(r"[-_.]+")


def of(root: Path) -> str:
    """`[project] name` of pyproject.toml, normalised as package indexes do; else the name of the folder."""
    name = read_manifest(root).table("project").get("name")
    if not isinstance(name, str) or not name.strip():
        return root.name
    return _SEPARATORS.sub("-", name.strip()).lower()
