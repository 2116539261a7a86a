"""pdm: the Python that it chose for a project is named in `.pdm-python`.

pdm is not asked: `pdm info` can create an environment.
"""

from dataclasses import replace
from pathlib import Path

from pytest_mcp.python import files, virtualenv
from pytest_mcp.python.manager import Answers, Manager, Variables
from pytest_mcp.python.manifest import Manifest

_CHOICE = ".pdm-python"
_LONGEST_PATH = 4096
_PACKAGES = "__pypackages__"


class Pdm(Manager):
    name = "pdm"
    files = ("pdm.lock", _CHOICE)
    table = ("tool", "pdm")
    lock = "pdm.lock"
    needs_pyproject = True

    async def environments(self, manifest: Manifest, _variables: Variables, _root: Path) -> Answers:
        named = files.text(manifest.folder / _CHOICE, _LONGEST_PATH).strip()
        if not named.isprintable():
            return self.no_answer(f"{_CHOICE} does not contain a path")
        if not named:
            return self.no_answer("pdm has chosen no Python for this project yet")
        answer = self.answer(manifest.folder / named)
        is_virtual = virtualenv.is_environment(virtualenv.of(manifest.folder / named))
        if answer.problem is None and not is_virtual and (manifest.folder / _PACKAGES).is_dir():
            answer = replace(answer, problem=f"cannot import from {_PACKAGES}, where pdm keeps this project's packages")
        return (answer,)
