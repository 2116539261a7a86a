"""Which failures an answer's groups hold. Pure: an answer of `execute_tests` in, node ids out."""

from typing import Any

FAILED = ("failed", "error")


def example(group: Any, answer: Any) -> str | None:
    """The node id of a group's example, which is told by its place in `tests`, or as it is."""
    told = group["example"]
    node_id: str | None = answer["tests"][told]["node_id"] if isinstance(told, int) else told
    return node_id


def members(group: Any, answer: Any) -> set[str]:
    """Those that are named; `count` says how many there are."""
    return {*(group["node_ids"] or ()), example(group, answer)} - {None}


def alone(answer: Any) -> list[str]:
    """The failures that are listed and in no group."""
    grouped = set().union(*(members(group, answer) for group in answer["failure_groups"]))
    return [test["node_id"] for test in answer["tests"] if test["outcome"] in FAILED and test["node_id"] not in grouped]
