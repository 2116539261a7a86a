"""One phase of a test as the fields of a record: what happened, where, and what was captured.

In comes pytest's report, with whatever tests and plugins have put into it; out come plain values. A part that
cannot be turned into text is named in its place: the outcome is told all the same. Standard library only.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Callable, NamedTuple

from describe import Clip, describe_subtest, skip_reason, text_of, told, unshown
from exception_chain import chain_of


class Describer(NamedTuple):
    """How texts, paths and failures of this run are told."""

    clip: Clip
    relative: Callable[[str], str]
    root: str
    # pytest's own rendering, also where a failure can be told as data.
    full: bool


def fields_of(report: Any, context: Any, describer: Describer) -> dict[str, Any]:
    """Only the report of a subtest has a context."""
    clip, crash = describer.clip, crash_of(report)
    failed = report.outcome == "failed"
    chain = clipped(chain_of(report.longrepr, describer.root), clip) if failed else None
    as_text = failed and (describer.full or chain is None)
    return {
        "when": str(report.when),
        "outcome": str(report.outcome),
        "xfail": told("the reason of the xfail", str, report.wasxfail) if hasattr(report, "wasxfail") else None,
        "message": message_of(report, crash, clip),
        "location": location_of(crash, describer.relative),
        "traceback": clip(told("the traceback", text_of, report, describer.root)) if as_text else None,
        "chain": chain,
        "sections": sections_of(report, clip),
        "subtest": None if context is None else told("the subtest", describe_subtest, context),
    }


def clipped(chain: list[Any] | None, clip: Clip) -> list[Any] | None:
    """With the text of each exception cut like any other."""
    if chain is None:
        return None
    return [[link, note, clip("\n".join(lines)).split("\n"), frames] for link, note, lines, frames in chain]


def crash_of(report: Any) -> Any:
    try:
        return getattr(report.longrepr, "reprcrash", None)
    except Exception:  # noqa: BLE001 - whoever made it, the report is told without it
        return None


def message_of(report: Any, crash: Any, clip: Clip) -> str | None:
    if report.outcome == "skipped":
        return told("the reason of the skip", skip_reason, report.longrepr)
    return None if crash is None else clip(told("the message", lambda: crash.message))


def location_of(crash: Any, relative: Callable[[str], str]) -> list[object] | None:
    try:
        return None if crash is None else [relative(str(crash.path)), int(crash.lineno)]
    except Exception:  # noqa: BLE001 - as above
        return None


def sections_of(report: Any, clip: Clip) -> list[list[str]]:
    try:
        sections = list(report.sections)
    except Exception as error:  # noqa: BLE001 - as above
        sections = [("Captured output", unshown("what was captured", error))]
    title, text = itemgetter(0), itemgetter(1)
    return [[told("a title", title, entry), clip(told("this section", text, entry))] for entry in sections]
