"""What is told about agent programs is what was recorded; the model and the tap that it was seen with are honest."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.external.programs import records, survey, tap
from tests.external.programs.dialects import Chat, Dialect, Gemini, Messages, Responses
from tests.external.programs.models import Call, Model
from tests.external.programs.programs import PROGRAMS

CALLS = (Call("first", "execute_tests", {"path": "a"}), Call("second", "discover_tests", {}))
NAMES = ("mcp__pytest__discover_tests", "mcp__pytest__execute_tests")
TOOLS = [{"name": name} for name in NAMES]

# A request that offers both tools and has seen one answer, as each program says it.
ANSWER = {"type": "tool_result", "content": [{"type": "text", "text": "seen"}]}
FOUND = {"type": "tool_search_output", "tools": [{"type": "namespace", "name": "", "tools": TOOLS}]}
GEMINI_ANSWER = {"functionResponse": {"response": {"output": "seen"}}}
REQUESTS: list[tuple[Dialect, dict[str, Any]]] = [
    (Messages(), {"tools": TOOLS, "messages": [{"role": "user", "content": [ANSWER]}]}),
    (Responses(), {"input": [FOUND, {"type": "function_call_output", "output": "seen"}]}),
    (Chat(), {"tools": [{"function": tool} for tool in TOOLS], "messages": [{"role": "tool", "content": "seen"}]}),
    (Gemini(), {"tools": [{"functionDeclarations": TOOLS}], "contents": [{"parts": [GEMINI_ANSWER]}]}),
]


def test_every_program_was_seen_in_the_version_that_is_pinned() -> None:
    seen = {name: entry.version for name, entry in records.load().items()}

    assert seen == {name: program.version for name, program in PROGRAMS.items()}


@pytest.mark.parametrize(("dialect", "body"), REQUESTS, ids=[type(dialect).__name__ for dialect, _ in REQUESTS])
def test_a_stand_in_asks_for_the_call_after_those_that_were_answered_and_then_ends(
    dialect: Dialect, body: dict[str, Any]
) -> None:
    with Model(dialect, CALLS) as model, Model(dialect, CALLS[:1]) as done:
        asked, last = (json.dumps(each.reply(body)) for each in (model, done))

        assert "discover_tests" in asked
        assert model.shown == ["seen"]
        assert "done" in last
        assert "execute_tests" not in last


def test_the_tap_hands_on_every_line_and_marks_both_channels_of_a_result(tmp_path: Path) -> None:
    text = json.dumps({"notices": []})
    answer = {"id": 1, "result": {"content": [{"type": "text", "text": text}], "structuredContent": {"notices": []}}}
    echo = f"import sys; sys.stdin.readline(); print({json.dumps(answer)!r})"
    log = tmp_path / "log"

    output = subprocess.run(
        [sys.executable, tap.__file__, log, sys.executable, "-c", echo],
        input='{"id": 1}\n',
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    result = json.loads(output)["result"]
    channels = [json.loads(result["content"][0]["text"]), result["structuredContent"]]
    kept = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert channels == [{"notices": [mark]} for mark in tap.MARKS]
    assert [entry["client"] for entry in kept if "client" in entry] == [{"id": 1}]
    assert [entry["server"] for entry in kept if "server" in entry] == [answer]


ERROR = {"code": -32602, "message": "Invalid params: a\nand b", "data": {"validation_errors": []}}


@pytest.mark.parametrize(
    ("shown", "parts"),
    [
        pytest.param("Invalid params: a\nand b", ("message",), id="message"),
        pytest.param("MCP error -32602: Invalid params: a\nand b", ("code", "message"), id="code"),
        pytest.param(json.dumps(json.dumps(ERROR)), ("code", "message", "data"), id="JSON within JSON"),
        pytest.param("Invalid params: a", (), id="half a message"),
        pytest.param("MCP error -32602: does not match the schema", (), id="an error of the program's own"),
    ],
)
def test_what_a_model_is_shown_of_an_error_is_told_by_its_parts(shown: str, parts: tuple[str, ...]) -> None:
    seen = survey.judged({"error": ERROR}, shown)

    assert (seen.code, seen.parts) == (-32602, parts)
