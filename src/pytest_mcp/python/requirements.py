"""Where a project declares pytest: lists of packages, and the options that install each list.

In comes a manifest or a list of requirements; out come `Declaration`s. Values of a wrong type count as empty. Naming a
group that is installed by default does no harm, so nothing has to be known about defaults or about groups that include
each other.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.python.manifest import Manifest, strings

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# Named like plugins, but they do not depend on pytest.
_WITHOUT_PYTEST = frozenset({"pytest-runner", "pytest-mcp-server"})

Names = frozenset[str]


@dataclass(frozen=True)
class Declaration:
    """A list of packages, and the options with which a manager installs it."""

    options: tuple[str, ...]
    packages: Names
    # The group, extra, file or environment that lists them.
    name: str = ""
    # Where it is declared, if that can differ from the project's home.
    folder: Path | None = None

    @property
    def weight(self) -> int:
        """2 for pytest itself, 1 for a plugin, which depends on it, else 0."""
        if "pytest" in self.packages:
            return 2
        return int(any(name.startswith("pytest-") for name in self.packages - _WITHOUT_PYTEST))


def best(declarations: Iterable[Declaration]) -> Declaration | None:
    """The one with pytest itself, without options if possible, named after tests."""
    bringing = [each for each in declarations if each.weight]
    return max(bringing, key=lambda each: (each.weight, not each.options, _likeness(each.name)), default=None)


def standard(manifest: Manifest, *, group: str, extra: str) -> list[Declaration]:
    """What pyproject.toml declares for every manager; `group` and `extra` are the manager's options for them."""
    return [
        Declaration((), names(manifest.table("project").get("dependencies"))),
        *of_tables(group, manifest.table("dependency-groups")),
        *of_tables(extra, manifest.table("project", "optional-dependencies")),
    ]


def of_tables(option: str, tables: Mapping[str, object]) -> list[Declaration]:
    """One declaration for each list; without an option if it is always installed.

    Managers accept no names that would have to be quoted.
    """
    found = [name for name in tables if _NAME.fullmatch(name)]
    return [Declaration((option, name) if option else (), names(tables[name]), name) for name in found]


def names(listed: object) -> Names:
    """The normalised names in a list of requirements, or in a table that has them as keys."""
    items = list(listed) if isinstance(listed, Mapping) else strings(listed)
    matches = [_NAME.match(item.strip()) for item in items]
    return frozenset(re.sub(r"[-_.]+", "-", match[0]).lower() for match in matches if match)


def _likeness(name: str) -> int:
    return 2 * ("test" in name.lower()) + ("dev" in name.lower())
