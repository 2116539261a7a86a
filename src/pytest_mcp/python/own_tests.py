"""Whether the root of a monorepo may have tests of its own, in none of its members, as names and settings show.

Which tests pytest really collects is known only when it runs, and a root without an environment has none that could.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from configparser import Error, RawConfigParser
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Any

from pytest_mcp.python import files
from pytest_mcp.python.files import read_manifest, strings, table, toml
from pytest_mcp.python.managers import is_environment

# pytest's own `python_files`, and the one of Django.
_USUAL = ("test_*.py", "*_test.py", "tests.py")
# pytest's own `norecursedirs`.
_UNSEARCHED = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
_SECTIONS = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_PATTERN = frozenset("*?[")
# A root with more folders counts as one with tests of its own.
_MOST_FOLDERS = 2_000


def may_exist(root: Path, members: Iterable[Path]) -> bool:
    tables = [each for each in _tables(root) if each]
    patterns = [*_USUAL, *(word for each in tables for word in _words(each.get("python_files")))]
    # Of several files pytest reads one: none of them is trusted to leave tests out.
    settings = tables[0] if len(tables) == 1 else {}
    testpaths, unsearched = _words(settings.get("testpaths")), _words(settings.get("norecursedirs")) or _UNSEARCHED
    for count, folder in enumerate(_folders(_places(root, testpaths), members, unsearched)):
        if count >= _MOST_FOLDERS or any(_matches(name, patterns) for name in _names(folder)):
            return True
    return False


def _places(root: Path, testpaths: Iterable[str]) -> list[Path]:
    """A pattern stands for the folder it begins in: to match it could take forever. The root if there is none."""
    plain = (takewhile(_PATTERN.isdisjoint, Path(name).parts) for name in testpaths)
    return [place for parts in plain if files.holds((place := root.joinpath(*parts)).exists)] or [root]


def _folders(places: Iterable[Path], members: Iterable[Path], unsearched: Collection[str]) -> Iterator[Path]:
    """Without those that pytest does not search, and without the members. Links are followed, as pytest does."""
    left, seen, left_out = list(places), set[Path](), {_real(member) for member in members}
    while left:
        folder = _real(left.pop())
        if folder in seen or not left_out.isdisjoint((folder, *folder.parents)):
            continue
        seen.add(folder)
        yield folder
        inner = [each for each in files.folders(folder) if not is_environment(each)]
        left += [each for each in inner if not _matches(each.name, unsearched)]


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _real(folder: Path) -> Path:
    """Never raises, unlike `resolve` in a loop of links."""
    return Path(os.path.realpath(folder))


def _names(folder: Path) -> list[str]:
    """Of the files in it; of a file, its own name."""
    try:
        return [entry.name for entry in os.scandir(folder)]
    except NotADirectoryError:
        return [folder.name]
    except OSError:
        return []


def _tables(root: Path) -> Iterator[Mapping[str, Any]]:
    """The settings of pytest in each file that may have them."""
    yield table(toml(root / "pytest.toml"), "pytest")
    for name, section in _SECTIONS.items():
        parser = RawConfigParser(strict=False)
        try:
            parser.read_string(files.text(root / name))
        except Error:
            continue
        yield dict(parser[section]) if section in parser else {}
    own = read_manifest(root).table("tool", "pytest")
    yield table(own, "ini_options")
    yield {name: value for name, value in own.items() if name != "ini_options"}


def _words(value: object) -> list[str]:
    return value.split() if isinstance(value, str) else strings(value)
