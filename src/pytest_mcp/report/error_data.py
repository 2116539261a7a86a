"""How much of an error's data is sent: what helps next, within the call's limit; all of it with detail full.

Without `max_tokens` an error is small, because its message has what matters: most agents only repeat the call.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from pytest_mcp import text
from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import Arguments, ExecuteTests
from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import fitting, pytest_output, serialize, tokens
from pytest_mcp.report.collection_errors import ever_more

# Tokens of an error without `max_tokens`: in all, and at least of its data, whatever its message has.
USUAL_TOKENS = 560
LEAST_TOKENS = 330
# How many times the characters of a text and the entries of a list are halved until the data fits.
MAX_HALVINGS = 8


def for_partial(error: CallError, request: ExecuteTests) -> ExecuteTests:
    """The request whose answer is the partial result: it has what the other data leave."""
    if request.detail == "full":
        return request
    others = _cost(sent_data(error, request))
    return request.model_copy(update={"max_tokens": max(LEAST_TOKENS // 2, _most(error, request) - others)})


def sent_data(error: CallError, request: Arguments | None) -> dict[str, Any]:
    """The data of an error with every key, and with as much of a run as the limit of the request leaves."""
    data = error.data
    if "command" not in data or getattr(request, "detail", None) == "full":
        return data
    data = {**data, "stdout": pytest_output.condense(data["stdout"])}
    if "validation_errors" in data:
        # The environment is not the cause, and the message has the rest, except what pytest says of an expression.
        is_missing = all(fault["type"] == "not_found" for fault in data["validation_errors"])
        data |= {"stdout": "", "command": [], "duration": None, "environment": None} | (
            {"stderr": ""} if is_missing else {}
        )
        first, *others = data["validation_errors"]
        data["validation_errors"] = [{**first, "message": data["detail"]}, *others]
    elif data["error_type"] in ("timeout", "interrupted"):
        data["environment"] = None
    elif data["environment"] and data["error_type"] != "environment":
        data["environment"] = {**data["environment"], "candidates": []}
    return _fitted(data, _most(error, request))


def _most(error: CallError, request: Arguments | None) -> int:
    return getattr(request, "max_tokens", None) or max(LEAST_TOKENS, USUAL_TOKENS - tokens.estimate(error.message))


def last_lines(output: str, characters: int) -> str:
    """As many of the last lines as have so many characters, and how many more there were."""
    lines = output.strip("\n").split("\n")
    kept = sum(total <= characters for total in accumulate(len(line) + 1 for line in reversed(lines))) or 1
    left_out = len(lines) - kept
    last = text.cut_middle("\n".join(lines[left_out:]), characters)
    return f"[... {left_out} lines left out ...]\n{last}" if left_out else last


def without_middle(command: Sequence[str], characters: int) -> list[str]:
    """The command, without the arguments in its middle if it is too long."""
    # As many of the first and of the last as have half of the characters.
    head, tail = (
        max(1, sum(total <= characters // 2 for total in accumulate(map(len, arguments))))
        for arguments in (command, command[::-1])
    )
    hidden = command[head : len(command) - tail]
    note = f"[... {len(hidden)} arguments left out ...]"
    is_short = sum(map(len, command)) <= characters or sum(map(len, hidden)) <= len(note)
    return list(command) if is_short else [*command[:head], note, *command[len(command) - tail :]]


def _fitted(data: dict[str, Any], most: int) -> dict[str, Any]:
    """Texts of at most as many characters as there may be tokens, or half of that, and so on until all of it fits.

    The partial result is made to fit beside the rest, so it is cut last.
    """
    errors = [*ever_more([CollectionError.model_validate(each) for each in data["collection_errors"]])]
    for halved in range(MAX_HALVINGS):
        characters = most >> halved
        fitted = {name: fitting.cut(value, characters, max(1, 64 >> halved), name) for name, value in data.items()}
        fitted |= {name: last_lines(data[name], characters) for name in ("stdout", "stderr")}
        fitted |= {"command": without_middle(data["command"], characters)}
        fitted |= {"collection_errors": _causes(errors, characters // 2)}
        if halved < MAX_HALVINGS // 2:
            fitted |= {"partial": data["partial"]}
        if _cost(fitted) <= most:
            break
    return fitted


def _causes(rungs: Sequence[Sequence[CollectionError]], most: int) -> list[dict[str, Any]]:
    """As many causes of collection errors as fit, the others counted."""
    for rung in reversed(rungs):
        length = sum(len(each.message) + len(each.traceback or "") for each in rung)
        dumped = [each.model_dump() for each in rung] if length <= most * fitting.MAX_CHARACTERS_PER_TOKEN else None
        if dumped and _cost(dumped) <= most:
            return dumped
    least = rungs[0] if rungs else ()
    return [fitting.cut(each.model_dump(), fitting.MAX_CHARACTERS_PER_TOKEN * 10, 1) for each in least]


def _cost(data: Any) -> int:
    return tokens.estimate(serialize.line(serialize.safe(data)))
