"""What differs between two compared values, in few lines: leaves with their paths, long texts by the parts that differ.

`left` is what a test got and `right` what it compares with, as in pytest's own explanations, which mark lines of the
right with `-` and of the left with `+`. Every text is shown as Python writes it, so that escapes and white space are
visible. It calls `==` and `repr` of the values, as pytest does, and limits how much it looks at.
"""

from __future__ import annotations

import reprlib
from collections import Counter
from dataclasses import fields, is_dataclass
from itertools import islice, zip_longest
from operator import itemgetter
from re import compile as compiled
from typing import Any, Iterator, NamedTuple

# How much of a value stands in one line.
MAX_VALUE = 100
# A text up to this length is whole there; of a longer one the parts that differ are shown as well.
SHORT_TEXT = 60
# How much of a value stands above what differs in it, and of a text whose parts follow.
MAX_COMPARED, LONG_TEXT = 60, 30
# How much of a text must be in another to be like it.
LEAST_ALIKE = 4
# Characters on either side of a part that differs, fewer inside of an escape code, and of the part itself.
AROUND, AROUND_CODES = 15, 5
MAX_SPAN = 80
# Parts of a text, leaves of a container, and members of a set that are shown; the others are counted.
MAX_WINDOWS = 3
MAX_LEAVES = 20
MAX_MEMBERS = 5
# What is looked at, so that a comparison of large values takes no longer than a second: levels, values, lines or items,
# and pairs of equal ones among these.
MAX_DEPTH = 20
MAX_VISITED = 20_000
MAX_ITEMS = 20_000
MAX_PAIRS = 400_000

# Where named tuples, and classes of either version of pydantic, list their fields.
_NAMED = ("_fields", "model_fields", "__fields__")
_SGR = compiled(r"\x1b\[[0-9;:]*m")


class Absent:
    """What one side does not have."""

    def __repr__(self) -> str:
        return "<absent>"


ABSENT = Absent()

# str or bytes.
Text = Any


class Leaf(NamedTuple):
    path: str
    left: Any
    right: Any


class Span(NamedTuple):
    """Where two sequences differ: from where to where on the left and on the right."""

    start: int
    end: int
    other_start: int
    other_end: int


def equality(left: Any, right: Any) -> list[str]:
    """One line for both values, then what differs in them that this line does not show."""
    leaves = list(islice(Walk().leaves("", left, right, 0), MAX_VISITED))
    lines = [line for leaf in leaves[:MAX_LEAVES] for line in leaf_lines(leaf, MAX_WINDOWS if len(leaves) == 1 else 1)]
    if len(leaves) > MAX_LEAVES:
        least = "at least " if len(leaves) == MAX_VISITED else ""
        lines.append("and %s%d more differ" % (least, len(leaves) - MAX_LEAVES))
    return [compared(left, "==", right), *lines]


def membership(left: Text, op: str, right: Text) -> list[str]:
    """Where a long text contains the other, or where it is most like it."""
    from difflib import SequenceMatcher

    place, size, where = right.find(left), len(left), "at"
    if place < 0:
        text, wanted = right[:MAX_ITEMS], left[:MAX_VALUE]
        matcher = SequenceMatcher(None, text, wanted, autojunk=False)
        place, _, size = matcher.find_longest_match(0, len(text), 0, len(wanted))
        where = "most alike at"
    is_alike = where == "at" or size >= LEAST_ALIKE
    near = ["%s character %d: %s" % (where, place + 1, cutout(right, place, place + size))] if is_alike else []
    return [compared(left, op, right), *near]


def compared(left: Any, op: str, right: Any) -> str:
    """Both in one line; of long texts little, since the parts that matter follow."""
    most = LONG_TEXT if is_text(left, right) and max(len(left), len(right)) > SHORT_TEXT else MAX_COMPARED
    return "%s %s %s" % (brief(left, most), op, brief(right, most))


def brief(value: Any, most: int = MAX_VALUE) -> str:
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = most
    shortener.maxlist = shortener.maxtuple = shortener.maxdict = shortener.maxset = shortener.maxfrozenset = most // 3
    text = shortener.repr(value)
    return text if len(text) <= most else "%s...%s" % (text[: most // 2], text[-(most // 2 - 3) :])


class Walk:
    """Looks for the innermost values that differ, in the order in which a reader meets them."""

    def __init__(self) -> None:
        self.visited = 0

    def leaves(self, path: str, left: Any, right: Any, depth: int) -> Iterator[Leaf]:
        left, right = plain(left), plain(right)
        self.visited += 1
        if left is ABSENT or right is ABSENT or depth > MAX_DEPTH or self.visited > MAX_VISITED:
            yield Leaf(path, left, right)
            return
        inner = parts_of(left, right)
        if inner is None:
            yield Leaf(path, left, right)
            return
        some = False
        for key, one, other in inner:
            if not same(one, other):
                some = True
                yield from self.leaves(path + key, one, other, depth + 1)
        if not some:
            # Equal in all that can be seen, and still not equal: another type, or an `__eq__` of its own.
            yield Leaf(path, left, right)


def plain(value: Any) -> Any:
    """Arrays and tables as lists and dicts."""
    library = type(value).__module__.partition(".")[0]
    if library == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    if library == "pandas" and hasattr(value, "to_dict"):
        return value.to_dict()
    return value


def same(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - arrays and objects of the project may raise anything
        return left is right or (type(left) is type(right) and repr(left) == repr(right))


def parts_of(left: Any, right: Any) -> Iterator[tuple[str, Any, Any]] | None:
    """The path, left and right of each part that both sides have or one lacks; None for a value without parts."""
    if isinstance(left, dict) and isinstance(right, dict):
        keys = [*left, *(key for key in right if key not in left)]
        return (("[%s]" % brief(key), left.get(key, ABSENT), right.get(key, ABSENT)) for key in keys)
    names = field_names(left) if type(left) is type(right) else None
    if names is not None:
        return ((".%s" % name, getattr(left, name, ABSENT), getattr(right, name, ABSENT)) for name in names)
    for kind in (list, tuple):
        if isinstance(left, kind) and isinstance(right, kind):
            return aligned(left, right)
    if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
        return iter([(" only left", left - right or ABSENT, ABSENT), (" only right", ABSENT, right - left or ABSENT)])
    return None


def field_names(value: Any) -> list[str] | None:
    """Of what a dataclass, a class of attrs or pydantic, or a named tuple compares."""
    if is_dataclass(value) and not isinstance(value, type):
        return [each.name for each in fields(value) if each.compare]
    attributes = getattr(type(value), "__attrs_attrs__", None)
    if attributes is not None:
        return [each.name for each in attributes if each.eq]
    names = next(filter(None, (getattr(type(value), name, None) for name in _NAMED)), None)
    return [str(name) for name in names] if isinstance(names, (tuple, dict)) else None


def aligned(left: Any, right: Any) -> Iterator[tuple[str, Any, Any]]:
    """Items one by one, or equal ones next to each other if that leaves fewer that differ."""
    pairs: list[tuple[Any, Any]] = list(zip_longest(range(len(left)), range(len(right))))
    if len(pairs) <= MAX_ITEMS:
        texts = [[repr(each) for each in side] for side in (left, right)]
        spans = spans_between(*texts)
        moved = [pair for span in spans for pair in zip_longest(range(*span[:2]), range(*span[2:]))]
        if len(left) != len(right) or len(moved) < sum(one != other for one, other in zip(*texts)):
            pairs = moved
    for one, other in pairs:
        place = other if one is None else one
        yield "[%d]" % place, ABSENT if one is None else left[one], ABSENT if other is None else right[other]


def spans_between(left: Any, right: Any) -> list[Span]:
    """Where two sequences of hashable things differ."""
    # Not before a comparison fails: pytest does not import it earlier either.
    from difflib import SequenceMatcher

    start, end = equal_ends(left, right)
    first, second = left[start : len(left) - end], right[start : len(right) - end]
    count = Counter(second)
    if sum(count[each] for each in first) > MAX_PAIRS:
        return [Span(start, len(left) - end, start, len(right) - end)]
    codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return [Span(*(place + start for place in places)) for kind, *places in codes if kind != "equal"]


def equal_ends(left: Any, right: Any) -> tuple[int, int]:
    shorter = min(len(left), len(right))
    start = next((index for index in range(shorter) if left[index] != right[index]), shorter)
    others = range(shorter - start)
    return start, next((index for index in others if left[-1 - index] != right[-1 - index]), len(others))


def leaf_lines(leaf: Leaf, windows: int) -> list[str]:
    path, left, right = leaf
    if is_text(left, right) and max(len(repr(left)), len(repr(right))) > SHORT_TEXT:
        return text_lines(path, left, right, windows)
    if path.endswith((" only left", " only right")):
        members = left if right is ABSENT else right
        more = len(members) - MAX_MEMBERS
        shown = ", ".join(sorted(brief(each) for each in members)[:MAX_MEMBERS])
        return ["%s: %s%s" % (path.strip(), shown, " and %d more" % more if more > 0 else "")]
    most = MAX_VALUE if path else MAX_COMPARED
    one, other = brief(left, most), brief(right, most)
    whole, whole_other = repr(left), repr(right)
    if whole == whole_other:
        kinds = type(left).__qualname__, type(right).__qualname__
        return ["%s: %s != %s" % ((path + " type").strip(), *kinds)] if kinds[0] != kinds[1] else []
    if one == other or (not path and max(len(whole), len(whole_other)) > most):
        # What differs may be in what was cut.
        return text_lines(path, whole, whole_other, windows)
    return ["%s: %s != %s" % (path, one, other)] if path else []


def is_text(left: Any, right: Any) -> bool:
    return (isinstance(left, str) and isinstance(right, str)) or (isinstance(left, bytes) and isinstance(right, bytes))


def text_lines(path: str, left: Text, right: Text, windows: int) -> list[str]:
    # As plain texts: a class of the project's may have a repr and slices of its own.
    kind_of_text = str if isinstance(left, str) else bytes
    left, right = (kind_of_text.__getitem__(side, slice(None)) for side in (left, right))
    lines, others = left.splitlines(), right.splitlines()
    if len(lines) <= 1 and len(others) <= 1:
        shown = [window(path, None, left, right, span) for span in joined(spans_between(left, right))[: windows + 1]]
        more = ["more parts differ"] if len(shown) > windows else []
        return [line for each in shown[:windows] for line in each] + more
    pairs = list(line_pairs(lines, others))
    if not pairs:
        return ["%s: %s != %s at the end of a line" % (path or "text", brief(left[-AROUND:]), brief(right[-AROUND:]))]
    # Lines that differ in the same way look alike: one of them is enough.
    chosen = {kind(one, other) or number: (number, one, other) for number, one, other in reversed(pairs)}
    examples = sorted(chosen.values(), key=itemgetter(0))[:windows]
    explained = [line for pair in examples for line in pair_lines(path, *pair)]
    return explained + rest([pair for pair in pairs if pair not in examples])


def line_pairs(lines: list[Text], others: list[Text]) -> Iterator[tuple[int, Text | None, Text | None]]:
    """Lines that differ: their number, and the line of either side, if it has one there."""
    for span in spans_between(lines[:MAX_ITEMS], others[:MAX_ITEMS]):
        for one, other in zip_longest(range(span.start, span.end), range(span.other_start, span.other_end)):
            place = other if one is None else one
            yield place + 1, None if one is None else lines[one], None if other is None else others[other]


def pair_lines(path: str, number: int, left: Text | None, right: Text | None) -> list[str]:
    if left is None or right is None:
        mark, line = ("-", right) if left is None else ("+", left)
        return ["%s %s" % (("%s line %d:" % (path, number)).strip(), "%s %s" % (mark, brief(line)))]
    spans = spans_between(left, right)
    whole = Span(spans[0].start, spans[-1].end, spans[0].other_start, spans[-1].other_end)
    return window(path, number, left, right, whole)


def joined(spans: list[Span]) -> list[Span]:
    """Spans that are so near to each other that one window shows both are one."""
    result: list[Span] = []
    for span in spans:
        if result and span.start - result[-1].end < AROUND:
            last = result.pop()
            result.append(Span(last.start, span.end, last.other_start, span.other_end))
        else:
            result.append(span)
    return result


def window(path: str, number: int | None, left: Text, right: Text, span: Span) -> list[str]:
    place = "character %d" % (span.start + 1) if number is None else "line %d, character %d" % (number, span.start + 1)
    return [
        "%s: - %s" % (("%s %s" % (path, place)).strip(), cutout(right, span.other_start, span.other_end)),
        "+ %s" % cutout(left, span.start, span.end),
    ]


def cutout(text: Text, start: int, end: int) -> str:
    """The part as Python writes it, with some characters around; the middle of a long one is counted."""
    is_in_code = isinstance(text, str) and text.rfind("\x1b", 0, start) > text.rfind("m", 0, start)
    around = AROUND_CODES if is_in_code else AROUND
    first, last = max(0, start - around), min(len(text), end + around)
    lead, tail = ("…" if first else ""), ("…" if last < len(text) else "")
    if end - start <= MAX_SPAN:
        return "%s%r%s" % (lead, text[first:last], tail)
    half = MAX_SPAN // 2
    hidden = end - start - 2 * half
    return "%s%r … %d characters … %r%s" % (lead, text[first : start + half], hidden, text[end - half : last], tail)


def rest(pairs: list[tuple[int, Text | None, Text | None]]) -> list[str]:
    if not pairs:
        return []
    kinds = Counter(kind(one, other) for _, one, other in pairs)
    said = "%d more line%s" % (len(pairs), " differs" if len(pairs) == 1 else "s differ")
    if len(kinds) == 1 and "" not in kinds:
        return ["%s, %s%s" % (said, "each " if len(pairs) > 1 else "", next(iter(kinds)))]
    named = ", ".join("%d %s" % (count, each) for each, count in kinds.most_common(MAX_WINDOWS) if each)
    return ["%s%s" % (said, ": " + named if named else "")]


def kind(left: Text | None, right: Text | None) -> str:
    """How two lines differ, if that takes few words."""
    if left is None or right is None:
        return "only on the right" if left is None else "only on the left"
    if left.rstrip() == right.rstrip():
        return "by white space at its end"
    if left.split() == right.split():
        return "by white space"
    if isinstance(left, str) and _SGR.sub("", left) == _SGR.sub("", right):
        return "by escape codes"
    if left.lower() == right.lower():
        return "by letter case"
    start, end = equal_ends(left, right)
    one, other = left[start : len(left) - end], right[start : len(right) - end]
    return "by %r for %r" % (one, other) if len(one) + len(other) <= AROUND else ""
