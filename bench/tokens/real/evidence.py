"""What an answer shows: its examples, its cuts, and which of pytest's `E` lines are whole in a text.

Pure: answers and pytest's texts in, numbers out.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

from bench.tokens import groups

_ADDRESS = re.compile(r"0x(?:[0-9a-fA-F]+|\\u2026)")
_TEMPORARY = re.compile(r"/tmp/pytest-of-\w+/pytest-\d+|/tmp/\w+")
# A digest that a test makes of the time or of a random key.
_DIGEST = re.compile(r"\b[0-9a-f]{16,}\b")
# What pytest says of what it does not show is no evidence.
_NOTE = re.compile(r"\.\.\.Full output truncated|Use -v|Omitting \d+ identical|\.\.\. +$|\.\.\.$|-vv? to (show|get)")
_CUT = re.compile(r"\[\.\.\. [^\n\]]{0,60}left out[^\n\]]{0,20}\]")
_COMPARISON = re.compile(r"(?:AssertionError: )?assert ")
_WHERE = re.compile(r"\+ +(?:where|and) ")
_MARKS = re.compile(r"\?[ +^-]*$")
# Between two lines of a text in Python's notation, in which a part may begin or end. An answer shows line by line.
_LINE_END = re.compile(r"(?:^[rn])?(?:\\[rn])+(?:\\$)?")
# How an answer counts lines, items or leaves that differ beside those that it shows.
_COUNTED = re.compile(r"(\d+) more (?:lines? )?differ")
# Shorter ones stand somewhere in every text by chance, so they must be a whole line.
SHORTEST_PART = 6
# Of a part that differs, so much is looked for, with so much around it.
LONGEST_PART = 30
AROUND = 3


@dataclass(frozen=True)
class Share:
    """How many of how many lines are whole."""

    whole: int
    lines: int


@dataclass(frozen=True)
class Example:
    """One failure that is shown with its traceback; `key` is a node id, or the file that cannot be imported."""

    key: str
    text: str


def examples(answer: Any) -> list[Example]:
    failed = [test for test in answer["tests"] if test["outcome"] in groups.FAILED and test["traceback"]]
    return [
        *(Example(error["file"], text_of(error)) for error in answer["collection_errors"] if error["traceback"]),
        *(Example(test["node_id"], text_of(test)) for test in failed),
    ]


def text_of(entry: Any) -> str:
    """A file that cannot be imported has the type of its error in a key of its own."""
    cause = ": ".join(filter(None, [entry.get("error_type"), entry["message"]]))
    return f"{cause}\n{entry['traceback']}"


def causes(answer: Any) -> int:
    """Causes that are told apart: groups, failures in none, and entries of files that cannot be imported."""
    return len(answer["failure_groups"]) + len(groups.alone(answer)) + len(answer["collection_errors"])


def cuts(answer: Any) -> int:
    """Placeholders inside the texts that are shown."""
    texts = [example.text for example in examples(answer)]
    return sum(len(_CUT.findall(text)) for text in [*texts, answer["text_output"] or ""])


def whole_lines(
    shown: Mapping[str, str], lines: Callable[[str], list[str]], told: Iterable[Example], text: str | None = None
) -> Share:
    """Of the lines that pytest shows for these examples, those that each has; or that this one text has."""
    whole = total = 0
    for example in told:
        wanted = lines(shown.get(example.key, ""))
        whole += len(wanted) - len(missing(wanted, example.text if text is None else text))
        total += len(wanted)
    return Share(whole, total)


def error_lines(shown: str) -> list[str]:
    """The `E` lines, without explanations of comparisons and what pytest says of lines that it left out."""
    lines: list[str] = []
    is_compared = False
    for line in shown.splitlines():
        if not re.match(r"E(\s|$)", line):
            is_compared = False
            continue
        text = line[1:].strip()
        is_compared = is_compared or _COMPARISON.match(text) is not None
        if text and not is_compared and not _NOTE.search(text) and not _MARKS.match(text):
            lines.append(text)
    return lines


def differing_parts(shown: str) -> list[str]:
    """What differs in the lines of a whole difference: of each pair the part that is not the same on both sides."""
    parts: list[str] = []
    lines = [line[1:].strip() for line in shown.splitlines() if re.match(r"E(\s|$)", line)]
    lines = [line for line in lines if not _WHERE.match(line)]
    for is_difference, block in groupby(lines, key=lambda line: line.startswith(("- ", "+ ", "? ", "-", "+"))):
        if is_difference:
            gone, come = ([line[2:] for line in block_lines if line] for block_lines in _sides([*block]))
            parts += [part for one, other in zip_longest(gone, come) for part in _middles(one, other)]
    return [part for part in parts if len(part) >= SHORTEST_PART]


def _sides(block: list[str]) -> tuple[list[str], list[str]]:
    return [line for line in block if line.startswith("- ")], [line for line in block if line.startswith("+ ")]


def _middles(one: str | None, other: str | None) -> list[str]:
    if one is None or other is None:
        return [(one or other or "").strip(" ,")[:LONGEST_PART]]
    start = len(os.path.commonprefix([one, other]))  # noqa: RUF071 - of characters is what is wanted
    end = len(os.path.commonprefix([one[start:][::-1], other[start:][::-1]]))  # noqa: RUF071 - of characters is what is wanted
    around = max(0, start - AROUND)
    # What one side has nothing for is on the other side alone.
    own = [side[around : len(side) - max(0, end - AROUND)] for side in (one, other) if len(side) > start + end]
    return [line.strip(" ,")[:LONGEST_PART] for part in own for line in _LINE_END.split(part)]


def kept_parts(shown: Mapping[str, str], told: Iterable[Example]) -> Share:
    """Of what differs in these examples, the parts that each shows, or counts where it shows others."""
    whole = total = 0
    for example in told:
        parts = differing_parts(shown.get(example.key, ""))
        text = even(example.text.replace("\\n", " "))
        lost = sum(even(part) not in text and even(repr(part)[1:-1]) not in text for part in parts)
        counted = 2 * sum(int(number) for number in _COUNTED.findall(example.text))
        whole += len(parts) - max(0, lost - counted)
        total += len(parts)
    return Share(whole, total)


def missing(wanted: Iterable[str], text: str) -> list[str]:
    lines = [even(re.sub(r"^E\s", "", line)) for line in text.splitlines()]
    # A line of a difference is as good without its mark, in the message.
    return [line for line in wanted if not is_in(even(re.sub(r"^[-+] ", "", line)), lines)]


def is_in(wanted: str, lines: list[str]) -> bool:
    """pytest shortens long values in the middle; the whole value is as good."""
    if len(wanted) < SHORTEST_PART:
        return wanted in lines
    if "..." not in wanted:
        return any(wanted in line for line in lines)
    pattern = re.compile(".*".join(map(re.escape, wanted.split("..."))))
    return any(pattern.search(line) for line in lines)


def even(line: str) -> str:
    """Without what differs from run to run, and without layout. pytest escapes letters with `-vv` alone."""
    line = line.encode("ascii", "backslashreplace").decode("ascii")
    for pattern in (_ADDRESS, _TEMPORARY, _DIGEST):
        line = pattern.sub("#", line)
    return " ".join(line.split())


def names_file(text: str, file: str) -> bool:
    """Whether a traceback goes through this file."""
    return re.search(rf"(^|[\s/]){re.escape(file)}:\d+", text, re.MULTILINE) is not None


def first_shows(answer: Any, file: str, shown: Mapping[str, str]) -> bool | None:
    """Whether the first example goes through the faulty file; None where no failure does."""
    if not any(names_file(text, file) for text in shown.values()):
        return None
    told = examples(answer)
    return bool(told) and names_file(told[0].text, file)
