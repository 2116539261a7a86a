"""pixi: keeps environments in `.pixi/envs`, laid out like those of conda. They are found by looking there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_mcp.environments import files, requirements, shell
from pytest_mcp.environments.managers import conda
from pytest_mcp.environments.managers.protocol import Manager, Project
from pytest_mcp.environments.project import strings, table, toml
from pytest_mcp.environments.requirements import Declaration, Names

_ENVIRONMENTS = Path(".pixi", "envs")


class Pixi(Manager):
    name = "pixi"
    files = ("pixi.toml", "pixi.lock")
    table = ("tool", "pixi")
    lock = "pixi.lock"

    def python(self, prefix: Path) -> Path:
        return conda.python(prefix)

    def environments_in(self, folder: Path) -> list[tuple[str, Path]]:
        found = [(prefix.name, prefix) for prefix in files.folders(folder / _ENVIRONMENTS)]
        return sorted(found, key=lambda each: (each[0] != "default", each[0]))

    def declared(self, project: Project) -> Declaration | None:
        """An environment contains the features it lists. Extras and groups of pyproject.toml are features too."""
        own = toml(project.home.folder / "pixi.toml") or project.home.table(*self.table)
        standard = requirements.standard(project.home, group="", extra="")
        own_features = [Declaration((), _packages(table(own, "feature", name)), name) for name in table(own, "feature")]
        environments = table(own, "environments")

        def contained(name: str) -> Names:
            listed = strings(table(environments, name).get("features", environments.get(name)))
            return frozenset().union(*(each.packages for each in (*standard, *own_features) if each.name in listed))

        default = _packages(own) | standard[0].packages | contained("default")
        named = {name: dict.fromkeys(contained(name)) for name in environments}
        return requirements.best([Declaration((), default), *requirements.of_tables("--environment", named)])

    def install_line(self, project: Project, declared: Declaration | None) -> str:
        file = "pyproject.toml" if project.home.table(*self.table) else "pixi.toml"
        path = project.home.folder / file
        at = ["--manifest-path", shell.shown(path, project.root)] if path.parent != project.root else []
        words = ["add", *at, project.package] if declared is None else ["install", *at, *declared.options]
        return shell.line([["pixi", *words]])


def _packages(feature: Mapping[str, Any]) -> Names:
    return requirements.names(feature.get("dependencies")) | requirements.names(feature.get("pypi-dependencies"))
