"""What an answer shows: its examples, its cuts, and which of pytest's `E` lines are whole in a text.

Pure: answers and pytest's texts in, numbers out.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.tokens import groups

_ADDRESS = re.compile(r"0x(?:[0-9a-fA-F]+|\\u2026)")
_TEMPORARY = re.compile(r"/tmp/pytest-of-\w+/pytest-\d+|/tmp/\w+")
# A digest that a test makes of the time or of a random key.
_DIGEST = re.compile(r"\b[0-9a-f]{16,}\b")
# What pytest says of what it does not show is no evidence.
_NOTE = re.compile(r"\.\.\.Full output truncated|Use -v|Omitting \d+ identical|\.\.\. +$|\.\.\.$|-vv? to (show|get)")
_CUT = re.compile(r"\[\.\.\. [^\n\]]{0,60}left out[^\n\]]{0,20}\]")
# Shorter ones stand somewhere in every text by chance, so they must be a whole line.
SHORTEST_PART = 6


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
    """The `E` lines, without what pytest says of lines that it left out."""
    lines = [line[1:].strip() for line in shown.splitlines() if re.match(r"E(\s|$)", line)]
    return [line for line in lines if line and not _NOTE.search(line)]


def differing_lines(shown: str) -> list[str]:
    """Of the `E` lines, those of a diff that differ."""
    return [line for line in error_lines(shown) if re.match(r"[-+] ", line)]


def missing(wanted: Iterable[str], text: str) -> list[str]:
    lines = [even(re.sub(r"^E\s", "", line)) for line in text.splitlines()]
    return [line for line in wanted if not is_in(even(line), lines)]


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
