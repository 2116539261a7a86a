"""How a failure is shown: the way to it in few lines, then the exception's own text.

Pure: a failure and what may be shown of it in, text out. Frames of the project are one line each, the last two with
their statement; frames outside are folded. Every line of the exception's text is shown as pytest marks it, with `E`,
but the first where the test's `message` has it. What has no structure keeps pytest's text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_mcp.events.exceptions import Chain, Frame, Raised
from pytest_mcp.report import grouping, places
from pytest_mcp.report.failures import Failure, Part, Section, plain
from pytest_mcp.text import cut_middle

# How many of the project's frames have their statement, the innermost.
FRAMES_WITH_STATEMENT = 2
# A recursion by way of more functions than this is told frame by frame.
LONGEST_ROUND = 5
# A statement of several lines is joined up to this length; of a longer one the first line is shown.
STATEMENT_CHARACTERS = 160
# What is shown of the values of arguments: of each, and of all.
VALUE_CHARACTERS = 60
VALUES_CHARACTERS = 200
# How many of the last lines of each captured stream are shown.
CAPTURED_LINES = 20
CAPTURED_LINE_CHARACTERS = 500
# A local variable in one line.
VARIABLE_CHARACTERS = 120
MOST_VARIABLES = 20

# What is left of a text that is too long for the budget even without everything else.
TEXT_CHARACTERS = 600

_OBJECT = re.compile(r"^<.*>$", re.DOTALL)
_SEPARATOR = re.compile(r"^(?:_ ){3,}_?$", re.MULTILINE)
_COMPARISON = re.compile(r"(?:AssertionError: )?assert ")
# An explanation is indented by two spaces, and equal lines of its difference by two more.
_EQUAL_LINE = re.compile(r"^ {4}(?! *[-+?] )")
# So are lines on a nested attribute.
_NESTED = "Drill down into differing attribute"
_DIFFERENCE = re.compile(r"^ *[-+] ", re.MULTILINE)
# A traceback in what was captured.
_LOGGED = "Traceback (most recent call last):"
_LOGGED_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}), in (.*)$')
# Where the lines of a statement are joined.
_BRACKET = re.compile(r"(?<=[(\[{])\n|\n(?=[)\]}.])")
_BREAK = re.compile(r"\n *")
_LINKS = {
    "cause": "raised from the above:",
    "context": "raised while handling the above:",
    "group": "the group holds:",
    "member": "and:",
}
# Frames of pytest itself tell nothing; most of them are not there to begin with.
_RUNNER = {"site-packages/_pytest", "site-packages/pluggy"}
_WIDTH = 80


@dataclass(frozen=True)
class Style:
    """What is shown, beside the statement that failed and the lines that differ, which always are."""

    equal_lines: bool = True
    captured: bool = True
    foreign_frames: bool = True
    arguments: bool = True
    outer_frames: bool = True
    variables: bool = False
    # Otherwise only the first part of a failure is shown, with the middle of its text cut.
    whole_texts: bool = True


def reductions(style: Style) -> Iterator[Style]:
    """The style with ever less, for an example that alone is too large."""
    values = ("arguments", "variables")
    for names in (("equal_lines",), ("captured",), ("foreign_frames",), values, ("outer_frames",), ("whole_texts",)):
        style = replace(style, **dict.fromkeys(names, False))
        yield style


def render(failure: Failure, style: Style) -> str:
    parts = failure.parts if style.whole_texts else failure.parts[:1]
    lines = [line for part in parts for line in _part(part, failure, style)]
    if style.captured:
        lines += _captured(failure.sections, failure, style)
    return plain("\n".join(lines))


def in_full(failure: Failure, *, captured: bool) -> str:
    """pytest's own rendering of every part, then what was captured."""
    lines: list[str] = []
    for part in failure.parts:
        lines += [_heading("_", part.title)] if part.title else []
        lines += [part.text.rstrip("\n")]
        lines += _whole_sections(part.sections) if captured else []
    return "\n".join([*lines, *(_whole_sections(failure.sections) if captured else [])])


def _part(part: Part, failure: Failure, style: Style) -> Iterator[str]:
    if part.title and (part is not failure.parts[0] or len(failure.parts) > 1):
        yield f"-- {part.title}: {part.message.strip().partition(chr(10))[0]}"
    if part.chain:
        yield from _chain(part.chain, part.message, failure, style)
    else:
        lines = _SEPARATOR.sub("_ _ _", part.text).strip("\n").split("\n")
        said = _has_whole(part.message.partition("\n")[0], lines[0], style)
        yield from _bounded("\n".join(lines[said:]), style).split("\n") if lines[said:] else ()
    if style.captured:
        yield from _captured(part.sections, failure, style)


def _chain(chain: Chain, message: str, failure: Failure, style: Style) -> Iterator[str]:
    for raised in chain:
        quiet = replace(style, arguments=False, variables=False)
        yield from _frames(raised, failure, style if raised is chain[-1] else quiet)
        yield from (f"[{note.partition(chr(10))[0].strip('! ')}]" for note in [raised.note] if note)
        text = raised.text if style.equal_lines else _differing(raised.text)
        if text and _is_told(raised, message.partition("\n")[0], chain, style):
            text = text[1:]
        yield from (f"E   {line}" for line in _bounded("\n".join(text), style).split("\n") if line.strip())
        if raised.link is not None:
            yield _LINKS.get(raised.link, _LINKS["context"])


def _with_inner(frames: Iterable[Frame]) -> list[Frame]:
    """A function, and the generator expression or lambda in the same line, which has no name, as one frame.

    A function that Hypothesis calls has a frame of its decorator above its own; it shows the `def`.
    """
    merged: list[Frame] = []
    for frame in frames:
        outer = merged[-1] if merged else None
        if outer and outer.function and not frame.function and frame.place == outer.place:
            merged[-1] = frame._replace(function=outer.function, arguments=frame.arguments + outer.arguments)
        elif outer and outer.path == frame.path and outer.function == frame.function and _shows_definition(outer):
            merged[-1] = frame
        else:
            merged.append(frame)
    return merged


def _shows_definition(frame: Frame) -> bool:
    return (frame.statement or "").startswith(("def ", "async def ", "@"))


def _frames(raised: Raised, failure: Failure, style: Style) -> Iterator[str]:
    frames = _with_inner(raised.frames)
    own = [index for index, frame in enumerate(frames) if not places.is_foreign(frame.path)]
    # What raises a group only collects what others have raised.
    raising = set[int]() if raised.link == "group" else {len(frames) - 1}
    # The last of each place, so that a recursion does not take both.
    different = {(frames[index].place, frames[index].function): index for index in own}
    stated = {*sorted(different.values())[-FRAMES_WITH_STATEMENT:], *raising}
    for foreign, run in groupby(enumerate(frames), key=lambda pair: pair[0] not in own and pair[0] not in stated):
        shown = list(run)
        if foreign:
            yield from _folded([frame for _, frame in shown]) if style.foreign_frames else ()
            continue
        for unit, repeated in _rounds(shown):
            for index, frame in unit:
                if index in stated:
                    yield from _frame(frame, failure, style, innermost=bool(own) and index == own[-1])
                elif style.outer_frames:
                    yield _place(frame.place, frame.function)
            if repeated and (style.outer_frames or unit[-1][0] in stated):
                yield f"    [{repeated} more frames like {'this' if len(unit) == 1 else f'these {len(unit)}'}]"


def _rounds(frames: list[tuple[int, Frame]]) -> Iterator[tuple[list[tuple[int, Frame]], int]]:
    """Frames one by one; those that repeat by their last round, and how many frames the rounds before it have."""
    keys = [(frame.place, frame.function) for _, frame in frames]
    start = 0
    while start < len(keys):
        ends = {length: _end_of_rounds(keys, start, length) for length in range(1, LONGEST_ROUND + 1)}
        length = max(ends, key=lambda each: ends[each])
        yield frames[ends[length] - length : ends[length]], ends[length] - start - length
        start = ends[length]


def _end_of_rounds(keys: list[tuple[str, str | None]], start: int, length: int) -> int:
    """Where rounds of this length end that begin here; 0 where there is only one, unless it is a single frame."""
    end = start + length
    while keys[end : end + length] == keys[start : start + length]:
        end += length
    return end if end > start + length or length == 1 else 0


def _folded(frames: list[Frame]) -> Iterator[str]:
    packages = list(dict.fromkeys(places.package(frame.path) for frame in frames))
    if set(packages) <= _RUNNER:
        return
    more = f" and {len(packages) - 2} more" if len(packages) > 2 else ""
    yield f"... {len(frames)} frame{'s' if len(frames) > 1 else ''} in {', '.join(packages[:2])}{more}"


def _place(place: str, function: str | None) -> str:
    path, _, line = place.rpartition(":")
    return f"{places.short(path)}:{line}:" + (f" in {function}" if function else "")


def _frame(frame: Frame, failure: Failure, style: Style, *, innermost: bool) -> Iterator[str]:
    yield _place(frame.place, frame.function)
    if frame.statement:
        yield f"    {_statement(frame.statement)}"
    if innermost and style.variables and frame.variables:
        yield from _variables(frame.variables)
    elif innermost and style.arguments:
        yield from _arguments(frame, failure.node_id)


def _variables(lines: tuple[str, ...]) -> Iterator[str]:
    """pytest aligns the values, and spreads those of a failed comparison over lines."""
    for line in lines[:MOST_VARIABLES]:
        name, _, value = line.partition("=")
        shown = f"{name.strip()} = {_BREAK.sub(' ', value.strip())}"
        yield f"    {_shortened(shown, VARIABLE_CHARACTERS)}"
    if len(lines) > MOST_VARIABLES:
        yield f"    [{len(lines) - MOST_VARIABLES} more variables]"


def _statement(statement: str) -> str:
    """In one line; of an assertion that spans lines the first that says something: its operands are told below."""
    first, *others = statement.replace(" \\\n", "\n").split("\n")
    if first == "assert (" and others:
        first += others.pop(0)
    joined = _BRACKET.sub("", "\n".join([first, *others])).replace("\n", " ")
    return first if first.startswith("assert") or len(joined) > STATEMENT_CHARACTERS else joined


def _arguments(frame: Frame, node_id: str) -> Iterator[str]:
    """Values that a reader cannot know: no bare objects, and of a test only parameters that its id does not show."""
    shown, left = [], VALUES_CHARACTERS
    for name, value in frame.arguments:
        if name in ("self", "cls") or _OBJECT.match(value) or _is_known(frame, value, node_id):
            continue
        text = f"{name} = {_shortened(value, VALUE_CHARACTERS)}"
        left -= len(text)
        if left < 0:
            break
        shown.append(text)
    if shown:
        yield f"    {', '.join(shown)}"


def _is_known(frame: Frame, value: str, node_id: str) -> bool:
    name, bracket, parameters = node_id.rpartition("::")[2].partition("[")
    return frame.function == name and (not bracket or value.strip("'\"") in parameters)


def _shortened(value: str, most: int) -> str:
    line = _BREAK.sub(" ", value)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _is_told(raised: Raised, message: str, chain: Chain, style: Style) -> bool:
    """Whether the message of the test has the first line of a group or of the last exception."""
    groups = {each.headline for each in chain if each.link == "group" and message.startswith(each.headline)}
    if groups:
        return raised.link == "group" and raised.headline in groups and _is_whole(message, style)
    return raised is chain[-1] and _has_whole(message, raised.headline, style)


def _has_whole(message: str, line: str, style: Style) -> bool:
    """Whether the message of the test, as it is shown, has this line."""
    return message.endswith(line) and _is_whole(message, style)


def _is_whole(message: str, style: Style) -> bool:
    return style.whole_texts or len(message) <= grouping.CAUSE_CHARACTERS


def _bounded(text: str, style: Style) -> str:
    return text if style.whole_texts else cut_middle(text, TEXT_CHARACTERS)


def _differing(text: tuple[str, ...]) -> tuple[str, ...]:
    """Without lines that are equal on both sides, if it explains a comparison and anything differs there."""
    start = next((index + 1 for index, line in enumerate(text) if _COMPARISON.match(line)), len(text))
    explanation = "\n".join(text[start:])
    if _NESTED in explanation or not _DIFFERENCE.search(explanation):
        return text
    return (*text[:start], *(line for line in text[start:] if not _EQUAL_LINE.match(line)))


def _captured(sections: Iterable[Section], failure: Failure, style: Style) -> Iterator[str]:
    for title, content in sections:
        lines = _condensed(content.rstrip("\r\n").split("\n"), failure, style)
        yield f"{title}:"
        if len(lines) > CAPTURED_LINES:
            yield f"[... {len(lines) - CAPTURED_LINES} lines left out ...]"
        yield from map(_captured_line, lines[-CAPTURED_LINES:])


def _captured_line(line: str) -> str:
    """As a terminal shows it in the end: a progress bar writes one line again and again."""
    last = line.rstrip("\r").rpartition("\r")[2]
    return cut_middle(last, CAPTURED_LINE_CHARACTERS, separator=" ")


def _condensed(lines: list[str], failure: Failure, style: Style) -> list[str]:
    """With tracebacks that were logged or printed in the style of this module."""
    shown: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        if lines[start] == _LOGGED:
            end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith("  ")), start)
        # One that is cut off stays as it is.
        shown += _logged(lines[start + 1 : end], lines[end], failure, style) if end > start else [lines[start]]
        start = end + 1
    return shown


def _logged(lines: list[str], headline: str, failure: Failure, style: Style) -> list[str]:
    raised = Raised(None, None, (headline,), tuple(_logged_frames(lines)))
    if any(_is_same(raised, known) for part in failure.parts for known in part.chain):
        return [f"[the traceback of {headline.partition(':')[0]} is the one above]"]
    return [_LOGGED, *_frames(raised, failure, replace(style, arguments=False)), headline]


def _logged_frames(lines: list[str]) -> Iterator[Frame]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if found := _LOGGED_FRAME.match(line):
            path, number, function = found.groups()
            statement = following.strip() if following.startswith("    ") else None
            yield Frame(path, int(number), function, statement, (), ())


def _is_same(logged: Raised, known: Raised) -> bool:
    """Whether both are the exception of these words from this place; paths in the project are told from its root."""
    if logged.headline != known.headline or not (logged.frames and known.frames):
        return False
    one, other = logged.frames[-1], known.frames[-1]
    return one.line == other.line and (one.path == other.path or one.path.endswith(f"/{other.path}"))


def _whole_sections(sections: Iterable[Section]) -> list[str]:
    return [line for title, content in sections for line in (_heading("-", title), content.rstrip("\n"))]


def _heading(character: str, title: str) -> str:
    return f"{character} {title} {character}".center(_WIDTH, character)
