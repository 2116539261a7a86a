"""The environment managers, which of them a project uses, and those of them that need few words.

pip, pixi, pdm and conda are here: their environments are found by looking at files. uv and hatch have files of their
own, poetry and pipenv are in `asked_managers`.
"""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pytest_mcp.python import files, virtualenv
from pytest_mcp.python.asked_managers import Pipenv, Poetry
from pytest_mcp.python.files import Manifest, package_names, read_manifest
from pytest_mcp.python.hatch import Hatch
from pytest_mcp.python.manager import Answer, Answers, Manager, Variables
from pytest_mcp.python.uv import Uv

_PIXI_ENVIRONMENTS = Path(".pixi", "envs")
_PDM_CHOICE = ".pdm-python"
_MAX_PATH = 4096
_PDM_PACKAGES = "__pypackages__"
_CONDA_CHANNEL = re.compile(r"^[\w./-]*::")


class Pip(Manager):
    """For projects that use no manager. Environments are found by their usual names and by VIRTUAL_ENV."""

    name = "pip"
    variable = "VIRTUAL_ENV"

    def is_environment(self, prefix: Path) -> bool:
        return virtualenv.is_environment(prefix)


class Conda(Manager):
    """Environments are named by CONDA_PREFIX or given by path, and described in environment.yml."""

    name = "conda"
    files = ("environment.yml", "environment.yaml")
    variable: ClassVar[str | None] = "CONDA_PREFIX"

    def python(self, prefix: Path) -> Path:
        return prefix / "python.exe" if os.name == "nt" else virtualenv.python(prefix)

    def is_environment(self, prefix: Path) -> bool:
        return files.holds((prefix / "conda-meta").is_dir)

    def why_not_active(self, prefix: Path, variables: Variables) -> str | None:
        is_base = variables.get("CONDA_DEFAULT_ENV") == "base" or (prefix / "condabin").is_dir()
        return "is conda's base environment, not the project's" if is_base else None

    def listed(self, file: Path) -> frozenset[str]:
        """Packages of conda and of pip: every item of a list, since nothing else there is named pytest."""
        lines = [line.strip() for line in files.text(file).splitlines()]
        items = [line[1:].strip(" \t'\"") for line in lines if line.startswith("-")]
        return package_names([_CONDA_CHANNEL.sub("", item) for item in items])


class Pixi(Conda):
    """Keeps environments in `.pixi/envs`, laid out like those of conda."""

    name = "pixi"
    files = ("pixi.toml", "pixi.lock")
    table = ("tool", "pixi")
    lock = "pixi.lock"
    variable = None

    def environments_in(self, folder: Path) -> list[tuple[str, Path]]:
        named = [(prefix.name, prefix) for prefix in files.folders(folder / _PIXI_ENVIRONMENTS)]
        return sorted(named, key=lambda each: (each[0] != "default", each[0]))


class Pdm(Manager):
    """Names the Python that it chose in `.pdm-python`. It is not asked: `pdm info` can create an environment."""

    name = "pdm"
    files = ("pdm.lock", _PDM_CHOICE)
    table = ("tool", "pdm")
    lock = "pdm.lock"
    needs_pyproject = True

    async def environments(self, manifest: Manifest, _variables: Variables, _root: Path) -> Answers:
        named = files.text(manifest.folder / _PDM_CHOICE, _MAX_PATH).strip()
        if not named.isprintable():
            return self.no_answer(f"{_PDM_CHOICE} does not contain a path")
        if not named:
            return self.no_answer("pdm has chosen no Python for this project yet")
        answer = self.answer(manifest.folder / named)
        is_virtual = virtualenv.is_environment(virtualenv.prefix_of(manifest.folder / named))
        if answer.problem is None and not is_virtual and (manifest.folder / _PDM_PACKAGES).is_dir():
            where = f"{_PDM_PACKAGES}, where pdm keeps this project's packages"
            answer = replace(answer, problem=f"cannot import from {where}")
        return (answer,)


CONDA = Conda()
# For projects that use no manager.
PLAIN = Pip()
# In the order in which they are asked and in which their install lines are preferred.
# An active virtual environment comes before conda's, which is often active in every shell.
MANAGERS: tuple[Manager, ...] = (Uv(), Poetry(), Pdm(), Hatch(), Pipenv(), Pixi(), PLAIN, CONDA)


def used_managers(manifest: Manifest) -> list[Manager]:
    by_signs = [manager for manager in MANAGERS if manager.is_used(manifest)]
    # A member of a workspace is installed by the workspace's manager, whatever builds it.
    shared = [manager for manager in MANAGERS if manifest.pyproject and manager.shared_home(manifest.folder)]
    return by_signs or shared or [manager for manager in MANAGERS if manager.builds(manifest)]


def nearest_managed(start: Path, root: Path) -> Manifest:
    """The manifest of the first folder upward that uses a manager, otherwise the root's."""
    manifests = map(read_manifest, files.upward(start, root))
    return next(filter(used_managers, manifests), None) or read_manifest(root)


def is_environment(folder: Path) -> bool:
    return any(manager.is_environment(folder) for manager in MANAGERS)


async def kept_environments(manifest: Manifest, variables: Variables, root: Path) -> list[Answer]:
    """What the project's managers keep for it."""
    used = used_managers(manifest)
    return [answer for manager in used for answer in await manager.environments(manifest, variables, root)]
