"""What a project requires, by name.

In comes a manifest or a file that lists requirements; out come normalised names of packages: of the project itself,
of its extras, of its groups. What holds anything else than it should requires nothing. Which of them a manager
installs, and when, is in `install_options`.
"""

import configparser
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_mcp.environments.files import text
from pytest_mcp.environments.project import Manifest, strings, table

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_CONDA_CHANNEL = re.compile(r"^[\w./-]*::")

Names = frozenset[str]
# group → what it names, and the groups that it includes
Groups = dict[str, tuple[Names, list[str]]]
# Nobody keeps so many groups, and each may include all the others.
_MOST_GROUPS = 200


def names(listed: object) -> Names:
    """Of a list of requirements, or of a table that has them as keys."""
    items = list(listed) if isinstance(listed, Mapping) else strings(listed)
    matches = [_NAME.match(item.strip()) for item in items]
    return frozenset(_normal(match[0]) for match in matches if match)


def typeable(values: Mapping[str, Any]) -> list[str]:
    """The keys that can follow an option as they are, which all that managers accept can."""
    return [key for key in values if _NAME.fullmatch(key)]


def named(values: Mapping[str, Any]) -> dict[str, Names]:
    return {name: names(values[name]) for name in typeable(values)}


def main(manifest: Manifest) -> Names:
    return names(manifest.table("project").get("dependencies"))


def extras(manifest: Manifest) -> dict[str, Names]:
    return named(manifest.table("project", "optional-dependencies"))


def groups(manifest: Manifest) -> dict[str, Names]:
    return _resolved(_standard(manifest))


def poetry_groups(manifest: Manifest) -> dict[str, Names]:
    """Poetry's own groups, and the standard ones that it adds to them."""
    own = manifest.table("tool", "poetry", "group")
    found = _standard(manifest)
    for name in typeable(own):
        listed, included = found.get(name, (frozenset(), []))
        group = table(own, name)
        found[name] = (listed | names(group.get("dependencies")), included + strings(group.get("include-groups")))
    return _resolved(found)


def setup_extras(folder: Path) -> dict[str, Names]:
    """Those of setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_single_spaced(text(folder / "setup.cfg")))
    except configparser.Error:
        return {}
    section = parser["options.extras_require"] if parser.has_section("options.extras_require") else {}
    return named({name: re.split(r"[\n,]", section[name]) for name in section})


def of_file(file: Path) -> Names:
    """Of a file for pip. Files that it includes speak for themselves."""
    return names(text(file).splitlines())


def of_conda(file: Path) -> Names:
    """Conda's and pip's alike: whatever stands behind a dash, since nothing else there is named pytest."""
    items = [line.strip()[1:].strip(" \t'\"") for line in text(file).splitlines() if line.strip().startswith("-")]
    return names([_CONDA_CHANNEL.sub("", item) for item in items])


def _single_spaced(said: str) -> str:
    """Python's parser takes the square of their number for spaces in a row."""
    lines = said.split("\n")
    return "\n".join(line[: 1 if line[:1].isspace() else 0] + " ".join(line.split()) for line in lines)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _standard(manifest: Manifest) -> Groups:
    found = manifest.table("dependency-groups")
    return {name: (names(found[name]), _included(found[name])) for name in typeable(found)}


def _included(group: object) -> list[str]:
    items = group if isinstance(group, list) else []
    return strings([item.get("include-group") for item in items if isinstance(item, Mapping)])


def _resolved(found: Groups) -> dict[str, Names]:
    by_name = {_normal(name): group for name, group in found.items()}
    resolved: dict[str, Names] = {}
    for name in list(found)[:_MOST_GROUPS]:
        reached: set[str] = set()
        todo = {_normal(name)}
        while todo and len(reached) < _MOST_GROUPS:
            reached |= todo
            todo = {_normal(other) for each in todo for other in by_name.get(each, ((), []))[1]} - reached
        resolved[name] = frozenset().union(*(by_name[each][0] for each in reached if each in by_name))
    return resolved
