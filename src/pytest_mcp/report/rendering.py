"""How a failure is shown: the way to it in few lines, then the exception's own text, then the end of what it printed.

Every line of the exception's text is shown as pytest marks it, with `E`, but the first where the test's `message` has
it. What has no structure keeps pytest's text.
"""

import re
import sys
from ast import literal_eval
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, dropwhile

from pytest_mcp.api.results import TestResult
from pytest_mcp.report import frames
from pytest_mcp.report.failures import ANNOUNCED, Failure, Part, Section, named_group, plain
from pytest_mcp.report.frames import ExampleStyle
from pytest_mcp.run.events import Raised
from pytest_mcp.text import cut_middle

# How many of a long chain or group are shown if not all: its first and its last exceptions.
FIRST_RAISED, LAST_RAISED = 2, 3
# A shorter line can stand in a message by chance.
SHORTEST_LINE = 10
# How many subtests are named that failed like another one.
SHOWN_SUBTESTS = 3

_SEPARATOR = re.compile(r"^(?:_ ){3,}_?$", re.MULTILINE)
_COMPARISON = re.compile(r"(?:AssertionError: )?assert ")
# An explanation is indented by two spaces, and equal lines of its difference by two more.
_EQUAL_LINE = re.compile(r"^ {4}(?! *[-+?] )")
# So are lines on a nested attribute.
_NESTED = "Drill down into differing attribute"
# How unittest begins; its equal lines are less indented.
_UNITTEST = re.compile(r"AssertionError: (?!assert ).*(?: != | differ: )")
_EQUAL_IN_UNITTEST = re.compile(r"^ {2}")
_DIFFERENCE = re.compile(r"^ *[-+] ", re.MULTILINE)
# Marks below a line of a difference, which say what the two lines show already.
_MARKS = re.compile(r" *\? [ +^-]*$")
# The value of an expression, which the line above has.
_WHERE = re.compile(r"""( *\+ +(?:where|and) ++)('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|.+?)( = .*)$""")
LONGEST_VALUE = 40
# What tells one way to write an expression from another.
_LAYOUT = str.maketrans('"', "'", " \n")
# A function or method that was called, whose name the statement has, or an object that says no more than its class.
# The value of what it was called on stays.
_CALLABLE = re.compile(
    r" *\+ +(?:where|and) ++(?:<(?:(?:function|bound method|built-in|class|module) .*?|[\w.<>]+ object at 0x\S+?)> = "
    r"|(\w++) = )(?!b['\"])[A-Za-z_<](?(1).*\.\1$)"
)
_FUNCTION = re.compile(r"<function (?:[\w.]++<locals>\.)*+([\w.]++|<lambda>) at 0x…>(?=\()|<function ([\w.]++) at 0x…>")
# How `'\n'.join([...])` is explained: what it is made of stands in the code.
_JOINED = re.compile(
    r" *\+ +(?:where|and) ++.*(?: = <built-in method join of str object at 0x\w+>\(.*| = '[^']{0,10}'\.join)$"
)
_LINKS = {
    "cause": "raised from the above:",
    "context": "raised while handling the above:",
    "group": "the group holds:",
    "member": "and:",
}
_WIDTH = 80
# A part of a compared text as `child/differences.py` shows it, and how long it must be to tell that it was printed.
_COMPARED_PART = re.compile(r" *\+ …?b?(?=['\"])")
LEAST_COMPARED = 8
_TEXT = re.compile(r"'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"")
# A line that is written this often is a progress bar.
_REDRAWN = 3


@dataclass(frozen=True)
class _Excerpt:
    """What is shown of one stream, and how much of it is not."""

    lines: list[str]
    lines_left_out: int
    characters_left_out: int


def example(failure: Failure, style: ExampleStyle) -> TestResult:
    return _test_result(failure, _message(failure.cause, style), render(failure, style))


def _message(cause: str, style: ExampleStyle) -> str:
    """Of two long texts that begin and end alike the first: what differs in them stands in the traceback."""
    left, _, right = cause.rpartition(" == ")
    message = f"{left} == …" if "..." in right and left.endswith(right) else cause
    return cut_middle(message, style.width, separator=" ")


def example_in_full(failure: Failure, *, with_captured: bool) -> TestResult:
    """pytest's own rendering of every part, then what was captured."""
    lines: list[str] = []
    for part in failure.parts:
        lines += [_heading("_", part.title)] if part.title else []
        lines += [part.text.rstrip("\n")]
        lines += _whole_sections(part.sections) if with_captured else []
    lines += _whole_sections(failure.sections) if with_captured else []
    return _test_result(failure, failure.message, "\n".join(lines))


def _test_result(failure: Failure, message: str, traceback: str) -> TestResult:
    return TestResult(
        node_id=failure.node_id,
        outcome=failure.outcome,
        duration=failure.duration,
        message=message,
        traceback=traceback,
    )


def _whole_sections(sections: Iterable[Section]) -> list[str]:
    return [line for title, content in sections for line in (_heading("-", title), content.rstrip("\n"))]


def _heading(character: str, title: str) -> str:
    return f"{character} {title} {character}".center(_WIDTH, character)


def render(failure: Failure, style: ExampleStyle) -> str:
    parts = list(_different_parts(failure)) if style.every_part else [(failure.parts[0], [])]
    lines = [line for part, alike in parts for line in (*_part(part, failure, style), *_named(alike))]
    return plain("\n".join([*lines, *_captured_lines(failure.sections, failure, style)]))


def stated_places(failure: Failure) -> list[str]:
    """Where the first part of a failure has a statement, however little is shown of it."""
    chain = failure.parts[0].chain
    return frames.stated_places(chain[-1], failure.node_id) if chain else []


def characters_left_out(failure: Failure, style: ExampleStyle) -> int:
    """Of the texts of exceptions."""
    texts = [
        text
        for part in failure.parts
        for text in [raised.text for raised in part.chain] or [tuple(part.text.split("\n"))]
    ]
    whole = replace(style, lines=sys.maxsize, width=sys.maxsize)
    everything, shown = (sum(len(line) for text in texts for line in _bounded(text, each)) for each in (whole, style))
    return everything - shown


def _different_parts(failure: Failure) -> Iterable[tuple[Part, list[Part]]]:
    """Each part, with further subtests that failed at the same place in the same way."""
    alike: dict[Hashable, tuple[Part, list[Part]]] = {}
    for number, part in enumerate(failure.parts):
        ways = tuple(frame.place for raised in part.chain for frame in raised.frames)
        key = (ways, part.message.partition(":")[0]) if part.is_subtest and ways else number
        first, others = alike.setdefault(key, (part, []))
        if first is not part:
            others.append(part)
    return alike.values()


def _named(alike: list[Part]) -> list[str]:
    if not alike:
        return []
    names = ", ".join(part.title or "" for part in alike[:SHOWN_SUBTESTS])
    more = f" and {len(alike) - SHOWN_SUBTESTS} more" if len(alike) > SHOWN_SUBTESTS else ""
    return [f"-- in the same way: {names}{more}"]


def _part(part: Part, failure: Failure, style: ExampleStyle) -> Iterator[str]:
    first_line = part.message.partition("\n")[0]
    if part.title and part is not failure.parts[0]:
        yield f"-- {part.title}: {part.message.strip().partition(chr(10))[0]}"
    has_no_place = not any(raised.frames for raised in part.chain) if part.chain else "\n" not in part.text.strip()
    if part.place and has_no_place:
        yield f"{part.place}: in {frames.test_function(failure.node_id)}"
    if part.chain:
        yield from _chain(part, failure, style)
    else:
        lines = _SEPARATOR.sub("_ _ _", part.text).strip("\n").split("\n")
        yield from _bounded(lines[_is_said(first_line, lines[0]) :], style)
    yield from _captured_lines(part.sections, failure, style)


def _chain(part: Part, failure: Failure, style: ExampleStyle) -> Iterator[str]:
    chain = part.chain
    left_out = range(0) if style.every_part else range(FIRST_RAISED, len(chain) - LAST_RAISED)
    quiet = replace(style, arguments=False, variables=False)
    for index, raised in enumerate(chain):
        if index in left_out:
            yield from [f"[{len(left_out)} more exceptions]"] if index == FIRST_RAISED else []
            continue
        yield from frames.frame_lines(raised, failure.node_id, style if raised is chain[-1] else quiet)
        if raised.note:
            yield f"[{raised.note.partition(chr(10))[0].strip('! ')}]"
        text = raised.text if style.equal_lines else _differing(raised.text)
        yield from (f"E   {line}" for line in _bounded(_unsaid(raised, part, failure, text), style))
        if raised.link is not None:
            yield _LINKS.get(raised.link, _LINKS["context"])


def _unsaid(raised: Raised, part: Part, failure: Failure, text: Sequence[str]) -> Sequence[str]:
    """The text without the lines at its beginning that the message of the test has."""
    message = part.message.partition("\n")[0]
    group = named_group(part.chain, message)
    if group is not None:
        return text[raised is part.chain[group] :]
    if raised is not part.chain[-1]:
        return text
    text = text[_is_said(message, raised.headline) :]
    cause = failure.cause if part is failure.parts[0] else ""
    rest = dropwhile(lambda line: len(line) > SHORTEST_LINE and line.strip() in cause, text)
    statement = (raised.frames[-1].statement or "") if raised.frames else ""
    return [
        line
        for line in rest
        if not (_is_repeated(line, cause) or _is_in_statement(line, message, statement) or _JOINED.match(line))
    ]


def _is_repeated(line: str, cause: str) -> bool:
    """unittest repeats short values as a difference."""
    return _DIFFERENCE.match(line) is not None and len(line) > SHORTEST_LINE and line[2:] in cause


def _is_in_statement(line: str, message: str, statement: str) -> bool:
    """Whether it says the value of an expression, of which the statement has the one and the message the other."""
    said = _WHERE.match(line)
    return said is not None and said[2] in message and said[3][3:].translate(_LAYOUT) in statement.translate(_LAYOUT)


def _is_said(message: str, line: str) -> bool:
    """Whether the message of the test has this line. One that announces others may have been cut."""
    return message.endswith(line) and not (message.endswith(":") and len(message) > ANNOUNCED)


def _bounded(text: Sequence[str], style: ExampleStyle) -> Iterator[str]:
    """As many lines as the style has, most of them from the beginning."""
    shown = (_without_value(line) for line in text if line.strip() and not _MARKS.match(line))
    lines = [line for line in shown if not _CALLABLE.match(line)]
    last = style.lines // 4
    hidden = len(lines) - style.lines
    for number, line in enumerate(lines):
        if hidden > 0 and style.lines - last <= number < len(lines) - last:
            yield from [f"[... {hidden} lines left out ...]"] if number == style.lines - last else []
        else:
            yield cut_middle(line, style.width, separator=" ")


def _without_value(line: str) -> str:
    # Addresses are masked first: of one that is cut nothing tells that it is one.
    line = _FUNCTION.sub(lambda function: function[1] or function[2], plain(line))
    where = _WHERE.match(line)
    is_long = where is not None and len(where[2]) > LONGEST_VALUE
    return f"{where[1]}{where[2][:20]}...{where[2][-10:]}{where[3]}" if where and is_long else line


def _differing(text: tuple[str, ...]) -> tuple[str, ...]:
    """Without lines that are equal on both sides, if it explains a comparison and anything differs there."""
    start = next((index + 1 for index, line in enumerate(text) if _COMPARISON.match(line)), len(text))
    equal = _EQUAL_LINE
    if text and _UNITTEST.match(text[0]):
        start, equal = 1, _EQUAL_IN_UNITTEST
    explanation = "\n".join(text[start:])
    if _NESTED in explanation or not _DIFFERENCE.search(explanation):
        return text
    return (*text[:start], *(line for line in text[start:] if not equal.match(line)))


# --- what was captured ------------------------------------------------------------------------------


def _captured_lines(sections: Iterable[Section], failure: Failure, style: ExampleStyle) -> Iterator[str]:
    for title, content in sections if style.captured != 0 else ():
        if style.captured is not None and _holds_compared(content, failure):
            continue
        excerpt = _excerpt(content, style)
        yield f"{title}:"
        if excerpt.lines_left_out:
            yield f"[... {excerpt.lines_left_out} lines left out ...]"
        yield from excerpt.lines


def captured_left_out(failure: Failure, style: ExampleStyle) -> int:
    """Of all that was captured and says something new."""
    return sum(
        _excerpt(content, style).characters_left_out
        for content in captured_contents(failure)
        if not _holds_compared(content, failure)
    )


def captured_contents(failure: Failure) -> list[str]:
    sections = [*failure.sections, *(section for part in failure.parts for section in part.sections)]
    return [content for _, content in sections]


def _holds_compared(content: str, failure: Failure) -> bool:
    """Whether a part of a long compared text was printed, or nothing but short ones: the comparison shows them."""
    lines = [line for raised in failure.parts[0].chain for line in raised.text]
    parts = [
        text
        for line in lines
        if _COMPARED_PART.match(line)
        for text in _TEXT.findall(line)
        if len(text) >= LEAST_COMPARED
    ]
    if any(text[1:-1] in content or _value(text) in content for text in parts):
        return True
    rest = content
    for text in (text for line in lines if _COMPARISON.match(line) for text in _TEXT.findall(line)):
        rest = rest.replace(text, "").replace(_value(text), "")
    return not rest.strip()


def _value(text: str) -> str:
    with suppress(ValueError, SyntaxError):
        return str(literal_eval(text))
    return text


def _excerpt(content: str, style: ExampleStyle) -> _Excerpt:
    written = content.rstrip("\r\n").split("\n")
    if style.captured is None:
        return _Excerpt([line.removesuffix("\r") for line in written], 0, 0)
    # What a carriage return ends, a terminal writes over: of a progress bar, it shows the last state.
    redrawn = [[part for part in line.split("\r") if part.strip()] for line in written]
    lines = [" ".join(parts[-1:] if len(parts) >= _REDRAWN else parts) for parts in redrawn]
    totals = accumulate(len(line) + 1 for line in reversed(lines))
    # The last line in any case.
    kept = max(1, sum(total <= style.captured for total in totals)) if style.captured else 0
    while 1 < kept < len(lines) and not lines[len(lines) - kept].strip():
        kept -= 1
    shown = [cut_middle(line, style.captured, separator=" ") for line in lines[len(lines) - kept :]]
    everything = sum(len(part) for parts in redrawn for part in parts)
    return _Excerpt(shown, len(lines) - kept, max(0, everything - sum(map(len, shown))))
