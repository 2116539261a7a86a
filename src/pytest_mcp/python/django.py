"""What pytest needs to run the tests of a Django project: a plugin, and the name of the settings module.

In comes a folder; out comes the settings module that its manage.py names. Only that file is read. What is advised is
decided in `environment/django.py`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.python import files

PLUGIN = "pytest-django"
_SETTINGS = re.compile(r"""["']DJANGO_SETTINGS_MODULE["'], {0,4}["']([\w.]{1,200})["']""")


@dataclass(frozen=True)
class Django:
    settings_module: str
    # Installs the plugin.
    installation: str


def settings_module(folder: Path) -> str | None:
    """None if it is no Django project."""
    found = _SETTINGS.search(files.text(folder / "manage.py"))
    return found and found[1]
