"""One failed test: its cause in one line, where it was raised, and what there is to show of it.

Pure: what the child told of a test in, a failure out. Most reports have a chain of exceptions; where they do not
(missing fixtures, doctests, crashed xdist workers) place and type are read from pytest's text. How a failure is shown
is decided in `tracebacks`, which failures belong together in `grouping`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent

from pytest_mcp.api.results import CollectionError, Outcome
from pytest_mcp.report import places
from pytest_mcp.run.events import CollectionFailed, Phase
from pytest_mcp.run.exceptions import Chain, Frame, Raised
from pytest_mcp.run.ledger import TestRecord
from pytest_mcp.text import cut_middle

Section = tuple[str, str]

# The most characters of a message whose lines are joined.
ANNOUNCED = 200
# How many exceptions of a group are named.
MEMBERS = 3

# In a default repr, `<Cart object at 0x7f3a5c1e9d90>`. A value of up to 32 bits is shorter than addresses are.
ADDRESS = re.compile(r"(<[^<\n]{0,200}? at )(0x[0-9a-fA-F]{9,})(?=>)")
_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
_MARKED = re.compile(r"^E\s+(.*)$", re.MULTILINE)
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.DOTALL)
_TYPE = re.compile(r"^[A-Za-z_][\w.]*+(?=:|$)")
_TYPE_ALONE = re.compile(r"[A-Za-z_][\w.]*+:")
_PLACE = re.compile(r"^(\S.*):(\d+): ([A-Za-z_][\w.]*)$", re.MULTILINE)
_DOCTEST = re.compile(r"^(?:Expected|UNEXPECTED EXCEPTION)", re.MULTILINE)
# Where an error is in a file: what Python says of a syntax error, and pytest's frames.
_SOURCE_LINE = re.compile(r'^E[ \t]+File "(.*)", line (\d{1,9})', re.MULTILINE)
_FRAME_LINE = re.compile(r"^(.*?):(\d{1,9}): in ", re.MULTILINE)
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
    # How paths inside the project begin in what was captured; empty if that is not known.
    root: str = ""

    @property
    def message(self) -> str:
        """All of it, as detail full shows it."""
        return "\n".join(part.message + (f"\nin {part.title}" if part.is_subtest else "") for part in self.parts)

    @cached_property
    def cause(self) -> str:
        """In one line, which begins with the exception's type."""
        first = self.parts[0]
        line = plain(_one_line(first.message.strip()))
        subtest = f" in {first.title}" if first.is_subtest else ""
        more = len(self.parts) - 1
        return line + subtest + (f" (and {more} more)" if more else "")

    @property
    def wording(self) -> str:
        """What tells causes apart: the cause, and all lines below it if the first is an empty or an announcing one.

        All of them also where no exception is known: plugins often begin every text with the same line.
        """
        first = self.parts[0]
        message = first.message.strip()
        whole = not first.chain or message.partition("\n")[0].rstrip().endswith(":")
        return " ".join(message.split()) if whole else self.cause

    @property
    def type(self) -> str:
        found = _TYPE.match(self.parts[0].message)
        return found.group() if found else ""

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The way to what failed first, from the outermost; empty where pytest has only text."""
        chain = self.parts[0].chain
        return chain[-1].frames if chain else ()

    @cached_property
    def members(self) -> list[Raised]:
        """What the exception group holds that failed first, if it was one."""
        first = self.parts[0]
        group = told_group(first.chain, first.message.partition("\n")[0])
        return [] if group is None else members_of(first.chain, group)

    @cached_property
    def own_places(self) -> list[str]:
        """The places in the project on the way to the failure, the innermost last."""
        first = self.parts[0]
        told = [] if first.place is None else [first.place]
        found = [frame.place for raised in first.chain for frame in raised.frames]
        return [place for place in found or [*places.in_text(first.text), *told] if not places.is_foreign(place)]

    @property
    def raised_at(self) -> str | None:
        """The innermost frame, in whatever code."""
        if self.frames:
            return self.frames[-1].place
        found = places.in_text(self.parts[0].text)
        return self.parts[0].place or (found[-1] if found else None)

    @cached_property
    def site(self) -> str | None:
        """Where to look first: the innermost frame inside the project, or the innermost of all if not in pytest."""
        own = [frame.place for frame in self.frames if not places.is_foreign(frame.place)]
        if found := own or self.own_places:
            return found[-1]
        return None if self.raised_at is None or places.is_runner(self.raised_at) else self.raised_at


def plain(text: str) -> str:
    """Without colours and addresses: they say nothing, and addresses differ from run to run."""
    return _without_addresses(_COLOUR.sub("", text)).replace(_ADD_V, _VERBOSITY)


def _without_addresses(text: str) -> str:
    """But for those of objects that differ in nothing else: without them, two sides would look equal."""
    found: dict[str, set[str]] = {}
    for named, address in ADDRESS.findall(text):
        found.setdefault(named, set()).add(address)
    return ADDRESS.sub(lambda each: f"{each[1]}0x…" if len(found[each[1]]) == 1 else each[0], text)


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
    told = announced + assertion + compared.partition("\n")[0]
    first, *lines = [" ".join(line.split()) for line in told.split("\n") if line.strip()]
    return _lines_that_fit([first, *([line for line in lines if not _WHERE.match(line)] or lines)])


def _lines_that_fit(lines: list[str]) -> str:
    """Only the first two are cut: the others are shown below the message."""
    shown = cut_middle(" ".join(lines[:2]), ANNOUNCED, separator=" ")
    for line in lines[2:]:
        if len(shown) + len(line) >= ANNOUNCED:
            break
        shown += f" {line}"
    return shown


def of_record(record: TestRecord, root: str = "") -> Failure:
    assert record.outcome in ("failed", "error")
    failed = _failed_phases(record)
    # Captured output accumulates: the last report has all of it, but for what a plugin adds to one report alone.
    own = [phase for phase in record.phases if phase.subtest is None]
    told = [phase for phase in own if phase in failed or phase is own[-1]]
    return Failure(
        node_id=record.node_id,
        outcome=record.outcome,
        duration=round(record.duration, 3),
        when=failed[0].when,
        parts=tuple(_part(phase, first=phase is failed[0]) for phase in failed),
        sections=_sections(told, has_subtests=len(own) < len(record.phases)),
        root=root and f"{root}/",
    )


def skip_reason(record: TestRecord) -> str:
    phase = next(p for p in record.phases if p.outcome == "skipped" and p.subtest is None)
    if phase.xfail is None:
        return phase.message or ""
    reason = phase.xfail.removeprefix("reason: ")
    return f"xfailed: {reason}" if reason else "xfailed"


def collection_error(event: CollectionFailed) -> CollectionError:
    marked = _MARKED.findall(event.traceback)
    found = _EXCEPTION.match(marked[-1]) if marked else None
    plain = event.traceback.strip()
    return CollectionError(
        file=event.file,
        error_type=event.error_type or (found.group(1) if found else "CollectionError"),
        message=event.message if event.message is not None else (found.group(2) or "") if found else plain,
        line=event.line if event.line is not None else _line_in_text(event),
        traceback=event.traceback,
        also=0,
    )


def _line_in_text(event: CollectionFailed) -> int | None:
    """Only needed where an error came through xdist, which hands on nothing but text."""
    lines = [line for path, line in _SOURCE_LINE.findall(event.traceback) if path.endswith(event.file)]
    lines = lines or [line for path, line in _FRAME_LINE.findall(event.traceback) if path == event.file]
    return int(lines[-1]) or None if lines else None


def _failed_phases(record: TestRecord) -> list[Phase]:
    """What went wrong, the assertion before the teardown.

    pytest 9 adds a failure of its own to a test whose subtests failed; it says nothing new.
    """
    failed = [phase for phase in record.phases if phase.outcome == "failed"]
    if any(phase.subtest is not None for phase in failed):
        failed = [p for p in failed if p.subtest is not None or not _OWN_SUMMARY.search(_text_of(p))]
    return failed


def _text_of(phase: Phase) -> str:
    return phase.traceback or "\n".join(line for raised in phase.exceptions for line in raised.text)


def _text(phase: Phase) -> str:
    return _WORKER.sub("", phase.traceback or "", count=1)


def _part(phase: Phase, *, first: bool) -> Part:
    return Part(
        title=None if first and phase.subtest is None else _title(phase),
        message=_cause(phase),
        chain=phase.exceptions,
        text=_text(phase),
        # A plugin that knows no line says 0.
        place="{}:{}".format(*phase.location[:2]) if phase.location and phase.location[1] else None,
        sections=() if phase.subtest is None else _sections([phase]),
        is_subtest=phase.subtest is not None,
    )


def _cause(phase: Phase) -> str:
    if group := _group(phase):
        return group
    if phase.message and phase.message.strip():
        # pytest leaves the type out of exactly these messages.
        return f"AssertionError: {phase.message}" if phase.message.startswith("assert ") else _type_first(phase.message)
    if phase.exceptions and any(phase.exceptions[-1].text):
        # On pytest 7.0 a `pytest.fail(pytrace=False)` has a text and nothing else.
        return "Failed: " + "\n".join(phase.exceptions[-1].text)
    plain = _text(phase).strip()
    if plain.startswith(_STRICT_XPASS):
        return f"Failed: {plain}"
    if fixture := _FIXTURE.search(plain):
        return f"FixtureLookupError: {fixture.group(1)}"
    begin = _DOCTEST.search(plain)
    told, _, last = plain.rpartition("\n")
    if begin and (place := _PLACE.match(last)):
        return f"{place.group(3)}: {told[begin.start() :].strip()}"
    return _marked(plain) or plain or "no message"


def _marked(text: str) -> str:
    """The last exception of a text in pytest's own form, as pytest-forked hands it on."""
    above, _, last = text.rpartition("\n")
    lines = (above.rstrip() if _PLACE.match(last) else text).split("\n")
    count = next((n for n, line in enumerate(reversed(lines)) if not line.startswith("E  ")), len(lines))
    said = dedent("\n".join(line[1:] for line in lines[len(lines) - count :]))
    return f"AssertionError: {said}" if said.startswith("assert ") else said


def _type_first(message: str) -> str:
    """Python tells the place of a syntax error before its type."""
    lines = message.split("\n")
    if not lines[0].lstrip().startswith('File "'):
        return message
    found = next((index for index, line in enumerate(lines) if _TYPE.match(line)), 0)
    return "\n".join([lines[found], *lines[:found], *lines[found + 1 :]])


def _group(phase: Phase) -> str | None:
    """An exception group with what its members say; newer versions of pytest tell the one member alone."""
    told = told_group(phase.exceptions, (phase.message or "").partition("\n")[0])
    if told is None:
        return None
    members = [raised.headline for raised in members_of(phase.exceptions, told)]
    unwritten = sum(int(found.group(1)) - 1 for found in map(_MORE.fullmatch, members) if found)
    left = len(members) - MEMBERS + unwritten
    more = [f"and {left} more"] if left > 0 else []
    return f"{phase.exceptions[told].headline}: " + "; ".join([*members[:MEMBERS], *more])


def told_group(chain: Chain, message: str) -> int | None:
    """Where the group is that a message tells, if it tells one; the outermost if it is in others."""
    single = _SINGLE in message
    groups = [
        index
        for index, raised in enumerate(chain)
        if raised.link == "group" and (single or message.startswith(raised.headline))
    ]
    if not groups:
        return None
    found = groups[-1]
    while found - 1 in groups:
        found -= 1
    return found


def members_of(chain: Chain, group: int) -> list[Raised]:
    return [raised for raised in chain[group + 1 :] if raised.link in ("member", None)]


def _title(phase: Phase) -> str:
    if phase.subtest is not None:
        return f"subtest {phase.subtest}"
    return f"ERROR at {phase.when}" if phase.when in ("setup", "teardown") else phase.when


def _sections(phases: list[Phase], *, has_subtests: bool = False) -> tuple[Section, ...]:
    different = dict.fromkeys((title, content) for phase in phases for title, content in phase.sections if content)
    # pytest writes a letter for each subtest of unittest, and captures it.
    return tuple(pair for pair in different if not (has_subtests and _PROGRESS.fullmatch(pair[1])))
