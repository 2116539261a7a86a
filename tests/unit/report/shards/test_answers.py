"""Which texts are answers of shards. Wording may change; that each has a sentence may not."""

import json
from typing import Any

import pytest

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.config.model import Shard
from pytest_mcp.report import serialize
from pytest_mcp.report.shards.answers import NotAnAnswer, parse
from pytest_mcp.report.shards.facts import FORMAT, of_error
from pytest_mcp.tools import dump
from tests.support.invented.shards import facts, result

CONTENT = dump(result(facts()))
PLAIN = {key: value for key, value in CONTENT.items() if key != "shard"}


def of(**changed: Any) -> str:
    return json.dumps(CONTENT | changed)


def test_an_answer_comes_back_as_it_was_printed() -> None:
    answer = parse("a.json", serialize.line(CONTENT))

    assert (answer.facts, answer.result, answer.problem) == (facts(), result(facts()), None)


def test_an_error_is_an_answer_of_a_shard_that_did_not_finish() -> None:
    partial = PLAIN | {"verdict": "incomplete", "exit_code": None, "running": [], "not_run": 1}
    error = ExecutionFailed("timeout", "pytest took too long", RunFacts(partial=partial), details=["more"])
    known = of_error(Shard(2, 5, None))

    answer = parse("a.json", serialize.line(serialize.of_error(error) | {"shard": dump(known)}))

    assert (answer.facts, answer.problem) == (known, "pytest took too long")
    assert answer.result is not None
    assert answer.result.summary.passed == 3


@pytest.mark.parametrize("text", ['{"code": -32602, "message": "no", "data": {}}', "", " \n"])
def test_a_shard_that_says_nothing_of_itself_did_not_finish(text: str) -> None:
    answer = parse("a.json", text)

    assert (answer.facts, answer.result) == (None, None)
    assert answer.problem


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not JSON"),
        ('{"verdict": ', "not JSON"),
        ("[" * 100_000, "not JSON"),
        (of(summary=PLAIN["summary"] | {"duration": float("nan")}), "not JSON"),
        (of().replace("2.0", "1e999"), "not JSON"),
        ("[]", "not an object"),
        ("{}", "no answer"),
        (json.dumps(PLAIN), "without --shard"),
        (of(verdict="splendid"), "verdict"),
        (of(tests=None), "tests"),
        (of(shard="2/5"), "shard"),
        (of(shard=CONTENT["shard"] | {"index": 0}), "index"),
        (of(shard=CONTENT["shard"] | {"index": 3}), "shard 3 of 2"),
        (of(shard={"format": FORMAT + 1, "whatever": 1}), "newer"),
    ],
)
def test_a_text_that_is_no_answer_is_refused_with_a_sentence(text: str, word: str) -> None:
    with pytest.raises(NotAnAnswer, match=word):
        parse("a.json", text)
