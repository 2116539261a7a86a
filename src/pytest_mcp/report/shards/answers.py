"""The answer of one shard, as `run --shard --json` has printed it.

Pure: a text in, an `Answer` out, or a `NotAnAnswer` with one sentence. An error object is an answer too: the shard did
not finish. Which answers belong together is decided in `merge`.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pytest_mcp.api.results import ExecuteResult, PartialResult, ShardFacts, ShardResult
from pytest_mcp.report.shards.facts import FORMAT
from pytest_mcp.text import in_line


class NotAnAnswer(Exception):
    """A text that is not the answer of a shard; the message says why."""


@dataclass(frozen=True)
class Answer:
    # The file that it was read from.
    name: str
    # None if an error does not say which shard it is.
    facts: ShardFacts | None
    # What ran; None if nothing did.
    result: ExecuteResult | None
    # Why the shard did not finish; None if it did.
    problem: str | None = None

    @property
    def label(self) -> str:
        where = in_line(self.name)
        return where if self.facts is None else f"shard {self.facts.index} of {self.facts.count} ({where})"


def parse(name: str, text: str) -> Answer:
    if not text.strip():
        return Answer(name, None, None, "the file is empty, so its run was killed before it could answer")
    content = _object(text)
    try:
        facts = _facts(content)
        if "code" in content and "message" in content:
            return Answer(name, facts, _partial(content), str(content["message"]).partition("\n")[0])
        if facts is None:
            what = "the answer of a run without --shard" if "verdict" in content else "no answer of pytest-mcp"
            raise NotAnAnswer(f"is {what}; pass what `pytest-mcp run --shard K/N --json` prints")
        return Answer(name, facts, ShardResult.model_validate(content | {"json_report": None}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise NotAnAnswer(f"is no complete answer of `run --shard --json`: {where}: {first['msg']}") from error


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise NotAnAnswer(f"is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise NotAnAnswer("is no answer of pytest-mcp: it is not an object")
    return content


def _finite(number: str) -> float:
    if not math.isfinite(value := float(number)):
        raise ValueError(f"{number} is not a number")
    return value


def _facts(content: dict[str, Any]) -> ShardFacts | None:
    told = content.get("shard")
    if told is None:
        return None
    if isinstance(told, dict) and isinstance(told.get("format"), int) and told["format"] > FORMAT:
        raise NotAnAnswer(
            f"was written by a newer pytest-mcp (format {told['format']}, known is {FORMAT}); update it here"
        )
    facts = ShardFacts.model_validate(told)
    if facts.index > facts.count:
        raise NotAnAnswer(f"is shard {facts.index} of {facts.count}, which cannot be")
    return facts


def _partial(error: dict[str, Any]) -> ExecuteResult | None:
    data = error.get("data")
    partial = data.get("partial") if isinstance(data, dict) else None
    return None if partial is None else PartialResult.model_validate(partial)
