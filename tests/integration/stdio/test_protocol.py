"""The server as its clients meet it: a real process, real stdio, both generations of the protocol."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, Tool

from pytest_mcp.tools import INSTRUCTIONS, TOOLS
from tests.support.projects.sources import SLOW_STEPS
from tests.support.protocol import servers
from tests.support.protocol.raw_client import INITIALIZE, RawClient
from tests.support.waiting import PATIENCE, processes_in, until
from tests.support.workbench import Workbench

FINE = "def test_fine(): pass\n"
BAD = "def test_bad(): assert 0\n"


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("discover_tests", {}),
    ("execute_tests", {}),
    ("execute_tests", {"path": "test_fine.py", "detail": "full"}),
    ("execute_tests", {"path": "test_bad.py"}),
    ("execute_tests", {"path": "test_bad.py", "keywords": "nowhere"}),
    ("explain_environment", {}),
]


@asynccontextmanager
async def connected(bench: Workbench, *flags: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with Client(servers.parameters(bench.root, bench.python, *flags), mode=mode) as client:
        yield client


@dataclass
class Session:
    """What a client of the SDK got from one server, call after call."""

    tools: list[Tool] = field(default_factory=list)
    answers: list[tuple[str, CallToolResult]] = field(default_factory=list)
    unknown_tool: MCPError | None = None
    bad_input: MCPError | None = None
    after_errors: CallToolResult | None = None
    notes: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    with_progress: CallToolResult | None = None
    after_cancelling: CallToolResult | None = None


async def asked(bench: Workbench, mode: str) -> Session:
    seen = Session()
    bench.write({"test_fine.py": FINE, "test_bad.py": BAD, "test_broken.py": "import not_there\n"})
    async with connected(bench, mode=mode) as client:
        seen.tools = (await client.list_tools()).tools
        seen.answers = [(name, await client.call_tool(name, arguments)) for name, arguments in CALLS]
        await ask_wrongly(client, seen)
        await ask_with_progress(client, bench, seen)
        await cancel(client, bench, seen)
    return seen


async def ask_wrongly(client: Client, seen: Session) -> None:
    with pytest.raises(MCPError) as unknown_tool:
        await client.call_tool("run_shell", {"command": "id"})
    with pytest.raises(MCPError) as bad_input:
        await client.call_tool("execute_tests", {"path": "/etc", "environment": {"A": "b"}, "verbosity": True})
    seen.unknown_tool, seen.bad_input = unknown_tool.value, bad_input.value
    seen.after_errors = await client.call_tool("execute_tests", {"path": "test_fine.py"})


async def ask_with_progress(client: Client, bench: Workbench, seen: Session) -> None:
    bench.write({"tests/test_steps.py": SLOW_STEPS})
    (bench.root / "tests" / "go0").touch()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.notes.append((progress, total, message))
        (bench.root / "tests" / f"go{int(progress)}").touch()

    with anyio.fail_after(PATIENCE):
        seen.with_progress = await client.call_tool("execute_tests", {"path": "tests"}, progress_callback=on_progress)


async def cancel(client: Client, bench: Workbench, seen: Session) -> None:
    bench.write({"cancelled/test_steps.py": SLOW_STEPS})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "execute_tests", {"path": "cancelled"})
        await until((bench.root / "cancelled" / "at0").exists)
        tasks.cancel_scope.cancel()
    await until(lambda: not processes_in(bench.root))
    seen.after_cancelling = await client.call_tool("execute_tests", {"path": "test_fine.py"})


@pytest.fixture(scope="module", params=["legacy", "2026-07-28"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    return anyio.run(asked, Workbench(tmp_path_factory.mktemp("project")), request.param)


def verdict(answer: CallToolResult | None) -> object:
    assert answer is not None
    return answer.structured_content["verdict"]


def test_both_eras_serve_every_tool_with_equal_channels_that_keep_to_the_schema(session: Session) -> None:
    schemas = {tool.name: tool.output_schema for tool in session.tools}

    assert [tool.name for tool in session.tools] == [tool.name for tool in TOOLS]
    assert len(session.answers) == len(CALLS)
    for name, answer in session.answers:
        (block,) = answer.content
        assert block.type == "text"
        assert block.text == json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
        schema = schemas[name]
        assert schema is not None
        jsonschema.validate(answer.structured_content, schema)


def test_what_is_advertised_is_what_the_catalogue_says(session: Session) -> None:
    for tool, row in zip(session.tools, TOOLS, strict=True):
        assert (tool.name, tool.title, tool.description) == (row.name, row.title, row.description)
        assert tool.input_schema == row.input_schema
        assert tool.output_schema == row.output_schema
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is False


def test_errors_carry_their_code_and_the_server_answers_the_next_call(session: Session) -> None:
    unknown_tool, bad_input = session.unknown_tool, session.bad_input

    assert unknown_tool is not None
    assert unknown_tool.code == -32602
    assert "discover_tests or execute_tests" in unknown_tool.message
    assert bad_input is not None
    assert bad_input.code == -32602
    assert {fault["field"] for fault in bad_input.data["validation_errors"]} == {"path", "environment", "verbosity"}
    assert verdict(session.after_errors) == "passed"


def test_progress_is_live_strictly_increasing_and_in_words(session: Session) -> None:
    assert session.with_progress is not None
    assert session.with_progress.structured_content["summary"]["total"] == 4
    done = [progress for progress, _, _ in session.notes]
    assert done == sorted(set(done))
    assert done[:3] == [1, 2, 3]
    assert session.notes[0] == (1, 4, "1/4 · 0 failed · tests/test_steps.py")
    assert session.notes[2][2] == "3/4 · 1 failed · tests/test_steps.py"


def test_cancelling_ends_the_run_and_the_server_lives_on(session: Session) -> None:
    assert verdict(session.after_cancelling) == "passed"


@pytest.mark.anyio
async def test_errors_as_results_have_the_same_object_as_text_and_no_structured_content(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})

    async with connected(bench, "--errors=result") as client:
        answer = await client.call_tool("execute_tests", {"maxfail": 0})

    assert answer.is_error
    assert answer.structured_content is None
    (block,) = answer.content
    assert block.type == "text"
    error = json.loads(block.text)
    assert (error["code"], error["data"]["field"]) == (-32602, "maxfail")
    assert error["message"].startswith("Invalid params: maxfail: ")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    bench = Workbench(tmp_path_factory.mktemp("raw"))
    bench.write({"test_fine.py": FINE})
    with RawClient(servers.command(bench.root, bench.python), cwd=bench.root) as client:
        yield client.greeted()


def test_no_progress_is_sent_without_a_token_and_nulls_stay_on_the_wire(raw: RawClient) -> None:
    reply = raw.reply(raw.begin("execute_tests", path="test_fine.py"))

    structured = reply["result"]["structuredContent"]
    assert structured["rerun"] is None
    assert structured["json_report"] is None
    assert structured["tests"][0]["message"] is None
    assert reply["result"]["isError"] is False
    assert raw.notifications == []


def test_initialize_advertises_tools_alone_and_the_instructions(bench: Workbench) -> None:
    with RawClient(servers.command(bench.root), cwd=bench.root) as client:
        reply = client.reply(client.request("initialize", INITIALIZE))

    assert list(reply["result"]["capabilities"]) == ["tools"]
    assert reply["result"]["serverInfo"]["name"] == "pytest-mcp"
    assert reply["result"]["instructions"] == INSTRUCTIONS
