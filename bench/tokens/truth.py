"""Check an answer against the facts of its project: out comes a list of complaints, empty if it is right.

Pure. A small answer that hides a cause is no gain, so a row with complaints is wrong, whatever its size. The wording
and the order are left to the server: the words of a cause may be anywhere in the answer.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from bench.tokens.projects import Project, Uncollected
from pytest_mcp.api.errors import EXECUTION_FAILED, INVALID_PARAMS

Truth = Callable[[Any], list[str]]

# The keys of each object, by the key that holds it. Every key must be present, even if the answer were smaller without.
EXECUTION = {
    "": "verdict exit_code summary notices collection_errors failure_groups tests rerun text_output json_report"
    " omitted",
    "summary": "total passed failed skipped errors duration",
    "collection_errors": "file error_type message line traceback also",
    "failure_groups": "count message location example node_ids",
    "tests": "node_id outcome duration message traceback",
}
DISCOVERY = {
    "": "count notices collection_errors tests files omitted",
    "tests": "node_id module class function file line",
    "files": "file count tests",
}
EXPLANATION = {
    "": "ready summary next_step problem notices root interpreter candidates pytest config tests imported_elsewhere git"
    " temporary_folder server omitted",
    "interpreter": "executable source version prefix",
    "pytest": "version plugins",
    "config": "file rootdir testpaths addopts markers python_files",
    "tests": "count deselected uncollected",
    "temporary_folder": "path writable free_bytes",
    "server": "version python executable",
}
# The line of causes that share one.
SHARED = re.compile(r"(\d+) more causes?, the first: ")
TOOLS = ["check_change", "discover_tests", "execute_tests", "explain_environment", "investigate_failure"]


def of_execution(project: Project) -> Truth:
    def complaints(answer: Any) -> list[str]:
        lost = missing_keys(answer, EXECUTION)
        if lost:
            return lost
        return [
            *wrong_verdict(answer, project),
            *wrong_counts(answer, project),
            *unnamed_causes(answer, project),
            *cut_diff(answer, project.diff),
            *lost_files(answer, project),
            *silent_omission(answer),
        ]

    return complaints


def of_listing(project: Project) -> Truth:
    """Every test is listed, one by one or by file."""

    def complaints(answer: Any) -> list[str]:
        lost = missing_keys(answer, DISCOVERY)
        if lost:
            return lost
        listed = named_tests(answer)
        told = answer["count"] == len(project.node_ids) and sorted(listed) == sorted(project.node_ids)
        return [
            *(
                []
                if told
                else [f"it lists {len(listed)} and counts {answer['count']} of {len(project.node_ids)} tests"]
            ),
            *([] if answer["omitted"] is None else ["it says that something was left out"]),
        ]

    return complaints


def named_tests(answer: Any) -> list[str]:
    """The ids of all tests that an answer names; those of a file are `name:line`."""
    by_file = [f"{file['file']}::{name.rpartition(':')[0]}" for file in answer["files"] for name in file["tests"] or ()]
    return [*(test["node_id"] for test in answer["tests"]), *by_file]


def of_counting(project: Project) -> Truth:
    """So many tests that some are only counted."""
    count = len(project.node_ids)

    def complaints(answer: Any) -> list[str]:
        lost = missing_keys(answer, DISCOVERY)
        if lost:
            return lost
        by_file = sum(file["count"] for file in answer["files"])
        listed = named_tests(answer)
        left_out = (answer["omitted"] or {"tests": 0})["tests"]
        return [
            *([] if answer["count"] == count else [f"it counts {answer['count']} of {count} tests"]),
            *([] if by_file == count else [f"its files have {by_file} of {count} tests"]),
            *([] if set(listed) <= set(project.node_ids) else ["it lists tests that do not exist"]),
            *([] if left_out + len(listed) == count else [f"it lists {len(listed)} tests and omits {left_out}"]),
        ]

    return complaints


def of_explanation(project: Project) -> Truth:
    """A project that is ready, and has this many tests."""
    count = len(project.node_ids)

    def complaints(answer: Any) -> list[str]:
        lost = missing_keys(answer, EXPLANATION)
        if lost:
            return lost
        return [
            *([] if answer["ready"] else [f"it is not ready: {answer['summary']}"]),
            *([] if answer["tests"]["count"] == count else [f"it counts {answer['tests']['count']} of {count} tests"]),
        ]

    return complaints


def of_refusal(node_id: str) -> Truth:
    def complaints(error: Any) -> list[str]:
        lost = [f"the key {key} is missing" for key in ("code", "message", "data") if key not in error]
        if lost:
            return lost
        return [
            *([] if error["code"] == INVALID_PARAMS else [f"its code is {error['code']}"]),
            *([] if node_id in error["message"] else ["its message does not name the test"]),
        ]

    return complaints


def of_timeout(project: Project) -> Truth:
    def complaints(error: Any) -> list[str]:
        partial = error["data"].get("partial") or {"running": [], "summary": {}}
        counts = {"passed": project.passed, "failed": project.failed, "errors": project.errors}
        return [
            *([] if error["code"] == EXECUTION_FAILED else [f"its code is {error['code']}"]),
            *([] if len(partial["running"]) == 1 and partial["running"][0] in error["message"] else ["nothing runs"]),
            *(f"{name} is not {count}" for name, count in counts.items() if partial["summary"].get(name) != count),
            *([] if partial.get("rerun") else ["the failures cannot be run again"]),
        ]

    return complaints


def of_tools(tools: Any) -> list[str]:
    names = sorted(tool["name"] for tool in tools)
    silent = [
        f"{tool['name']} has no {part}" for tool in tools for part in ("description", "inputSchema") if not tool[part]
    ]
    return silent if names == TOOLS else [f"the tools are {', '.join(names)}"]


def missing_keys(answer: Any, shape: dict[str, str]) -> list[str]:
    return [
        f"the key {key} of {under or 'the answer'} is missing"
        for under, keys in shape.items()
        for key in keys.split()
        if any(key not in found for found in objects(answer, under))
    ]


def objects(answer: Any, under: str) -> list[Any]:
    """The objects under this key; none if the key is missing, which is a complaint of its own."""
    if not under:
        return [answer]
    found = answer.get(under) or []
    return found if isinstance(found, list) else [found]


def wrong_verdict(answer: Any, project: Project) -> list[str]:
    expected = "failed" if project.exit_code else "passed", project.exit_code
    told = answer["verdict"], answer["exit_code"]
    return [] if told == expected else [f"it says {told[0]} and exit code {told[1]}, not {expected[0]}, {expected[1]}"]


def wrong_counts(answer: Any, project: Project) -> list[str]:
    counts = {outcome: getattr(project, outcome) for outcome in ("passed", "failed", "skipped", "errors")}
    expected = {"total": sum(counts.values()), **counts}
    wrong = [
        f"{name} is {answer['summary'][name]}, not {number}"
        for name, number in expected.items()
        if answer["summary"][name] != number
    ]
    counted = sum(group["count"] for group in answer["failure_groups"]) + len(single_failures(answer))
    failures = project.failed + project.errors - len(project.uncollected)
    return wrong if counted == failures else [*wrong, f"it tells the causes of {counted} of {failures} failures"]


def single_failures(answer: Any) -> list[Any]:
    """Failures that are shown and alone with their cause have no group."""
    examples = {group["example"] for group in answer["failure_groups"]}
    return [
        test
        for index, test in enumerate(answer["tests"])
        if test["outcome"] in ("failed", "error") and index not in examples
    ]


def unnamed_causes(answer: Any, project: Project) -> list[str]:
    """Many causes may share one line, which names the first of them and counts the others."""
    said = list(strings(answer))
    shared = [
        int(found.group(1)) - 1 for group in answer["failure_groups"] if (found := SHARED.match(group["message"]))
    ]
    unnamed = [
        f"a cause is missing: {cause.words}, in {cause.file}"
        for cause in project.causes
        if not any(cause.words in text for text in said) or not any(cause.file in text for text in said)
    ]
    return [] if len(unnamed) == sum(shared) else unnamed or ["it counts causes that do not exist"]


def cut_diff(answer: Any, diff: tuple[str, ...]) -> list[str]:
    """All that differs must be in one text."""
    lost = ([line for line in diff if line not in text] for text in strings(answer))
    return [f"a difference is missing: {line}" for line in min(lost, key=len, default=[*diff])]


def lost_files(answer: Any, project: Project) -> list[str]:
    told, files = sum(1 + error["also"] for error in answer["collection_errors"]), len(project.uncollected)
    miscounted = [] if told == files else [f"it counts {told} of {files} files that could not be collected"]
    return miscounted + [
        f"missing or wrong: {broken.file}, line {broken.line}, {broken.error_type}, {broken.cause}"
        for broken in project.uncollected
        if not any(is_about(error, broken) for error in answer["collection_errors"])
    ]


def is_about(error: Any, broken: Uncollected) -> bool:
    told = (error["file"], error["line"], error["error_type"])
    return told == (broken.file, broken.line, broken.error_type) and broken.cause in error["message"]


def silent_omission(answer: Any) -> list[str]:
    """Tests without a failure may be counted only. A cause that is not shown must be said to be left out."""
    unshown = [group["message"] for group in answer["failure_groups"] if group["example"] is None]
    hint = (answer["omitted"] or {"hint": ""})["hint"]
    return [] if hint or not unshown else [f"no failure is shown of: {message}" for message in unshown]


def strings(value: Any) -> Iterator[str]:
    """Every text in an answer, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from strings(entry)
