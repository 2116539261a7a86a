"""pip in a plain virtual environment: for projects that use no manager.

Environments are found by their usual names and by VIRTUAL_ENV.
"""

from pathlib import Path

from pytest_mcp.python import virtualenv
from pytest_mcp.python.manager import Manager


class Pip(Manager):
    name = "pip"
    variable = "VIRTUAL_ENV"

    def is_environment(self, prefix: Path) -> bool:
        return virtualenv.is_environment(prefix)
