"""Functions that keep a result for later calls, and what runs under them.

In come the calls of a run; out come, for each such function, the functions that ran while it did. A later test may use
what was kept and run none of these. A function keeps state if it assigns to a global name, to an attribute of a class
or of a global object, or changes a global container or one of its closure; or if a decorator's name says that it
caches. Such a decorator need not even call the function again. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

import dis
import re
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Iterator

STATE, CACHE = "state", "cache"
CACHING = re.compile(r"cache|memo|once|lazy|singleton", re.IGNORECASE)
MUTATORS = {"append", "add", "setdefault", "update", "insert", "extend", "register", "appendleft", "push"}
# Values that hold nothing for later.
PLAIN = (str, bytes, int, float, complex, tuple, frozenset, type(None), type, FunctionType, BuiltinFunctionType)
GLOBAL, ATTRIBUTE, ITEM = dis.opmap["STORE_GLOBAL"], dis.opmap["STORE_ATTR"], dis.opmap["STORE_SUBSCR"]
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
# No file is larger than this, and no function has more decorators.
LARGEST_SOURCE = 4 * 1024 * 1024
MOST_LINES = 30


class Keepers:
    def __init__(self) -> None:
        self.kinds: dict[int, str] = {}
        # For each of them, what ran under it.
        self.under: dict[int, dict[int, CodeType]] = {}
        # By thread, the outermost first: frames of such functions that may still run.
        self.running: dict[int, list[tuple[Any, int]]] = {}
        self.begun: set[int] = set()
        self.sources: dict[str, list[str]] = {}

    def new_test(self) -> None:
        self.begun.clear()

    def look_at(self, code: CodeType, frame: Any) -> None:
        try:
            kind = CACHE if self.is_cached(code) else STATE if keeps_state(code, frame) else None
        except Exception:  # noqa: BLE001 - values of the project can do anything
            kind = STATE
        if kind is not None:
            self.kinds[id(code)] = kind
            self.under[id(code)] = {}

    def is_cached(self, code: CodeType) -> bool:
        """Since Python 3.8 the first line of a function is that of its first decorator."""
        if code.co_filename not in self.sources:
            self.sources[code.co_filename] = lines_of(code.co_filename)
        first = code.co_firstlineno - 1
        for line in self.sources[code.co_filename][first : first + MOST_LINES]:
            text = line.lstrip()
            if text.startswith(("def ", "async ", "class ")):
                return False
            if text.startswith("@") and CACHING.search(text.partition("(")[0]):
                return True
        return False

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


def keeps_state(code: CodeType, frame: Any) -> bool:
    operations = code.co_code[::2]
    if GLOBAL in operations:
        return True
    changes_items = ITEM in operations or not MUTATORS.isdisjoint(code.co_names)
    if changes_items and any(map(holds, containers(code, frame))):
        return True
    return ATTRIBUTE in operations and assigns_outside(code)


def containers(code: CodeType, frame: Any) -> Iterator[Any]:
    # Not by f_locals, unless needed: it makes a copy.
    names = code.co_names
    for name in names:
        if name in frame.f_globals:
            yield frame.f_globals[name]
    if code.co_freevars:
        # Most closures live only as long as one call.
        local = frame.f_locals
        for name in filter(CACHING.search, code.co_freevars):
            yield local.get(name)


def holds(value: Any) -> bool:
    return not isinstance(value, (PLAIN, ModuleType)) and type(value).__name__ not in ("Pattern", "Logger")


def assigns_outside(code: CodeType) -> bool:
    """`cls.x = ...` or `NAME.x = ...`: the object is loaded just before."""
    before: Any = None
    first = code.co_varnames[:1]
    for instruction in dis.get_instructions(code):
        if instruction.opcode == ATTRIBUTE and before is not None:
            of_class = before.opname.startswith("LOAD_FAST") and before.argval == "cls" and first == ("cls",)
            if of_class or before.opname in LOADS:
                return True
        if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            before = instruction
    return False
