"""How a failure is shown: the way to it in few lines, then the exception's own text, then what was captured.

Every line of the exception's text is shown as pytest marks it, with `E`, but the first where the test's `message` has
it. What has no structure keeps pytest's text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_mcp.api.results import TestResult
from pytest_mcp.report import grouping
from pytest_mcp.report.captured import captured_lines
from pytest_mcp.report.example_style import ExampleStyle
from pytest_mcp.report.failures import ANNOUNCED, Failure, Part, Section, named_group, plain
from pytest_mcp.report.frames import frame_lines
from pytest_mcp.run.exceptions import Chain, Raised
from pytest_mcp.text import cut_middle

# What is left of a text that is too long for the budget even without everything else.
TEXT_CHARACTERS = 600
# How many of a long chain or group then are: its first and its last exceptions.
FIRST_RAISED, LAST_RAISED = 2, 3

_SEPARATOR = re.compile(r"^(?:_ ){3,}_?$", re.MULTILINE)
_COMPARISON = re.compile(r"(?:AssertionError: )?assert ")
# An explanation is indented by two spaces, and equal lines of its difference by two more.
_EQUAL_LINE = re.compile(r"^ {4}(?! *[-+?] )")
# So are lines on a nested attribute.
_NESTED = "Drill down into differing attribute"
_DIFFERENCE = re.compile(r"^ *[-+] ", re.MULTILINE)
_LINKS = {
    "cause": "raised from the above:",
    "context": "raised while handling the above:",
    "group": "the group holds:",
    "member": "and:",
}
_WIDTH = 80


def example(failure: Failure, style: ExampleStyle) -> TestResult:
    message = failure.cause if style.whole_texts else grouping.line(failure.cause)
    return _test_result(failure, message, render(failure, style))


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
    parts = failure.parts if style.whole_texts else failure.parts[:1]
    lines = [line for part in parts for line in _part(part, failure, style)]
    return plain("\n".join([*lines, *captured_lines(failure.sections, failure, style)]))


def _part(part: Part, failure: Failure, style: ExampleStyle) -> Iterator[str]:
    first_line = part.message.partition("\n")[0]
    if part.title and (part is not failure.parts[0] or len(failure.parts) > 1):
        yield f"-- {part.title}: {part.message.strip().partition(chr(10))[0]}"
    has_no_place = not any(raised.frames for raised in part.chain) if part.chain else "\n" not in part.text.strip()
    if part.place and has_no_place:
        yield f"{part.place}: in {failure.node_id.rpartition('::')[2].partition('[')[0]}"
    if part.chain:
        yield from _chain(part.chain, first_line, failure, style)
    else:
        lines = _SEPARATOR.sub("_ _ _", part.text).strip("\n").split("\n")
        lines = lines[_has_whole(first_line, lines[0], style) :]
        yield from _bounded("\n".join(lines), style).split("\n") if lines else ()
    yield from captured_lines(part.sections, failure, style)


def _chain(chain: Chain, message: str, failure: Failure, style: ExampleStyle) -> Iterator[str]:
    left_out = range(0) if style.whole_texts else range(FIRST_RAISED, len(chain) - LAST_RAISED)
    quiet = replace(style, arguments=False, variables=False)
    for index, raised in enumerate(chain):
        if index in left_out:
            yield from [f"[{len(left_out)} more exceptions]"] if index == FIRST_RAISED else []
            continue
        yield from frame_lines(raised, failure.node_id, style if raised is chain[-1] else quiet)
        if raised.note:
            yield f"[{raised.note.partition(chr(10))[0].strip('! ')}]"
        text = raised.text if style.equal_lines else _differing(raised.text)
        if _is_in_message(raised, message, chain, style):
            text = text[1:]
        yield from (f"E   {line}" for line in _bounded("\n".join(text), style).split("\n") if line.strip())
        if raised.link is not None:
            yield _LINKS.get(raised.link, _LINKS["context"])


def _is_in_message(raised: Raised, message: str, chain: Chain, style: ExampleStyle) -> bool:
    """Whether the message of the test has the first line of a group or of the last exception."""
    group = named_group(chain, message)
    if group is not None:
        return raised is chain[group] and _is_whole(message, style)
    return raised is chain[-1] and _has_whole(message, raised.headline, style)


def _has_whole(message: str, line: str, style: ExampleStyle) -> bool:
    """Whether the message of the test, as it is shown, has this line."""
    return message.endswith(line) and _is_whole(message, style)


def _is_whole(message: str, style: ExampleStyle) -> bool:
    if message.endswith(":") and len(message) > ANNOUNCED:
        return False
    return style.whole_texts or len(message) <= grouping.CAUSE_CHARACTERS


def _bounded(text: str, style: ExampleStyle) -> str:
    return text if style.whole_texts else cut_middle(text, TEXT_CHARACTERS)


def _differing(text: tuple[str, ...]) -> tuple[str, ...]:
    """Without lines that are equal on both sides, if it explains a comparison and anything differs there."""
    start = next((index + 1 for index, line in enumerate(text) if _COMPARISON.match(line)), len(text))
    explanation = "\n".join(text[start:])
    if _NESTED in explanation or not _DIFFERENCE.search(explanation):
        return text
    return (*text[:start], *(line for line in text[start:] if not _EQUAL_LINE.match(line)))
