"""The values that recorded calls were given and gave: one table for the recordings that are compared.

Equal structures are one row, so equal values have equal numbers. The rows come from the child, where any test can write
records: `adopt` checks each of them. Nothing here knows the classes of the project; what is shown of a value is its
structure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_mcp.investigation.difference.masks import hidden, is_name, is_secret
from pytest_mcp.text import safe_line

_CONTAINERS = {"list": "[]", "tuple": "()", "set": "{}"}
_NAMED = ("object", "function")
# A key and its value.
PAIR = 2
# A shorter secret is not looked for in other texts: it may be any word.
LEAST_SECRET = 6
_FLAGS = ("None", "True", "False")
_LEAVES = {"cut": 1, "cycle": 1, "atom": 1, "opaque": 1, "text": 3, "bytes": 3}
# How many characters are shown before a text of which only a part is shown.
AROUND = 12
# In how much of two long values that is looked for.
WINDOW = 4_000
_WORD = re.compile(r"\w+")


class Row(NamedTuple):
    """`head` is what it is without its parts: of a text the text, of a container its class and size."""

    kind: str
    head: tuple[Any, ...]
    labels: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return str(self.head[0])


class ValueDifference(NamedTuple):
    """Where two values part, as it is written behind a name, and what stands there."""

    path: str
    base: int
    now: int
    # Whether it is a field that only one of the two has: the class may have another one instead.
    is_one_sided: bool = False


@dataclass
class Values:
    rows: list[Row] = field(default_factory=list)
    numbers: dict[Row, int] = field(default_factory=dict)
    # If not, the class of a value stands for it.
    is_shown: bool = True
    # Texts that a name has shown to be secrets. They are hidden in other texts too.
    concealed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.number(Row("cut", ("",)))

    def number(self, row: Row) -> int:
        known = self.numbers.setdefault(row, len(self.rows))
        if known == len(self.rows):
            self.rows.append(row)
        return known

    def adopt(self, rows: Sequence[Sequence[Any]]) -> list[int]:
        """The number here of each of a child's rows. Raises ValueError if they are no such rows."""
        known: list[int] = []
        for row in rows:
            known.append(self.number(self._without_secrets(_checked(row, known))))
        return known

    def named(self, name: str, number: int) -> int:
        """The value of this name, which is hidden if it is a secret. A flag is none."""
        row = self.rows[number]
        is_flag = row.kind == "atom" and row.name in _FLAGS
        if is_flag or not is_secret(name, self._text(number) or None):
            return number
        if len(self._text(number)) >= LEAST_SECRET and is_secret(name, None):
            self.concealed.add(self._text(number))
        return self.number(Row("secret", ("",), ("",), (number,)))

    def _without_secrets(self, row: Row) -> Row:
        """Parts are named by their field, their key, the option in front of them or the first of a pair."""
        names: Sequence[str] = ()
        if row.kind in _NAMED:
            names = row.labels
        elif row.kind == "mapping":
            names = [name for key in row.parts[::2] for name in ("", self._text(key))]
        elif row.kind in ("list", "tuple"):
            texts = [self._text(part) for part in row.parts[:-1]]
            names = ["", *(text if is_name(text, is_option=len(row.parts) != PAIR) else "" for text in texts)]
        if not any(names):
            return row
        return row._replace(parts=tuple(map(self.named, names, row.parts)))

    def _text(self, number: int) -> str:
        """Empty if it is none."""
        return self.rows[number].name if self.rows[number].kind == "text" else ""

    def _hidden(self, text: str) -> str:
        # The longest first: one may begin another.
        for secret in sorted(self.concealed, key=lambda secret: (-len(secret), secret)):
            text = text.replace(secret, "***")
        return hidden(text)

    # --- what differs --------------------------------------------------------------------------

    def differences(self, base: int, now: int, again: int | None = None, path: str = "") -> Iterator[ValueDifference]:
        """`again` is what stood there when the base ran again: where it was another value, that says nothing."""
        if base == now or self._varies(base, now, again):
            return
        one, other = self.rows[base], self.rows[now]
        third = None if again is None else self.rows[again]
        if one.kind == other.kind == "secret":
            hidden = third.parts[0] if third is not None and third.kind == "secret" else None
            if any(self.differences(one.parts[0], other.parts[0], hidden)):
                yield ValueDifference(path, base, now)
            return
        if one.kind != other.kind or (one.head != other.head and one.kind != "cut") or not _is_alike(one, other):
            if "cut" not in (one.kind, other.kind):
                yield ValueDifference(path, base, now)
            return
        for label, left, right in _common(one, other):
            same = None if third is None or not _is_alike(one, third) else dict(_labelled(third)).get(label)
            yield from self.differences(left, right, same, path + self._step(one, label))
        if one.kind == "object" and one.labels != other.labels:
            yield from self._one_sided(one, other, path)

    def _one_sided(self, one: Row, other: Row, path: str) -> Iterator[ValueDifference]:
        ones, others = dict(_labelled(one)), dict(_labelled(other))
        absent = self.number(_ABSENT)
        for label in dict.fromkeys([*ones, *others]):
            if label not in ones or label not in others:
                sides = ones.get(label, absent), others.get(label, absent)
                yield ValueDifference(f"{path}.{label}", *sides, is_one_sided=True)

    def _varies(self, base: int, now: int, again: int | None) -> bool:
        """Whether this is a difference that the base has from itself."""
        if again is None or again == base:
            return False
        if again == now:
            return True
        one, other, third = self.rows[base], self.rows[now], self.rows[again]
        if one.kind != third.kind:
            return True
        if one.kind != other.kind or (other.name == "None" and one.name != "None"):
            # What varies is always of this kind.
            return False
        if one.kind == "text":
            return _template(one.name, third.name).fullmatch(other.name) is not None
        return not (one.parts and _is_alike(one, third))

    def _step(self, row: Row, label: str) -> str:
        if row.kind in _NAMED or row.kind == "secret":
            return "" if label in ("*", "") else f".{label}"
        return f"[{self.shown(int(label[1:]), 40) if row.kind == 'mapping' else label}]"

    # --- what is shown -------------------------------------------------------------------------

    def shown(self, number: int, most: int, *, start: int = 0) -> str:
        """In at most about so many characters; of a text those from `start` on."""
        row = self.rows[number]
        if not self.is_shown:
            return f"<{row.kind if row.kind in _LEAVES or not row.name else safe_line(row.name)}>"
        if row.kind == "text":
            return self._quoted(row, most, start)
        written = ""
        for piece in self._pieces(row):
            written += piece
            if len(written) > most:
                return safe_line(f"{written[:most]}…")
        return safe_line(written)

    def shown_pair(self, base: int, now: int, most: int) -> tuple[str, str]:
        """Long values from where they part."""
        one, other = self.rows[base], self.rows[now]
        if one.kind == other.kind == "text":
            texts = self._hidden(one.name), self._hidden(other.name)
            start = max(0, common_start(*texts) - AROUND)
            begin = start if max(map(len, texts)) > most else 0
            return self.shown(base, most, start=begin), self.shown(now, most, start=begin)
        whole, changed = self.shown(base, WINDOW), self.shown(now, WINDOW)
        start = max(0, common_start(whole, changed) - AROUND)
        return _window(whole, start, most), _window(changed, start, most)

    def _quoted(self, row: Row, most: int, start: int = 0) -> str:
        known = self._hidden(row.name)
        shown = known[start : start + most]
        is_cut = start + most < len(known) or len(row.name) < int(row.head[1])
        return safe_line(f"{'…' if start else ''}{shown!r}{'…' if is_cut else ''}")

    def _written(self, number: int) -> Iterator[str]:
        """In pieces: who has enough of them asks for no more."""
        yield from self._pieces(self.rows[number])

    def _pieces(self, row: Row) -> Iterator[str]:
        if row.kind == "text":
            yield self._quoted(row, 80)
        elif row.kind == "bytes":
            text = self._hidden(row.name)
            yield f"b'{text[:80]}{'…' if len(text) > 80 else ''}'"
        elif row.kind == "secret":
            yield "'***'"
        elif row.kind == "cut":
            yield f"{row.name}(…)" if row.name else "…"
        elif row.kind == "opaque":
            yield f"<{row.name}>"
        elif row.kind in ("atom", "cycle"):
            yield self._hidden(row.name) if row.kind == "atom" else f"<{row.name} again>"
        elif row.kind in _NAMED:
            yield from self._object(row)
        else:
            yield from self._container(row)

    def _object(self, row: Row) -> Iterator[str]:
        if row.kind == "function":
            yield f"<function {row.name}>"
            return
        yield f"{row.name}("
        is_exception = row.labels[:1] == ("args",)
        for place, (label, part) in enumerate(_labelled(row)):
            if is_exception and place == 0:
                arguments = self.rows[part]
                for index, each in enumerate(arguments.parts):
                    yield ", " if index else ""
                    yield from self._written(each)
                continue
            yield (", " if place else "") + ("" if label == "*" else f"{label}=")
            yield from self._written(part)
        yield ")"

    def _container(self, row: Row) -> Iterator[str]:
        name, size = row.name, int(row.head[1])
        opening, closing = ("{", "}") if row.kind == "mapping" else tuple(_CONTAINERS[row.kind])
        is_plain = name in ("list", "tuple", "set", "dict")
        yield opening if is_plain else f"{name}({opening}"
        shown = len(row.parts)
        if row.kind == "mapping":
            shown //= 2
            for place in range(shown):
                yield ", " if place else ""
                yield from self._written(row.parts[2 * place])
                yield ": "
                yield from self._written(row.parts[2 * place + 1])
        else:
            for place, part in enumerate(row.parts):
                yield ", " if place else ""
                yield from self._written(part)
        yield f", … {size - shown} more" if size > shown else "," if row.kind == "tuple" and size == 1 else ""
        yield closing if is_plain else f"{closing})"


_ABSENT = Row("atom", ("(absent)",))


# --- rows ----------------------------------------------------------------------------------------


def _checked(given: Sequence[Any], known: Sequence[int]) -> Row:
    kind, *rest = given

    def part(number: Any) -> int:
        if type(number) is not int or not 0 <= number < len(known):
            raise ValueError("no row in front of it")
        return known[number]

    if kind in _LEAVES and len(rest) >= _LEAVES[kind]:
        return Row(kind, _plain(rest))
    if kind in _CONTAINERS and len(rest) >= 3:
        parts = [part(each) for each in rest[3:]]
        labels = tuple(map(str, range(len(parts))))
        return Row(kind, _plain(rest[:3]), labels, tuple(sorted(parts) if kind == "set" else parts))
    if kind == "mapping" and len(rest) >= 3 and len(rest) % 2 == 1:
        parts = [part(each) for each in rest[3:]]
        return Row(kind, _plain(rest[:3]), _labels_of_mapping(parts), tuple(parts))
    if kind in _NAMED and len(rest) % 2 == 1:
        return Row(kind, _plain(rest[:1]), _plain(["", *rest[1::2]])[1:], tuple(map(part, rest[2::2])))
    raise ValueError("no such row")


def _plain(some: Sequence[Any]) -> tuple[Any, ...]:
    if not all(type(each) in (str, int) for each in some) or type(some[0]) is not str:
        raise ValueError("not of this type")
    return tuple(some)


def _labels_of_mapping(parts: Sequence[int]) -> tuple[str, ...]:
    """A value is named by its key."""
    return tuple(f"{'kv'[place % 2]}{parts[place - place % 2]}" for place in range(len(parts)))


def _labelled(row: Row) -> list[tuple[str, int]]:
    return [*zip(row.labels, row.parts, strict=True)]


def _is_alike(one: Row, other: Row) -> bool:
    """Whether they have the same parts. Functions may have other variables around them, and objects other fields."""
    return one.kind == other.kind and (one.labels == other.labels or one.kind in _NAMED)


def _common(one: Row, other: Row) -> list[tuple[str, int, int]]:
    others = dict(_labelled(other))
    return [(label, part, others[label]) for label, part in _labelled(one) if label in others]


def _template(one: str, other: str) -> re.Pattern[str]:
    """What is the same in two texts, with any word where they have different ones."""
    words, others = _WORD.findall(one), _WORD.findall(other)
    if len(words) != len(others) or _WORD.split(one) != _WORD.split(other):
        return re.compile(r".*", re.DOTALL)
    gaps = [*map(re.escape, _WORD.split(one)), ""]
    kept = [re.escape(word) if word == second else r"\w+" for word, second in zip(words, others, strict=True)]
    return re.compile("".join(gap + word for gap, word in zip(gaps, [*kept, "", ""], strict=False)))


def common_start(one: str, other: str) -> int:
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _window(text: str, start: int, most: int) -> str:
    if len(text) <= most:
        return text
    begin = start if start + AROUND > most else 0
    end = "…" if begin + most < len(text) else ""
    return f"{'…' if begin else ''}{text[begin : begin + most]}{end}"
