"""The next step of a Django project whose tests pytest does not find or cannot import.

Pure: a survey and its surroundings in, the step out. Without pytest-django and the name of the settings module, test
files cannot import models; and Django names its test files tests.py, which pytest does not collect by itself.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_mcp.api.advice import Sentence, in_shell
from pytest_mcp.api.requests import Request
from pytest_mcp.environment.host import Surroundings
from pytest_mcp.python.django import PLUGIN
from pytest_mcp.run.events import Portrait
from pytest_mcp.run.run import Run

# Django's file of tests, and pytest's.
_TESTS = ("tests.py", "test_*.py")
# Exceptions of imports before Django knows its settings, and what their messages contain.
_UNCONFIGURED = {"ImproperlyConfigured": "DJANGO_SETTINGS_MODULE", "AppRegistryNotReady": ""}


def when_empty(run: Run[Request], around: Surroundings) -> Sentence | None:
    """The step if no test was found."""
    portrait = run.ledger.portrait
    return None if portrait is None or _TESTS[0] in portrait.python_files else _step(portrait, around)


def when_uncollected(error_type: str, message: str, run: Run[Request], around: Surroundings) -> Sentence | None:
    """The step if this error kept a file from being collected."""
    portrait, words = run.ledger.portrait, _UNCONFIGURED.get(error_type.rpartition(".")[2])
    return None if portrait is None or words is None or words not in message else _step(portrait, around)


def _step(portrait: Portrait, around: Surroundings) -> Sentence | None:
    if around.django is None:
        return None
    has_plugin = any(f"pytest-{name}".startswith(f"{PLUGIN}-") for name in portrait.plugins)
    install = None if has_plugin else around.django.installation
    settings: dict[str, Sequence[str]] = {"DJANGO_SETTINGS_MODULE": [around.django.settings_module]}
    if _TESTS[0] not in portrait.python_files:
        settings["python_files"] = _TESTS
    if portrait.inifile is None:
        lines = "".join(f"{line}\\n" for line in ("[pytest]", *_ini(settings)))
        return in_shell(" && ".join(filter(None, [install, f"printf '{lines}' > pytest.ini"])))
    file = Path(portrait.inifile)
    lines = " and ".join(_toml(settings) if file.suffix == ".toml" else _ini(settings))
    shown = file.relative_to(around.root) if file.is_relative_to(around.root) else file
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
