"""The environment managers, in the order in which they are asked and in which their install lines are preferred."""

from pytest_mcp.python.managers.conda import Conda
from pytest_mcp.python.managers.hatch import Hatch
from pytest_mcp.python.managers.pdm import Pdm
from pytest_mcp.python.managers.pip import Pip
from pytest_mcp.python.managers.pipenv import Pipenv
from pytest_mcp.python.managers.pixi import Pixi
from pytest_mcp.python.managers.poetry import Poetry
from pytest_mcp.python.managers.protocol import Manager
from pytest_mcp.python.managers.uv import Uv

# For projects that use no manager.
PLAIN = Pip()
# An active virtual environment comes before conda's, which is often active in every shell.
MANAGERS: tuple[Manager, ...] = (Uv(), Poetry(), Pdm(), Hatch(), Pipenv(), Pixi(), PLAIN, Conda())
