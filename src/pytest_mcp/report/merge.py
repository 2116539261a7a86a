"""One report for several runs that are one suite: the shards of a suite, or the members of a monorepo.

Nothing has been cut when reports are merged, so failures of one cause are one group wherever they ran, and the limits
of an answer are spent once. Whether all parts are there is for the caller to say; what that means for the verdict is
decided in `verdict`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from pytest_mcp.report import coverage, rerun, timing, verdict
from pytest_mcp.report.report import BaseGroups, Report
from pytest_mcp.text import few

# How many notices of the parts are repeated.
MAX_NOTICES = 20
# Numbers of a report that are added up, and its lists that follow one another.
SUMMED = ("duration", "xfailed", "xpassed", "deselected", "repeated", "not_run")
LISTED = ("tests", "failures", "running")

Named = TypeVar("Named")


class LabelledReport(NamedTuple):
    # Who this is, for people: the folder of a member, or a shard and its file.
    label: str
    report: Report


def merge(
    parts: Sequence[LabelledReport],
    notices: Sequence[str],
    *,
    one_is_missing: bool = False,
    may_be_empty: bool = False,
    keeps_apart: bool = False,
) -> Report:
    """`notices` are those on the parts as a whole; `may_be_empty`: a part without tests is as it should be.

    `keeps_apart`: the parts have environments of their own, so no folder can stand for tests of several of them.
    """
    reports = [part.report for part in parts]
    evidence = verdict.merged_evidence(
        [report.evidence for report in reports], one_is_missing=one_is_missing, may_be_empty=may_be_empty
    )
    return Report(
        evidence,
        **_joined(reports),
        exit_code=_exit_code(reports, is_empty=verdict.verdict_of(evidence) == "no_tests"),
        notices=[*notices, *_notices(parts)],
        rerun=_rerun(reports, keeps_apart=keeps_apart),
        printed=_labelled((report.printed, label) for label, report in parts),
        condensed=_labelled((report.condensed, label) for label, report in parts),
    )


def _joined(reports: Sequence[Report]) -> dict[str, Any]:
    """What is joined in the same way whatever the parts are."""
    return {
        **{name: sum(getattr(report, name) for report in reports) for name in SUMMED},
        **{name: [each for report in reports for each in getattr(report, name)] for name in LISTED},
        # Every shard imports every file, so what cannot be collected, or skips itself, is there once.
        "collection_errors": _once((error.file, error) for report in reports for error in report.collection_errors),
        "skipped_modules": _once((module.node_id, module) for report in reports for module in report.skipped_modules),
        "captures": all(report.captures for report in reports),
        "locals": any(report.locals for report in reports),
        "coverage": coverage.merged_coverage([report.coverage for report in reports if report.coverage]),
        "timing": timing.merged_timing([report.timing for report in reports if report.timing]),
        "base": _merged_groups([report.base for report in reports if report.base]),
    }


def _exit_code(reports: Sequence[Report], *, is_empty: bool) -> int:
    """The highest of pytest's, without those of parts that have no tests or no result."""
    none = (None, verdict.NO_TESTS_COLLECTED)
    codes = [report.exit_code for report in reports if report.exit_code not in none]
    return verdict.NO_TESTS_COLLECTED if is_empty else max(filter(None, codes), default=0)


def _once(entries: Iterable[tuple[str, Named]]) -> list[Named]:
    first: dict[str, Named] = {}
    for name, entry in entries:
        first.setdefault(name, entry)
    return list(first.values())


def _notices(parts: Sequence[LabelledReport]) -> list[str]:
    """Each once, with whose it is. The share of a shard says nothing of all of them."""
    said = _labels((notice, label) for label, report in parts for notice in [*report.notices, *report.past])
    notices = [f"{few(labels)}: {notice}" for notice, labels in said.items()]
    more = len(notices) - MAX_NOTICES
    return [*notices[:MAX_NOTICES], *([f"{more} more notices are left out."] if more > 0 else [])]


def _labelled(texts: Iterable[tuple[str, str]]) -> str:
    """Each text once."""
    return "\n\n".join(f"{few(labels)}:\n{text}" for text, labels in _labels(texts).items() if text)


def _labels(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Whose each text is."""
    labels: dict[str, list[str]] = {}
    for text, label in texts:
        labels.setdefault(text, []).append(label)
    return labels


def _rerun(reports: Sequence[Report], *, keeps_apart: bool) -> rerun.Arguments | None:
    """What runs the failures of all again; the same selection if one of them cannot name its failures."""
    asked = [report.rerun for report in reports if report.rerun is not None]
    if not asked:
        return None
    named = [_names(report, report.rerun) for report in reports if report.rerun is not None]
    names = [name for each in named for name in each]
    if keeps_apart:
        # An expression of one of them is not for the others.
        unshared = (*rerun.PLACES, *(["keywords"] if names else []))
        filters = {key: value for each in asked for key, value in each.items() if key not in unshared}
        return {"node_ids": names, **filters}
    unnamed = next((each for each, names in zip(asked, named, strict=True) if not names), None)
    return rerun.covering(names, asked[0].get("pattern")) if unnamed is None else unnamed


def _names(report: Report, asked: rerun.Arguments) -> list[str]:
    """What its failures are in, without the expression that only its own tests were searched for."""
    node_ids = [failure.node_id for failure in report.failures]
    return rerun.names_of(rerun.covering(node_ids, None) if "keywords" in asked and node_ids else asked)


def _merged_groups(parts: Sequence[BaseGroups]) -> BaseGroups | None:
    """Of the members of a monorepo, or of shards. What one of them lacks is not known of all."""
    if not parts:
        return None

    def joined(name: str) -> list[str] | None:
        groups = [getattr(part, name) for part in parts]
        return None if None in groups else [node_id for group in groups for node_id in group]

    return BaseGroups(parts[0].ref, joined("new"), joined("old"), joined("changed"), joined("mended"))
