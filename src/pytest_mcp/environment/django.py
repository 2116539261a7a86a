"""The next step of a Django project whose tests pytest does not find or cannot import.

Without pytest-django and the name of the settings module, test files cannot import models; and Django names its test
files tests.py, which pytest does not collect by itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.api.advice import Sentence, in_shell
from pytest_mcp.python import files
from pytest_mcp.run.events import Portrait

PLUGIN = "pytest-django"
_SETTINGS = re.compile(r"""["']DJANGO_SETTINGS_MODULE["'], {0,4}["']([\w.]{1,200})["']""")
# Django's file of tests, and pytest's.
_TESTS = ("tests.py", "test_*.py")
# Exceptions of imports before Django knows its settings, and what their messages contain.
_UNCONFIGURED = {"ImproperlyConfigured": "DJANGO_SETTINGS_MODULE", "AppRegistryNotReady": ""}


@dataclass(frozen=True)
class Django:
    settings_module: str
    # Installs the plugin.
    installation: str


def settings_module(folder: Path) -> str | None:
    """As manage.py names it; None if it is no Django project."""
    match = _SETTINGS.search(files.text(folder / "manage.py"))
    return match and match[1]


def when_empty(portrait: Portrait | None, django: Django | None, root: Path) -> Sentence | None:
    """The step if no test was found."""
    return None if portrait is None or _TESTS[0] in portrait.python_files else _step(portrait, django, root)


def when_uncollected(
    error_type: str, message: str, portrait: Portrait | None, django: Django | None, root: Path
) -> Sentence | None:
    """The step if this error kept a file from being collected."""
    words = _UNCONFIGURED.get(error_type.rpartition(".")[2])
    return None if portrait is None or words is None or words not in message else _step(portrait, django, root)


def _step(portrait: Portrait, django: Django | None, root: Path) -> Sentence | None:
    if django is None:
        return None
    has_plugin = any(f"pytest-{name}".startswith(f"{PLUGIN}-") for name in portrait.plugins)
    install = None if has_plugin else django.installation
    settings: dict[str, Sequence[str]] = {"DJANGO_SETTINGS_MODULE": [django.settings_module]}
    if _TESTS[0] not in portrait.python_files:
        settings["python_files"] = _TESTS
    if portrait.inifile is None:
        lines = "".join(f"{line}\\n" for line in ("[pytest]", *_ini(settings)))
        return in_shell(" && ".join(filter(None, [install, f"printf '{lines}' > pytest.ini"])))
    file = Path(portrait.inifile)
    lines = " and ".join(_toml(settings) if file.suffix == ".toml" else _ini(settings))
    shown = file.relative_to(root) if file.is_relative_to(root) else file
    rest = f" {lines} to the settings of pytest in {shown}."
    return Sentence("Run ", in_shell(install), " and add", rest) if install else Sentence("Add", rest)


def _ini(settings: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{name} = {' '.join(values)}" for name, values in settings.items()]


def _toml(settings: Mapping[str, Sequence[str]]) -> list[str]:
    quoted = {name: [f'"{value}"' for value in values] for name, values in settings.items()}
    return [
        f"{name} = [{', '.join(values)}]" if len(values) > 1 else f"{name} = {values[0]}"
        for name, values in quoted.items()
    ]
