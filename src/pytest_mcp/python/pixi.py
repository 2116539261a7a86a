"""pixi: keeps environments in `.pixi/envs`, laid out like those of conda. They are found by looking there."""

from pathlib import Path

from pytest_mcp.python import conda, files
from pytest_mcp.python.manager import Manager

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
