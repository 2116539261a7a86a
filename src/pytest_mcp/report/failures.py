"""One failed test: its cause in one line, where it was raised, and what there is to show of it.

Most reports have a chain of exceptions; where they do not (missing fixtures, doctests, crashed xdist workers) place and
type are read from pytest's text. How a failure is shown is decided in `rendering`, which failures belong together in
`grouping`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from textwrap import dedent

from pytest_mcp.api.results import Outcome
from pytest_mcp.report import places
from pytest_mcp.run.events import Chain, Frame, Phase, Raised
from pytest_mcp.run.outcome import TestRecord
from pytest_mcp.text import cut_middle

Section = tuple[str, str]

# The most characters of a message whose lines are joined.
ANNOUNCED = 200
# How many exceptions of a group are named.
MEMBERS = 3

# In a default repr, `<Cart object at 0x7f3a5c1e9d90>`. A value of up to 32 bits is shorter than addresses are.
ADDRESS = re.compile(r"(<[^<\n]{0,200}? at )(0x[0-9a-fA-F]{9,})(?=>)")
_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
TYPE = re.compile(r"^[A-Za-z_][\w.]*+(?=:|$)")
_TYPE_ALONE = re.compile(r"[A-Za-z_][\w.]*+:")
_PLACE = re.compile(r"^(\S.*):(\d+): ([A-Za-z_][\w.]*)$", re.MULTILINE)
_DOCTEST = re.compile(r"^(?:Expected|UNEXPECTED EXCEPTION)", re.MULTILINE)
_FIXTURE = re.compile(r"^E[ \t]+(fixture '.*' not found|recursive dependency involving fixture .*)$", re.MULTILINE)
# A test that passed although its xfail is strict.
_STRICT_XPASS = "[XPASS(strict)]"
# What pytest puts above a text that comes from a worker.
_WORKER = re.compile(r"\A\[gw\d+\] .* -- Python .*\n")
_PROGRESS = re.compile(r"[u,-]+\s?")
# What pytest-django advises, and how that is asked for here.
_ADD_V, _VERBOSITY = "(add -v option to show queries)", "(verbosity: 1 shows the queries)"
# Announced lines that do not say what is wrong: where files are, and the head of a difference.
_WHERE = re.compile(r"^(?:(?:[\w ]++: )?/\S+|-{3}|\+{3}|@@ .* @@)$")
# What a message of pytest has that tells the one exception in a group.
_SINGLE = " [single exception in "
# What Python writes instead of the members beyond the fifteenth, and the child instead of the middle of a chain.
_MORE = re.compile(r"and (\d{1,9}) more exceptions?")
_OWN_SUMMARY = re.compile(r"(?:^|\n)contains \d+ failed subtests?$")


@dataclass(frozen=True)
class Part:
    """One failed phase of a test, or one failed subtest."""

    title: str | None
    message: str
    chain: Chain
    # pytest's own rendering, where there is no chain or where everything was asked for.
    text: str
    place: str | None
    # What was captured in a subtest alone.
    sections: tuple[Section, ...]
    is_subtest: bool


@dataclass(frozen=True)
class Failure:
    node_id: str
    outcome: Outcome
    duration: float
    # The phase of the first part.
    when: str
    # The call's first, then setup or teardown.
    parts: tuple[Part, ...]
    sections: tuple[Section, ...]

    @property
    def message(self) -> str:
        """All of it, as detail full shows it."""
        return "\n".join(part.message + (f"\nin {part.title}" if part.is_subtest else "") for part in self.parts)

    @cached_property
    def cause(self) -> str:
        """In one line, which begins with the exception's type."""
        first, more = self.parts[0], len(self.parts) - 1
        subtest = f" in {first.title}" if first.is_subtest else ""
        return plain(_one_line(first.message.strip())) + subtest + (f" (and {more} more)" if more else "")

    @property
    def wording(self) -> str:
        """What tells causes apart: the cause, and all lines below it if the first is an empty or an announcing one.

        All of them also where no exception is known: plugins often begin every text with the same line.
        """
        message = self.parts[0].message.strip()
        whole = not self.parts[0].chain or message.partition("\n")[0].rstrip().endswith(":")
        return " ".join(message.split()) if whole else plain(_one_line(message))

    @property
    def type(self) -> str:
        kind = TYPE.match(self.parts[0].message)
        return kind.group() if kind else ""

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The way to what failed first, from the outermost; empty where pytest has only text."""
        chain = self.parts[0].chain
        return chain[-1].frames if chain else ()

    @cached_property
    def members(self) -> list[Raised]:
        """What the exception group holds that failed first, if it was one."""
        first = self.parts[0]
        group = named_group(first.chain, first.message)
        return [] if group is None else members_of(first.chain, group)

    @cached_property
    def own_places(self) -> list[str]:
        """The places in the project on the way to the failure, the innermost last."""
        first = self.parts[0]
        way = [frame.place for raised in first.chain for frame in raised.frames]
        way = way or [*places.in_text(first.text), *filter(None, [first.place])]
        return [place for place in way if not places.is_foreign(place)]

    @property
    def raised_at(self) -> str | None:
        """The innermost frame, in whatever code."""
        if self.frames:
            return self.frames[-1].place
        return self.parts[0].place or next(reversed(places.in_text(self.parts[0].text)), None)

    @cached_property
    def site(self) -> str | None:
        """Where to look first: the innermost frame inside the project, or the innermost of all if not in pytest."""
        if own := places.own_places(self.frames) or self.own_places:
            return own[-1]
        return None if self.raised_at is None or places.is_runner(self.raised_at) else self.raised_at


def failure_of(record: TestRecord) -> Failure:
    assert record.outcome in ("failed", "error")
    failed = _failed_phases(record)
    # Captured output accumulates: the last report has all of it, but for what a plugin adds to one report alone.
    own = [phase for phase in record.phases if phase.subtest is None]
    reported = [phase for phase in own if phase in failed or phase is own[-1]]
    return Failure(
        node_id=record.node_id,
        outcome=record.outcome,
        duration=round(record.duration, 3),
        when=failed[0].when,
        parts=tuple(_part(phase, first=phase is failed[0]) for phase in failed),
        sections=_sections(reported, has_subtests=len(own) < len(record.phases)),
    )


def skip_reason(record: TestRecord) -> str:
    phase = next(p for p in record.phases if p.outcome == "skipped" and p.subtest is None)
    if phase.xfail is None:
        return phase.message or ""
    reason = phase.xfail.removeprefix("reason: ")
    return f"xfailed: {reason}" if reason else "xfailed"


def plain(text: str) -> str:
    """Without colours and addresses: they say nothing, and addresses differ from run to run.

    Addresses of objects that differ in nothing else stay: without them, two sides would look equal.
    """
    text = _COLOUR.sub("", text)
    addresses: dict[str, set[str]] = {}
    for name, address in ADDRESS.findall(text):
        addresses.setdefault(name, set()).add(address)
    text = ADDRESS.sub(lambda match: f"{match[1]}0x…" if len(addresses[match[1]]) == 1 else match[0], text)
    return text.replace(_ADD_V, _VERBOSITY)


def named_group(chain: Chain, message: str) -> int | None:
    """Where in the chain the group is that a message names; the outermost if it is in others."""
    first = message.partition("\n")[0]
    groups = [
        index
        for index, raised in enumerate(chain)
        if raised.link == "group" and (_SINGLE in first or first.startswith(raised.headline))
    ]
    outermost = groups[-1] if groups else None
    while outermost is not None and outermost - 1 in groups:
        outermost -= 1
    return outermost


def members_of(chain: Chain, group: int) -> list[Raised]:
    return [raised for raised in chain[group + 1 :] if raised.link in ("member", None)]


def _one_line(message: str) -> str:
    """The first line; with those below it where it only announces them (`Expected:`), without pytest's comparison."""
    first = message.partition("\n")[0].rstrip()
    if _TYPE_ALONE.fullmatch(first):
        # The text begins with an empty line, as all of numpy's do.
        rest = message[len(first) :].lstrip()
        message = f"{first} {rest}" if rest else first
        first = message.partition("\n")[0].rstrip()
    if not first.endswith(":"):
        return first
    announced, assertion, compared = message.partition("\nassert ")
    said = announced + assertion + compared.partition("\n")[0]
    first, *lines = [" ".join(line.split()) for line in said.split("\n") if line.strip()]
    lines = [first, *([line for line in lines if not _WHERE.match(line)] or lines)]
    # Only the first two are cut: the others are shown below the message.
    joined = cut_middle(" ".join(lines[:2]), ANNOUNCED, separator=" ")
    for line in lines[2:]:
        if len(joined) + len(line) >= ANNOUNCED:
            break
        joined += f" {line}"
    return joined


def _failed_phases(record: TestRecord) -> list[Phase]:
    """What went wrong, the assertion before the teardown.

    pytest 9 adds a failure of its own to a test whose subtests failed; it says nothing new.
    """
    failed = [phase for phase in record.phases if phase.outcome == "failed"]
    if all(phase.subtest is None for phase in failed):
        return failed
    texts = [phase.traceback or "\n".join(line for each in phase.exceptions for line in each.text) for phase in failed]
    return [
        phase
        for phase, text in zip(failed, texts, strict=True)
        if phase.subtest is not None or not _OWN_SUMMARY.search(text)
    ]


def _part(phase: Phase, *, first: bool) -> Part:
    is_subtest = phase.subtest is not None
    title = f"ERROR at {phase.when}" if phase.when in ("setup", "teardown") else phase.when
    text = _WORKER.sub("", phase.traceback or "", count=1)
    return Part(
        title=f"subtest {phase.subtest}" if is_subtest else None if first else title,
        message=_message(phase, text.strip()),
        chain=phase.exceptions,
        text=text,
        # A plugin that knows no line says 0.
        place="{}:{}".format(*phase.location[:2]) if phase.location and phase.location[1] else None,
        sections=_sections([phase]) if is_subtest else (),
        is_subtest=is_subtest,
    )


def _sections(phases: list[Phase], *, has_subtests: bool = False) -> tuple[Section, ...]:
    different = dict.fromkeys((title, content) for phase in phases for title, content in phase.sections if content)
    # pytest writes a letter for each subtest of unittest, and captures it.
    return tuple(pair for pair in different if not (has_subtests and _PROGRESS.fullmatch(pair[1])))


def _message(phase: Phase, text: str) -> str:
    """The exception with its type first; `text` is pytest's rendering, in which it is looked for if nothing else is."""
    if group := _group_message(phase):
        return group
    if phase.message and phase.message.strip():
        return _with_type(_type_first(phase.message))
    if phase.exceptions and any(phase.exceptions[-1].text):
        # On pytest 7.0 a `pytest.fail(pytrace=False)` has a text and nothing else.
        return "Failed: " + "\n".join(phase.exceptions[-1].text)
    if text.startswith(_STRICT_XPASS):
        return f"Failed: {text}"
    if fixture := _FIXTURE.search(text):
        return f"FixtureLookupError: {fixture.group(1)}"
    above, _, last = text.rpartition("\n")
    place, doctest = _PLACE.match(last), _DOCTEST.search(text)
    if doctest and place:
        return f"{place.group(3)}: {above[doctest.start() :].strip()}"
    # The last exception of a text in pytest's own form, as pytest-forked hands it on.
    lines = (above.rstrip() if place else text).split("\n")
    marked = [*takewhile(lambda line: line.startswith("E  "), reversed(lines))]
    return _with_type(dedent("\n".join(line[1:] for line in reversed(marked)))) or text or "no message"


def _with_type(message: str) -> str:
    """pytest leaves the type out of exactly these messages."""
    return f"AssertionError: {message}" if message.startswith("assert ") else message


def _type_first(message: str) -> str:
    """Python tells the place of a syntax error before its type."""
    lines = message.split("\n")
    if not lines[0].lstrip().startswith('File "'):
        return message
    typed = next((index for index, line in enumerate(lines) if TYPE.match(line)), 0)
    return "\n".join([lines[typed], *lines[:typed], *lines[typed + 1 :]])


def _group_message(phase: Phase) -> str | None:
    """An exception group with what its members say; newer versions of pytest tell the one member alone."""
    group = named_group(phase.exceptions, phase.message or "")
    if group is None:
        return None
    members = [raised.headline for raised in members_of(phase.exceptions, group)]
    unwritten = sum(int(match.group(1)) - 1 for match in map(_MORE.fullmatch, members) if match)
    left = len(members) - MEMBERS + unwritten
    more = [f"and {left} more"] if left > 0 else []
    return f"{phase.exceptions[group].headline}: " + "; ".join([*members[:MEMBERS], *more])
