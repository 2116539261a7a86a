"""The answers of the members of a monorepo, each run in its own environment, become one answer.

Pure. It is `passed` only if every member passed; one without tests counts only where the call itself filtered them. A
member that could not run or did not finish makes it `incomplete`. What the answers say together is folded like the
answers of shards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.report import pytest_output, rerun, verdict
from pytest_mcp.report.budget import BY_DETAIL, BY_TOKENS
from pytest_mcp.report.shards.answers import Answer
from pytest_mcp.report.shards.merge import first_notices, folded, results_of
from pytest_mcp.text import cut_middle, few, in_line, safe

# Of what an error says, in characters.
LONGEST_ERROR = 2_000
# How many errors are quoted.
MOST_ERRORS = 10


@dataclass(frozen=True)
class MemberAnswer(Answer):
    """`name` is its folder."""

    # Which Python and pytest ran it; None if that is not known.
    versions: str | None = None
    # The error in full, unless `problem` says all of it, and the exit code that stands for it; None if there was none.
    error: str | None = None
    error_code: int | None = None


def merged(answers: Sequence[MemberAnswer], request: ExecuteTests) -> ExecuteResult:
    is_filtered = any(value is not None for value in (request.keywords, request.markers, request.changed))
    empty = [] if is_filtered else _empty(answers)
    notices = [*_unfinished(answers), *empty, *_environments(answers), *_notices(answers)]
    unfinished = any(answer.problem for answer in answers)
    evidence = verdict.of_parts(results_of(answers), one_is_missing=unfinished, may_be_empty=is_filtered)
    result = folded(answers, verdict.verdict_of(evidence), notices, request.detail)
    hint = BY_DETAIL if request.detail == "auto" else BY_TOKENS
    printed = [each.text_output for each in results_of(answers)]
    closing = pytest_output.common_closing_line(printed, result.summary.duration)
    codes = [answer.error_code for answer in answers if answer.error_code is not None]
    return result.model_copy(
        update={
            "exit_code": max(codes, default=result.exit_code),
            "rerun": _rerun(results_of(answers)),
            "text_output": "\n\n".join(filter(None, [*_errors(answers), result.text_output, closing])),
            "omitted": result.omitted and result.omitted.model_copy(update={"hint": hint}),
        }
    )


def _unfinished(answers: Sequence[MemberAnswer]) -> list[str]:
    told = [(answer.label, in_line(answer.problem).rstrip(".")) for answer in answers if answer.problem]
    return [f"{label} {problem}{'' if problem.endswith('?') else '.'}" for label, problem in told]


def _empty(answers: Sequence[MemberAnswer]) -> list[str]:
    return [
        f"{answer.label} has no tests."
        for answer in answers
        if answer.result is not None and answer.result.verdict == "no_tests"
    ]


def _environments(answers: Sequence[MemberAnswer]) -> list[str]:
    known = [f"{answer.label} ({answer.versions})" for answer in answers if answer.versions]
    return [f"Each ran in its own environment: {few(known)}."] if known else []


def _notices(answers: Sequence[MemberAnswer]) -> list[str]:
    said: dict[str, list[str]] = {}
    for answer in answers:
        for notice in answer.result.notices if answer.result is not None else ():
            said.setdefault(notice, []).append(answer.label)
    return first_notices(said)


def _errors(answers: Sequence[MemberAnswer]) -> list[str]:
    told = [(answer.label, answer.error) for answer in answers if answer.error is not None]
    return [f"{label}:\n{cut_middle(safe(error), LONGEST_ERROR)}" for label, error in told[:MOST_ERRORS]]


def _rerun(results: Sequence[ExecuteResult]) -> rerun.Arguments | None:
    """Not the smallest selection of all: a folder that has several members has none of their environments."""
    asked = [result.rerun for result in results if result.rerun is not None]
    if not asked:
        return None
    names = [name for arguments in asked for name in rerun.names(arguments)]
    filters = {key: value for arguments in asked for key, value in arguments.items() if key not in rerun.PLACES}
    return {"node_ids": names, **filters}
