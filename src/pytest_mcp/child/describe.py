"""Text and data for records, made from pytest's objects.

A failure is told as data: the chain of exceptions, each with its text and its frames. It is read from pytest's own
report, so that its filters and its explanations of assertions hold, and so that reports from xdist's workers have it.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Callable

import pytest

Clip = Callable[[str], str]

# Frames of pytest itself, which do not show where a test is stuck.
MACHINERY = ("_pytest", "pytest", "pluggy", "__main__")
# The end of a line that is a location. For doctests and missing fixtures pytest writes an absolute path.
PLACE = re.compile(r"(?::\d+(?:: [A-Za-z_][\w.]*)?|, line \d+)$")

# A traceback deeper than this is told by its last frames. pytest itself shows twenty of an endless recursion.
MAX_FRAMES = 60
# A longer chain, or a group of more, is told by its first and its last exceptions.
MAX_RAISED = 40
# A longer value or statement tells no more; the answer shows less than this anyway.
MAX_VALUE = 500
MAX_STATEMENT = 1000

# pytest marks the statement that failed, and each line of the exception's text, in the first column.
STATEMENT_MARK = ">"
TEXT_MARK = "E"
# The line of carets that newer versions draw below a statement.
_CARETS = re.compile(r"^[ ~^]+$")
# A marked statement in the first column: pytest removes the indentation of a function, but not that of its body.
_MODULE_CODE = re.compile(r">   (?! |(?:async )?def )")
_DEFINITION = re.compile(r"^ *(?:async )?def (\w+)")
_CAUSE = "direct cause"
# pytest's hint for a person, where a plugin has hidden all frames.
_ALL_HIDDEN = "All traceback entries are hidden"

# How Python itself writes exceptions. pytest takes that over for groups and for exceptions without a traceback.
_NATIVE = "native"
_HEADER = "Traceback (most recent call last):"
_GROUP_HEADER = "  + Exception Group " + _HEADER
_BARE_GROUP = "  | "
_HEADERS = (_HEADER, "Exception Group " + _HEADER)
_LINKS = {
    "The above exception was the direct cause of the following exception:": "cause",
    "During handling of the above exception, another exception occurred:": "context",
}
_NATIVE_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9})(?:, in (.*))?$')
# Each line of a group has a margin. Its first member begins with `+-+`, the end has no number.
_MARGIN = re.compile(r"^ +[|+] ?")
_MEMBER = re.compile(r"^ +\+(-\+)?-+ (?:\d+|\.\.\.) -+$")
_END_OF_GROUP = re.compile(r"^ +\+-+$")


class Clipper:
    """Cuts the middle of every text that is longer than the limit, says there how much was cut, and counts it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # Counted once each: the last report of a test repeats what was captured before it.
        self.left_out: dict[int, int] = {}

    def __call__(self, text: str) -> str:
        if len(text) <= self.limit:
            return text
        half = self.limit // 2
        left_out = len(text) - 2 * half
        self.left_out[hash(text)] = left_out
        return "%s\n[... %d characters left out ...]\n%s" % (text[:half], left_out, text[-half:])


def safe_text(what: str, make: Callable[..., object], *given: object) -> str:
    """The text of something, or a sentence that it cannot be shown: objects of the project may raise anything."""
    try:
        return str(make(*given))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a reporter must never raise into pytest
        return unshown(what, error)


def unshown(what: str, error: BaseException) -> str:
    return "[%s cannot be shown: turning it into text raised %s]" % (what, type(error).__name__)


class Marked:
    """A report whose text begins with a marker: pytest strips texts, and the first line would lose its indentation."""

    MARK = "|"

    def __init__(self, report: Any) -> None:
        self.report = report

    def toterminal(self, out: Any) -> None:
        out.line(self.MARK)
        self.report.toterminal(out)


def text_of(report: Any, root: str) -> str:
    """What pytest prints for a failure, without colour and with paths relative to the project's root."""
    text: str = pytest.TestReport.longreprtext.fget(Marked(report))[len(Marked.MARK) :].lstrip("\n")  # type: ignore[attr-defined]
    if root + os.sep not in text:
        return text
    return "\n".join(relative_place(line, root + os.sep) for line in text.split("\n"))


def relative_place(line: str, root: str) -> str:
    for lead in ("", "file "):
        if line.startswith(lead + root) and PLACE.search(line):
            return lead + line[len(lead + root) :].replace(os.sep, "/")
    return line


def skip_reason(longrepr: object) -> str:
    text = str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr or "")
    return text[len("Skipped: ") :] if text.startswith("Skipped: ") else text


def describe_subtest(context: object) -> str:
    message = getattr(context, "msg", None)
    values = ", ".join("%s=%s" % pair for pair in dict(getattr(context, "kwargs", {})).items())
    parts = (["[%s]" % message] if message is not None else []) + (["(%s)" % values] if values else [])
    return " ".join(parts) or "(<subtest>)"


def stack_of(excinfo: Any, relative: Callable[[str], str]) -> list[str]:
    frames = [(str(entry.frame.f_globals.get("__name__") or ""), entry) for entry in excinfo.traceback]
    return [
        "%s:%d: in %s" % (relative(str(entry.path)), entry.lineno + 1, entry.name)
        for module, entry in frames
        if module.partition(".")[0] not in MACHINERY
    ]


def chain_of(longrepr: Any, root: str) -> list[Any] | None:
    """Each exception from the first raised to the last: [link to the next, note, lines of text, frames].

    A group comes before its members: its link is "group", and that of each member but the last is "member".
    """
    try:
        links = getattr(longrepr, "chain", None) or [(longrepr.reprtraceback, longrepr.reprcrash, None)]
        if links[-1][-1] is not None:
            # pytest writes it between two exceptions. Behind the last one it is all that pytest-check tells.
            return None
        chain: list[Any] = []
        for number, (traceback, _, description) in enumerate(links, 1):
            is_native = traceback.style == _NATIVE
            raised = _written(traceback, root, len(links) - number) if is_native else [_raised(traceback, root)]
            raised[-1][0] = None if description is None else "cause" if _CAUSE in description else "context"
            chain += raised
        return _without_middle(chain)
    except Exception:  # noqa: BLE001 - whatever has another shape is told as text
        return None


def _without_middle(chain: list[Any]) -> list[Any]:
    half = MAX_RAISED // 2
    if len(chain) <= MAX_RAISED:
        return chain
    # In Python's words for the members of a large group.
    more = "and %d more exceptions" % (len(chain) - 2 * half)
    return [*chain[:half], [chain[-half - 1][0], None, [more], []], *chain[-half:]]


def short_text(report: Any, root: str) -> str:
    """A failure to collect, in pytest's short style: with the long one it has the source of whole modules."""
    chain = chain_of(report.longrepr, root)
    return text_of(report, root) if chain is None else _in_short(chain)


def short_native(written: str, root: str) -> str:
    return _in_short(_native(written, root))


def _in_short(chain: list[Any]) -> str:
    lines: list[str] = []
    for _, _, text, frames in chain:
        for path, line, function, statement, _, _ in frames:
            lines.append("%s:%d: in %s" % (path, line, function or "<module>"))
            lines += ["    " + statement.replace("\n", "\n    ")] if statement else []
        lines += ["E   " + line for line in text]
    return "\n".join(lines)


def _raised(traceback: Any, root: str) -> list[Any]:
    entries = traceback.reprentries
    last = entries[-MAX_FRAMES:]
    note = traceback.extraline
    if len(last) < len(entries):
        note = "the last %d of %d frames" % (len(last), len(entries))
    elif note and note.startswith(_ALL_HIDDEN):
        note = None
    frames = [_frame(entry, root) for entry in last if entry.reprfileloc is not None]
    return [None, note, _text(entries[-1]), frames]


def _written(traceback: Any, root: str, following: int) -> list[Any]:
    """What Python wrote, up to the exceptions that follow in pytest's chain."""
    chain = _native("".join(traceback.reprentries[0].lines), root)
    has_group = any(link == "group" for link, *_ in chain)
    # Python has written below a group what was raised after it; pytest tells that with its frames.
    repeats = has_group and 0 < following < len(chain) and chain[-1 - following][0] in _LINKS.values()
    return chain[:-following] if repeats else chain


def _native(written: str, root: str) -> list[Any]:
    """What Python wrote: one exception, or a group with its members and whatever was raised before or after it."""
    chain: list[Any] = [[None, None, [], []]]
    in_group = False
    for line in written.rstrip("\n").split("\n"):
        # Without a traceback a group has no header. Both stand only where an exception begins, never in its text.
        begins = not (chain[-1][2] or chain[-1][3]) and line.startswith((_GROUP_HEADER, _BARE_GROUP))
        in_group = begins or (in_group and line.startswith("  "))
        member = _MEMBER.match(line) if in_group else None
        content = _MARGIN.sub("", line, count=1) if in_group else line
        if member or content in _LINKS:
            chain[-1][0] = ("group" if member.group(1) else "member") if member else _LINKS[content]
            chain.append([None, None, [], []])
        elif not (in_group and _END_OF_GROUP.match(line)):
            _add_native(content, chain[-1], root)
    texts = ["\n".join(text).strip("\n").split("\n") for _, _, text, _ in chain]
    return [[link, note, text, frames[-MAX_FRAMES:]] for (link, note, _, frames), text in zip(chain, texts)]


def _add_native(line: str, raised: list[Any], root: str) -> None:
    """A line of the text of this exception, or of one of its frames above that."""
    _, _, text, frames = raised
    place = None if text else _NATIVE_FRAME.match(line)
    if place:
        frames.append([_relative(place.group(1), root), int(place.group(2)), place.group(3), None, [], []])
    elif not text and (_CARETS.match(line) or line in _HEADERS):
        return
    elif text or (line and not (frames and line.startswith("  "))):
        # What another process has raised can have a traceback in its text.
        text.append(line)
    elif frames and line.startswith("    "):
        statement = ((frames[-1][3] or "") + "\n" + line.strip()).strip("\n")
        frames[-1][3] = statement[:MAX_STATEMENT]


def _text(entry: Any) -> list[str]:
    """The lines of the exception, without pytest's mark, which those of `fail(pytrace=False)` do not have."""
    if entry.style == "value":
        return [str(line) for line in entry.lines]
    if entry.reprfileloc is None:
        # All frames are hidden: only the first line is marked.
        return [line[len(TEXT_MARK + "   ") :] for line in entry.lines]
    marked = [line[1:] for line in entry.lines if line.startswith(TEXT_MARK)]
    if not marked:
        return []
    indent = len(marked[0]) - len(marked[0].lstrip(" "))
    return [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in marked]


def _frame(entry: Any, root: str) -> list[Any]:
    """[path, line, function, statement, arguments, local variables]"""
    place = entry.reprfileloc
    lines = [line for line in entry.lines if not line.startswith(TEXT_MARK)]
    arguments = entry.reprfuncargs.args if entry.reprfuncargs else []
    path = _relative(str(place.path), root)
    # Of libraries they are never shown.
    variables = entry.reprlocals.lines if entry.reprlocals and not os.path.isabs(path) else []
    return [
        path,
        int(place.lineno),
        _function(str(place.message), lines),
        _statement(lines),
        [[str(name), str(value)[:MAX_VALUE]] for name, value in arguments],
        [str(line)[:MAX_VALUE] for line in variables],
    ]


def _relative(path: str, root: str) -> str:
    absolute = os.path.normpath(os.path.join(root, path))
    if not (os.path.isabs(path) or os.path.exists(absolute)):
        absolute = _of_compiled(path) or absolute
    inside = absolute.startswith(root + os.sep)
    return (absolute[len(root) + 1 :] if inside else absolute).replace(os.sep, "/")


def _of_compiled(path: str) -> str | None:
    """Cython knows its files from where they were compiled: the file of a package is looked for beside the package."""
    top, separator, _ = path.partition("/")
    module = sys.modules.get(top.partition(".")[0])
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return None
    folder = os.path.dirname(file)
    return os.path.join(os.path.dirname(folder) if separator else folder, path)


def _function(message: str, lines: list[str]) -> str | None:
    """Named where frames are short; where they are whole, by the first definition in them. None for module code."""
    if message.startswith("in "):
        return message[len("in ") :]
    if any(map(_MODULE_CODE.match, lines)):
        return None
    # Behind the column of the mark.
    definition = next(filter(None, (_DEFINITION.match(line[1:]) for line in lines)), None)
    return definition.group(1) if definition else None


def _statement(lines: list[str]) -> str | None:
    """From the marked line to its end; frames that are short have nothing else."""
    start = next((index for index, line in enumerate(lines) if line.startswith(STATEMENT_MARK)), None)
    if start is not None:
        lines = [" " + lines[start][1:], *lines[start + 1 :]]
    source = [line for line in lines if not _CARETS.match(line)]
    text = "\n".join(line.strip() for line in source)[:MAX_STATEMENT]
    return text if text not in ("", "???") else None
