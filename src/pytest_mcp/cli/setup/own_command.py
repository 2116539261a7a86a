"""How this copy of pytest-mcp is started again: the command that another program can keep in its settings.

In comes what is known of the running program; out comes a command whose first word is a whole path, since
programs with a window do not have the `PATH` of a shell. A path into a cache that is cleaned some day will not do:
there it is the launcher that is named, and what it has to fetch.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pytest_mcp.cli.setup.ownership import COMMANDS, DISTRIBUTION, MODULE
from pytest_mcp.config.model import ConfigError

# How the folders of uv's cache begin that hold environments; a number follows.
UV_CACHES = ("archive-v", "environments-v", "builds-v")


class Launcher(NamedTuple):
    """A program that fetches another one and runs it from a cache."""

    program: str
    before: tuple[str, ...]
    # Whether an environment at this place is one of its own.
    keeps: Callable[[Sequence[str]], bool]


LAUNCHERS = (
    Launcher("uvx", ("--from",), lambda parts: any(part.startswith(UV_CACHES) for part in parts)),
    Launcher("pipx", ("run", "--spec"), lambda parts: "pipx" in parts and "venvs" not in parts),
)


class Installation(NamedTuple):
    """What is known of the running program."""

    script: Path
    python: Path
    prefix: Path
    # What a launcher has to fetch.
    source: str
    search_path: str


def here() -> Installation:
    # uv says where it is, also when it is not on the PATH.
    beside = [str(Path(value).parent) for value in [os.environ.get("UV")] if value]
    return Installation(
        script=Path(sys.argv[0]).absolute(),
        python=Path(sys.executable),
        prefix=Path(sys.prefix),
        source=_source(),
        search_path=os.pathsep.join([os.environ.get("PATH", os.defpath), *beside]),
    )


def command(running: Installation) -> list[str]:
    """The program and its first arguments, in whole paths."""
    for launcher in LAUNCHERS:
        if launcher.keeps(running.prefix.parts):
            program = shutil.which(launcher.program, path=running.search_path)
            if program is None:
                raise ConfigError(f"This pytest-mcp lies in the cache of {launcher.program}, which is not on the PATH.")
            return [str(Path(program).absolute()), *launcher.before, running.source, COMMANDS[0]]
    return _installed(running)


def _installed(running: Installation) -> list[str]:
    beside = [running.python.parent / name for name in COMMANDS]
    scripts = [running.script, *beside] if running.script.stem in COMMANDS else beside
    # On Windows the ending may be left out when it is typed.
    spelled = [Path(f"{script}{ending}") for script in scripts for ending in ("", ".exe")]
    found = next((script for script in spelled if script.is_file()), None)
    # A client starts it in a project, and without -P Python would import that one's json.py instead of its own.
    return [str(found)] if found else [str(running.python), "-P", "-m", MODULE]


def _source() -> str:
    try:
        told = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return DISTRIBUTION
    return source(json.loads(told)) if told else DISTRIBUTION


def source(told: Mapping[str, Any]) -> str:
    """Where it was installed from, as installers are told it."""
    url = str(told["url"])
    if version := told.get("vcs_info"):
        return f"{version['vcs']}+{url}@{version['commit_id']}"
    return url2pathname(urlsplit(url).path) if url.startswith("file:") else url
