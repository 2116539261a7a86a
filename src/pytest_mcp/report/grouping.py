"""Which failures have one cause, in which order causes are told, and which failure stands for each.

Groups are the same for every budget. When in doubt two causes stay apart: failures are one group when they share the
exception's type, the place that raised it and the exceptions that led to it, or (assertions) the test function and the
line in it. Those of several places are one group only if more than a type and similar words says so: see `_evidence`.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pytest_mcp.report import places
from pytest_mcp.report.failures import ADDRESS, TYPE, Failure
from pytest_mcp.run.events import Raised

# The one line that stands for a cause.
CAUSE_CHARACTERS = 120
# Parts of a parameter's id that are shorter could stand anywhere in a message by chance.
SHORTEST_PARAMETER = 3
# Of an id with more parameters the longest are masked.
MAX_PARAMETERS = 10
# How many places a group names, and how many other tests.
SHOWN_PLACES = 3
SHOWN_TESTS = 2

_ASSERTIONS = ("AssertionError", "Failed")
# They name what is not there, so the place that asked for it is not the cause.
ABSENCES = ("ModuleNotFoundError", "ImportError", "FixtureLookupError")
_VOLATILE = (
    r"(\b0x[0-9a-fA-F]+)"  # a value, which stays; addresses are gone before
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"  # a uuid
    r"|(?<![\w./])/[^\s'\",)]*"  # an absolute path
    r"|\b(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{8,}\b"  # a digest
    r"|'[^'\n]{40,}'|\"[^\"\n]{40,}\""  # a long string
)
_NUMBER = r"|\d+(?:[.,:T-]\d+)*"  # also a time, a date
_MASKED = {numbers: re.compile(_VOLATILE + _NUMBER * numbers) for numbers in (False, True)}
_TYPE = re.compile(r"[A-Za-z_][\w.]*")
# What the system did not find or could not reach.
_OF_SYSTEM = re.compile(r"\[(?:Errno|WinError) ")
# Not what is left of a word with a number in it.
_WORD = re.compile(r"(?<![\w#])[A-Za-z_]\w{2,}+(?!#)")
# An exception inside the text of an assertion: `assert not TypeError("...")`. Not one of an object that has no repr.
_EMBEDDED = re.compile(
    r"\b([A-Z]\w*(?:Error|Exception|Exit|Interrupt))\(((?:'[^'\n]+'|\"[^\"\n]+\"))(?!\) raised in repr\(\))"
)
_TEXT_OF_COMMON_WORDS = """
    and any are argument arguments assert assertionerror attribute base base64 bool bytes call callable can cannot class
    could decode did dict division does encode equal error exception expected failed false file float for format found
    from function given got has have ignored index indices instance int integer invalid item items iterable key keyerror
    keyword len length list literal lists differ match max method min missing module must name none nonetype not number
    object objects one operand operation out pattern positional raise raised raises range recursion regex required
    sequence set size slice slices str string subscriptable supported takes than that the too true tuple type types
    typeerror unexpected unhashable unpack unsupported use value valueerror values was were where with with_ zero
    depth exceeded maximum comparison between instances keys into concatenate only convert exactly least most
    almost approval approved array arrays atol attributes close column columns dataarray dataframe dataframes
    dataset decimals differences different distinct dtype dtypes elements errors exceptions failures hypothesis
    identical iloc incorrect left likes mismatch mismatched received right rtol scalars series shape snapshot snapshots
    some strict sub success sufficiently taskgroup tensor test this tolerance torch unhandled within xpass
    """
# What Python, pytest and libraries that compare arrays, tables or snapshots say whatever the cause: a message of such
# words alone does not tell one cause from another.
_COMMON_WORDS = frozenset(_TEXT_OF_COMMON_WORDS.split())


@dataclass(frozen=True)
class Group:
    """Failures of one cause: the one that is shown first, the others as they ran."""

    example: Failure
    others: tuple[Failure, ...]

    @property
    def members(self) -> tuple[Failure, ...]:
        return (self.example, *self.others)

    @property
    def count(self) -> int:
        return 1 + len(self.others)

    @property
    def message(self) -> str:
        return line(self.example.cause)

    @cached_property
    def location(self) -> str | None:
        sites = [failure.site and places.short(failure.site) for failure in self.members]
        return _counted(Counter(site or "?" for site in sites)) if sites[0] else None

    @cached_property
    def contrasting(self) -> list[str]:
        """The others that differ most from the example and from each other."""
        seen, left = [self.example], list(self.others)
        while left and len(seen) <= SHOWN_TESTS:
            chosen = max(left, key=lambda failure: min(_difference(failure, other) for other in seen))
            left.remove(chosen)
            seen.append(chosen)
        return [failure.node_id for failure in seen[1:]]

    @property
    def some(self) -> list[str]:
        """Two of all, for a group of which none is shown."""
        return [self.example.node_id, *self.contrasting][:SHOWN_TESTS]


class _Wording(NamedTuple):
    """An exception in its words, of which one is its own: others would not use it whatever the cause."""

    type: str
    message: str


def group(failures: Sequence[Failure]) -> list[Group]:
    """Causes in the project's source first, then the largest."""
    apart: dict[Hashable, list[Failure]] = {}
    for failure in failures:
        apart.setdefault(_key(failure), []).append(failure)
    members: dict[Hashable, list[Failure]] = {}
    for key, alike in apart.items():
        members.setdefault(_common(map(_evidence, alike)) or key, []).extend(alike)
    groups: list[Group] = []
    for alike in _with_holders(members):
        # The first of those whose way leads furthest into the source.
        example = max(alike, key=lambda failure: sum(map(_is_in_source, failure.own_places)))
        groups.append(Group(example, tuple(failure for failure in alike if failure is not example)))
    return sorted(groups, key=_rank)


def line(message: str) -> str:
    """The one line that stands for a cause."""
    first = message.strip().partition("\n")[0]
    half = CAUSE_CHARACTERS // 2 - 2
    return first if len(first) <= CAUSE_CHARACTERS else f"{first[:half]} ... {first[-half:]}"


def masked(message: str, node_id: str, *, numbers: bool = True) -> str:
    """The message without what is different each time. Its type is not, and `numbers` need not be."""
    typed = _TYPE.match(message)
    kind, message = (typed.group(), message[typed.end() :]) if typed else ("", message)
    parameters = node_id.partition("[")[2].removesuffix("]")
    for part in sorted({parameters, *parameters.split("-")}, key=len, reverse=True)[:MAX_PARAMETERS]:
        if len(part) >= SHORTEST_PARAMETER:
            message = message.replace(part, "#")
    return kind + _MASKED[numbers].sub(lambda match: match[1] or "#", ADDRESS.sub("#", message))


def is_shared(place: str, kind: str, message: str) -> bool:
    """Whether several callers of this place can have one cause: Python's own library raises for all sorts of them.

    There it is only one if the same thing is missing.
    """
    if not places.is_foreign(place):
        return False
    return not places.is_standard(place) or kind == "KeyError" or _OF_SYSTEM.search(message) is not None


def by_file(groups: Iterable[Group]) -> str:
    """Where the failures of several groups are."""
    return _counted(Counter(failure.node_id.partition("::")[0] for cause in groups for failure in cause.members))


def _counted(count_by_place: Counter[str]) -> str:
    """One place by itself; several with how many failures each has, and those of one file by their lines."""
    if len(count_by_place) == 1:
        return next(iter(count_by_place))
    named, before = [], ""
    for place, count in count_by_place.most_common(SHOWN_PLACES):
        file, _, line_number = place.rpartition(":")
        named.append(f"{f':{line_number}' if file and file == before else place} ({count})")
        before = file
    more = len(count_by_place) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _is_in_source(place: str | None) -> bool:
    return place is not None and places.is_source(place.rpartition(":")[0])


def _rank(cause: Group) -> tuple[bool, int, bool]:
    return not _is_in_source(cause.example.site), -cause.count, cause.example.when != "setup"


def _key(failure: Failure) -> Hashable:
    """What failures of one cause have in common for certain."""
    node_id, when, kind = failure.node_id, failure.when, failure.type
    function, led_to = node_id.partition("[")[0], _led_to(failure)
    if held := _held(failure):
        return "held", function, when, _way(failure), held.type, masked(held.message, node_id)
    if _is_of_test(failure):
        return "function", function, when, _way(failure), led_to
    if failure.members:
        members = (
            (raised.headline.partition(":")[0], _raised_at(raised) or masked(raised.headline, node_id, numbers=False))
            for raised in failure.members
        )
        return when, kind, led_to, *members
    if failure.raised_at is None:
        return "text", function, when, masked(failure.wording, node_id, numbers=False)
    return when, kind, failure.raised_at, failure.site, led_to


def _raised_at(raised: Raised) -> str | None:
    return raised.frames[-1].place if raised.frames else None


def _way(failure: Failure) -> Hashable:
    """The lines of the project that led to it, each once: how often one of them recurs is no other cause."""
    return frozenset(places.own_places(failure.frames) or failure.own_places)


def _led_to(failure: Failure) -> Hashable:
    """The exceptions that it was raised from, or raised while they were handled: what it wraps is its cause."""
    wrapped = []
    for raised in failure.parts[0].chain:
        if raised.link in ("cause", "context"):
            own, kind = places.own_places(raised.frames), TYPE.match(raised.headline)
            wrapped.append((kind and kind.group(), own[-1] if own else None, _raised_at(raised)))
    return tuple(wrapped)


def _is_of_test(failure: Failure) -> bool:
    """Whether it is an assertion in test code."""
    return failure.type in _ASSERTIONS and not _is_in_source(failure.site)


def _evidence(failure: Failure) -> Hashable | None:
    """What makes failures of several places one cause: something absent, one text of assertions, one frame below.

    Their words agree to the letter: another path, number or parameter is another thing that is wrong.
    """
    said = ADDRESS.sub("#", " ".join(failure.parts[0].message.split()))
    if failure.type in ABSENCES:
        return failure.type, said
    if held := _held(failure):
        return held
    if failure.members:
        return None
    if failure.raised_at is None:
        return failure.when, ADDRESS.sub("#", failure.wording)
    if _said(failure) is None:
        return None
    if _is_of_test(failure):
        return said, _led_to(failure)
    return (said, failure.raised_at, _led_to(failure)) if is_shared(failure.raised_at, failure.type, said) else None


def _with_holders(members: Mapping[Hashable, list[Failure]]) -> list[list[Failure]]:
    """Assertions that hold an exception join the failures that raised it, if those have one cause."""
    causes = [alike for key, alike in members.items() if not isinstance(key, _Wording)]
    said: dict[Hashable, list[list[Failure]]] = {}
    for alike in causes:
        said.setdefault(_common(map(_said, alike)), []).append(alike)
    for key, holders in members.items():
        if isinstance(key, _Wording) and len(said.get(key, ())) == 1:
            said[key][0].extend(holders)
        elif isinstance(key, _Wording):
            causes.append(holders)
    return causes


def _common(values: Iterable[Hashable | None]) -> Hashable | None:
    """What all of them are, if they are the same."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _held(failure: Failure) -> _Wording | None:
    """The exception that a test has caught and shows in its own assertion."""
    embedded = _EMBEDDED.search(failure.parts[0].message) if failure.type in _ASSERTIONS else None
    return _wording(embedded.group(1), embedded.group(2)[1:-1], failure.node_id) if embedded else None


def _said(failure: Failure) -> _Wording | None:
    return _wording(failure.type, failure.wording.removeprefix(failure.type), failure.node_id)


def _wording(kind: str, message: str, node_id: str) -> _Wording | None:
    message = message.lstrip(": ")
    if all(word.lower() in _COMMON_WORDS for word in _WORD.findall(masked(message, node_id))):
        return None
    return _Wording(kind.rpartition(".")[2], ADDRESS.sub("#", message))


def _difference(one: Failure, other: Failure) -> int:
    """How many of these are not the same, the more telling the more they count."""
    file, name = one.node_id.partition("::")[::2]
    other_file, other_name = other.node_id.partition("::")[::2]
    other_function = name.partition("[")[0] != other_name.partition("[")[0]
    return 4 * (one.site != other.site) + 2 * other_function + (file != other_file)
