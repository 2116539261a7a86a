"""The caller's arguments that pytest, or the child's reporter, refused: one fault for each, with the next step."""

import re
from collections.abc import Sequence

from pytest_mcp.api import did_you_mean
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import Fault
from pytest_mcp.api.requests import Request
from pytest_mcp.api.targets import PATTERN, SEE, Target
from pytest_mcp.run.run import Run

# pytest's messages for an argument that it cannot find, in all its versions.
NOT_FOUND = re.compile(r"^(?:not found: |found no collectors for |file or directory not found: )(.*?)$", re.MULTILINE)
_BAD_EXPRESSION = re.compile(r"^Wrong expression passed to '-([km])'|^(Keyword) expressions do not support")
_FIELD_OF = {"k": "keywords", "m": "markers", "Keyword": "keywords"}
_LAST_FAILED = (
    "last_failed, or --lf in the project's addopts or on the command line, makes pytest ignore files without a known"
    " failure"
)


def refused_arguments(run: Run[Request]) -> list[Fault]:
    ledger = run.ledger
    if ledger.refused is not None:
        return _not_test_files(run, ledger.refused.files)
    if ledger.usage_fault is None:
        return []
    messages = ledger.usage_fault.messages
    return [*_missing_targets(run, messages), *_bad_expressions(run.request, messages)]


def _not_test_files(run: Run[Request], files: Sequence[str]) -> list[Fault]:
    why = Sentence(
        "is not a test file of this project (neither python_files nor the doctest settings match it)"
        " and was not run; to run a test file with another name, pass a ",
        *(PATTERN, " that matches it"),
    )
    refused = set(files)
    return [
        Fault(name, why, "not_a_test_file", target.node_id)
        for name, target in run.request.targets
        if str(target.path) in refused
    ]


def _missing_targets(run: Run[Request], messages: Sequence[str]) -> list[Fault]:
    """One fault for each id that pytest did not find, unless its file skips itself or cannot be imported."""
    ledger = run.ledger
    missing = {name for message in messages for name in NOT_FOUND.findall(message)}
    broken = {event.file for event in ledger.collection_failures} | {event.id for event in ledger.skipped_modules}
    by_cache = ledger.configured is not None and "lf" in ledger.configured.from_cache
    absent = [
        (name, target)
        for name, target in run.request.targets
        if not missing.isdisjoint(target.reported) and target.relative not in broken
    ]
    faults = []
    for number, (name, target) in enumerate(absent):
        step = _LAST_FAILED if by_cache else _next_step(target) if number < did_you_mean.MAX_ASKED else SEE
        faults.append(Fault(name, _why_missing(target, missing), "not_found", target.node_id, step))
    return faults


def _why_missing(target: Target, missing: set[str]) -> str:
    if target.selector is None:
        return "exists, but pytest finds no tests in it"
    return "was not found with these parameters" if missing.isdisjoint(target.reported[:2]) else "was not found"


def _next_step(target: Target) -> str:
    if ".py::" in (target.selector or "").partition("[")[0]:
        return "it looks like several node ids; send each as its own entry of the list"
    near = target.selector and did_you_mean.near_test(target.path, target.selector)
    return f"did you mean {near}?" if near else SEE


def _bad_expressions(request: Request, messages: Sequence[str]) -> list[Fault]:
    faults = []
    for message in messages:
        wrong = _BAD_EXPRESSION.match(message)
        name = _FIELD_OF[wrong.group(1) or wrong.group(2)] if wrong else ""
        # Otherwise the expression is in the project's addopts.
        if wrong and getattr(request, name) is not None:
            faults.append(Fault(name, message, "bad_expression", getattr(request, name)))
    return faults
