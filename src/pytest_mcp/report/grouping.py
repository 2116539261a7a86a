"""Which failures have the same cause, and the order of causes.

Pure: failed tests in, groups out. Failures are one group if exception, phase, place and message are the same, after
masking what differs from run to run or from parameter to parameter. In doubt they are two groups.
"""

import re
from collections.abc import Callable, Hashable, Sequence

from pytest_mcp.api.results import FailureGroup
from pytest_mcp.events.outcomes import TestRecord
from pytest_mcp.report import failures
from pytest_mcp.text import cut_middle

# The length of a group's message, which is one line; the example has the whole message.
CAUSE_CHARACTERS = 120
# Shorter parameters are not masked: they could occur in a message by chance.
SHORTEST_PARAMETER = 3
# Only this many of an id's parameters are masked, the longest ones.
MOST_PARAMETERS = 10

_VOLATILE = re.compile(
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"  # a uuid
    r"|0x[0-9a-fA-F]+"  # an address
    r"|(?<![\w./])/(?:private/)?(?:tmp|var/folders)/[^\s'\",)]*"  # a temporary path
    r"|\b(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{8,}\b"  # a digest
    r"|\d+(?:[.,:T-]\d+)*"  # a number, a time, a date
)
_TYPE = re.compile(r"[A-Za-z_][\w.]*")

Key = Callable[[FailureGroup], Hashable]


def group(records: Sequence[TestRecord]) -> list[FailureGroup]:
    """The largest group first; among equally large ones, failures of the setup phase first."""
    members: dict[Hashable, list[TestRecord]] = {}
    for record in records:
        members.setdefault(_cause(record), []).append(record)
    ordered = sorted(members.values(), key=lambda alike: (-len(alike), failures.phase(alike[0]) != "setup"))
    return [
        FailureGroup(
            count=len(alike),
            message=line(failures.message(alike[0]) or ""),
            location=failures.site(alike[0]),
            example=alike[0].node_id,
            node_ids=[record.node_id for record in alike[1:]],
        )
        for alike in ordered
    ]


def coarser(groups: Sequence[FailureGroup]) -> list[list[FailureGroup]]:
    """The same failures in fewer and fewer groups, for answers in which one line per cause does not fit."""
    return [_merged(groups, key) for key in (_words, _type_and_place, _type_and_file, _type)]


def with_shared_tail(groups: Sequence[FailureGroup], most: int) -> list[FailureGroup]:
    """The first `most` groups, and one group for all others."""
    rest = groups[most:]
    return [*groups[:most], *([_one_of(rest)] if rest else [])]


def _cause(record: TestRecord) -> Hashable:
    return failures.phase(record), failures.site(record), masked(failures.message(record) or "", record.node_id)


def masked(message: str, node_id: str) -> str:
    """The message with `#` in place of its volatile parts. The exception's type is kept."""
    named = _TYPE.match(message)
    kind, message = (named.group(), message[named.end() :]) if named else ("", message)
    parameters = node_id.partition("[")[2].removesuffix("]")
    parts = {parameters, *parameters.split("-")}
    for part in sorted(parts, key=len, reverse=True)[:MOST_PARAMETERS]:
        if len(part) >= SHORTEST_PARAMETER:
            message = message.replace(part, "#")
    return kind + _VOLATILE.sub("#", message)


def line(message: str) -> str:
    """The first line of a message, shortened."""
    return cut_middle(message.strip().partition("\n")[0], CAUSE_CHARACTERS, separator=" ")


def _words(cause: FailureGroup) -> Hashable:
    return masked(cause.message, cause.example)


def _type_and_place(cause: FailureGroup) -> Hashable:
    return _type(cause), cause.location


def _type_and_file(cause: FailureGroup) -> Hashable:
    return _type(cause), (cause.location or "").rpartition(":")[0]


def _type(cause: FailureGroup) -> Hashable:
    found = _TYPE.match(cause.message)
    return found.group() if found else cause.message


def _merged(groups: Sequence[FailureGroup], key: Key) -> list[FailureGroup]:
    members: dict[Hashable, list[FailureGroup]] = {}
    for cause in groups:
        members.setdefault(key(cause), []).append(cause)
    merged = [_one_of(alike) for alike in members.values()]
    return sorted(merged, key=lambda cause: -cause.count)


def _one_of(alike: Sequence[FailureGroup]) -> FailureGroup:
    first = alike[0]
    if len(alike) == 1:
        return first
    others = [node_id for cause in alike[1:] for node_id in (cause.example, *cause.node_ids)]
    return first.model_copy(
        update={
            "count": sum(cause.count for cause in alike),
            "message": f"{first.message} (and {len(alike) - 1} similar)",
            "node_ids": [*first.node_ids, *others],
        }
    )
