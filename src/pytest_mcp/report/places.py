"""Where code lies: in the project's source, in its tests, or outside the project.

Paths inside the root are relative to it, others are absolute. A place is `path:line`.
"""

import re
from collections.abc import Iterable

from pytest_mcp.run.events import Frame

# Frames in a text: a path and a line, and behind them what was raised or where. pytest-check writes no colon there.
_FRAME = re.compile(
    r"^(?!E |E$|>)(?=\S)((?:[A-Za-z]:\\)?[^\n=']*?):(\d+)(: (?=in |$|[A-Za-z_][\w.]*$|[A-Z][\w.]*: )| in (?=[\w<]))",
    re.MULTILINE,
)
_FILE = re.compile(r"\S+\.\w+")
# An environment may lie inside the root.
_FOREIGN = re.compile(r"^(?:/|\.\./|<|[A-Za-z]:\\)|(?:^|/)(?:site-packages|dist-packages|lib/python[\d.]+)/")
_TEST_FILE = re.compile(r"(?:^|/)(?:tests?/|conftest\.py$|test_[^/]*$|[^/]*_tests?\.py$)")
_RUNNER = frozenset({"_pytest", "pluggy"})
# Where installed packages and Python's own library begin.
_LIBRARY = re.compile(r"^(?:.*/)?(?:(site-packages|dist-packages)|lib/(python[\d.]+))/(.+)$")


def in_text(traceback: str) -> list[str]:
    """Every place that pytest's rendering names, from the outermost to the innermost."""
    # Without a colon, prose can look like it: "at 3:30 in room 4".
    return [
        f"{path}:{line}" for path, line, colon in _FRAME.findall(traceback) if colon == ": " or _FILE.fullmatch(path)
    ]


def own_places(frames: Iterable[Frame]) -> list[str]:
    """Where frames are that lie inside the project."""
    return [frame.place for frame in frames if not is_foreign(frame.path)]


def is_foreign(path: str) -> bool:
    return _FOREIGN.search(path) is not None


def is_standard(path: str) -> bool:
    """Whether it is of Python's own library."""
    library = _LIBRARY.match(path)
    return path.startswith("<") or (library is not None and library.group(2) is not None)


def is_test_code(path: str) -> bool:
    return _TEST_FILE.search(path) is not None


def is_source(path: str) -> bool:
    return not is_foreign(path) and not is_test_code(path)


def is_runner(path: str) -> bool:
    """Whether it is code of pytest itself, where nobody looks for the cause of a failure."""
    return package(path).rpartition("/")[2] in _RUNNER


def short(path: str) -> str:
    """Without what leads to a library: `site-packages/twisted/web.py`, `python3.12/json/decoder.py`."""
    library = _LIBRARY.match(path)
    return f"{library.group(1) or library.group(2)}/{library.group(3)}" if library else path


def package(path: str) -> str:
    """The library that a path outside the project belongs to."""
    parts = short(path).split("/")
    return "/".join(parts[:2]) if _LIBRARY.match(path) else path.rpartition("/")[0] or path
