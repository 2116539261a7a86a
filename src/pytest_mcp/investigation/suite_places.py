"""Which files and folders are the suite of a test: in a monorepo those of its member, else the whole project.

In come what pytest reported when it collected the test, and the Python that it ran in; out come targets for the runs of
the suite. With them pytest finds the settings file and the rootdir that it finds for the test alone. Names with
wildcards are not expanded.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_mcp.api import targets
from pytest_mcp.python import virtualenv
from pytest_mcp.run.events import Portrait

_WILDCARDS = re.compile(r"[*?\[]")


def of(test: Path, root: Path, portrait: Portrait | None, python: Path) -> tuple[str, ...]:
    """Paths relative to the root. Empty for the whole project, which pytest collects without arguments."""
    folder = _member(test, root, portrait, python)
    if portrait is None or folder == root:
        return ()
    return _named(_testpaths(folder, portrait), root) or _named([folder], root)


def _member(test: Path, root: Path, portrait: Portrait | None, python: Path) -> Path:
    """The innermost folder around the test that has its settings or its environment; the root if there is none."""
    around = [folder for folder in _own_folders(portrait, python) if test.is_relative_to(folder)]
    return max([root, *around], key=lambda folder: len(folder.parts))


def _own_folders(portrait: Portrait | None, python: Path) -> Iterator[Path]:
    yield virtualenv.of(python).parent
    if portrait is not None:
        # With an option -c, pytest 7 takes the folder of the test for the rootdir.
        yield Path(portrait.rootdir) if portrait.inifile is None else Path(portrait.inifile).parent


def _testpaths(folder: Path, portrait: Portrait) -> list[Path]:
    """Those inside the member: pytest uses them only if it is started in the rootdir. None if one has wildcards."""
    if any(map(_WILDCARDS.search, portrait.testpaths)):
        return []
    places = [Path(os.path.normpath(Path(portrait.rootdir) / name)) for name in portrait.testpaths]
    return [place for place in places if place.is_relative_to(folder)]


def _named(places: Sequence[Path], root: Path) -> tuple[str, ...]:
    """Without those that do not exist and those that a call may not name."""
    found = []
    for place in places:
        with suppress(ValueError):
            found.append(targets.parse_path(str(place), root).relative)
    return tuple(found)
