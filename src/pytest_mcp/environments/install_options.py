"""The ways to have pytest as a project declares it, manager by manager.

In comes a manifest; out come ways: the options that the manager needs, and what it then installs. Nothing is
decided here about which manager, which environment or which command: that is in `advice`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_mcp.environments import requirements
from pytest_mcp.environments.project import Manager, Manifest, strings, table, toml
from pytest_mcp.environments.requirements import Names

NOTHING: Names = frozenset()
# Named like plugins, but they do not depend on pytest.
_WITHOUT_PYTEST = frozenset({"pytest-runner", "pytest-mcp-server"})
# The first lists tell it as well as all would.
_MOST_FILES = 20
_REQUIREMENT_FILES = ("*requirements*.txt", "requirements/*.txt")
_CONDA_FILES = ("environment.yml", "environment.yaml")


@dataclass(frozen=True)
class Way:
    """What a manager is told, and what is then installed; `name` is the group, extra, file or environment."""

    options: tuple[str, ...]
    brings: Names
    name: str = ""

    @property
    def weight(self) -> int:
        """Two for pytest itself, one for a plugin, which brings it along."""
        if "pytest" in self.brings:
            return 2
        return int(any(name.startswith("pytest-") for name in self.brings - _WITHOUT_PYTEST))


def best(ways: Iterable[Way]) -> Way | None:
    """The way that brings pytest itself, needs no option if possible, and is named after testing."""
    bringing = [way for way in ways if way.weight]
    return max(bringing, key=lambda way: (way.weight, not way.options, _likeness(way.name)), default=None)


def _likeness(name: str) -> int:
    return 2 * ("test" in name.lower()) + ("dev" in name.lower())


def uv(manifest: Manifest, ruling: Manifest | None = None) -> list[Way]:
    """In a workspace, the manifest where uv is called decides which groups are there by default."""
    chosen = (ruling or manifest).table("tool", "uv").get("default-groups", ["dev"])
    groups = requirements.groups(manifest)
    old = requirements.names(manifest.table("tool", "uv").get("dev-dependencies"))
    groups["dev"] = groups.get("dev", NOTHING) | old
    return [
        Way((), requirements.main(manifest)),
        *(
            Way(() if chosen == "all" or group in strings(chosen) else ("--group", group), names, group)
            for group, names in groups.items()
        ),
        *(Way(("--extra", extra), names, extra) for extra, names in requirements.extras(manifest).items()),
    ]


def poetry(manifest: Manifest) -> list[Way]:
    own = manifest.table("tool", "poetry")
    required = {name: value for name, value in table(own, "dependencies").items() if not _is_optional(value)}
    optional = {name for name, group in table(own, "group").items() if _is_optional(group)}
    groups = requirements.poetry_groups(manifest)
    extras = {**requirements.named(table(own, "extras")), **requirements.extras(manifest)}
    return [
        Way((), requirements.main(manifest) | requirements.names(required)),
        Way((), requirements.names(own.get("dev-dependencies"))),
        *(Way(("--with", group) if group in optional else (), names, group) for group, names in groups.items()),
        *(Way(("--extras", extra), names, extra) for extra, names in extras.items()),
    ]


def _is_optional(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("optional") is True


def pdm(manifest: Manifest) -> list[Way]:
    """Groups for development come by default; those of the package have to be asked for."""
    own = requirements.named(manifest.table("tool", "pdm", "dev-dependencies"))
    return [
        Way((), requirements.main(manifest)),
        *(Way((), names, group) for group, names in {**own, **requirements.groups(manifest)}.items()),
        *(Way(("-G", extra), names, extra) for extra, names in requirements.extras(manifest).items()),
    ]


def hatch(manifest: Manifest) -> list[Way]:
    extras, groups = requirements.extras(manifest), requirements.groups(manifest)
    own_file = table(toml(manifest.folder / "hatch.toml"), "envs")
    environments = own_file or manifest.table("tool", "hatch", "envs")

    def brought(name: str) -> Names:
        environment = table(environments, name)
        own = [requirements.names(environment.get(key)) for key in ("dependencies", "extra-dependencies")]
        features = [extras.get(feature, NOTHING) for feature in strings(environment.get("features"))]
        included = [groups.get(group, NOTHING) for group in strings(environment.get("dependency-groups"))]
        return NOTHING.union(*own, *features, *included)

    others = [name for name in requirements.typeable(environments) if name != "default"]
    return [
        Way((), requirements.main(manifest) | brought("default")),
        *(Way((name,), brought(name), name) for name in others),
    ]


def pipenv(manifest: Manifest) -> list[Way]:
    pipfile = toml(manifest.folder / "Pipfile")
    return [
        Way((), requirements.names(pipfile.get("packages"))),
        Way(("--dev",), requirements.names(pipfile.get("dev-packages"))),
    ]


def pixi(manifest: Manifest) -> list[Way]:
    """Extras and groups of pyproject.toml are features too. A feature is there in the environments that name it."""
    own = toml(manifest.folder / "pixi.toml") or manifest.table("tool", "pixi")
    features = {**requirements.extras(manifest), **requirements.groups(manifest)}
    for name in table(own, "feature"):
        features[name] = features.get(name, NOTHING) | _pixi_names(table(own, "feature", name))
    environments = table(own, "environments")

    def brought(name: str) -> Names:
        listed = table(environments, name).get("features", environments.get(name))
        return NOTHING.union(*(features.get(feature, NOTHING) for feature in strings(listed)))

    return [
        Way((), requirements.main(manifest) | _pixi_names(own) | brought("default")),
        *(Way(("--environment", name), brought(name), name) for name in requirements.typeable(environments)),
    ]


def _pixi_names(feature: Mapping[str, Any]) -> Names:
    tables = [feature, *(table(feature, "target", target) for target in table(feature, "target"))]
    kinds = ("dependencies", "pypi-dependencies")
    return NOTHING.union(*(requirements.names(each.get(kind)) for each in tables for kind in kinds))


def conda(manifest: Manifest) -> list[Way]:
    found = [file for file in _CONDA_FILES if (manifest.folder / file).is_file()]
    return [Way((file,), requirements.of_conda(manifest.folder / file)) for file in found]


def pip(manifest: Manifest, place: str) -> Way | None:
    """The best of the files, else of the extras, else of the groups; `place` is the folder as pip is told it."""
    folder = manifest.folder
    files = [file for pattern in _REQUIREMENT_FILES for file in sorted(islice(folder.glob(pattern), _MOST_FILES))]
    listed = [
        Way(("-r", str(Path(place, file.relative_to(folder)))), requirements.of_file(file), file.name)
        for file in files[:_MOST_FILES]
        if file.name.isprintable()
    ]
    extras = {**requirements.setup_extras(folder), **requirements.extras(manifest)}
    packaged = [
        Way(("-e", place), requirements.main(manifest)),
        *(Way(("-e", f"{place}[{extra}]"), names, extra) for extra, names in extras.items()),
    ]
    start = "" if place == "." else f"{place}/pyproject.toml:"
    groups = requirements.groups(manifest)
    grouped = [Way(("--group", f"{start}{group}"), names, group) for group, names in groups.items()]
    found = [way for way in (best(listed), best(packaged), best(grouped)) if way is not None]
    return max(found, key=lambda way: way.weight, default=None)


WAYS: Mapping[Manager, Callable[[Manifest], list[Way]]] = {
    "uv": uv,
    "poetry": poetry,
    "pdm": pdm,
    "hatch": hatch,
    "pipenv": pipenv,
    "pixi": pixi,
    "conda": conda,
}
