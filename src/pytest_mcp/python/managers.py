"""The environment managers, in the order in which they are asked and in which their install lines are preferred."""

from pytest_mcp.python.conda import Conda
from pytest_mcp.python.hatch import Hatch
from pytest_mcp.python.manager import Manager
from pytest_mcp.python.pdm import Pdm
from pytest_mcp.python.pip import Pip
from pytest_mcp.python.pipenv import Pipenv
from pytest_mcp.python.pixi import Pixi
from pytest_mcp.python.poetry import Poetry
from pytest_mcp.python.uv import Uv

# For projects that use no manager.
PLAIN = Pip()
# An active virtual environment comes before conda's, which is often active in every shell.
MANAGERS: tuple[Manager, ...] = (Uv(), Poetry(), Pdm(), Hatch(), Pipenv(), Pixi(), PLAIN, Conda())
