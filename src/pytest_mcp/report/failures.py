"""The message, place and traceback of a failure, from pytest's report of it.

Pure: reports in, text out. Most reports contain the crash as data. Where they do not (missing fixtures, doctests,
crashed xdist workers, collection errors sent by xdist), it is parsed from pytest's text.
"""

import re

from pytest_mcp.api.results import CollectionError
from pytest_mcp.events.collection import CollectionFailed
from pytest_mcp.events.model import Phase
from pytest_mcp.events.outcomes import TestRecord
from pytest_mcp.report import tracebacks

_MARKED = re.compile(r"^E\s+(.*)$", re.MULTILINE)
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.DOTALL)
_PLACE = re.compile(r"^(\S.*):(\d+): ([A-Za-z_][\w.]*)$", re.MULTILINE)
_DOCTEST = re.compile(r"^(?:Expected|UNEXPECTED EXCEPTION)", re.MULTILINE)
# The line of an error in a file: in Python's message of a syntax error, and in pytest's frames.
_SOURCE_LINE = re.compile(r'^E[ \t]+File "(.*)", line (\d{1,9})', re.MULTILINE)
_FRAME_LINE = re.compile(r"^(.*?):(\d{1,9}): in ", re.MULTILINE)
_FIXTURE = re.compile(r"^E[ \t]+(fixture '.*' not found)$", re.MULTILINE)
_OWN_SUMMARY = re.compile(r"contains \d+ failed subtests?$")


def message(record: TestRecord) -> str | None:
    """The crash message of a failed test, or the reason of a skipped one."""
    match record.outcome:
        case "failed" | "error":
            return "\n".join(_phase_message(phase) for phase in _failed_phases(record))
        case "skipped":
            return _skip_message(record)
    return None


def phase(record: TestRecord) -> str:
    """The phase that counts: call if it failed, otherwise setup or teardown."""
    return _failed_phases(record)[0].when


def site(record: TestRecord) -> str | None:
    """Where it failed: the last frame inside the project or, if there is none, the last frame."""
    first = _failed_phases(record)[0]
    frames = tracebacks.frames(first.traceback or "")
    own = [place for place in frames if not tracebacks.is_foreign(place)]
    crash = None if first.location is None else "{}:{}".format(*first.location[:2])
    if crash is not None and not tracebacks.is_foreign(crash):
        return crash
    return next(reversed(own), crash or next(reversed(frames), None))


def traceback(record: TestRecord, *, captured: bool) -> str | None:
    """Every failure of the test, the call's first, then the captured output."""
    if record.outcome not in ("failed", "error"):
        return None
    failed = _failed_phases(record)
    parts = []
    for phase in failed:
        if phase is not failed[0] or phase.subtest is not None:
            parts.append(tracebacks.heading("_", _phase_title(phase)))
        parts.append(phase.traceback or "")
        if captured and phase.subtest is not None:
            parts.extend(_sections(phase))
    own = [phase for phase in record.phases if phase.subtest is None]
    if captured and own:
        # Captured output accumulates: the last report has all of it, except what a plugin adds to one report only.
        parts.extend(_sections(*(phase for phase in own if phase in failed or phase is own[-1])))
    return "\n".join(part.rstrip("\n") for part in parts)


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
    )


def _line_in_text(event: CollectionFailed) -> int | None:
    """The line for errors that came through xdist, which sends only text."""
    lines = [line for path, line in _SOURCE_LINE.findall(event.traceback) if path.endswith(event.file)]
    lines = lines or [line for path, line in _FRAME_LINE.findall(event.traceback) if path == event.file]
    return int(lines[-1]) or None if lines else None


def _failed_phases(record: TestRecord) -> list[Phase]:
    """The failed phases in order. pytest 9 adds a failure to a test whose subtests failed; that one is left out."""
    failed = [phase for phase in record.phases if phase.outcome == "failed"]
    if any(phase.subtest is not None for phase in failed):
        failed = [p for p in failed if p.subtest is not None or not _OWN_SUMMARY.match(p.traceback or "")]
    return failed


def _phase_message(phase: Phase) -> str:
    cause = _cause(phase)
    return cause if phase.subtest is None else f"{cause}\nin subtest {phase.subtest}"


def _cause(phase: Phase) -> str:
    if phase.message is not None:
        # pytest leaves the type out of exactly these messages.
        return f"AssertionError: {phase.message}" if phase.message.startswith("assert ") else phase.message
    plain = (phase.traceback or "").strip()
    if fixture := _FIXTURE.search(plain):
        return f"FixtureLookupError: {fixture.group(1)}"
    begin = _DOCTEST.search(plain)
    before, _, last = plain.rpartition("\n")
    if begin and (place := _PLACE.match(last)):
        return f"{place.group(3)}: {before[begin.start() :].strip()}"
    return plain


def _skip_message(record: TestRecord) -> str:
    phase = next(p for p in record.phases if p.outcome == "skipped" and p.subtest is None)
    if phase.xfail is None:
        return phase.message or ""
    return f"xfailed: {phase.xfail.removeprefix('reason: ')}"


def _phase_title(phase: Phase) -> str:
    if phase.subtest is not None:
        return f"subtest {phase.subtest}"
    return f"ERROR at {phase.when}" if phase.when in ("setup", "teardown") else phase.when


def _sections(*phases: Phase) -> list[str]:
    different = dict.fromkeys((title, content) for phase in phases for title, content in phase.sections)
    return [part for title, content in different for part in (tracebacks.heading("-", title), content) if content]
