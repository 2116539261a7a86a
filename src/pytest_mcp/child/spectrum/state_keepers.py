"""Functions that keep a result for later calls, and what runs under them.

In come the calls of a run; out come, for each such function, the functions that ran while it did, and the names of the
state. A later test may use what was kept and run none of these. A function keeps state if it assigns to a global name,
to an attribute of a class or of a global object, changes a global container, one of its closure or one among its
defaults, or changes an instance that lives longer than a test; or if a decorator's name says that it caches. Such a
decorator need not even call the function again. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

from itertools import chain
from types import CodeType
from typing import Any, Iterator

from long_lived import LongLived, Name
from state_writes import CACHING, MUTABLE_DEFAULT, changes_its_instance, keeps_state, written_names

STATE, CACHE = "state", "cache"
# No file is larger than this, and no function has more decorators.
LARGEST_SOURCE = 4 * 1024 * 1024
MOST_LINES = 30


class Keepers:
    def __init__(self) -> None:
        self.kinds: dict[int, str] = {}
        # For each of them, what ran under it, and the names of what it changes.
        self.under: dict[int, dict[int, CodeType]] = {}
        self.names: dict[int, set[Name]] = {}
        # Methods that keep state if their instance lives longer than a test.
        self.methods: set[int] = set()
        self.long_lived = LongLived()
        # By thread, the outermost first: frames of such functions that may still run.
        self.running: dict[int, list[tuple[Any, int]]] = {}
        self.begun: set[int] = set()
        self.sources: dict[str, list[str]] = {}

    def new_test(self) -> None:
        self.begun.clear()

    def look_at(self, code: CodeType, frame: Any) -> None:
        if changes_its_instance(code):
            self.methods.add(id(code))
        names: set[Name] = set()
        try:
            kind = self.kind_by_source(code) or (STATE if keeps_state(code, frame) else None)
            names = written_names(code, frame, self.long_lived)
        except Exception:  # noqa: BLE001 - values of the project can do anything
            kind = STATE
        if names or kind is not None:
            self.keep(code, kind or STATE, names)

    def keep(self, code: CodeType, kind: str, names: set[Name]) -> None:
        self.kinds.setdefault(id(code), kind)
        self.under.setdefault(id(code), {})
        self.names.setdefault(id(code), set()).update(names)

    def watch(self, code: CodeType, frame: Any) -> bool:
        """True if further calls of this method can be for an instance that lives longer than a test."""
        instance = frame.f_locals.get("self")
        names = self.long_lived.names.get(id(instance))
        if names:
            self.keep(code, STATE, names)
        return self.long_lived.has_instance_of(instance)

    def kind_by_source(self, code: CodeType) -> str | None:
        """By its decorators and defaults. The first line of a function is that of its first decorator."""
        if code.co_filename not in self.sources:
            self.sources[code.co_filename] = lines_of(code.co_filename)
        if code.co_name.startswith("<"):
            return None
        first = code.co_firstlineno - 1
        lines = iter(self.sources[code.co_filename][first : first + MOST_LINES])
        for line in lines:
            text = line.lstrip()
            if text.startswith("@") and CACHING.search(text.partition("(")[0]):
                return CACHE
            if text.startswith("class "):
                return None
            if text.startswith(("def ", "async ")):
                return STATE if has_mutable_default(text, lines) else None
        return None

    def begin(self, code: CodeType, frame: Any, thread: int) -> bool:
        """True if it is its first call in this test."""
        self.running.setdefault(thread, []).append((frame, id(code)))
        is_first = id(code) not in self.begun
        self.begun.add(id(code))
        return is_first

    def add(self, code: CodeType, frame: Any, thread: int) -> None:
        """Add a call to those that it is a part of; forget those that have returned."""
        around = set(frames_above(frame))
        running = self.running[thread] = [pair for pair in self.running[thread] if pair[0] in around]
        for _, key in running:
            self.under[key][id(code)] = code


def has_mutable_default(line: str, following: Iterator[str]) -> bool:
    """A list, a dict or what a call makes, up to the end of the parameters."""
    depth = 0
    for text in chain([line], following):
        for index, character in enumerate(text):
            depth += (character in "([{") - (character in ")]}")
            if depth == 0 and character == ")":
                return MUTABLE_DEFAULT.search(text, 0, index) is not None
        if MUTABLE_DEFAULT.search(text):
            return True
    return False


def frames_above(frame: Any) -> Iterator[Any]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def lines_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST_SOURCE).split("\n")
    except (OSError, ValueError):
        return []
