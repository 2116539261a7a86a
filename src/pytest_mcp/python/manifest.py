"""What a folder's pyproject.toml contains, read with limits.

A file that cannot be read or parsed counts as empty: the tool that owns it will report the error. So do values of a
wrong type. What the tables mean is known to each manager.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.python import files

# Parsing this much takes half a second; real files are far smaller.
MOST_BYTES = 256 * 1024
# Parsing a dotted key takes quadratic time in its parts, and real keys have few.
# The possessive quantifiers keep this search itself linear.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")

PACKAGE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class Manifest:
    folder: Path
    pyproject: Mapping[str, Any]

    def table(self, *names: str) -> Mapping[str, Any]:
        """A table of pyproject.toml; empty if it is missing."""
        return table(self.pyproject, *names)


def read_manifest(folder: Path) -> Manifest:
    return Manifest(folder, toml(folder / "pyproject.toml"))


def toml(path: Path) -> Mapping[str, Any]:
    said = files.text(path, MOST_BYTES)
    if _LONG_KEY.search(said):
        return {}
    try:
        return tomllib.loads(said)
    except (ValueError, RecursionError):
        return {}


def table(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            return {}
        values = inner
    return values


def strings(values: object) -> list[str]:
    """The strings in a list; empty if it is no list."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def package_names(listed: object) -> frozenset[str]:
    """The normalised names in a list of requirements, or in a table that has them as keys."""
    items = list(listed) if isinstance(listed, Mapping) else strings(listed)
    matches = [PACKAGE_NAME.match(item.strip()) for item in items]
    return frozenset(re.sub(r"[-_.]+", "-", match[0]).lower() for match in matches if match)
