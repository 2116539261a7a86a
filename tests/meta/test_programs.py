"""What is told about agent programs is what was recorded; the model and the tap that it was seen with are honest."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.external.programs import records, report, survey, tap
from tests.external.programs.dialects import Chat, Dialect, Gemini, Messages, Responses
from tests.external.programs.models import Call, Model, standing_in
from tests.external.programs.programs import PROGRAMS

CALLS = (Call("first", "execute_tests", {"path": "a"}), Call("second", "discover_tests", {}))

# A request that offers both tools and has seen one answer, as each program says it.
NAMES = ("mcp__pytest__discover_tests", "mcp__pytest__execute_tests")
REQUESTS: dict[str, tuple[Dialect, dict[str, Any]]] = {
    "messages": (
        Messages(),
        {
            "tools": [{"name": name} for name in NAMES],
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "seen"}]}]},
            ],
        },
    ),
    "responses": (
        Responses(),
        {
            "tools": [{"type": "tool_search"}],
            "input": [
                {
                    "type": "tool_search_output",
                    "tools": [
                        {
                            "type": "namespace",
                            "name": "mcp__pytest",
                            "tools": [{"name": "discover_tests"}, {"name": "execute_tests"}],
                        }
                    ],
                },
                {"type": "function_call_output", "output": "seen"},
            ],
        },
    ),
    "chat": (
        Chat(),
        {
            "tools": [{"function": {"name": name}} for name in NAMES],
            "messages": [{"role": "user", "content": "go"}, {"role": "tool", "content": "seen"}],
        },
    ),
    "gemini": (
        Gemini(),
        {
            "tools": [{"functionDeclarations": [{"name": name} for name in NAMES]}],
            "contents": [{"parts": [{"text": "go"}, {"functionResponse": {"response": {"output": "seen"}}}]}],
        },
    ),
}


def ask(model: Model, body: dict[str, Any]) -> str:
    request = urllib.request.Request(f"{model.url}/v1{model.dialect.path}", json.dumps(body).encode())
    with urllib.request.urlopen(request) as response:
        reply: bytes = response.read()
    return reply.decode()


def test_the_document_is_what_the_records_say() -> None:
    assert report.FILE.read_text(encoding="utf-8") == report.document(records.load())


def test_every_program_was_seen_in_the_version_that_is_pinned() -> None:
    seen = {name: entry.version for name, entry in records.load().items()}

    assert seen == {name: program.version for name, program in PROGRAMS.items()}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_stand_in_asks_for_the_call_after_those_that_were_answered(name: str) -> None:
    dialect, body = REQUESTS[name]

    with standing_in(dialect, CALLS) as model:
        asked = ask(model, body)
        shown = model.shown

    assert "discover_tests" in asked
    assert shown == ["seen"]


@pytest.mark.parametrize("name", REQUESTS)
def test_a_stand_in_ends_when_every_call_was_answered(name: str) -> None:
    dialect, body = REQUESTS[name]

    with standing_in(dialect, CALLS[:1]) as model:
        said = ask(model, body)

    assert "done" in said
    assert "execute_tests" not in said


def test_tools_that_are_hidden_are_searched_for_once() -> None:
    hidden = {"tools": [{"type": "tool_search"}], "input": []}

    with standing_in(Responses(), CALLS) as model:
        asked = ask(model, hidden)
        searched = model.had_to_search

    assert "tool_search_call" in asked
    assert searched


def test_the_tap_hands_on_every_line_and_marks_both_channels_of_a_result(tmp_path: Path) -> None:
    text = json.dumps({"notices": []})
    answer = {"id": 1, "result": {"content": [{"type": "text", "text": text}], "structuredContent": {"notices": []}}}
    echo = f"import sys; sys.stdin.readline(); print({json.dumps(answer)!r})"
    log = tmp_path / "log"

    told = subprocess.run(
        [sys.executable, tap.__file__, log, tap.WHOLE, sys.executable, "-c", echo],
        input='{"id": 1}\n',
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    result = json.loads(told)["result"]
    marked = [json.loads(result["content"][0]["text"]), result["structuredContent"]]
    assert marked == [{"notices": [mark]} for mark in tap.MARKS]
    kept = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [entry["client"] for entry in kept if "client" in entry] == [{"id": 1}]
    assert [entry["server"] for entry in kept if "server" in entry] == [answer]


ERROR = {"code": -32602, "message": "Invalid params: a\nand b", "data": {"validation_errors": []}}


@pytest.mark.parametrize(
    ("shown", "parts"),
    [
        pytest.param("Invalid params: a\nand b", ("message",), id="message"),
        pytest.param("MCP error -32602: Invalid params: a\nand b", ("code", "message"), id="code"),
        pytest.param(json.dumps(json.dumps(ERROR)), ("code", "message", "data"), id="JSON within JSON"),
        pytest.param("An error occurred.", (), id="nothing"),
        pytest.param("Invalid params: a", (), id="half a message"),
        pytest.param("MCP error -32602: does not match the schema", (), id="an error of the program's own"),
    ],
)
def test_what_a_model_is_shown_of_an_error_is_told_by_its_parts(shown: str, parts: tuple[str, ...]) -> None:
    seen = survey.judged({"error": ERROR}, shown)

    assert (seen.code, seen.parts) == (-32602, parts)
