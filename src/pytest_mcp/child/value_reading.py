"""Reads values by their structure into a table; equal structures are one row, so values are compared by their numbers.

How the values of each class are read is decided in `reading_plans`, what a row means in the server's
`investigation/difference/values.py`. A reading is bounded in depth and parts; strings and containers that are cut have
a checksum of the rest.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from typing import Any, Sequence, Tuple

from reading_plans import plan_of
from value_kinds import Reading, ReadingPlan, cut, words_of_int

# How deep a value is read, and how many parts of it.
DEPTH = 3
PARTS = 80
# Longer strings and larger integers are looked up anew each time.
KEPT_TEXT = 200
KEPT_INTEGERS = 1_000_000
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")
_RUN_FOLDER = re.compile(r"pytest-of-[^/\\]+[/\\]pytest-\d+|\btmp[a-z0-9_]{8}\b")

# After so many readings of the largest size they become smaller, and after so many there are no more.
FEWER_PARTS = ((2_000, 4), (500, 2))
MOST_READINGS = 5_000
# Stands for what a name does not have.
MISSING = object()

Row = Tuple[Any, ...]


class ValueReader:
    """The table of all that was read. `replaced` are texts that differ between trees, with what stands for them."""

    def __init__(self, replaced: Sequence[tuple[str, str]] = (), depth: int = DEPTH, parts: int = PARTS) -> None:
        self.depth = depth
        self.parts = parts
        self.rows: list[Row] = []
        self.numbers: dict[Row, int] = {}
        self.plans: dict[int, ReadingPlan] = {}
        self.texts: dict[str, int] = {}
        self.integers: dict[int, int] = {}
        self.replaced = [pair for pair in replaced if len(pair[0]) > 1]
        temporary = os.path.realpath(tempfile.gettempdir())
        if temporary != os.sep:
            self.replaced.append((temporary, "{tmp}"))
        # How many parts were read so far, in all.
        self.work = 0
        # What each thread is reading, from the outside to the inside.
        self.paths: dict[int, list[int]] = {}
        self.ident = threading.get_ident
        # Not a plain one: the garbage collector may run traced code at any moment.
        self.lock = threading.RLock()
        # No value has the number 0.
        self.cut = self.number(("cut", ""))
        self.none = self.number(("atom", "None"))

    def number(self, row: Row) -> int:
        known = self.numbers.get(row)
        if known is not None:
            return known
        with self.lock:
            known = self.numbers.setdefault(row, len(self.rows))
            if known == len(self.rows):
                self.rows.append(row)
        return known

    def read(self, value: Any) -> int:
        """The number of the structure of a value."""
        return self.node(value, self.depth, self.most)[0]

    def read_all(self, values: Sequence[Any]) -> list[int]:
        """Of all together not more than of one; 0 for what is missing."""
        known = [value for value in values if value is not MISSING]
        if not known:
            return [0] * len(values)
        numbers = iter(self.numbers_of(known, self.depth + 1, max(self.most, len(known)))[0])
        return [0 if value is MISSING else next(numbers) for value in values]

    @property
    def most(self) -> int:
        """How many parts the next reading may have."""
        return next((self.parts // part for after, part in FEWER_PARTS if self.work > after * self.parts), self.parts)

    @property
    def is_spent(self) -> bool:
        return self.work > MOST_READINGS * self.parts

    def node(self, value: Any, depth: int, parts: int) -> Reading:
        """With how many parts it has."""
        plain = self.plain(value)
        return (plain, 1) if plain else self.deep(value, depth, parts)

    def plain(self, value: Any) -> int:
        """The number of a value without parts; 0 if it has parts. Most values are such, and many are the same."""
        cls = type(value)
        if cls is str:
            return self.texts.get(value) or self.text(value)
        if cls is int:
            return self.integers.get(value) or self.integer(value)
        if value is None:
            return self.none
        plan = self.plans.get(id(cls)) or self.plan(cls)
        return plan.read(self, value, plan, 0, 0)[0] if plan.is_fixed else 0

    def deep(self, value: Any, depth: int, parts: int) -> Reading:
        plan = self.plan(type(value))
        if depth <= 0 or parts <= 1:
            return self.number(("cut", plan.name)), 1
        path = self.paths.setdefault(self.ident(), [])
        if id(value) in path:
            return self.number(("cycle", plan.name)), 1
        path.append(id(value))
        try:
            return plan.read(self, value, plan, depth, parts)
        finally:
            path.pop()

    def plan(self, cls: type) -> ReadingPlan:
        known = self.plans.get(id(cls))
        if known is None:
            known = self.plans[id(cls)] = plan_of(cls)
        return known

    # --- text ----------------------------------------------------------------------------------

    def text(self, value: str) -> int:
        number = self.number(("text", *cut(self.masked(value))))
        if len(value) <= KEPT_TEXT:
            self.texts[value] = number
        return number

    def integer(self, value: int) -> int:
        number = self.number(("atom", words_of_int(value)))
        if -KEPT_INTEGERS < value < KEPT_INTEGERS:
            self.integers[value] = number
        return number

    def masked(self, text: str) -> str:
        """Without addresses and the folders of this run."""
        if "/" in text or "\\" in text or "tmp" in text:
            for folder, instead in self.replaced:
                text = text.replace(folder, instead)
            text = _RUN_FOLDER.sub("{run}", text)
        return _ADDRESS.sub("0x…", text) if "0x" in text else text

    # --- parts ---------------------------------------------------------------------------------

    def numbers_of(self, values: Sequence[Any], depth: int, parts: int) -> tuple[list[int], int]:
        """Those that have parts themselves share what the others leave, so that no deep one hides those after it."""
        numbers = [*map(self.plain, values)]
        self.work += len(numbers)
        deep, left = numbers.count(0), parts - len(numbers)
        for place, value in enumerate(values) if deep else ():
            if not numbers[place]:
                numbers[place], spent = self.deep(value, depth - 1, 1 + max(0, left // deep))
                left -= spent - 1
                deep -= 1
        return numbers, parts - left

    def fields(self, head: Row, pairs: Sequence[tuple[str, Any]], depth: int, parts: int) -> Reading:
        """A row with named parts."""
        numbers, spent = self.numbers_of([value for _, value in pairs], depth, parts - 1)
        row = [*head]
        for (name, _), number in zip(pairs, numbers):
            row += (name, number)
        return self.number(tuple(row)), spent + 1

    def items(self, head: Row, values: Sequence[Any], depth: int, parts: int) -> Reading:
        numbers, spent = self.numbers_of(values, depth, parts - 1)
        return self.number((*head, *numbers)), spent + 1
