"""Answers as they are sent."""

import json
from pathlib import Path

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.report import serialize

ODD = "\x1b[31mred\x1b[0m\u202e"
SAFE = "\\x1b[31mred\\x1b[0m\\u202e"


def test_every_string_is_made_safe_wherever_it_stands() -> None:
    answer = {ODD: [ODD, (ODD, 1, 2.5, True, None)], "path": Path("/x")}

    assert serialize.safe(answer) == {SAFE: [SAFE, [SAFE, 1, 2.5, True, None]], "path": "/x"}


def test_colours_stay_in_text_output_alone_and_only_where_they_were_asked_for() -> None:
    answer = {"text_output": ODD, "message": ODD}

    assert serialize.safe(answer, colour=True) == {"text_output": "\x1b[31mred\x1b[0m\\u202e", "message": SAFE}
    assert serialize.safe(answer) == {"text_output": SAFE, "message": SAFE}


def test_an_error_has_its_code_its_message_and_its_data() -> None:
    reply = serialize.of_error(ExecutionFailed("crash", f"no {ODD}", RunFacts(stderr="")))

    assert list(reply) == ["code", "message", "data"]
    assert (reply["code"], reply["message"], reply["data"]["error_type"]) == (-32000, f"no {SAFE}", "crash")


def test_an_answer_is_one_line() -> None:
    answer = {"a": "ü\n", "b": [1, None]}

    assert serialize.line(answer) == '{"a":"ü\\n","b":[1,null]}'
    assert json.loads(serialize.line(answer)) == answer
