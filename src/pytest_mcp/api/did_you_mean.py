"""What a caller may have meant by a name that does not exist: of a path, a test, a parameter or a client.

Lists folders and reads one test file, both up to a limit, and imports nothing.
"""

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

# What is read or listed at most, and which names are compared; nobody waits for a suggestion.
MAX_BYTES = 1_000_000
MAX_ENTRIES = 5_000
MAX_NAME = 500
# How many names of one call are looked for.
MAX_ASKED = 10
# How much is compared at most, in pairs of characters: less than a second, even for names of one letter.
MAX_PAIRS = 3_000_000
# How alike two names must be, from 0 to 1.
LIKENESS = 0.8
# One wrong letter of four, or two that were swapped.
SHORT_NAME, SHORT_LIKENESS = 4, 0.75

_DEFINITION = re.compile(rb"^([ \t]*)(class|def|async def) (\w+)", re.MULTILINE)
_SKIPPED_FOLDERS = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "build", "dist"})


def near_path(root: Path, relative: str) -> str | None:
    """A file or folder of nearly this name in the same folder, or of exactly this name elsewhere in the project.

    A test file for it comes first: whoever asks for cart.py means test_cart.py.
    """
    parent, name = os.path.split(relative.rstrip("/"))
    if (root / parent).is_dir():
        _, folders, files = next(os.walk(root / parent), ("", [], []))
        near = next((each for each in _test_files(name) if each in files), None) or nearest(name, [*folders, *files])
        if near is not None:
            return f"{parent}/{near}" if parent else near
    # A dotted name of a module. os.path answers False for a name that is too long.
    module = f"{relative.replace('.', '/')}.py"
    return module if os.path.isfile(root / module) else _elsewhere(root, [*_test_files(name), name])  # noqa: PTH113


def _test_files(name: str) -> list[str]:
    """What a test file with this name, or for a module with this name, may be called."""
    if not name.endswith(".py"):
        return []
    bare = name.removesuffix(".py").removeprefix("test_").removesuffix("_test")
    return [f"test_{bare}.py", f"{bare}_test.py"]


def near_test(file: Path, selector: str) -> str | None:
    """A test or class of exactly or nearly this name in the file, in whatever class it is."""
    # As it stands in a node id: some write Class.method, or leave :: at the end.
    asked = selector.partition("[")[0].replace(".", "::").strip(":")
    names = [name for name in _tests(file) if name != selector]
    last = nearest(asked.rpartition("::")[2], [name.rpartition("::")[2] for name in names])
    same = [name for name in names if name.rpartition("::")[2] == last]
    return nearest(asked, same) or next(iter(same), None)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Regardless of case only if none is near otherwise."""
    known = sorted(set(names))
    in_lower = {each.lower(): each for each in known}
    return _nearest(name, known) or in_lower.get(_nearest(name.lower(), sorted(in_lower)) or "")


def _nearest(name: str, names: Iterable[str]) -> str | None:
    if len(name) > MAX_NAME:
        return None
    cutoff = LIKENESS if len(name) > SHORT_NAME else SHORT_LIKENESS
    return next(iter(difflib.get_close_matches(name, _compared(name, names, cutoff), n=1, cutoff=cutoff)), None)


def _compared(name: str, names: Iterable[str], cutoff: float) -> Iterator[str]:
    """The first names whose length does not rule them out, as many as can be compared in time."""
    left = MAX_PAIRS
    for other in names:
        if 2 * min(len(name), len(other)) >= cutoff * (len(name) + len(other)):
            left -= len(name) * len(other)
            if left < 0:
                return
            yield other


def _elsewhere(root: Path, names: Sequence[str]) -> str | None:
    """The uppermost of these names, without links and without folders of other people's code."""
    seen, paths = 0, list[str]()
    for folder, folders, files in os.walk(root):
        paths += [os.path.relpath(f"{folder}/{name}", root) for name in names if name in files or name in folders]
        folders[:] = [each for each in folders if not each.startswith(".") and each not in _SKIPPED_FOLDERS]
        seen += len(folders) + len(files)
        if seen > MAX_ENTRIES:
            break
    return min(paths, key=lambda path: path.count("/"), default=None)


def _tests(file: Path) -> list[str]:
    """The classes, functions and methods that a file defines, as they stand behind `::` in a node id."""
    try:
        source = file.read_bytes()[:MAX_BYTES] if file.is_file() else b""
    except OSError:
        return []
    tests, classes = [], list[tuple[int, str]]()
    for indent, kind, name in _DEFINITION.findall(source):
        classes = [(depth, each) for depth, each in classes if depth < len(indent)]
        tests.append("::".join([*(each for _, each in classes), name.decode()]))
        if kind == b"class":
            classes.append((len(indent), name.decode()))
    return tests
