"""The report of one shard as a line of JSON, which `run --shard --json` prints and `merge` reads.

Pure: a report in, a text out, and back. Whoever has the file may have changed it: a text that is not the report of a
shard, or that contradicts itself, is refused with one sentence. Which shards belong together is decided in
`all_shards`.
"""

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pytest_mcp.report import serialize
from pytest_mcp.report.report import Report
from pytest_mcp.text import in_line

# Of the file; in another one the same keys may mean something else.
FORMAT = 2
_WHAT_TO_GIVE = "pass what `pytest-mcp run --shard K/N --json` prints"


class NotAReport(Exception):
    """A text that is not the report of a shard; the message says why."""


@cache
def _schema() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def to_json(report: Report) -> str:
    """For readers verdict and summary stand first; they follow from the rest."""
    head = {"format": FORMAT, "verdict": report.verdict, "summary": report.summary.model_dump()}
    return serialize.line(serialize.safe(head | _schema().dump_python(replace(report, json_report=None), mode="json")))


def parse(text: str) -> Report:
    content = _object(text)
    given, verdict, summary = content.get("format"), content.get("verdict"), content.get("summary")
    if verdict is None or summary is None:
        raise NotAReport(f"is no report of pytest-mcp; {_WHAT_TO_GIVE}")
    if given is None or content.get("shard") is None:
        raise NotAReport(f"is of a run without --shard, or of an older pytest-mcp; {_WHAT_TO_GIVE}")
    if given != FORMAT:
        raise NotAReport(f"has the format {in_line(str(given))}, known is {FORMAT}; use one version of pytest-mcp")
    try:
        report = _schema().validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = in_line(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        raise NotAReport(f"is no complete report of a shard: {what}") from error
    wrong = contradiction(report)
    if wrong is None and (verdict, summary) != (report.verdict, report.summary.model_dump()):
        wrong = "its verdict and counts are not those of its tests"
    if wrong is not None:
        raise NotAReport(f"contradicts itself: {wrong}")
    return report


def contradiction(report: Report) -> str | None:
    """What no run can have written, if there is something."""
    shard, evidence, code = report.shard, report.evidence, report.exit_code
    assert shard is not None
    names = [test.node_id for test in report.tests]
    failed = sorted(test.node_id for test in report.tests if test.outcome in ("failed", "error"))
    is_whole = not (evidence.has_no_result or evidence.is_unfinished)
    ran_all = is_whole and not evidence.has_failed and not evidence.has_missed
    explains = evidence.has_failed or evidence.has_bad_exit or evidence.is_empty
    wrong = {
        f"it is shard {shard.index} of {shard.count}": shard.index > shard.count,
        "its tests are not those that failed": failed != sorted(failure.node_id for failure in report.failures),
        "its evidence and its failures differ": evidence.has_failed != bool(failed or report.collection_errors),
        "only one of its problem and its exit code can be there": (report.problem is None) == (code is None),
        "only a run with a problem has no result": evidence.has_no_result != (code is None),
        f"nothing in it explains the exit code {code}": code not in (0, None) and not explains,
        "its exit code says passed, and its failures do not": code == 0 and evidence.has_failed,
        "a test is in it twice": len(set(names)) < len(names),
        "it has tests, and none was selected": evidence.is_empty and bool(names),
        "it does not say how the suite was divided": is_whole and None in (shard.division, shard.tests, shard.total),
        "its share is larger than the suite": (shard.tests or 0) > (shard.total or 0),
        f"it has {len(names)} tests, and its share is {shard.tests}": ran_all and len(names) < (shard.tests or 0),
    }
    return next((sentence for sentence, holds in wrong.items() if holds), None)


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotAReport(f"is not JSON: {in_line(str(error))}") from error
    return content if isinstance(content, dict) else {}


def _finite(number: str) -> float:
    if not math.isfinite(value := float(number)):
        raise ValueError(f"{in_line(number)} is not a number")
    return value
